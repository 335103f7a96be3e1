"""What one streamed answer said and when: bytes and their stamps in, token times and an outcome out. No clock, no socket."""

from __future__ import annotations

from array import array

from sweep.dialect import Dialect
from sweep.dialect.sse import Splitter
from sweep.load.look import Reads
from sweep.load.said import DIALECTS, Said
from sweep.load.shape import Shape
from sweep.model import Event, Outcome, TokenSource, Usage

MAX_EVENT_BYTES = 3 << 20
MAX_CHUNKS = 500_000  # 16 bytes each; a stream beyond it does not end
MAX_TOKENS = 1 << 31  # of a prompt or an answer; a server that tells more, or less than none, tells nothing


class Meter:
    """Fed with the body of one answer, read by read.

    A chunk is an event that carries at least one token: by its own shape, or because a usage count grew before the end.
    It counts the growth of usage where the server reports it in every chunk, else its token ids, else one.
    """

    __slots__ = (
        "_counted", "_decode", "_held", "_said", "_shape", "_splitter", "answer_ns", "chunk_ns", "chunk_tokens", "chunks_taken", "done",
        "error", "failed", "finish", "first_ns", "first_tokens", "ids", "last_ns", "per_read_max", "prelude_ns", "reads", "source",
        "tokens_taken", "usage",
    )  # fmt: skip

    def __init__(self, dialect: Dialect, reads: Reads, keeps_text: bool = False) -> None:
        """`reads` counts the reads of all meters that share it; `keeps_text` is for answers that the server does not count."""
        self._decode = dialect.decode
        self._said = Said() if keeps_text and dialect.NAME in DIALECTS else None
        self._splitter = Splitter(MAX_EVENT_BYTES)
        self._shape = Shape()
        self._held = 0  # bytes of an event that is not complete
        self._counted: int | None = None  # output tokens by the last usage seen
        self.reads = reads
        self.chunk_ns = array("q")
        self.chunk_tokens = array("q")
        self.chunks_taken = 0  # already handed out by `take`
        self.tokens_taken = 0
        self.first_ns: int | None = None  # these three are brought up to date by `take`
        self.first_tokens: int | None = None
        self.last_ns: int | None = None
        self.per_read_max = 0
        self.answer_ns: int | None = None
        self.prelude_ns: int | None = None  # when the first event without a token came, if one came before the first token
        self.ids = 0  # token ids listed
        self.usage: Usage | None = None
        self.source = TokenSource.CHUNKS
        self.finish: str | None = None
        self.done = False
        self.failed: Outcome | None = None
        self.error: str | None = None

    @property
    def chunks(self) -> int:
        return self.chunks_taken + len(self.chunk_ns)

    @property
    def begun_ns(self) -> int | None:
        """When the first chunk came; None while there is none."""
        return self.chunk_ns[0] if self.first_ns is None and self.chunk_ns else self.first_ns

    @property
    def newest_ns(self) -> int | None:
        """When the last chunk so far came."""
        return self.chunk_ns[-1] if self.chunk_ns else self.last_ns

    def feed(self, data: bytes, at_ns: int) -> None:
        """One read. After the end mark or a failure nothing more is looked at."""
        if self.done or self.failed is not None:
            return
        before = len(self.chunk_ns)
        answers = self._shape.single(data) if not self._held and self._said is None else None
        if answers is not None:
            self.chunk_ns.append(at_ns)
            self.chunk_tokens.append(1)
            if answers and self.answer_ns is None:
                self.answer_ns = at_ns
        else:
            self._feed_events(data, at_ns)
        held = len(self.chunk_ns) - before
        if held:
            counts = self.reads.counts
            counts[held if held < len(counts) else -1] += 1
            if held > self.per_read_max:
                self.per_read_max = held
            if held > 1:
                self.reads.merged(self._gap_ns(at_ns))
            if self.chunks > MAX_CHUNKS:
                self.fail(Outcome.MALFORMED, f"more than {MAX_CHUNKS} chunks")

    def end(self) -> None:
        """The body has ended: an event without its blank line still counts if it can be read."""
        tail = self._splitter.tail()
        if tail is not None and self.failed is None:
            try:
                event = self._decode(tail)
            except ValueError:
                return
            if event.done or event.finish or event.usage:
                self._take(event, 0)

    def whole(self, event: Event, at_ns: int) -> None:
        """An answer that was not streamed: every token came at once."""
        self._take(event, at_ns)
        self.done = True
        if self.usage is not None and self.usage.completion_tokens and self.chunk_ns:
            self.chunk_tokens[-1] = self.usage.completion_tokens

    def _gap_ns(self, now_ns: int) -> float:
        """Between two chunks so far, on average; 0 where all came at once."""
        first_ns = self.first_ns if self.first_ns is not None else self.chunk_ns[0]
        return (now_ns - first_ns) / max(1, self.chunks - 1)

    def fail(self, outcome: Outcome, error: str) -> None:
        if self.failed is None:
            self.failed, self.error = outcome, error

    def _feed_events(self, data: bytes, at_ns: int) -> None:
        try:
            events = self._splitter.feed(data)
        except ValueError as error:
            self.fail(Outcome.MALFORMED, str(error))
            return
        self._held = self._splitter.pending
        for payload in events:
            if self.failed is not None or self.done:
                return
            answers = self._shape.event(payload) if self._said is None else None
            if answers is not None:
                self.chunk_ns.append(at_ns)
                self.chunk_tokens.append(1)
                if answers and self.answer_ns is None:
                    self.answer_ns = at_ns
                continue
            try:
                event = self._decode(payload)
            except ValueError as error:
                self.fail(Outcome.MALFORMED, str(error))
                return
            self._take(event, at_ns)
            if self._said is not None:
                self._said.add(payload)
            elif event.token and self._counted is None:
                self._shape.learn(payload, event)

    def _take(self, event: Event, at_ns: int) -> None:
        if event.error is not None:
            self.fail(Outcome.STREAM_ERROR, event.error)
            return
        grown = self._growth(event)
        if event.token or (grown is not None and grown > 0):
            self.chunk_ns.append(at_ns)
            self.chunk_tokens.append(grown if grown is not None and grown > 0 else event.token_ids or 1)
            if event.answer and self.answer_ns is None:
                self.answer_ns = at_ns
            if event.token_ids:
                self.ids += event.token_ids
                if self.source is TokenSource.CHUNKS:
                    self.source = TokenSource.TOKEN_IDS
        elif self.prelude_ns is None and not self.chunks:
            self.prelude_ns = at_ns
        if event.finish:
            self.finish = event.finish
        if event.done:
            self.done = True

    def _growth(self, event: Event) -> int | None:
        """By how much the server's own count grew with this event; None where that cannot be known."""
        usage = event.usage
        if usage is None:
            return None
        self.usage = _merged(self.usage or Usage(), usage)
        count = _meant(usage.completion_tokens)
        if count is None:
            return None
        # The first count is growth only if nothing came before it: a closing usage repeats what the chunks already brought.
        before = self._counted if self._counted is not None else None if self.chunks or self.finish or event.finish else 0
        if self._counted is not None and self.finish is None and count > self._counted:
            self.source = TokenSource.CONTINUOUS_USAGE
        self._counted = max(count, self._counted or 0)  # one that sinks is no count, and growth from there no tokens
        return count - before if before is not None and self.finish is None else None

    # --- what it comes to ------------------------------------------------------------------------------------

    def outcome(self) -> Outcome:
        """How a stream that ended by itself ended."""
        if self.failed is not None:
            return self.failed
        if not (self.done or self.finish):
            return Outcome.TRUNCATED
        return Outcome.OK if self.chunks else Outcome.EMPTY

    def tokens(self) -> tuple[int | None, TokenSource]:
        """(output tokens, their source). A server that says 0 of an answer that came does not count."""
        usage = self.usage.completion_tokens if self.usage is not None else None
        if usage is not None and (self.done or self.finish or not self.chunks) and (usage or not self.chunks):
            return usage, TokenSource.USAGE
        counted = self.tokens_taken + sum(self.chunk_tokens)
        return (counted, self.source) if counted else (None, TokenSource.UNKNOWN)

    def text(self) -> str | None:
        """A whole answer whose tokens only a tokenizer can tell; None where they are counted, or where it is not kept."""
        if self._said is None or self.tokens()[1] is not TokenSource.CHUNKS or not (self.done or self.finish):
            return None
        return self._said.text()

    def take(self) -> tuple[array[int], array[int]]:
        """(times in ns, tokens) of the chunks since the last `take`."""
        times, tokens = self.chunk_ns, self.chunk_tokens
        if times:
            self.chunks_taken += len(times)
            self.tokens_taken += sum(tokens)
            if self.first_ns is None:
                self.first_ns, self.first_tokens = times[0], tokens[0]
            self.last_ns = times[-1]
            self.chunk_ns, self.chunk_tokens = array("q"), array("q")
        return times, tokens


def _merged(old: Usage, new: Usage) -> Usage:
    """The newest figure of each kind; no prompt has 0 tokens."""
    return Usage(
        prompt_tokens=_newest(old.prompt_tokens, new.prompt_tokens or None),
        completion_tokens=_newest(old.completion_tokens, new.completion_tokens),
        reasoning_tokens=_newest(old.reasoning_tokens, new.reasoning_tokens),
        cached_tokens=_newest(old.cached_tokens, new.cached_tokens),
    )


def _newest(old: int | None, new: int | None) -> int | None:
    return old if _meant(new) is None else new


def _meant(count: int | None) -> int | None:
    return count if count is not None and 0 <= count <= MAX_TOKENS else None
