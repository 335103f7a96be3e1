"""One curve: cell after cell until it is complete, and its files, whatever ended it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING

from sweep.errors import EndpointError, Interrupted, OutputError, SweepError
from sweep.model import Curve, Finding
from sweep.plan import budget, scenario
from sweep.run.canary import accompanied
from sweep.run.cell import measure
from sweep.run.lost import gone, returned
from sweep.run.publish import publish
from sweep.run.source import Source
from sweep.run.spending import Purse, least_tokens, tokens
from sweep.run.undisturbed import undisturbed
from sweep.run.watch import Watch
from sweep.wording import counted

if TYPE_CHECKING:
    from sweep.curve.journal import Journal

LOSSES = 3  # how often an endpoint may stop answering before its failures count as its own


def sweeping(
    journal: Journal,
    source: Source,
    watch: Watch,
    *,
    recovery_s: float,
    resumed: bool = False,
    findings: Iterable[Finding] = (),
) -> Generator[None, None, Curve]:
    """Cells until the curve is complete, the user stops it, the tokens are spent, or the endpoint is gone for good.

    Pauses after every cell. Whatever ended it, the curve of the finished cells is written before that is raised.
    """
    from sweep.curve.journal import reopen
    from sweep.measure.preflight import findings as of_endpoint

    found = [*of_endpoint(journal.header.endpoint), *findings]
    stopped: SweepError | None = None
    try:
        cells = _cells(journal, source, watch, found, recovery_s, resumed)
        canary = source.canary(journal.header.endpoint, journal.header.run_id)
        for grown in cells if canary is None else accompanied(cells, canary.ask, found):
            journal = grown
            watch.cell_done(journal.points[-1])
            yield
    except KeyboardInterrupt:
        with undisturbed(asked_already=True):
            journal = reopen(journal.folder.parent)  # a cell may have reached the disk in this very moment
        stopped = _interrupted(journal)
    except SweepError as error:
        stopped = error
        stopped.hint = error.hint or _resume(journal)
    try:
        curve, paths = publish(journal, found, stopped, resumed)
    except KeyboardInterrupt:
        stopped = _interrupted(journal)
        curve, paths = publish(journal, found, stopped, resumed)
    except (OSError, OutputError) as error:
        raise _unwritable(journal, error) from None
    watch.curve_done(curve, paths)
    if stopped is not None:
        raise stopped
    return curve


def _interrupted(journal: Journal) -> Interrupted:
    return Interrupted(f"interrupted after {_count(journal)}", _resume(journal))


def _resume(journal: Journal) -> str:
    return f"sweep resume {journal.folder.parent} goes on"


def _unwritable(journal: Journal, error: OSError | OutputError) -> OutputError:
    said = error.message if isinstance(error, OutputError) else f"{error.filename or journal.folder}: {error.strerror or error}"
    folder = journal.folder.parent
    return OutputError(said, f"the {_count(journal)} finished are kept; free some space, then: sweep resume {folder}")


def _count(journal: Journal) -> str:
    return counted(len(journal.points), "cell")


def _cells(
    journal: Journal, source: Source, watch: Watch, found: list[Finding], recovery_s: float, resumed: bool
) -> Iterator[Journal]:
    """The journal after each cell. What is noticed of the sweep as a whole is added to `found`."""
    from sweep.curve.journal import next_request
    from sweep.curve.refine import left_s, levels_ahead, next_level, rival_tok_per_s, spent_s

    header = journal.header
    measured = journal.records()
    first_request = next_request(measured, after_a_loss=resumed)
    allowance = header.settings.max_tokens
    tokens_left = None if allowance is None else allowance - tokens(measured)
    again = 0
    while (step := next_level(header.plan, journal.points, header.endpoint)) is not None:
        if tokens_left is not None and tokens_left <= least_tokens(header.plan, step.level):
            found.append(Finding(code="token-cap", data={"tokens": allowance, "spent": tokens(journal.records())}))
            return
        cell = scenario.make_cell(
            header.plan,
            header.endpoint,
            index=journal.next_index(),
            level=step.level,
            repeat=step.repeat,
            first_request=first_request,
            spend_s=budget.share_s(
                header.plan,
                header.endpoint,
                step.level,
                levels_ahead(header.plan, journal.points, step),
                spent_s(journal.points),
            ),
            rival_tok_per_s=rival_tok_per_s(header.plan, journal.points, step.level),
        )
        watch.cell_started(cell)
        purse = Purse(tokens_left, left_s(header.plan, journal.points))
        point, records, interrupted = measure(cell, header, source, watch, purse)
        first_request = max(first_request, 1 + int(records["request"].max(initial=-1)))
        tokens_left = None if tokens_left is None else tokens_left - tokens(records)
        lost = again < LOSSES and gone(point, records, source, header)
        if not lost:
            journal = journal.append(cell, point, records)
        if interrupted:
            raise KeyboardInterrupt
        if not lost:
            yield journal
            continue
        changed = returned(source, header, recovery_s)  # then the same step once more: the journal does not hold it
        if changed is None:
            raise EndpointError(
                f"the endpoint stopped answering at {cell.load.label}",
                f"when it is back: sweep resume {journal.folder.parent}",
            )
        again += 1
        kept = [one for one in found if one.code != "endpoint-lost" and one not in changed]
        found[:] = [*kept, *changed, Finding(code="endpoint-lost", data={"count": again})]
