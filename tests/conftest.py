"""Property tests are deterministic and have no stop-watch: they run beside other work on small machines."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("house", max_examples=50, deadline=None, derandomize=True)
settings.load_profile("house")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """For sweeps whose pictures nobody looks at: drawing them takes longer than measuring."""
    for drawn in ("sweep.report.figure.save", "sweep.report.page.save"):
        monkeypatch.setattr(drawn, lambda *_: None)
