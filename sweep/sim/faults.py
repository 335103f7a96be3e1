"""What an endpoint can do wrong, each to a share of the requests and reproducible by seed.

A request has a fault when a hash of (seed, request, fault) falls below the fault's share; faults are independent. Answers
that are not streamed know only refusals and the early stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sweep.errors import UsageError
from sweep.sim.chance import uniform

RETRY_AFTER_S = 1
KINDS: dict[str, str] = {
    "stall": "pauses in the middle of the stream",
    "rate_limited": "429 with Retry-After",
    "unavailable": "503",
    "error_event": "an error event inside a 200, in the middle of the stream",
    "truncated": "the stream ends in the middle, without finish reason or end mark",
    "reset": "the connection is reset in the middle of the stream",
    "crlf": "lines end in CR LF",
    "no_space": "no space after `data:`",
    "comments": "a comment before every event",
    "role_only": "the opening delta comes at once, long before the first token",
    "empty_deltas": "an empty delta before every chunk",
    "no_usage": "neither usage nor token ids, although asked for",
    "usage_in_finish": "usage in the event that carries the finish reason",
    "multi_token": "four tokens in a chunk",
    "split": "every write is split at some byte, the rest follows half a millisecond later",
    "slow_headers": "the response head trickles in over half a second",
    "early_stop": "the answer ends before the length asked for",
    "hung": "a response head, then silence",
    "wrong_type": "content type text/html",
    "huge_event": "one event of a mebibyte",
    "gzip": "the stream is gzipped although identity was asked for",
    "deflate": "the stream is deflated although identity was asked for",
}
ORDER = {kind: place for place, kind in enumerate(KINDS)}
NONE: frozenset[str] = frozenset()
_SALT = 0xFA017


@dataclass(frozen=True, slots=True)
class Faults:
    """`shares` by kind, each in [0, 1]. UsageError for an unknown kind or share."""

    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        for kind, share in self.shares.items():
            if kind not in KINDS:
                raise UsageError(f"unknown fault {kind!r}", hint=f"one of: {', '.join(KINDS)}")
            if not 0 <= share <= 1:
                raise UsageError(f"fault {kind}: a share lies between 0 and 1, got {share:g}", "for example truncated=0.05")

    def of(self, request: int) -> frozenset[str]:
        """The faults of this request."""
        if not self.shares:
            return NONE
        return frozenset(kind for kind, share in self.shares.items() if uniform(self.seed, _SALT, ORDER[kind], request) < share)

    def place(self, request: int, count: int) -> int:
        """Where in 1 .. count − 1 a fault strikes that strikes midway; 0 when count is 1."""
        return min(count - 1, 1 + int(uniform(self.seed, _SALT, len(ORDER), request) * (count - 1)))


def parse(specs: Iterable[str], seed: int = 0) -> Faults:
    """`kind=share`, or `kind` for every request. UsageError when not understood."""
    shares = {}
    for spec in specs:
        kind, equals, share = spec.partition("=")
        try:
            shares[kind.strip().replace("-", "_")] = float(share) if equals else 1.0
        except ValueError:
            raise UsageError(f"fault {spec!r}: the share is not a number", hint="for example truncated=0.05") from None
    return Faults(shares, seed)
