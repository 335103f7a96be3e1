"""What to bear in mind of a comparison, and what would make it surer."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.curve.compare.nouns import Answer, Comparison, Difference, Served
from sweep.report.compare import names
from sweep.report.facts import named
from sweep.wording import short

WIDE = 1.10  # a bracket wider than this is worth a measurement
REACH = 9  # sentences of advice, at most
LONG = 80  # letters of what one side says
HIDDEN = "not verifiable"


def unfair(compared: Comparison) -> list[str]:
    """What forbids the comparison and was overruled."""
    return [_sentence(one) for one in compared.unfair]


def caveats(compared: Comparison) -> list[str]:
    """What else is not the same on all sides; what nobody stated comes last, together."""
    known = [one for one in compared.differences if not one.unfair and not _unstated(one)]
    unstated = [one.key.rpartition(".")[2].replace("_", " ") for one in compared.differences if _unstated(one)]
    nobody = [f"Not verifiable, since nobody stated it: {', '.join(unstated)}."] if unstated else []
    return [*_twins(compared), *_currencies(compared), *map(_sentence, known), *nobody]


def _twins(compared: Comparison) -> Iterator[str]:
    """One file given twice says nothing of how two measurements differ."""
    by_digest: dict[str, list[str]] = {}
    for side in compared.sides:
        if side.digest:
            by_digest.setdefault(side.digest, []).append(side.label)
    yield from (
        f"{names.targets(same)} are the same measurement: what differs between them was declared, not measured."
        for same in by_digest.values()
        if len(same) > 1
    )


def _currencies(compared: Comparison) -> Iterator[str]:
    """In what money the prices are, where not all say the same."""
    priced = [
        side
        for side in compared.sides
        if side.price_per_accelerator_hour is not None or side.price_per_million_output_tokens is not None
    ]
    unnamed = [side.label for side in priced if not side.currency]
    if compared.currency is None:
        own = ", ".join(f"{side.label} {side.currency or 'not named'}" for side in priced)
        yield f"Prices are in different currencies ({own}): every cost is in its own, and none is compared."
    elif compared.currency and unnamed:
        yield f"No currency is named for the price of {names.targets(unnamed)}; it is taken to be {compared.currency}."


def _unstated(one: Difference) -> bool:
    return one.says.startswith(HIDDEN) and all(value is None for value in one.values.values())


def _sentence(one: Difference) -> str:
    values = ", ".join(f"{label} {short(named(one.key, value)[1], LONG)}" for label, value in one.values.items())
    return f"{one.says[0].upper()}{one.says[1:]} ({values})."


def surer(compared: Comparison) -> list[str]:
    """What to do next, most useful first."""
    return list(dict.fromkeys(_advice(compared)))[:REACH]


def _advice(compared: Comparison) -> Iterator[str]:
    if compared.unfair:
        yield "Measure all sides with the same profile, start and token accounting; until then the numbers above mislead."
    silent = [side.label for side in compared.sides if not side.runs]
    if silent:
        yield f"Measure {names.targets(silent)} again: no point can be trusted, and the findings of each say why (sweep show)."
    yield from _more_requests(compared)
    yield from _more_loads(compared)
    once = [side.label for side in compared.sides if 0 < side.runs < 3]
    if once:
        what = (
            "Loads were measured fewer than three times"
            if len(once) == len(compared.sides)
            else f"{names.targets(once)}: fewer than three runs a load"
        )
        yield f"{what}; how much one run differs from the next is not in these intervals: --repeat 3."
    if any(verdict.call == "inconclusive" for verdict in compared.verdicts) and not compared.paired:
        yield "Measure in alternation (sweep run --endpoint A --endpoint B --interleave), so that the time of day cannot decide."
    if compared.unknown_noise:
        yield f"{names.targets(list(compared.unknown_noise))}: values without intervals decide nothing; measure with sweep."
    yield from _missing(compared)


def _more_requests(compared: Comparison) -> Iterator[str]:
    asked: dict[str, list[str]] = {}  # near which targets -> whom
    for side in compared.sides:
        targets = [
            names.target(each.target, compared)
            for each in compared.answers
            if side.runs and _served(each, side.label).standing == "undecided"
        ]
        if targets:
            asked.setdefault(names.targets(targets), []).append(side.label)
    for near, labels in asked.items():
        yield (
            f"Ask {names.targets(labels)} for more requests (--requests) near {near}: "
            "too few were measured to say whether it holds."
        )


def _more_loads(compared: Comparison) -> Iterator[str]:
    """The loads whose measurement would leave the interpolation least to say."""
    asked: dict[tuple[str, str], dict[str, float]] = {}  # loads and for which targets -> by whom, with the widest bracket
    for side in compared.sides:
        loads: dict[float, str] = {}
        widest = 1.0
        for each in compared.answers:
            served = _served(each, side.label)
            if not served.attained or not served.ceiling or served.ceiling <= WIDE * served.attained or len(served.loads) < 2:
                continue
            load = _between(served.loads[0], served.loads[-1], whole=not side.open_loop)
            if load is not None:
                loads.setdefault(load, names.target(each.target, compared))
                widest = max(widest, served.ceiling / served.attained)
        if loads:
            grid = f"{'--rate' if side.open_loop else '--grid'} {','.join(f'{load:g}' for load in sorted(loads))}"
            asked.setdefault((grid, names.targets(list(dict.fromkeys(loads.values())))), {})[side.label] = widest
    for (grid, at), widths in asked.items():
        whose = "its" if len(widths) == 1 else "their"
        factor = f"a factor of up to {max(widths.values()):.2g}"
        yield f"Measure {names.targets(list(widths))} at {grid} too: at {at} {whose} measurements alone leave {factor} open."


def _served(each: Answer, label: str) -> Served:
    return next(served for served in each.served if served.label == label)


def _missing(compared: Comparison) -> Iterator[str]:
    uncounted = [side.label for side in compared.sides if side.accelerators is None]
    by_token = {side.label for side in compared.sides if side.price_per_million_output_tokens is not None}
    if uncounted and not set(uncounted) <= by_token:
        example = " ".join(f"--accelerators {label}=8" for label in uncounted)
        yield f"State how many accelerators stand behind {names.targets(uncounted)} ({example}); until then whole systems are compared, by throughput alone."
    unpriced = [side.label for side in compared.sides if side.price_per_accelerator_hour is None and side.label not in by_token]
    if unpriced:
        yield f"State prices to see what tokens cost ({' '.join(f'--price {label}=2.50' for label in unpriced)}, per accelerator-hour)."
    powers = {served.energy.known for each in compared.answers for served in each.served if served.energy}
    if len(powers) > 1:
        yield "Power is measured on one side and declared on another, which counts other things: give all (--power A=700) to compare energy."
    hidden = [one.key for one in compared.differences if one.says.startswith(HIDDEN)]
    if hidden:
        yield f"Have the missing answers filled in ({', '.join(hidden)}): sweep describe, or --set when measuring."


def _between(low: float, high: float, *, whole: bool) -> float | None:
    """A load in the middle; None where two `whole` numbers, requests in flight, have none between them."""
    middle = (low * high) ** 0.5
    if whole:
        nearest = round(middle)
        return float(nearest) if low < nearest < high else None
    return float(f"{middle:.3g}")
