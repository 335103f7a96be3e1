"""Each fault of the simulated endpoint, at a share of the requests, is the outcome that names it at that share: through sockets
and the real client, with every request counted once."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from time import monotonic_ns

import pytest

from sweep import dialect
from sweep.load.call import Call
from sweep.load.caller import Caller
from sweep.load.client import target_from
from sweep.load.look import Reads
from sweep.load.meter import Meter
from sweep.load.wire import Wire
from sweep.model import Ask, Outcome
from sweep.sim.app import App
from sweep.sim.faults import KINDS, Faults
from sweep.sim.loop import precise_loop
from sweep.sim.options import Options

CHAT = dialect.get("chat")
REQUESTS, AT_ONCE, OSL, SHARE, SEED = 120, 60, 6, 0.25, 5
SILENT_S, PATIENCE_S = 1.5, 30.0  # what is silent for ever is given up soon, whatever else may take as long as the machine does
FIELDS = ("stream_options", "ignore_eos")
ENDS_IN = {
    "rate_limited": Outcome.RATE_LIMITED,
    "unavailable": Outcome.HTTP_ERROR,
    "error_event": Outcome.STREAM_ERROR,
    "truncated": Outcome.TRUNCATED,
    "reset": Outcome.TRUNCATED,
    "early_stop": Outcome.WRONG_LENGTH,
    "hung": Outcome.TIMEOUT_IDLE,
    "wrong_type": Outcome.MALFORMED,
    "gzip": Outcome.MALFORMED,
    "deflate": Outcome.MALFORMED,
}  # whatever else an endpoint does, an answer is an answer


def answered(options: Options, patience_s: float) -> list[Call]:
    """`REQUESTS` calls to an endpoint in the same process, `AT_ONCE` at a time."""

    async def run() -> list[Call]:
        app = App(options)
        server = await asyncio.get_running_loop().create_server(app.connect, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        done: list[Call] = []
        numbers = iter(range(REQUESTS))

        async def slot(caller: Caller) -> None:
            for number in numbers:
                ask = Ask(model=options.preset, prompt=f"{number:012d} a few words", osl=OSL, fields=FIELDS)
                call = Call(number, 8, OSL, CHAT.encode(ask), Meter(CHAT, Reads()))
                call.planned_ns = monotonic_ns()
                task = asyncio.create_task(caller.perform(call))
                while not (await asyncio.wait([task], timeout=0.1))[0]:
                    if call.silent_ns(monotonic_ns()) > patience_s * 1e9:
                        call.stop(Outcome.TIMEOUT_IDLE, "silent")
                call.judge_length()
                done.append(call)

        async with Caller(target_from(url, environ={}), CHAT, "test", Wire()) as caller:
            await asyncio.gather(*(slot(caller) for _ in range(AT_ONCE)))
        server.close()
        app.close()
        await asyncio.sleep(0)
        return done

    with asyncio.Runner(loop_factory=precise_loop) as runner:
        return runner.run(run())


@pytest.mark.parametrize("fault", KINDS)
def test_a_fault_at_a_share_is_its_outcome_at_that_share(fault: str) -> None:
    calls = answered(
        Options(faults=(f"{fault}={SHARE}",), seed=SEED, stall_s=0.05), SILENT_S if fault == "hung" else PATIENCE_S
    )
    outcomes = Counter(call.outcome for call in calls)
    assert sorted(call.number for call in calls) == list(range(REQUESTS)), "none lost, none twice"
    assert sum(outcomes.values()) == REQUESTS
    struck = {number for number in range(REQUESTS) if fault in Faults({fault: SHARE}, SEED).of(number)}
    assert abs(len(struck) - SHARE * REQUESTS) < 4 * math.sqrt(REQUESTS * SHARE * (1 - SHARE)), "as binomial as it should be"
    expected = ENDS_IN.get(fault, Outcome.OK)
    wrong = {
        call.number: (call.outcome, call.error) for call in calls if call.number in struck and call.outcome is not expected
    }
    assert wrong == {}
    assert {call.outcome for call in calls if call.number not in struck} == {Outcome.OK}
    for call in calls:
        times = [ns for ns in (call.planned_ns, call.sent_ns, call.meter.begun_ns, call.end_ns) if ns is not None]
        assert times == sorted(times)
        tokens, source = call.meter.tokens()
        if call.outcome is Outcome.OK and not (fault == "no_usage" and call.number in struck):
            assert (tokens, source.value) == (OSL, "usage")
