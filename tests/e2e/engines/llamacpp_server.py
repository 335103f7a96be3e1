"""Runs the native llama.cpp server that the xllamacpp wheel carries, until SIGTERM. Executed by the engine's own interpreter."""

import signal
import sys

import xllamacpp

model, port, slots, context = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])

params = xllamacpp.CommonParams()
params.hostnames = ["127.0.0.1"]
params.port = port
params.model.path = model
params.model_alias = {"smollm2"}
params.n_parallel = slots
params.n_ctx = context * slots
params.kv_unified = False
params.cont_batching = True
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_threads_http = 64
params.endpoint_metrics = True
params.ui = False
params.warmup = True
params.offline = True

signals = {signal.SIGTERM, signal.SIGINT}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
server = xllamacpp.Server(params)
print("listening", flush=True)
signal.sigwait(signals)
