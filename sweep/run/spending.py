"""What a sweep spends: tokens, which a hosted endpoint would charge, and time; and what is bound to come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from sweep.errors import UsageError
from sweep.model import Outcome, Plan
from sweep.plan import lengths, scenario
from sweep.records import Records

if TYPE_CHECKING:
    from sweep.curve.journal import Journal


def tokens(records: Records) -> int:
    """Tokens sent and received, as far as they are known."""
    sent, answered = records.present("sent_ns"), records.present("osl")
    return int(records["isl_asked"][sent].sum() + records["osl"][answered].sum())


def bound_to_come(open: Records) -> int:
    """What a cell still spends when it is ended now: the rest of the answers in flight, and the load kept on meanwhile.

    Each of them is followed by one more request, whose answer may be whole when it is cut.
    """
    received = int(open["osl"][open.present("osl")].sum())
    asked = int(open["osl_asked"].sum())
    return max(0, asked - received) + int(open["isl_asked"].sum()) + asked


def least_tokens(plan: Plan, level: float) -> int:
    """What a closed loop spends at least, ended as soon as it has begun; an open one can end with little."""
    isl, osl = lengths.means(plan.profile)
    return round(2 * level * (isl + osl)) if plan.kind == "closed" else 0


@dataclass(slots=True)
class Purse:
    """The tokens and the seconds left for a cell, asked about twice a second."""

    left: int | None
    left_s: float | None = None
    foreseen: int | None = None

    def empty(self, done: Records, open: Records) -> bool:
        """Whether the cell must end now: when it is asked again, it would be too late."""
        if self.left is None:
            return False
        now = tokens(done) + tokens(open) + bound_to_come(open)
        growth = 0 if self.foreseen is None else max(0, now - self.foreseen)
        self.foreseen = now
        return now + growth > self.left

    def over(self, done: Records, elapsed_s: float) -> bool:
        """Whether the cell must end now, for what is in flight to end in time."""
        if self.left_s is None:
            return False
        ok = done["outcome"] == Outcome.OK
        tail_ns = np.median((done["end_ns"] - done["sent_ns"])[ok]) if ok.any() else 0.0
        return elapsed_s + float(tail_ns) / 1e9 >= self.left_s


def relimited(journal: Journal, max_tokens: int | None, budget_s: float | None) -> Journal:
    """The journal of a begun sweep under other limits. UsageError where they are spent already."""
    from sweep.curve.refine import spent_s

    header = journal.header
    if max_tokens is not None:
        if max_tokens <= (spent := tokens(journal.records())):
            raise UsageError(f"--max-tokens {max_tokens:,}: {spent:,} tokens were spent already", "they count: give more")
        header = replace(header, settings=replace(header.settings, max_tokens=max_tokens))
    if budget_s is not None:
        if budget_s <= (took_s := spent_s(journal.points)):
            raise UsageError(f"--budget {budget_s:g}s: {took_s:.0f} s were spent already", "they count: give more")
        header = replace(header, plan=scenario.with_budget(header.plan, budget_s))
    return journal if header is journal.header else journal.under(header)


def require_enough(plan: Plan, max_tokens: int | None) -> None:
    """Raises UsageError where not even the first cell can be afforded."""
    least = least_tokens(plan, plan.grid[0] if plan.grid else 1.0)
    if max_tokens is not None and max_tokens < least:
        raise UsageError(
            f"--max-tokens {max_tokens:,} is too little for one cell of {plan.profile.name}",
            f"the first takes {least:,} at least",
        )
