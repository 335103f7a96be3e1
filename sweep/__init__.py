"""Latency-throughput curves of live AI-inference endpoints.

The public API, lazily: importing `sweep` imports nothing heavy, not even `typing`.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False

__version__ = "0.1.0"
__all__ = [
    "Curve",
    "Endpoint",
    "Estimate",
    "History",
    "Load",
    "Point",
    "Profile",
    "Slo",
    "__version__",
    "compare",
    "load",
    "regress",
    "run",
]

if TYPE_CHECKING:
    from typing import Any

    from sweep.curve.compare.together import compare
    from sweep.curve.notebook import load
    from sweep.curve.regress import regress
    from sweep.model import Curve, Endpoint, Estimate, History, Load, Point, Profile, Slo
    from sweep.run import run

_HOME = {
    "compare": "sweep.curve.compare.together",
    "load": "sweep.curve.notebook",
    "regress": "sweep.curve.regress",
    "run": "sweep.run",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sweep' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME.get(name, "sweep.model")), name)


class _Package(ModuleType):
    """Importing the rooms `run` and `load` must not put them where the functions of the same names are."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
