"""From what a user types to where requests go, without letting a key out."""

from __future__ import annotations

import pytest

from sweep import dialect
from sweep.errors import UsageError
from sweep.load.client import proxy_for, request_head, target_from


@pytest.mark.parametrize(
    ("typed", "base"),
    [
        ("localhost:8000", "http://localhost:8000/v1"),
        ("http://h:1/", "http://h:1/v1"),
        ("https://h/v1/", "https://h/v1"),
        ("https://h/api/v1", "https://h/api/v1"),
        ("https://h/prefix", "https://h/prefix/v1"),
        ("https://h/v1/chat/completions", "https://h/v1"),
        ("http://h/v1/completions", "http://h/v1"),
        ("https://h/api/paas/v4", "https://h/api/paas/v4"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
    ],
)
def test_base_urls(typed: str, base: str) -> None:
    assert target_from(typed, environ={}).url == base


@pytest.mark.parametrize("typed", ["ftp://h", "http://", "http://h:port", "http://h/v1?key=secret", "http://[::1"])
def test_no_urls(typed: str) -> None:
    with pytest.raises(UsageError) as error:
        target_from(typed, environ={})
    assert "secret" not in str(error.value)


def test_where_the_key_comes_from() -> None:
    both = {"SWEEP_API_KEY": "ours", "OPENAI_API_KEY": "theirs"}
    assert target_from("h", environ=both).headers == {"Authorization": "Bearer ours"}
    assert target_from("h", environ={"OPENAI_API_KEY": "theirs"}).headers == {"Authorization": "Bearer theirs"}
    assert target_from("http://me:pass@h", environ=both).headers == {"Authorization": "Basic bWU6cGFzcw=="}
    given = target_from("h", headers=["authorization: Token x", "X-Org: 7"], environ=both)
    assert given.headers == {"authorization": "Token x", "X-Org": "7"}


@pytest.mark.parametrize("header", ["no colon", "Bad Name: x", "A: b\r\nC: d", "A: \u2028", ": x"])
def test_headers_that_are_none(header: str) -> None:
    with pytest.raises(UsageError):
        target_from("h", headers=[header], environ={})


def test_secrets_stay_hidden() -> None:
    target = target_from("http://me:pass1234@h", headers=["Authorization: Bearer sk-123456"], environ={})
    assert "sk-123456" not in repr(target)
    assert "pass1234" not in target.url
    assert target.hide("bad key sk-123456!") == "bad key <hidden>!"


def test_the_head_of_a_request() -> None:
    target = target_from("https://h:8/p", headers=["accept: */*"], environ={})
    head = request_head(target, dialect.get("completions"), keep_alive=False, proxy=None).decode()
    lines = head.split("\r\n")
    assert lines[0] == "POST /p/v1/completions HTTP/1.1"
    assert lines[-1] == "X-Request-Id: "
    assert {"Host: h:8", "Connection: close", "accept: */*", "Accept-Encoding: identity"} < set(lines)
    assert sum(line.lower().startswith("accept:") for line in lines) == 1


def test_a_plain_proxy_is_asked_for_the_whole_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://u:p@proxy:3128")
    monkeypatch.setenv("no_proxy", "inside")
    target = target_from("http://outside", environ={})
    assert proxy_for(target_from("http://inside", environ={})) is None
    head = request_head(target, dialect.get("completions"), keep_alive=True, proxy=proxy_for(target)).decode()
    assert head.startswith("POST http://outside/v1/completions HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic dTpw" in head
