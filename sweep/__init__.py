"""Latency-throughput curves of live AI-inference endpoints.

The public API, lazily: importing `sweep` imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Curve", "Endpoint", "Estimate", "Load", "Point", "Profile", "Slo", "__version__", "load", "run"]

if TYPE_CHECKING:
    from sweep.curve.notebook import load
    from sweep.model import Curve, Endpoint, Estimate, Load, Point, Profile, Slo
    from sweep.run import run

_HOME = {"run": "sweep.run", "load": "sweep.curve.notebook"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sweep' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, "sweep.model")), name)
