"""What a sweep leaves behind: the files of a curve, and what they mean for a script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sweep.errors import EndpointError, Interrupted, SweepError, TrustError
from sweep.model import Curve, Finding
from sweep.run.undisturbed import undisturbed

if TYPE_CHECKING:
    from sweep.curve.journal import Journal


def publish(journal: Journal, found: list[Finding], stopped: SweepError | None, resumed: bool) -> tuple[Curve, dict[str, Path]]:
    """The curve of what the journal holds, and its files. After an interruption only those that take no time to draw."""
    interrupted = isinstance(stopped, Interrupted)
    with undisturbed(asked_already=interrupted):
        curve, paths = _kept(journal, found, resumed)
    if not interrupted:
        from sweep.report import figure, page

        folder = journal.folder.parent
        paths |= {kind: folder / f"{curve.name}.{kind}" for kind in ("svg", "png", "html")}
        figure.save(curve, paths["svg"], paths["png"])
        page.save(curve, paths["html"])
    return curve, paths


def _kept(journal: Journal, found: list[Finding], resumed: bool) -> tuple[Curve, dict[str, Path]]:
    """The curve, its records and its histograms."""
    from sweep.curve import artifact, assemble, hlog, parquet, refine
    from sweep.load.host import observed

    header, folder = journal.header, journal.folder.parent
    curve = assemble.assemble(
        journal.points,
        name=header.name,
        created_at=header.created_at,
        run_id=header.run_id,
        tool=header.tool,
        plan=header.plan,
        endpoint=header.endpoint,
        client=observed(),
        declared=header.declared,
        findings=found,
        complete=refine.unlimited(header.plan, journal.points) is None,
        calibration=header.calibration,
        interleaved=None if resumed else header.settings.interleaved,  # what was resumed took its turns alone
    )
    paths = {"curve": artifact.save(curve, folder)}
    paths |= {kind: folder / f"{curve.name}.{kind}" for kind in ("records.parquet", "hlog")}
    parquet.write_records(paths["records.parquet"], journal.records(), keep_chunks=header.keep_chunks)
    hlog.save(curve, paths["hlog"])
    return curve, paths


def judge(curves: list[Curve]) -> None:
    """Exit codes are for scripts: nothing succeeded, or nothing can be trusted. All files are written by now."""
    points = [point for curve in curves for point in curve.points]
    if points and not any(point.outcomes_all.get("ok") for point in points):
        raise EndpointError("no request succeeded at any load", "the findings and the records' error column say why")
    if points and all(point.disqualified for point in points):
        raise TrustError("every point is disqualified", "the findings say why and what to do next")
