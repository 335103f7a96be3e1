"""The JSON Schema of `sweep compare --json`, published as `comparison.schema.json` beside this module.

    python -m sweep.curve.compare.schema > sweep/curve/compare/comparison.schema.json

Fields are added, never re-meant; a reader takes those it does not know.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from sweep.curve.compare.nouns import SCHEMA, Comparison

SCHEMA_FILE = Path(__file__).with_name("comparison.schema.json")


def schema() -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        **msgspec.json.schema(Comparison),
    }


def schema_text() -> str:
    """The content of `SCHEMA_FILE`."""
    return json.dumps(schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
