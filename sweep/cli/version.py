"""`sweep version`."""

from __future__ import annotations

import platform

import sweep

PANEL = "Set up"
PLACE = 90


def version() -> None:
    """Show the versions of sweep, Python and libraries."""
    from importlib.metadata import version as installed

    print(f"sweep {sweep.__version__}")
    print(f"python {platform.python_version()}")
    for name in ("aiohttp", "msgspec", "numpy", "scipy", "polars", "hdrhistogram"):
        print(f"{name} {installed(name)}")
