"""Who may know whom: the import directions of the house, read from the source."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import sweep

ROOT = Path(sweep.__file__).parent
NOUNS = {"model", "records", "errors", "findings", "wording"}
KNOWS = {
    "wording": set(),
    "model": set(),
    "records": {"model"},
    "errors": set(),
    "findings": {"model", "wording"},
    "plan": NOUNS,
    "prompt": NOUNS,
    "dialect": NOUNS,
    "measure": NOUNS,
    "load": NOUNS | {"plan", "prompt", "dialect"},
    "sim": NOUNS | {"plan", "dialect"},
    "curve": NOUNS | {"measure", "plan"},
    "convert": NOUNS | {"curve"},
    "report": NOUNS | {"curve"},
    "run": NOUNS | {"plan", "prompt", "dialect", "load", "sim", "measure", "curve", "convert", "report"},
    "selftest": NOUNS | {"plan", "prompt", "dialect", "load", "sim", "measure", "curve", "convert", "report", "run"},
    "cli": NOUNS | {"plan", "prompt", "dialect", "load", "sim", "measure", "curve", "convert", "report", "run", "selftest"},
    "__main__": {"cli"},
}
NO_CLOCK = {"asyncio", "aiohttp"}
NO_WEIGHT = {"scipy", "polars", "matplotlib"}
PURE = {"plan", "prompt", "dialect", "measure", "curve"}


@cache
def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
    return found


def modules() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_knows_only_its_neighbours(path: Path) -> None:
    room = room_of(path)
    known = {name.split(".")[1] for name in imports(path) if name.startswith("sweep.")} - {"__version__"}
    assert known - {room} <= KNOWS[room]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_pure_rooms_have_no_clock_and_the_timekeeper_stays_small(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports(path)}
    if room_of(path) in PURE or path == ROOT / "sim" / "engine.py":
        assert not roots & NO_CLOCK
    if room_of(path) in {"load", "sim"}:
        assert not roots & NO_WEIGHT
