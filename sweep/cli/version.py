"""`sweep version`: what a bug report needs."""

from __future__ import annotations

import platform

import sweep
from sweep.cli.options import Json

PANEL = "Set up"
PLACE = 90

LIBRARIES = ("aiohttp", "msgspec", "numpy", "scipy", "polars", "hdrhistogram")


def version(json: Json = False) -> None:
    """Show the versions of sweep, Python and libraries."""
    from importlib.metadata import version as installed

    known = {
        "sweep": sweep.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        **{name: installed(name) for name in LIBRARIES},
    }
    if json:
        from sweep.cli.screen import print_document

        print_document(known)
        return
    for name, what in known.items():
        print(f"{name:14}{what}")
