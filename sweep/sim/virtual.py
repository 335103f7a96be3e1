"""An endpoint in virtual time: what preflight would learn of a preset, and its cells to be measured."""

from __future__ import annotations

from typing import Any

import sweep
from sweep import dialect as dialects
from sweep.errors import UsageError
from sweep.model import Calibration, Cell, Endpoint, Images, Plan
from sweep.plan import arrival
from sweep.sim.options import MAX_MODEL_TOKENS, Options
from sweep.sim.running import Running, new_cluster
from sweep.sim.sequence import Sequence


class Source:
    """A preset in virtual time, to be measured. Options are fields of `Options`; UsageError for those that do not exist."""

    def __init__(self, preset_name: str, **options: Any) -> None:
        self._options = Options(preset=preset_name, **options)
        self._options.check()

    def reachable(self) -> bool:
        return True

    def canary(self, endpoint: Endpoint, run_id: str) -> None:
        """Virtual models answer nothing that could change."""

    def fit(self, plan: Plan, endpoint: Endpoint) -> None:
        """Virtual clients have room for everything."""

    def measure(self, cell: Cell, endpoint: Endpoint | None = None, run_id: str = "") -> Running:
        """The cell, under way. UsageError for a load that cannot be driven."""
        if cell.load.kind != "closed" and cell.load.kind not in arrival.OPEN:
            raise UsageError(f"{cell.load.kind} load cannot be driven", f"use closed, {', '.join(arrival.OPEN)}")
        return Running(cell, self._options)

    def probe(
        self,
        dialect: str = "chat",
        text: str = "prose",
        images: Images | None = None,
        osl: int | None = None,
        body: str | None = None,
    ) -> Endpoint:
        """What preflight would have learned."""
        ttft_s, tpot_s = alone(self._options)
        return Endpoint(
            url=f"virtual:{self._options.preset}",
            model=self._options.preset,
            dialect=dialect,
            unit=dialects.get(dialect).TRAITS.unit,
            calibration=Calibration(tokens_per_word=1.0, template_tokens=0.0, source="usage"),
            ttft_s=ttft_s,
            tpot_s=tpot_s,
            rtt_s=0.0,
            context_tokens=min(MAX_MODEL_TOKENS, new_cluster(self._options).engines[0].max_tokens),
            server="sweep-sim",
            version=sweep.__version__,
            osl_honoured=True,
            usage_reported=True,
            loopback=True,
            simulated=self._options.preset,
        )


def alone(options: Options, isl: int = 256, osl: int = 32) -> tuple[float, float]:
    """(TTFT, TPOT) in seconds of one request on an idle endpoint."""
    cluster = new_cluster(options)
    sequence = Sequence(0, isl, osl, 0)
    cluster.add(sequence)
    cluster.start(0)
    while (at_ns := cluster.next_ns()) is not None:
        cluster.advance()
        cluster.start(at_ns)
    times, _ = cluster.progress(sequence)
    return int(times[0]) / 1e9, int(times[-1] - times[0]) / 1e9 / (osl - 1)
