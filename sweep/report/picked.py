"""What a curve file answers to an SLO: the answer, where it ceases to hold, the most good work, then every load."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sweep.curve.artifact import plain
from sweep.curve.interpolate import Rule
from sweep.curve.judged import Judged
from sweep.curve.pick import Pick, Reading
from sweep.model import Curve, Estimate, Load
from sweep.report import quantity, table
from sweep.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from sweep.report.fitted import Fitted


def sentences(picked: Pick, rule: Rule, reading: Reading | None = None) -> list[str]:
    """The answer first; every sentence stands alone."""
    if not picked.loads:
        return ["No point can be trusted: nothing is claimed."]
    return [
        _answer(picked),
        *_ceases(picked, rule),
        *_exceptions(picked),
        *_most(picked),
        *_left_out(picked),
        *_read(reading, rule),
    ]


def _answer(picked: Pick) -> str:
    name, highest = quantity.slo_title(picked.slo), picked.highest
    if highest is not None:
        reach = ", the highest load measured" if highest is picked.loads[-1] else ""
        return f"Meets {name} up to {_at(highest)}{reach}: {_work(picked, highest)}."
    if picked.unreachable:
        shares = [(load.attainment.value, load) for load in picked.loads if load.attainment.value is not None]
        share, closest = max(shares, key=lambda each: (each[0], -each[1].level))
        kept = f"at best {quantity.percent(share)} of the requests keep it, at {_at(closest)}"
        return f"No measured load meets {name}: {kept if share else 'no request keeps it'}."
    unclear = next(load for load in picked.loads if load.verdict == "undecided")
    few = f"{counted(unclear.cohort, 'request is', 'requests are')} too few to tell"
    why = "its file holds no joint table" if unclear.good is None else few
    return f"Whether {name} is met is undecided: at {_at(unclear)} {why}."


def _ceases(picked: Pick, rule: Rule) -> Iterator[str]:
    edge, highest = picked.boundary, picked.highest
    if highest is None or highest is picked.loads[-1]:
        return
    above = picked.loads[picked.loads.index(highest) + 1]
    next_up = f"at {_at(above)}, the next measured, it is {above.verdict}"
    if edge is None or rule == "step":
        yield f"{next_up[0].upper()}{next_up[1:]}."
        return
    level = quantity.level(Load(kind=highest.load.kind, level=float(f"{edge.level:.3g}")))
    yield f"It ceases to hold near {level}, where {quantity.bound_text(edge.bound)} breaks (interpolated, {rule}); {next_up}."


def _exceptions(picked: Pick) -> Iterator[str]:
    """Lower loads that do not meet it although a higher one does."""
    if picked.highest is None:
        return
    below = [load for load in picked.loads if load.level < picked.highest.level and load.verdict != "met"]
    for verdict in ("missed", "undecided"):
        found = [quantity.level(load.load) for load in below if load.verdict == verdict]
        if found:
            yield f"Below that it is {verdict} at {', '.join(found)}."


def _most(picked: Pick) -> Iterator[str]:
    best = picked.best
    if best is not None and best is not picked.highest:
        yield f"Most requests within it are had at {_at(best)}, where it is {best.verdict}: {_work(picked, best)}."


def _left_out(picked: Pick) -> Iterator[str]:
    if picked.left_out:
        levels = ", ".join(quantity.level(load) for load in picked.left_out)
        yield f"Disqualified, and so without an answer: {levels}. `sweep show` says why."


def _read(reading: Reading | None, rule: Rule) -> Iterator[str]:
    if reading is None:
        return
    place = f"Where {reading.x_label} is {quantity.significant(reading.x, 4)}, {reading.y_label}"
    answer = reading.answer
    if answer.value is None:
        yield f"{place} is unreachable: no load measured is that fast."
        return
    proven = f"the measurements alone prove {quantity.significant(answer.attained)}"
    proven += f" to {quantity.significant(answer.ceiling)}" if answer.ceiling is not None else " at least"
    how = "measured" if answer.standing == "measured" else f"interpolated, {rule}; {proven}"
    yield f"{place} is {quantity.significant(answer.value)} ({how})."


def _at(load: Judged) -> str:
    return quantity.level_in_words(load.load)


def _work(picked: Pick, load: Judged) -> str:
    requests, tokens = load.goodput_req_per_s, load.goodput_tok_per_s
    return f"{_ranged(requests)} good req/s, {_ranged(tokens)} good {picked.rate_unit}"


def _ranged(estimate: Estimate) -> str:
    span = quantity.interval(estimate)
    return f"{quantity.significant(estimate.value)} ({span})" if span else quantity.significant(estimate.value)


def loads_table(picked: Pick) -> Fitted:
    """One row a load: verdict, share within, counts (a bracket where the table has cells), goodput."""
    from sweep.report.fitted import Fitted

    made = Fitted(("of", "good requests", "output"))
    for head in (
        "load\n",
        "\n",
        "within\n",
        "good\nrequests",
        "of\n",
        "goodput\nreq/s",
        f"goodput\n{picked.rate_unit}",
        f"output\n{picked.rate_unit}",
    ):
        made.add_column(head, justify="right")
    for load in picked.loads:
        cells = (
            quantity.level(load.load),
            table.MARKS[load.verdict],
            quantity.percent(load.attainment.value),
            _count(load.good),
            f"{load.cohort:,}",
            quantity.significant(load.goodput_req_per_s.value),
            quantity.significant(load.goodput_tok_per_s.value),
            quantity.significant(load.output_tok_per_s),
        )
        made.add_row(*cells, style="dim" if load.attainment.few else "")
    return made


def _more_than_output(picked: Pick) -> Iterator[str]:
    """Why good tokens may outnumber all tokens."""
    more = [
        quantity.level(load.load)
        for load in picked.loads
        if load.output_tok_per_s and (load.goodput_tok_per_s.value or 0.0) > load.output_tok_per_s
    ]
    if more:
        yield (
            f"Goodput exceeds output at {', '.join(more)}: it counts requests sent inside the window with their whole answers, output the "
            "tokens delivered inside it; over a longer window they meet."
        )


def _count(bracket: tuple[int, int] | None) -> str:
    if bracket is None:
        return quantity.MISSING
    low, high = bracket
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def show(console: Console, picked: Pick, rule: Rule, reading: Reading | None = None) -> None:
    from rich.text import Text

    first, *rest = sentences(picked, rule, reading)
    console.print(Text(first, style="bold"))
    for sentence in rest:
        console.print(Text(sentence))
    if picked.loads:
        console.print(loads_table(picked))
        for sentence in _more_than_output(picked):
            console.print(Text(sentence, style="dim"))


def document(curve: Curve, picks: Sequence[Pick], readings: Sequence[Reading | None], rule: Rule) -> str:
    """The answers as JSON; `standing` says how the highest load is known, `reading` is that of `--axis`."""
    answers = [
        {**plain(picked), "standing": picked.standing, "reading": plain(reading)}
        for picked, reading in zip(picks, readings, strict=True)
    ]
    whole = {"curve": curve.name, "digest": curve.digest, "interpolation": rule, "picks": answers}
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
