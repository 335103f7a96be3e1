"""What a person reads of a self-test."""

from __future__ import annotations

from io import StringIO

import msgspec
from rich.console import Console

from sweep.model import Tool
from sweep.selftest import text
from sweep.selftest.nouns import LoadResult, PresetResult, Selftest, Spread


def load(streams: int, tok_per_s: float, **different: object) -> LoadResult:
    error = Spread(n=10, p50=20e-6, p99=70e-6, max=5e-3)
    return msgspec.structs.replace(
        LoadResult(
            preset="synthetic-8b-bf16", streams=streams, requests=10, tok_per_s=tok_per_s, ttft_error_s=error,
            token_error_s=error, beyond_s=error, figure_errors={"output_tok_per_s": 0.0, "ttft_p99_s": 0.002}, unmatched=0,
            early=0, server_late_s=Spread(n=10, p50=1e-3, p99=2e-3, max=0.1), arrival_s=error, stamps="kernel",
            cpu_share=0.1, exact=True,
        ),
        **different,
    )  # fmt: skip


def selftest(*loads: LoadResult, **different: object) -> Selftest:
    preset = PresetResult(preset="synthetic-8b-bf16", loads=loads, frontier_error=0.0004, frontier_axis="output/ttft")
    whole = Selftest(
        at="2026-01-01T00:00:00+00:00", tool=Tool(name="pareto-sweep", version="0", python="3"), client={"cores": 2}, seconds=90,
        quick=False, tolerance=0.01, presets=(preset,), exact_tok_per_s=8000, exact_streams=64, exact_to_the_end=True, fit=True,
    )  # fmt: skip
    return msgspec.structs.replace(whole, **different)


def shown(result: Selftest) -> str:
    console = Console(file=StringIO(), width=80, highlight=False)
    text.show(console, result)
    return console.file.getvalue()


def test_it_fits_eighty_columns_and_says_what_it_means():
    said = shown(selftest(load(1, 171.0), load(64, 8000.0)))
    assert max(map(len, said.splitlines())) <= 80
    assert "exact to 1 % up to the highest load tried: 8,000 tokens a" in said
    assert "20/70/5000" in said
    assert "0.20 %" in said
    assert "within 0.04 % of the true ones" in said
    assert "Fit to measure on this machine." in said


def test_it_says_where_it_was_wrong():
    wrong = load(64, 8000.0, exact=False, tries=2, figure_errors={"ttft_p99_s": 0.034})
    said = " ".join(
        shown(
            selftest(load(1, 171.0), wrong, exact_tok_per_s=171.0, exact_streams=1, exact_to_the_end=False, fit=False)
        ).split()
    )
    assert "synthetic-8b-bf16 at 64: TTFT p99 is off by 3.40 %, measured 2 times." in said
    assert "up to 171 tokens a second (1 streams)" not in said
    assert "Trust no curve of this machine beyond that." in said
    assert "Not fit to measure on this machine." in said


def test_broken_clocks_and_lost_tokens_are_named():
    said = " ".join(shown(selftest(load(1, 171.0, early=3, unmatched=2, stamps="user"), exact_tok_per_s=None)).split())
    assert "clocks cannot be trusted" in said
    assert "2 answers did not hold as many tokens" in said
    assert "no kernel time stamps" in said
    assert "Not even the lightest load" in said


def test_errors_too_small_to_show_are_not_shown_as_none():
    assert "<0.01 %" in shown(selftest(load(1, 171.0, figure_errors={"ttft_p50_s": 0.00001})))
