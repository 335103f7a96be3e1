"""What a response means for its call: which kind of body it has, and what to make of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sweep.dialect import Dialect, fault
from sweep.load import retry_after
from sweep.load.call import Call
from sweep.load.http1 import Response
from sweep.model import Outcome

ERROR_BYTES = 65_536
WHOLE_BYTES = 7 << 20


class Answer:
    """Feeds a call's meter from the body of its response. `more` is False once the rest does not matter.

    What a body begins with says more than its type: JSON is one answer, or the error of a server that had promised a stream.
    """

    __slots__ = ("_begun", "_body", "_call", "_dialect", "_streamed", "_tell", "more")

    def __init__(self, call: Call, response: Response, dialect: Dialect, tell: Callable[[Call, str], str]) -> None:
        """The head of `response` is complete. `tell` makes an error's text fit to be kept."""
        self._call = call
        self._dialect = dialect
        self._tell = tell
        self._body = bytearray()
        self.more = True
        self._begun = response.status != 200  # what kind of body it is has been seen
        self._streamed = False
        call.status, call.headers = response.status, response.headers
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status != 200:
            return
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            self._give_up("the answer is compressed although identity was asked for")
        elif "html" in kind:
            self._give_up(f"a page of type {kind} instead of an answer")
        elif kind != "application/json":
            self._streamed = True

    def take(self, body: bytes, at_ns: int) -> None:
        """A part of the body and when it came."""
        call = self._call
        if not self._begun:
            self._begin(body.lstrip()[:1])
        if self._streamed:
            call.meter.feed(body, at_ns)
            self.more = call.meter.failed is None
            return
        self._body += body
        if len(self._body) > (WHOLE_BYTES if call.status == 200 else ERROR_BYTES):
            if call.status == 200:
                self._give_up(f"an answer of more than {WHOLE_BYTES} bytes")
            self.more = False

    def _begin(self, sign: bytes) -> None:
        """`sign` is the first byte that is no space; empty while there is none."""
        self._begun = bool(sign)
        if sign == b"<":
            self._give_up("a page instead of an answer")
        elif sign and self._call.meter.failed is None:
            self._streamed = sign not in b"{["

    def end(self, response: Response, whole: bool, at_ns: int) -> None:
        """The body has ended; `whole` False: by a closed connection before its time."""
        call, meter = self._call, self._call.meter
        if response.status != 200:
            self._refused(response, at_ns)
            return
        if self._streamed:
            meter.end()
        elif whole and meter.failed is None:
            body = bytes(self._body)
            self._body.clear()  # two of three copies of a long answer at a time
            try:
                meter.whole(self._dialect.decode_whole(body), at_ns)
            except ValueError as refusal:
                meter.fail(Outcome.MALFORMED, str(refusal))
        error = self._tell(call, meter.error) if meter.error else None
        outcome = meter.outcome()
        if error is None and outcome is Outcome.TRUNCATED:
            error = "the answer ended without a finish reason" if whole else "the connection closed inside the answer"
        call.settle(outcome, error, at_ns)

    def _give_up(self, why: str) -> None:
        self._call.meter.fail(Outcome.MALFORMED, why)
        self.more = False

    def _refused(self, response: Response, at_ns: int) -> None:
        status, after = response.status or 0, response.headers.get("retry-after")
        said = fault.explain(bytes(self._body)) if self._body else ""
        if 300 <= status < 400:
            said = f"redirected to {response.headers.get('location', 'nowhere').partition('?')[0]}, which is not followed"
        outcome = Outcome.HTTP_ERROR
        if status in (429, 503) and after is not None:
            outcome = Outcome.RATE_LIMITED
            self._call.retry_after_s = retry_after.seconds(after, response.headers.get("date"), datetime.now(UTC))
            said = f"retry after {after[:40]}" + (f": {said}" if said else "")
        self._call.settle(outcome, self._tell(self._call, said) if said else None, at_ns)
