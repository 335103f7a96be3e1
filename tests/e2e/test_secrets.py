"""No key, no header value and no text of a prompt is ever written or shown, even when the server echoes them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from servers import Answer, Asked, running

from sweep.cli import main

KEY = "sk-environment-0123456789abcdef"
HEADER = "tenant-token-fedcba9876543210"
PASSWORD = "pass-word-in-the-url"
PIECE = 24  # characters of a prompt in a row that would give it away


def prompt_of(asked: Asked) -> str:
    return str(json.loads(asked.body)["messages"][0]["content"])


def echoing() -> Iterator[Answer | None]:
    """Every third answer is an error, each in another shape, with all in it that the server knows."""
    for shape in itertools.cycle(range(4)):
        yield None
        yield None
        yield _echo(shape)


def _echo(shape: int) -> Answer:
    return [
        Answer(400, b'{"error":{"message":"bad request %(key)s %(header)s: %(prompt)s"}}'),
        Answer(422, b'{"detail":[{"loc":["body"],"msg":"no","input":{"messages":"%(prompt)s","key":"%(key)s"}}]}'),
        Answer(500, b"<html><title>%(prompt)s %(header)s</title></html>", kind="text/html"),
        Answer(429, b"slow down %(key)s %(header)s %(prompt)s", headers={"Retry-After": "1"}),
    ][shape]


@pytest.mark.parametrize("where", ["environment", "URL"])
def test_nothing_secret_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], where: str
) -> None:
    answers = echoing()

    def behaviour(asked: Asked) -> Answer | None:
        answer = None if asked.preflight else next(answers)
        if answer is None:
            return None
        known = {
            b"%(key)s": asked.headers["authorization"].encode(),
            b"%(header)s": asked.headers["x-tenant"].encode(),
            b"%(prompt)s": json.dumps(prompt_of(asked))[1:-1].encode(),
        }
        body = answer.body
        for name, value in known.items():
            body = body.replace(name, value)
        return Answer(answer.status, body, answer.kind, answer.headers)

    if where == "environment":
        monkeypatch.setenv("SWEEP_API_KEY", KEY)
    with running(behaviour) as site:
        user = "" if where == "environment" else f"user:{PASSWORD}@"
        plan = ["--profile", "64/16", "--grid", "2", "--duration", "1s", "--keep-chunks", "--json", "--name", "run"]
        code = main.run(
            [
                "--endpoint",
                f"http://{user}localhost:{site.port}",
                "--header",
                f"X-Tenant: {HEADER}",
                *plan,
                "--out",
                str(tmp_path),
            ]
        )
    assert code == 4  # a third of the requests failed
    records = pl.read_parquet(tmp_path / "run" / "run.records.parquet")
    assert {400, 422, 500, 429} <= set(records["status"]), "every shape was seen"

    out, err = capfd.readouterr()
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.suffix or path.name for path in written} == {".json", ".parquet", ".hlog", ".svg", ".png", ".html", "lock"}
    for path in written:
        if path.suffix == ".parquet":  # compressed: read it as anyone would
            written[path] = str(pl.read_parquet(path).to_dict(as_series=False)).encode()
    shown = {"stdout": out.encode(), "stderr": err.encode()}

    sent = [asked for asked in site.asked if asked.method == "POST"]
    secrets = {asked.headers[name] for asked in sent for name in ("authorization", "x-tenant")}
    secrets |= {KEY, HEADER, PASSWORD} | {secret.rpartition(" ")[2] for secret in secrets}
    prompts = [prompt_of(asked) for asked in sent]
    pieces = {prompt[at : at + PIECE] for prompt in prompts for at in range(0, len(prompt) - PIECE, 5)}
    assert len(pieces) > 1000
    for place, content in {**written, **shown}.items():
        assert not [secret for secret in secrets if secret.encode() in content], place
        text = content.decode("utf-8", "replace")
        assert not [piece for piece in pieces if piece in text], place
