"""Nightly judgements as one JSON document: all that was decided about every night; its figures stay in its curve file."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sweep.model import History


def document(histories: Sequence[History]) -> bytes:
    made = []
    for history in histories:
        plain = msgspec.to_builtins(history)
        nights = [{"name": night.name, "file": night.file, "at": night.at, "digest": night.digest} for night in history.nights]
        for night, judged in zip(nights, plain.pop("judged"), strict=True):
            night.update(judged)
        made.append({"verdict": history.verdict, **plain, "nights": nights})
    return msgspec.json.format(msgspec.json.encode({"histories": made}, order="sorted"), indent=1) + b"\n"
