"""Whether an endpoint whose requests fail is gone, is only full, or is another one by now."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import curve_builder
import pytest

from sweep.errors import EndpointError
from sweep.model import Endpoint, Finding
from sweep.records import Records, from_rows
from sweep.run import lost
from sweep.run.source import Source

FAILED = curve_builder.point(4, findings=(Finding(code="failures", data={"share": 1.0, "what": "all"}),))
PLAN = curve_builder.plan()


def endpoint(*models: str) -> Endpoint:
    known = curve_builder.curve().endpoint
    return Endpoint(url=known.url, model="m", dialect="chat", calibration=known.calibration, facts={"models": list(models)})


@dataclass
class Place:
    """`now` is what a preflight finds there; None where nothing answers one."""

    now: Endpoint | None = None
    listens: bool = True
    probes: list[Any] = field(default_factory=list)

    def reachable(self) -> bool:
        return self.listens

    def probe(self, *manner: Any) -> Endpoint:
        self.probes.append(manner)
        if self.now is None:
            raise EndpointError("takes no requests now")
        return self.now


def ended(*outcomes: tuple[str, int | None]) -> Records:
    return from_rows(
        {"request": at, "end_ns": at, "outcome": outcome, "status": status} for at, (outcome, status) in enumerate(outcomes)
    )


def is_gone(place: Place, records: Records, point: Any = FAILED) -> bool:
    header = cast("Any", SimpleNamespace(plan=PLAN, endpoint=endpoint("m")))
    return lost.gone(point, records, cast("Source", place), header)


ERRORS = [("http_error", 503)] * 9


@pytest.mark.parametrize(
    ("place", "outcomes", "gone", "asked"),
    [
        (Place(listens=False), [("ok", 200)] * 9, True, 0),
        (Place(), ERRORS, True, 1),
        (Place(endpoint("m")), ERRORS, False, 1),
        (Place(), [*ERRORS, ("ok", 200)], False, 0),
        (Place(), [*ERRORS, ("rate_limited", 429)], False, 0),
        (Place(), [*ERRORS, ("http_error", 429)], False, 0),
        (Place(), [("ok", 200), *ERRORS, ("cut", None), ("unsent", None)], True, 1),
    ],
)
def test_an_endpoint_is_gone_where_nothing_listens_or_answers_any_more(
    place: Place, outcomes: list[tuple[str, int | None]], gone: bool, asked: int
) -> None:
    place.probes.clear()
    assert is_gone(place, ended(*outcomes)) is gone
    assert len(place.probes) == asked


def test_a_sound_point_asks_nothing() -> None:
    assert not is_gone(Place(listens=False), ended(*ERRORS), curve_builder.point(4))


def test_another_model_is_no_endpoint_to_go_on_with() -> None:
    with pytest.raises(EndpointError, match="no longer serves m, but other"):
        is_gone(Place(endpoint("other")), ended(*ERRORS))
    lost.require_same_model(endpoint(), endpoint("other"))  # a name that was never listed says nothing
    lost.require_same_model(endpoint("m"), endpoint())
