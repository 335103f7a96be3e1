"""A canary: a few fixed short prompts at temperature 0, asked of the idle endpoint one after the other."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec

from sweep import dialect as dialects
from sweep.load import said
from sweep.load.client import Target, body_of, open_session
from sweep.model import Ask, Endpoint

PROMPTS = (
    "Write the numbers from one to nine in words.",
    "Name the capitals of France, Japan and Egypt.",
    "Complete the sentence: the quick brown fox",
)
OSL = 8
ROUND_S = 5.0  # after which a round is given up
MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Canary:
    target: Target
    endpoint: Endpoint
    run_id: str

    def ask(self) -> list[str | None]:
        """The answer to each of `PROMPTS`. Whatever goes wrong, the prompt is simply not answered."""
        return asyncio.run(self._answers())

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
            told = await body_of(response, MAX_BYTES)
            return said.text_of(told) if told and b"choices" in told else None


def canary(target: Target, endpoint: Endpoint, run_id: str) -> Canary | None:
    """None for a dialect whose answers have no text that could be compared."""
    return Canary(target, endpoint, run_id) if endpoint.dialect in said.DIALECTS else None
