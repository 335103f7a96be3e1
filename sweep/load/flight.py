"""The requests of a shard from their beginning to their outcome, and the tasks that see to them."""

from __future__ import annotations

import asyncio

from sweep.load.call import Call, Row
from sweep.load.caller import Caller
from sweep.load.roll import Roll
from sweep.load.shard import Shard
from sweep.model import Outcome

ENDED = "the cell ended"


class Flight:
    """What a closed and an open loop share. `roll` takes every request as it begins; `over` ends the shard."""

    def __init__(self, shard: Shard, caller: Caller, roll: Roll) -> None:
        self.open: dict[int, Call] = {}
        self.over = asyncio.Event()
        self._limits = shard.cell.limits
        self._keeps_length = bool(shard.endpoint.osl_honoured)
        self._caller = caller
        self._roll = roll
        self._done: list[Row] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: asyncio._CoroutineLike[None]) -> None:
        """Has `work` done beside everything else."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(self._look_for_defects)

    def _look_for_defects(self, task: asyncio.Task[None]) -> None:
        """A driver that ends by an exception is a defect of ours: end the cell instead of running on with less load."""
        if not task.cancelled() and task.exception() is not None:
            asyncio.get_running_loop().call_exception_handler({"message": "a driver failed", "exception": task.exception()})
            self.over.set()

    # --- one request -----------------------------------------------------------------------------------------

    def begin(self, call: Call) -> None:
        self.open[call.number] = call
        self._roll.add(call.number, call.planned_ns, call.isl_asked, call.osl_asked)

    async def perform(self, call: Call) -> None:
        """From its request to its outcome, whatever happens."""
        try:
            await self._caller.perform(call)
        finally:
            self._end(call)

    def leave_unsent(self, call: Call) -> None:
        call.settle(Outcome.UNSENT, ENDED)
        self._end(call)

    def _end(self, call: Call) -> None:
        self.open.pop(call.number, None)
        if self._keeps_length:
            call.judge_length()
        self._done.append(call.row())

    # --- all of them -----------------------------------------------------------------------------------------

    def told(self) -> tuple[list[Row], list[Call]]:
        """(what ended since this was asked before, what is in flight now)."""
        ended, self._done = self._done, []
        return ended, list(self.open.values())

    def give_up_hopeless(self, now_ns: int) -> None:
        """Ends what is silent or too old."""
        idle_ns, deadline_ns = round(self._limits.idle_timeout_s * 1e9), round(self._limits.deadline_s * 1e9)
        for call in list(self.open.values()):
            silent_ns = call.silent_ns(now_ns)
            if call.lingers(now_ns):
                call.stop(call.meter.outcome())
            elif silent_ns > idle_ns:
                outcome = Outcome.TIMEOUT_IDLE if call.sent_ns is not None else Outcome.CONNECT
                call.stop(outcome, f"nothing for {self._limits.idle_timeout_s:g} s")
            elif call.age_ns(now_ns) > deadline_ns:
                call.stop(Outcome.TIMEOUT_DEADLINE, f"not complete after {self._limits.deadline_s:g} s")

    async def stop(self) -> None:
        """Cuts every request and ends every task."""
        tasks, performed = set(self._tasks), list(self.open.values())
        for call in performed:
            call.stop(Outcome.CUT if call.sent_ns is not None else Outcome.UNSENT, ENDED)
        for task in tasks - {call.task for call in performed}:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for call in list(self.open.values()):  # tasks that were cancelled before their first step
            self.leave_unsent(call)
