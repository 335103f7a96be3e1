"""The four questions: every answer says how it is known, and what nobody knows is missing."""

from __future__ import annotations

import msgspec
import pytest
from curve_builder import ENDPOINT, curve, plan, point

from sweep.curve import artifact, declare
from sweep.curve.setup import describe, four_questions, pooled_lengths
from sweep.errors import UsageError
from sweep.model import Fact, LengthStats


def test_what_nobody_said_is_missing() -> None:
    questions = four_questions(plan(), ENDPOINT, [point(1)], {})
    missing = Fact(value=None, known="missing")
    assert questions.hardware["accelerators"] == missing
    assert questions.software["precision"] == missing
    assert questions.price["per_accelerator_hour"] == missing
    assert questions.client["fingerprint"] == missing
    assert questions.scenario["cached_share_max"] == missing


def test_each_answer_says_how_it_is_known() -> None:
    endpoint = msgspec.structs.replace(ENDPOINT, facts={"precision": "fp8"})
    declared = declare.parse(None, ["hardware.accelerators=8×H200", "software.version=0.12"])
    questions = four_questions(plan(), endpoint, [point(1)], {"cores": 2}, declared)
    assert questions.software["server"] == Fact(value="vllm", known="read")
    assert questions.software["precision"] == Fact(value="fp8", known="read")
    assert questions.software["version"] == Fact(value="0.12", known="declared")
    assert questions.hardware["accelerators"] == Fact(value=[{"count": 8, "name": "H200"}], known="declared")
    assert questions.hardware["accelerator_count"] == Fact(value=8, known="declared")
    assert questions.client["cores"] == Fact(value=2, known="measured")
    assert questions.client["rtt_s"] == Fact(value=0.0002, known="measured")
    assert questions.scenario["isl"].value["mean"] == 1030.0
    assert questions.scenario["isl"].known == "measured"


def test_no_address_and_no_proxy_is_among_the_facts() -> None:
    endpoint = msgspec.structs.replace(ENDPOINT, proxy="http://user:secret@proxy.example:3128")
    questions = four_questions(plan(), endpoint, [], {})
    assert questions.client["proxied"].value is True
    assert "secret" not in repr(questions)
    assert "127.0.0.1" not in repr(questions)


def test_a_description_afterwards_signs_anew_and_keeps_the_old_digest() -> None:
    before = artifact.loads(artifact.to_json(curve()))
    after = describe(before, declare.parse('[price]\ncurrency = "EUR"\nper_accelerator_hour = 2.5'), artifact.digest(before))
    assert after.price["per_accelerator_hour"] == Fact(value=2.5, known="declared")
    assert after.price["per_million_input_tokens"].known == "missing"
    assert after.previous_digests == (before.digest,)
    assert artifact.digest(after) != before.digest
    assert artifact.loads(artifact.to_json(after)).points == before.points


def test_settings_win_over_the_description() -> None:
    declared = declare.parse("[hardware]\npower_w = 700\nhost = 'a'", ["hardware.power_w=650"])
    assert declared == {"hardware": {"power_w": 650, "host": "a"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8×H200", [(8, "H200")]),
        ("8x H200", [(8, "H200")]),
        ("4*H100 + 4×H200", [(4, "H100"), (4, "H200")]),
        ("H200", [(1, "H200")]),
        ("x86 host", [(1, "x86 host")]),
    ],
)
def test_accelerators_as_people_write_them(text: str, expected: list[tuple[int, str]]) -> None:
    assert [(one["count"], one["name"]) for one in declare.accelerators(text)] == expected


@pytest.mark.parametrize(
    ("describe_text", "settings", "message"),
    [
        ("[hardware", (), "not TOML"),
        ("hardware = 3", (), r"\$\.hardware: expected a table"),
        ("[weather]\nx = 1", (), r"\$\.weather: unknown section"),
        ("[hardware]\ngpus = 8", (), r"\$\.hardware\.gpus: unknown fact"),
        ("[price]\nper_accelerator_hour = '0.3 EUR'", (), r"\$\.price\.per_accelerator_hour: expected a number"),
        ("[price]\nper_accelerator_hour = nan", (), "expected a number"),
        ("[price]\nper_accelerator_hour = true", (), "expected a number"),
        ("[price]\nper_accelerator_hour = -1", (), "expected a number from 0"),
        ("[price]\nper_accelerator_hour = 1" + "0" * 400, (), "expected a number from 0"),
        ("[software]\nflags = [1" + "0" * 400 + "]", (), r"\$\.software\.flags: expected a number from 0"),
        ("[hardware]\naccelerators = [{name = 'H200'}]", (), "list of"),
        ("[hardware]\naccelerators = [{name = 'H200', count = 0}]", (), "list of"),
        ("[software]\nflags = [[[[[[1]]]]]]", (), "nested more than 4 deep"),
        (None, ("hardware=8",), "expected section.key=value"),
        (None, ("hardware.power_w",), "expected section.key=value"),
        (None, ("hardware.host=" + "x" * 2000,), "longer than"),
    ],
)
def test_a_wrong_declaration_names_the_place_and_what_is_known(describe_text, settings, message) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        declare.parse(describe_text, settings)
    assert caught.value.hint


def test_pooled_lengths_claim_no_median_they_cannot_know() -> None:
    parts = [
        LengthStats(n=1, mean=10.0, min=10, p50=10, max=10),
        LengthStats(n=3, mean=20.0, min=18, p50=20, max=22),
        LengthStats(n=0),
    ]
    assert pooled_lengths(parts) == LengthStats(n=4, mean=17.5, min=10, p50=None, max=22)
    assert pooled_lengths([]) == LengthStats(n=0)
