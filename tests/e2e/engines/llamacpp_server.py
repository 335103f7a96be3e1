"""Runs the native llama.cpp server that the xllamacpp wheel carries, until SIGTERM. Executed by the engine's own interpreter."""

import argparse
import signal
from pathlib import Path

import xllamacpp

words = argparse.ArgumentParser()
words.add_argument("model")
words.add_argument("port", type=int)
words.add_argument("--slots", type=int)
words.add_argument("--context", type=int, help="tokens of a slot")
words.add_argument("--thought", type=int, help="tokens after which a thought ends; the template opens one")
words.add_argument("--guess", type=int, help="tokens guessed ahead from what was said before; greedy, for guesses to come true")
asked = words.parse_args()

params = xllamacpp.CommonParams()
params.hostnames = ["127.0.0.1"]
params.port = asked.port
params.model.path = asked.model
params.model_alias = {"smollm2"}
params.n_parallel = asked.slots
params.n_ctx = asked.context * asked.slots
params.kv_unified = False
params.cont_batching = True
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_threads_http = 64
params.endpoint_metrics = True
params.ui = False
params.warmup = True
params.offline = True
if asked.thought:
    params.chat_template = Path(__file__).with_name("thinking.jinja").read_text()
    params.sampling.reasoning_budget_tokens = asked.thought
if asked.guess:
    params.sampling.temp = 0.0
    params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    params.speculative.ngram_simple.size_n = 3
    params.speculative.ngram_simple.size_m = asked.guess

signals = {signal.SIGTERM, signal.SIGINT}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
server = xllamacpp.Server(params)
print("listening", flush=True)
signal.sigwait(signals)
