"""Judgements as JUnit, Markdown, Bencher, Prometheus, page, terminal — and as an exit code."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest
from curve_builder import ENDPOINT, curve, point
from matplotlib.colors import to_hex
from nights import night, nights, worsenings

from sweep.cli.main import run
from sweep.convert.bencher import bencher
from sweep.convert.document import document
from sweep.convert.junit import junit
from sweep.convert.markdown import markdown
from sweep.convert.prometheus import prometheus
from sweep.curve import artifact, regress
from sweep.curve.nightly.comparable import comparable
from sweep.curve.nightly.judge import judge
from sweep.curve.nightly.rules import rules
from sweep.curve.nightly.words import latest_night, percent, when
from sweep.report.nightly import drawing, page
from sweep.report.nightly.heatmap import UNMEASURED, map_figure
from sweep.report.nightly.timeline import timeline_figure

RULES = rules()
HOSTILE = "<img src=x onerror=alert(1)>|`[a](b)`"


def story(slow_from=22, count=24, title="model · 1k-1k"):
    y = worsenings(count, 0) * 0.3
    y[slow_from:, 0] += np.log(1.06)
    return judge(comparable(title, nights(y)), RULES)


REGRESSED, SUSPECTED, OK = story(), story(23), story(30)
LEARNING = story(count=5)


@pytest.mark.parametrize(
    ("history", "strict", "code"),
    [(REGRESSED, False, 1), (SUSPECTED, False, 0), (SUSPECTED, True, 1), (OK, True, 0), (LEARNING, True, 0)],
)
def test_exit_codes(history, strict, code):
    assert regress.exit_code([history], strict=strict) == code


def test_a_regression_outweighs_a_night_that_cannot_be_judged():
    empty = judge(comparable("x", [night(0, disqualified=tuple(cell.load.level for cell in night(0).cells))]), RULES)
    assert regress.exit_code([empty, OK]) == 4
    assert regress.exit_code([empty, REGRESSED]) == 1


def test_junit_names_the_metric_and_its_date():
    suite = ElementTree.fromstring(junit([REGRESSED, LEARNING]))
    first, second = suite
    assert (first.get("tests"), first.get("failures"), second.get("skipped")) == ("4", "1", "4")
    (failure,) = first.findall("./testcase/failure")
    assert re.fullmatch(r"output throughput −5\.\d % on the whole curve", failure.get("message"))
    assert failure.text == "began 2026-03-23 (night-0022), confirmed 2026-03-24"


def test_junit_fails_on_a_suspicion_only_when_strict():
    assert "<failure" not in junit([SUSPECTED])
    assert "<failure" in junit([SUSPECTED], strict=True)


def test_markdown_leaves_nothing_of_foreign_text_to_act():
    said = markdown([story(title=HOSTILE)])
    assert said.startswith("### ❌ regressed: ")
    assert "<img" not in said
    assert "`[a]" not in said
    assert re.search(r"\| output throughput \| [+−]?\d\.\d % \|", said)


def test_bencher_has_a_benchmark_for_every_load():
    document = json.loads(bencher([REGRESSED]))
    assert len(document) == 12
    assert set(document["model · 1k-1k c16"]) == {"output_tok_per_s", "ttft_p50", "tpot_p50"}
    assert document["model · 1k-1k c16"]["ttft_p50"] == {"value": REGRESSED.nights[-1].cells[5].values["ttft_p50"]}


SAMPLE = re.compile(r'[a-z_]+\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\} -?[0-9.e+-]+')


def test_prometheus_text_is_well_formed():
    lines = prometheus([REGRESSED, story(title='a"b\\c\nd')]).splitlines()
    assert all(line.startswith("# ") or SAMPLE.fullmatch(line) for line in lines)
    assert 'sweep_night_verdict{history="model · 1k-1k",verdict="regressed"} 1.0' in lines
    helps = [line.split()[2] for line in lines if line.startswith("# HELP")]
    assert len(helps) == len(set(helps))


def test_the_first_night_has_nothing_to_differ_from(tmp_path):
    first = story(count=1)
    assert "| output throughput | – |" in markdown([first])
    assert "0.0 %" not in markdown([first])
    page.save([first], tmp_path)
    (html,) = tmp_path.glob("nightly-*.html")
    assert "0.0 %" not in html.read_text()
    assert "| output throughput | – |" not in markdown([story(count=2)])


def test_a_night_is_named_by_its_date_and_by_its_time_where_several_share_it():
    day = judge(comparable("x", [night(place, day=place / 24) for place in range(3)]), RULES)
    assert [when(REGRESSED, 0), when(day, 1)] == ["2026-03-01", "2026-03-01 03:00"]


@pytest.mark.parametrize(
    ("history", "says"),
    [
        (story(count=1), "judging begins after 7 more nights; 1 night since 2026-03-01"),
        (story(count=7), "judging begins after 1 more night; 7 nights since"),
        (story(count=8), "judging begins with the next; 8 nights since"),
        (OK, "against 20 nights before; 24 nights since"),
        (REGRESSED, "against the level before the change; 24 nights since"),
    ],
)
def test_what_the_latest_night_was_held_against(history, says):
    assert says in latest_night(history)


def test_nothing_is_minus_zero():
    same = judge(comparable("x", nights(np.zeros((12, 3, 12)))), RULES)
    assert not re.search(rb"-0\.0\b(?!\d)", document([same]))


def test_nights_without_news_are_one_row_of_the_page():
    html = page.render(REGRESSED)
    assert re.findall(r'<span class="date">([-0-9]+)</span>', html)[:3] == ["2026-03-24", "2026-03-23", "2026-03-09"]
    assert html.count("<tr><td><span") == 4, "regressed, suspected, no change, learning"


def test_pages_are_self_contained_and_foreign_text_is_escaped(tmp_path):
    written = page.save([story(title=HOSTILE, count=9), story(count=1)], tmp_path)
    index = written["index"].read_text()
    pages = [path.read_text() for path in tmp_path.glob("nightly-*.html")]
    assert len(pages) == 2
    for html in (index, *pages):
        assert "<img" not in html
        assert "<script" not in html
        assert not re.search(r'(?:src|href)="(?!#|nightly-)', html)
    assert all(html.count("<svg") == 3 for html in pages)
    assert all(f'href="{path.name}"' in index for path in tmp_path.glob("nightly-*.html"))


def test_every_night_of_a_map_has_its_whole_column_and_missing_ones_are_grey():
    """As the page says below it."""
    missing = [night(place, day=place + (place > 5)) for place in range(12)]
    ax = map_figure(judge(comparable("x", missing), RULES)).axes[0]
    (mesh,) = ax.collections
    borders = mesh.get_coordinates()[0, :, 0]
    assert ax.get_xlim() == pytest.approx((borders[0], borders[-1]))
    mesh.update_scalarmappable()
    first_row = mesh.get_facecolor()[: len(borders) - 1]
    assert [place for place, colour in enumerate(first_row) if to_hex(colour) == UNMEASURED] == [6]
    assert {to_hex(colour) for colour in first_row} == {UNMEASURED, "#ffffff"}
    assert "white where it lies on it; grey where there is no curve that night" in page.render(OK)


def test_the_same_history_is_drawn_the_same():
    draw = lambda: drawing.svg(timeline_figure(REGRESSED))  # noqa: E731
    assert draw() == draw()


def test_percent():
    assert [percent(each) for each in (None, 0.0, -0.0001, -0.0523, 0.1)] == ["–", "0.0 %", "0.0 %", "−5.2 %", "+10.0 %"]


# --- the command -------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Twelve nights, the last two slow."""
    rng = np.random.default_rng(3)
    for place in range(12):
        slow = 1.08 if place >= 10 else 1.0
        points = [
            point(
                level,
                cell=cell,
                output=1000 * level / slow * float(np.exp(rng.normal(0, 0.004))),
                latency=0.01 * float(np.exp(rng.normal(0, 0.004))),
            )
            for cell, level in enumerate((1, 2, 4, 8))
        ]
        artifact.save(
            curve(*points, name=f"n{place:02d}", created_at=f"2026-01-{place + 1:02d}T02:00:00Z", run_id=f"r{place}"), tmp_path
        )
    return tmp_path


def test_the_command_writes_what_is_asked_and_exits_1(folder, capsys):
    out = folder / "out"
    args = ["--junit", out / "j.xml", "--summary", out / "s.md", "--bencher", out / "b.json", "--prometheus", out / "p.prom"]
    assert run(["regress", str(folder), "--json", *map(str, args)]) == 1
    (history,) = json.loads(capsys.readouterr().out)["histories"]
    assert history["verdict"] == "regressed"
    assert history["nights"][history["changes"][0]["began"]]["name"] == "n10"
    assert sorted(path.name for path in out.iterdir()) == ["b.json", "j.xml", "p.prom", "s.md"]
    assert (folder / "index.html").exists()


def test_the_command_without_a_page_leaves_only_the_index(folder, capsys):
    before = {path.name for path in folder.iterdir()}
    files = [str(path) for path in sorted(folder.iterdir())[:9]]
    assert run(["regress", *files]) == 0
    assert {path.name for path in folder.iterdir()} == before
    assert run(["regress", str(folder), "--no-page"]) == 1
    assert {path.name for path in folder.iterdir()} - before == {"history.index.json"}
    assert "since 2026-01-11" in capsys.readouterr().out


def test_escapes_in_foreign_text_reach_no_terminal_and_no_file(tmp_path, capsys):
    endpoint = msgspec.structs.replace(ENDPOINT, model="m\x1b[31mRED\x07")
    artifact.save(curve(endpoint=endpoint), tmp_path)
    out = tmp_path / "out"
    files = ["--junit", out / "j.xml", "--summary", out / "s.md", "--bencher", out / "b.json", "--prometheus", out / "p.prom"]
    assert run(["regress", str(tmp_path), "--out", *map(str, (out, *files))]) == 0
    assert "m�[31mRED�" in capsys.readouterr().out
    for path in {*out.iterdir()} - {*out.glob("*.png")}:
        assert not {*"\x1b\x07"} & {*path.read_text()}, path.name
    assert run(["regress", str(tmp_path), "--no-page", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["histories"][0]["title"] == f"{endpoint.model} · 1k-8k"


def test_a_file_set_aside_for_all_histories_is_named_once(tmp_path, capsys):
    for model in ("one", "two"):
        artifact.save(curve(name=model, endpoint=msgspec.structs.replace(ENDPOINT, model=model)), tmp_path)
    (tmp_path / "junk.curve.json").write_text("{}")
    assert run(["regress", str(tmp_path), "--no-page"]) == 0
    said = capsys.readouterr().out.replace("\n", "")  # a long path is broken anywhere
    assert said.count("learning") == 2
    assert said.count("set aside: ") == said.count("junk.curve.json") == 1


def test_usage_errors_are_one_line(folder, capsys):
    assert run(["regress", str(folder), "--metric", "speed"]) == 2
    assert capsys.readouterr().err.startswith("error: unknown metric 'speed'\nhint: ")


def test_suspect_loads_are_measured_again_and_only_those(folder, capsys):
    (folder / "n11.curve.json").unlink()
    (history,) = regress.regress([folder], RULES)
    assert history.verdict == "suspected"
    assert [load.level for load in regress.suspect_loads(history)] == [1, 2, 4, 8]
    again = curve(*(point(level, output=1000 * level / 1.08, latency=0.01) for level in (1, 2, 4, 8)), name="again")
    at_once = regress.remeasured(history, again, RULES, restarted=False)
    assert at_once.verdict == "suspected"
    assert at_once.judged[-1].findings[-1].data == {"holds": "holds"}
    assert regress.remeasured(history, again, RULES, restarted=True).verdict == "regressed"
    healthy = curve(*(point(level, output=1000 * level, latency=0.01) for level in (1, 2, 4, 8)), name="again")
    assert regress.remeasured(history, healthy, RULES, restarted=True).verdict != "regressed"
