"""The published schema of comparisons: as the code has it, and true of what is written."""

from __future__ import annotations

import json
from typing import Any

import browser_pages
import jsonschema
import msgspec
import pytest
from comparable import dressed, metered, side
from curve_builder import point

from sweep.curve.compare import schema
from sweep.curve.compare.nouns import Comparison
from sweep.curve.compare.together import compare
from sweep.curve.cost import Price
from sweep.report.compare import out


@pytest.fixture(scope="module")
def published() -> Any:
    return json.loads(schema.SCHEMA_FILE.read_text(encoding="utf-8"))


def test_the_published_schema_is_that_of_the_code() -> None:
    assert schema.SCHEMA_FILE.read_text(encoding="utf-8") == schema.schema_text(), "make docs"


def test_it_is_a_schema_and_names_itself(published: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(published)
    assert published["title"] == "sweep.comparison/1"


def test_whatever_is_written_is_valid(published: Any) -> None:
    rich = [browser_pages.side("a"), browser_pages.side("b", seed=1)]
    other = side("c")
    other = msgspec.structs.replace(other, profile=msgspec.structs.replace(other.profile, text="code"))
    priced = {"A": Price(per_accelerator_hour=2.0), "B": Price(per_million_output_tokens=0.5)}
    found: list[Comparison] = [
        browser_pages.put_together(*rich),
        compare(rich, weights={"ttft_p90<=600ms": 3, 30.0: 1, 1e9: 1}, cost_ceiling=1.0, draws=50),
        compare([side("a"), other], at=[20.0], force=True, draws=50),
        compare([metered(side("a"), lambda _: 900.0), side("b", accelerators=8, power_w=700)], prices=priced, draws=50),
        compare([dressed("one", [point(1)]), dressed("none", [point(1, disqualified=True)])], at=[10.0]),
    ]
    for each in found:
        jsonschema.validate(json.loads(out.json_text(each)), published)


def test_it_refuses_what_is_none(published: Any) -> None:
    document = json.loads(out.json_text(compare([side("a"), side("b")], at=[20.0], draws=50)))
    for broken in ({"sides": 3}, {"basis": "planet"}, {"verdicts": [{"call": "great"}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document | broken, published)
