"""`sweep probe`: a table for people, the endpoint of a curve file for scripts."""

from __future__ import annotations

import msgspec
import pytest

from sweep.cli import main
from sweep.model import Endpoint
from sweep.sim.server import start


def test_probe_shows_a_table_or_the_noun(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with start("synthetic-8b-bf16", api_key="sk-a-secret-123456") as served:
        header = ["--header", "Authorization: Bearer sk-a-secret-123456"]
        assert main.run(["probe", served.url, *header]) == 0
        table = capfd.readouterr().out
        assert main.run(["probe", served.url, "--json", *header]) == 0
        document = capfd.readouterr().out
        assert main.run(["probe", served.url]) == 3
    assert "synthetic-8b-bf16" in table
    assert max(map(len, table.splitlines())) <= 80
    assert msgspec.json.decode(document, type=Endpoint).facts["chunk_is_token"] is True
    assert "sk-a-secret" not in table + document
