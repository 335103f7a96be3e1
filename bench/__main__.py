"""python -m bench            the client's benchmark, peers beside it, the simulated endpoint's, and what the numbers are worth
python -m bench list       every benchmark and what it is about
python -m bench NAME …     those benchmarks, one after the other
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

DEFAULT = ("client", "peers", "simulator", "statistics", "alarms", "bias", "spending")
HELPERS = ("reference", "stand", "floor", "otava_changes")  # run by benchmarks, not by people


def benchmarks() -> dict[str, str]:
    """Name -> first line of its docstring, of every module here that runs by itself."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        text = path.read_text()
        if path.stem not in HELPERS and '__name__ == "__main__"' in text:
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    return found


def main(names: list[str]) -> int:
    known = benchmarks()
    if names == ["list"]:
        for name, about in known.items():
            print(f"{name:18}{about}")
        return 0
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"unknown benchmark {unknown[0]}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    return max(subprocess.call([sys.executable, "-m", f"bench.{name}"]) for name in names or DEFAULT)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
