from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from html.parser import HTMLParser

import msgspec
import pytest
import sample_curves

from sweep.curve import artifact
from sweep.model import Fact, Finding
from sweep.report import facts, page, style

EVIL = '<img src=x onerror="alert(1)">{{ 7*7 }}'


class Balance(HTMLParser):
    """Fails when a tag is closed that is not open; collects tags and attributes."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "use", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def parsed(html: str) -> Balance:
    balance = Balance()
    balance.feed(html)
    assert balance.open == []
    return balance


@cache
def sample() -> str:
    return page.render(sample_curves.curve())


def test_the_page_stands_alone() -> None:
    html = sample()
    tags = parsed(html).seen
    assert {tag for tag, _ in tags} & {"link", "iframe", "img", "object"} == set()
    links = [value for _, attrs in tags for name, value in attrs.items() if name in {"src", "href", "xlink:href"}]
    assert all(value and value.startswith("#") for value in links)
    assert "default-src 'none'" in html
    assert "@import" not in html


def test_the_only_code_is_the_pages_own_and_the_browser_is_told_its_hash() -> None:
    html = sample()
    scripts = [attrs for tag, attrs in parsed(html).seen if tag == "script"]
    assert [attrs for attrs in scripts if attrs.get("type") != "application/json"] == [{}]
    code = html.split("<script>")[1].split("</script>")[0]
    wanted = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert f"script-src 'sha256-{wanted}'" in html
    assert len(code) < 60_000


def test_the_page_carries_the_curve_file_itself() -> None:
    curve = sample_curves.curve()
    html = page.render(curve)
    held = html.split('<script type="application/json" id="curve-A">')[1].split("</script>")[0]
    assert artifact.loads(held.encode()).digest == artifact.digest(curve)


def test_the_page_says_what_was_found_what_to_do_and_what_is_missing() -> None:
    html = sample()
    assert "Meets mlperf-llama2-70b-interactive up to concurrency 16" in html
    assert "Look at the outcomes of this point" in html
    assert "Not stated: accelerator, count." in html
    assert "41.8 to 44.4" in html  # an interval
    assert "disqualified" in html


def test_what_was_refused_stands_apart_from_what_failed() -> None:
    heading = "<th>refused<small>%</small></th>"
    assert heading not in sample()
    point = msgspec.structs.replace(sample_curves.point(1, 0), cohort=400, outcomes={"ok": 384, "rate_limited": 16})
    assert heading in page.render(sample_curves.curve([point]))


def test_foreign_text_is_escaped_wherever_it_is_shown() -> None:
    curve = sample_curves.curve()
    points = [
        msgspec.structs.replace(
            sample_curves.point(1, 0),
            outcomes={EVIL: 1},
            findings=(Finding(code=EVIL, data={EVIL: EVIL}), Finding(code="aborted", data={"why": EVIL})),
        )
    ]
    evil = msgspec.structs.replace(
        sample_curves.curve(points),
        name="evil",
        run_id=EVIL,
        created_at=EVIL,
        digest=EVIL,
        tool=msgspec.structs.replace(curve.tool, name=EVIL, version=EVIL),
        profile=msgspec.structs.replace(curve.profile, name=EVIL, title=EVIL),
        endpoint=msgspec.structs.replace(curve.endpoint, model=EVIL, url=EVIL, server=EVIL),
        slos=tuple(msgspec.structs.replace(slo, name=EVIL) for slo in curve.slos),
        software={EVIL: Fact(value={EVIL: [EVIL]}, known="read")},
    )
    html = page.render(evil)
    assert not any("onerror" in attrs or tag == "img" for tag, attrs in parsed(html).seen)
    visible = re.sub(r"<script.*?</script>", "", html.split("<body>")[1], flags=re.DOTALL)
    assert "49" not in re.findall(r"\b49\b", visible)
    assert html.lower().count("<script") == html.lower().count("</script>") == 3


def test_dark_and_light_know_every_colour() -> None:
    html = sample()
    used = set(re.findall(r"var\(--([a-z-]+)\)", html))
    assert used <= {*style.NAMES.values(), "side"}
    assert set(style.DARK) == set(style.NAMES)
    svg = html[html.index("<svg") : html.index("</svg>")]
    assert set(re.findall(r"#[0-9a-f]{6}", svg)) <= {"#000000"}


def test_a_curve_without_points_is_a_page() -> None:
    assert "No cell was measured." in page.render(sample_curves.curve([], findings=(), slos=()))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not stated"),
        (True, "yes"),
        (0.25, "0.25"),
        ([1, 2], "1, 2"),
        ({"a": 1, "b": None}, "a 1"),
        ([], "none"),
        ("x", "x"),
    ],
)
def test_answers_in_words(value: object, text: str) -> None:
    assert facts.fact_text(value) == text
