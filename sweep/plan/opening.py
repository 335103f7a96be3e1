"""When the slots of an equilibrium start open: a few waiting at a time, for as long as the endpoint does not queue.

Prompts that hold most of an answer are long. Sent all at once they would wait for each other, and their phases would be those
of a queue. So the next slot opens when few wait for their first token. An endpoint whose batch or memory is full lets them
wait for others to end instead: then the steady state is a queue, and the slots left are opened at once with full requests.
"""

from __future__ import annotations

FEW = 4
QUEUES = 8.0  # how many times as long as the largest prompt by the quickest pace: more than a few waiting for each other
STEP_TOKENS = 512  # a step of the endpoint takes about as long as so many prompt tokens
SHORTEST_NS = 100_000_000  # a wait below this is no queue, whatever the prompt


class Opening:
    """Told what the endpoint did, says how many slots may open now. No clock inside: the caller's moments, in ns."""

    def __init__(self, slots: int, few: int = FEW) -> None:
        """`few` is how many of these slots may wait for their first token at a time."""
        self.left = slots
        self.mid_flight = True  # False once the endpoint queues: full requests from now on
        self._few = max(1, few)
        self._waiting: dict[int, tuple[int, int]] = {}  # request -> (sent ns, prompt tokens)
        self._quickest: float | None = None  # ns per prompt token
        self._largest = 0  # prompt: a short one may wait behind it

    @property
    def waiting(self) -> list[int]:
        """The requests whose first token is awaited."""
        return list(self._waiting)

    def may_open(self, now_ns: int) -> int:
        """How many slots to open now. A request that waits much longer than the largest prompt takes shows a queue."""
        if any(self._queued(now_ns - sent_ns) for sent_ns, _ in self._waiting.values()):
            self.mid_flight = False
        return min(self.left, self._few - len(self._waiting)) if self.mid_flight else self.left

    def opened(self, request: int, tokens: int, now_ns: int) -> None:
        """A slot opened with a prompt of so many tokens."""
        self.left -= 1
        self._largest = max(self._largest, tokens)
        if self.mid_flight:
            self._waiting[request] = now_ns, tokens

    def answered(self, request: int, first_ns: int | None) -> None:
        """Its first token came; None: it ended without one, so that prompts like it are not to be sent again."""
        sent_ns, tokens = self._waiting.pop(request)
        if first_ns is None or self._queued(first_ns - sent_ns):
            self.mid_flight = False
        else:
            pace = (first_ns - sent_ns) / (tokens + STEP_TOKENS)
            self._quickest = pace if self._quickest is None else min(pace, self._quickest)

    def _queued(self, waited_ns: int) -> bool:
        if self._quickest is None or waited_ns < SHORTEST_NS:
            return False
        return waited_ns > QUEUES * self._quickest * (self._largest + STEP_TOKENS)
