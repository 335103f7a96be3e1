"""Several sweeps that take turns cell by cell: A, B, then B, A (ABBA), so that the time of day cannot decide between them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from sweep.errors import EndpointError, SweepError
from sweep.model import Curve

Sweeping = Generator[None, None, Curve]


def in_turns(sweeps: Sequence[Sweeping], announce: Callable[[int], None] | None = None) -> list[Curve]:
    """One cell each, then one cell each in reverse order, until all are complete; `announce` is told whose turn begins.

    When one is stopped, the others write what they have before that is raised, with all that can be resumed in its hint.
    """
    left, curves, forwards = dict(enumerate(sweeps)), {}, True
    say = announce or (lambda place: None)
    try:
        while left:
            for place in sorted(left, reverse=not forwards):
                say(place)
                try:
                    next(left[place])
                except StopIteration as complete:
                    curves[place] = complete.value
                    del left[place]
            forwards = not forwards
    except BaseException as stopped:
        hints = [_end(left[place], stopped, lambda place=place: say(place)) for place in sorted(left)]  # type: ignore[misc]
        if isinstance(stopped, SweepError):
            stopped.hint = "; ".join(dict.fromkeys(hint for hint in (stopped.hint, *hints) if hint)) or None
        raise
    return [curves[place] for place in sorted(curves)]


def _end(sweep: Sweeping, stopped: BaseException, announce: Callable[[], None]) -> str | None:
    """Ends one because of another, as the user's Ctrl-C would or as an endpoint that is gone; what it hints at."""
    announce()
    try:
        sweep.throw(EndpointError("the other endpoint is gone") if isinstance(stopped, EndpointError) else KeyboardInterrupt())
    except SweepError as ended:
        return ended.hint
    except (KeyboardInterrupt, StopIteration):  # it was the one that stopped, or had not begun
        return None
    return None
