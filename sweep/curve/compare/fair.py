"""May these curves be put together? What must match, what may differ a little, and what a reader should know.

Nominal profile, text, load kind, start, token accounting and declared cache share must match; realised mean lengths within 5 %.
Warned of: versions, the client's place and its round trip (a vendor's TTFT includes it), missing answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

from sweep.curve import workload
from sweep.curve.compare.nouns import Difference
from sweep.model import Curve, Fact

RTT_FACTOR = 1.5
RTT_FLOOR_S = 0.002
QUESTIONS = ("scenario", "constraint", "software", "hardware", "client")
WANTED = {
    "software": ("server", "version", "precision"),
    "hardware": ("accelerators", "accelerator_count"),
    "client": ("place",),
}
Sides = Mapping[str, Curve]


def differences(sides: Sides) -> tuple[Difference, ...]:
    """What forbids the comparison first, then what is worth knowing."""
    return (*_unfair(sides), *_warnings(sides))


def side_by_side(sides: Sides) -> dict[str, list[tuple[str, dict[str, Fact]]]]:
    """The four questions: section -> (key, label -> answer), keys in the order of the first curve that has them."""
    found = {}
    for section in (*QUESTIONS, "price"):
        keys = dict.fromkeys(key for curve in sides.values() for key in getattr(curve, section))
        missing = Fact(value=None, known="missing")
        found[section] = [
            (key, {label: getattr(curve, section).get(key, missing) for label, curve in sides.items()}) for key in keys
        ]
    return found


def _unfair(sides: Sides) -> list[Difference]:
    found: dict[str, dict[str, Any]] = {}
    for (a, first), (b, second) in combinations(sides.items(), 2):
        for key, (ours, theirs) in workload.differences(first, second).items():
            found.setdefault(key, {}).update({a: ours, b: theirs})
    return [Difference(key=key, values=values, unfair=True, says=workload.says(key)) for key, values in found.items()]


def _warnings(sides: Sides) -> list[Difference]:
    found = [
        _unequal(sides, "tool_version", lambda curve: curve.tool.version, "measured with different versions of sweep"),
        _unequal(sides, "client", lambda curve: _value(curve.client, "fingerprint"), "measured from different clients"),
        _unequal(sides, "client_place", lambda curve: _value(curve.client, "place"), "measured from different places"),
        _unequal(sides, "model", lambda curve: curve.endpoint.model, "the models have different names"),
        _round_trip(sides),
        _unequal(sides, "complete", lambda curve: curve.complete, "a sweep was interrupted; its curve has fewer loads"),
        _flag(sides, "disqualified", _disqualified, "points were disqualified and left out"),
        _flag(
            sides,
            "simulated",
            lambda curve: curve.endpoint.simulated or False,
            "a simulated endpoint: it stands for no real machine",
        ),
        *(_not_verifiable(sides, section, key) for section, keys in WANTED.items() for key in keys),
    ]
    return [one for one in found if one is not None]


def _unequal(sides: Sides, key: str, of: Callable[[Curve], Any], says: str) -> Difference | None:
    """Only where two sides answer and their answers differ."""
    values = {label: of(curve) for label, curve in sides.items()}
    known = [value for value in values.values() if value is not None]
    same = all(value == known[0] for value in known[1:])
    return None if same else Difference(key=key, values=values, unfair=False, says=says)


def _flag(sides: Sides, key: str, of: Callable[[Curve], Any], says: str) -> Difference | None:
    values = {label: of(curve) for label, curve in sides.items()}
    return Difference(key=key, values=values, unfair=False, says=says) if any(values.values()) else None


def _round_trip(sides: Sides) -> Difference | None:
    values = {label: _value(curve.client, "rtt_s") for label, curve in sides.items()}
    known = [float(value) for value in values.values() if isinstance(value, int | float)]
    apart = known and max(known) > RTT_FACTOR * min(known) and max(known) - min(known) > RTT_FLOOR_S
    says = "round trips to the endpoints differ; every TTFT includes its own"
    return Difference(key="rtt_s", values=values, unfair=False, says=says) if apart else None


def _not_verifiable(sides: Sides, section: str, key: str) -> Difference | None:
    values = {label: _value(getattr(curve, section), key) for label, curve in sides.items()}
    if all(value is not None for value in values.values()):
        return None
    name = key.replace("_", " ")
    return Difference(key=f"{section}.{key}", values=values, unfair=False, says=f"not verifiable: {name} is not stated by all")


def _disqualified(curve: Curve) -> int:
    return sum(point.disqualified for point in curve.points)


def _value(facts: Mapping[str, Fact], key: str) -> Any:
    fact = facts.get(key)
    return None if fact is None else fact.value
