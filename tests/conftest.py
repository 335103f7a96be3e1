"""Property tests are deterministic and have no stop-watch: they run beside other work on small machines."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
