"""A canary: a few fixed short prompts at temperature 0, asked of the idle endpoint before, between and after the cells.

Alike answers say that what was measured last is what was measured first. Answers are kept as hashes, never as text, and are
compared, never scored. They are asked one after the other, outside every cell; where a round takes longer than `BETWEEN_S`
only the first and the last are asked, and a round is given up after `ROUND_S`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from time import monotonic
from typing import Any, TypeVar

import aiohttp
import msgspec

from sweep import dialect as dialects
from sweep.load import said
from sweep.load.client import Target, open_session
from sweep.model import Ask, Endpoint, Finding

PROMPTS = (
    "Write the numbers from one to nine in words.",
    "Name the capitals of France, Japan and Egypt.",
    "Complete the sentence: the quick brown fox",
)
OSL = 8
BETWEEN_S = 0.4
ROUND_S = 5.0
MAX_BYTES = 1 << 20
FEW_SIGNS = 2  # different signs in a long answer: what a model of broken numbers says
SHORT = 6

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Round:
    """What every prompt was answered: the answer's hash, None where none came; `garbage` counts those that are no text."""

    after: int  # cells; 0: before the first
    hashes: tuple[str | None, ...]
    garbage: int
    took_s: float


@dataclass
class Canary:
    target: Target
    endpoint: Endpoint
    run_id: str
    rounds: list[Round] = field(default_factory=list)

    def between(self, cells: Iterator[T], found: list[Finding]) -> Iterator[T]:
        """The cells as they come, asking before, between and after them; what was noticed is added to `found`."""
        self.ask(0)
        done = 0
        try:
            for done, cell in enumerate(cells, 1):
                yield cell
                if self.quick:
                    self.ask(done)
            if self.rounds[-1].after != done:
                self.ask(done)
        finally:
            found += findings(self.rounds)

    def ask(self, after: int) -> None:
        """One round. Whatever goes wrong, the prompt is simply not answered."""
        began = monotonic()
        answers = asyncio.run(self._answers())
        garbage = sum(is_garbage(answer) for answer in answers if answer is not None)
        hashes = tuple(None if answer is None else hashed(answer) for answer in answers)
        self.rounds.append(Round(after, hashes, garbage, monotonic() - began))

    @property
    def quick(self) -> bool:
        """The last round was answered, and took no longer than one between cells may."""
        return bool(self.rounds) and None not in self.rounds[-1].hashes and self.rounds[-1].took_s <= BETWEEN_S

    async def _answers(self) -> list[str | None]:
        answers: list[str | None] = [None] * len(PROMPTS)
        try:
            async with asyncio.timeout(ROUND_S), open_session(self.target) as session:
                for place, prompt in enumerate(PROMPTS):
                    answers[place] = await self._answer(session, prompt, place)
        except (TimeoutError, OSError, aiohttp.ClientError, ValueError):
            pass
        return answers

    async def _answer(self, session: aiohttp.ClientSession, prompt: str, place: int) -> str | None:
        spoken = dialects.get(self.endpoint.dialect)
        fields = tuple(name for name in self.endpoint.fields if name == "max_completion_tokens")
        ask = Ask(model=self.endpoint.model, prompt=prompt, osl=OSL, stream=False, fields=fields)
        body = msgspec.json.encode(msgspec.json.decode(spoken.encode(ask), type=dict[str, Any]) | {"temperature": 0})
        headers = {"Content-Type": "application/json", "X-Request-Id": f"canary-{place}-{self.run_id}"}
        url = self.target.place(spoken)
        async with session.post(url, data=body, headers=headers, allow_redirects=False) as response:
            if response.status != 200 or response.content_type != "application/json":
                return None
            told = bytearray()
            while part := await response.content.read(MAX_BYTES):
                told += part
                if len(told) > MAX_BYTES:
                    return None
            return said.text_of(bytes(told)) if b"choices" in told else None


def canary(target: Target, endpoint: Endpoint, run_id: str) -> Canary | None:
    """None for a dialect whose answers have no text that could be compared."""
    return Canary(target, endpoint, run_id) if endpoint.dialect in said.DIALECTS else None


def findings(rounds: Sequence[Round]) -> Iterator[Finding]:
    """What the answers of all rounds together say. Nothing where the first round or every later one was not answered."""
    answers = [each for place in range(len(PROMPTS)) if len(each := _answers_to(place, rounds)) > 1]
    if not answers:
        return
    spoilt = next((one for one in rounds if one.garbage > rounds[0].garbage), None)
    if spoilt is not None:
        yield Finding(code="canary-garbage", data={"count": spoilt.garbage, "asked": len(answers), "cell": spoilt.after})
    changed = [each for each in answers if len({told for _, told in each}) > 1]
    if not changed:
        yield Finding(code="canary-same", data={"asked": len(answers), "rounds": len(rounds)})
    elif all(len(steps(each)) == 1 for each in changed):
        first = min(steps(each)[0] for each in changed)
        yield Finding(code="canary-changed", data={"count": len(changed), "asked": len(answers), "cell": first})
    else:
        yield Finding(code="canary-varies", data={"count": len(changed), "asked": len(answers)})


def _answers_to(place: int, rounds: Sequence[Round]) -> list[tuple[int, str]]:
    """(cells before it, hash) of a prompt's answers; none where it was not answered before the first cell."""
    if not rounds or rounds[0].hashes[place] is None:
        return []
    return [(one.after, told) for one in rounds if (told := one.hashes[place]) is not None]


def steps(answers: Sequence[tuple[int, str]]) -> list[int]:
    """After which cells an answer was another than the one before."""
    return [after for (_, before), (after, now) in pairwise(answers) if now != before]


def is_garbage(answer: str) -> bool:
    """No text at all, signs that stand for what cannot be read, or the same one or two signs over and over."""
    signs = answer.strip()
    unreadable = sum(sign == "\ufffd" or (not sign.isprintable() and not sign.isspace()) for sign in signs)
    few = len(signs) >= SHORT and len(set(signs) - {" "}) <= FEW_SIGNS
    return not signs or few or 5 * unreadable > len(signs)


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
