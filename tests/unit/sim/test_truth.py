from __future__ import annotations

import json
from array import array

import pytest

from sweep.errors import OutputError
from sweep.sim.truth import Log, Row


def row(number: int, chunks: int) -> Row:
    made = Row(f"{number}-r", number, number, "chat", 10, chunks, 1, [])
    made.step_ns, made.step_tokens = array("q", range(chunks)), array("i", [1] * chunks)
    return made


def test_the_oldest_are_forgotten_when_memory_is_full(monkeypatch):
    monkeypatch.setattr("sweep.sim.truth.KEPT_CHUNKS", 10)
    log = Log()
    for number in range(5):
        log.add(row(number, 4))
    assert [json.loads(line)["request"] for line in log.lines().splitlines()] == [3, 4]
    log.clear()
    log.add(row(9, 10))
    assert len(log.rows) == 1


def test_a_request_without_tokens_has_no_first_token():
    told = json.loads(row(1, 0).to_json())
    assert told["first_ns"] is told["last_ns"] is told["admitted_ns"] is None


def test_a_file_that_cannot_be_written_is_said_at_once(tmp_path):
    with pytest.raises(OutputError, match="cannot write"):
        Log(str(tmp_path / "missing" / "truth.jsonl"))
