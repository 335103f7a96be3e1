"""The JSON Schema of `sweep compare --json`, published as `comparison.schema.json` beside this module.

    python -m sweep.curve.compare.schema > sweep/curve/compare/comparison.schema.json

Fields are added, never re-meant; a reader takes those it does not know.
"""

from __future__ import annotations

from pathlib import Path

from sweep.curve import artifact
from sweep.curve.compare.nouns import SCHEMA, Comparison

SCHEMA_FILE = Path(__file__).with_name("comparison.schema.json")


def schema_text() -> str:
    """The content of `SCHEMA_FILE`."""
    return artifact.schema_text(SCHEMA, Comparison)


if __name__ == "__main__":
    print(schema_text(), end="")
