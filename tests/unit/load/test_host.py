from __future__ import annotations

import pytest

from sweep.load import host


def test_the_fingerprint_tells_hosts_apart_without_naming_them(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = host.observed()
    assert ours == host.observed()
    monkeypatch.setattr(host, "_cpu_model", lambda: "EPYC")
    theirs = host.observed()
    assert ours["fingerprint"] != theirs["fingerprint"]
    assert not any("EPYC" in str(value) for value in theirs.values())
