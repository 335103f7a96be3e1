"""What a self-test finds.

Errors in seconds are of our stamps. `…_error_s` is against the moment before the endpoint's send: it holds the send itself and
so bounds the error from above. `beyond_s` is against the moment after it: that much is the client's beyond doubt. Errors of
figures are relative and signed, against the truth nearest to our stamps.
"""

from __future__ import annotations

from typing import Any

from sweep.model import Noun, Tool

SCHEMA = "sweep.selftest/1"
TOLERANCE = 0.01  # a load is exact when every figure of its point is this near to the truth


class Spread(Noun, frozen=True, kw_only=True):
    """Of n values; None where there is none."""

    n: int
    p50: float | None = None
    p99: float | None = None
    max: float | None = None


class LoadResult(Noun, frozen=True, kw_only=True):
    """One preset at one load. `figure_errors` by name (`ttft_p99_s`), None where a figure is missing on either side."""

    preset: str
    streams: int
    requests: int  # in the cohort
    tok_per_s: float | None  # delivered inside the window, by the truth
    ttft_error_s: Spread
    token_error_s: Spread
    beyond_s: Spread
    figure_errors: dict[str, float | None]
    unmatched: int  # answered requests whose tokens and true tokens differ in number
    early: int  # stamps before the bytes were sent: a broken clock
    server_late_s: Spread  # the endpoint's own: sending begun after the end of the step
    arrival_s: Spread  # from our send stamp until the endpoint had read the request
    stamps: str | None  # kernel or user
    cpu_share: float | None  # of a core, the client's
    exact: bool
    tries: int = 1

    @property
    def worst(self) -> tuple[str, float] | None:
        """The figure that is furthest off, and by how much."""
        known = {name: error for name, error in self.figure_errors.items() if error is not None}
        name = max(known, key=lambda each: abs(known[each]), default=None)
        return None if name is None else (name, known[name])


class PresetResult(Noun, frozen=True, kw_only=True):
    """`frontier_error`: the factor, less 1, by which our frontier and the true one have to be stretched to cover each other."""

    preset: str
    loads: tuple[LoadResult, ...]
    frontier_error: float | None
    frontier_axis: str | None  # the pair of axes on which it is largest


class Selftest(Noun, frozen=True, kw_only=True):
    """`exact_tok_per_s`: the highest load that was exact, as were all lighter ones; None when not even the lightest was."""

    schema: str = SCHEMA
    at: str
    tool: Tool
    client: dict[str, Any]
    seconds: float
    quick: bool
    tolerance: float
    presets: tuple[PresetResult, ...]
    exact_tok_per_s: float | None
    exact_streams: int | None
    exact_to_the_end: bool  # nothing that was tried was inexact
    fit: bool
