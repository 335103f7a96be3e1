"""The folder: found, verified, ordered, told apart, appended to — by several writers, and with files that do not hold."""

from __future__ import annotations

import json
import multiprocessing
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from curve_builder import curve, plan, point
from nights import night

from sweep.curve import artifact, regress
from sweep.curve.nightly import history, index
from sweep.curve.nightly import night as reading
from sweep.curve.nightly.comparable import comparable, same_night_together
from sweep.curve.nightly.rules import rules
from sweep.errors import OutputError, TrustError, UsageError
from sweep.model import Profile

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def a_night(place, *, seconds=None, **changes):
    at = FIRST + timedelta(days=place) if seconds is None else FIRST + timedelta(seconds=seconds)
    made = curve(name=f"night-{place:03d}", created_at=at.isoformat(), run_id=f"r{place}")
    return msgspec.structs.replace(made, **changes)


@pytest.fixture
def folder(tmp_path):
    for place in range(10):
        artifact.save(a_night(place), tmp_path)
    return tmp_path


def test_a_file_says_what_its_curve_says(tmp_path):
    made = a_night(0)
    path = artifact.save(made, tmp_path)
    from_file = reading.read(path)
    assert from_file == reading.night_of(artifact.load(path), str(path))
    assert from_file.cells[0].values["output_tok_per_s"] == pytest.approx(1000)
    assert from_file.cells[0].values["ttft_p50"] == pytest.approx(0.1)
    assert from_file.facts["software.version"] == "0.11"


def test_what_rests_on_too_few_requests_decides_nothing():
    values = reading.night_of(curve(point(1, few=True)), "x").cells[0].values
    assert "ttft_p90" not in values
    assert "ttft_p50" in values


def test_repeats_are_averaged_and_a_disqualified_one_left_out():
    made = curve(point(4, output=100.0), point(4, repeat=1, output=400.0), point(4, repeat=2, output=1.0, disqualified=True))
    (cell,) = reading.night_of(made, "x").cells
    assert cell.values["output_tok_per_s"] == pytest.approx(200.0)
    assert not cell.disqualified


def test_another_layout_of_the_same_document_is_believed_too(tmp_path):
    path = artifact.save(a_night(0), tmp_path)
    before = reading.read(path)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=3))
    assert reading.read(path) == before


def test_a_changed_file_is_set_aside(folder):
    path = folder / "night-003.curve.json"
    path.write_text(path.read_text().replace('"created_at": "2026-01-04', '"created_at": "2026-01-05'))
    found = history.find([folder])
    assert len(found.nights) == 9
    assert [(each.file, "digest" in each.reason) for each in found.set_aside] == [(str(path), True)]


def test_a_half_written_file_is_reported(folder):
    (folder / "night-010.curve.json").write_bytes((folder / "night-009.curve.json").read_bytes()[:700])
    found = history.find([folder])
    assert len(found.nights) == 10
    assert "cut short" in found.set_aside[0].reason


def test_order_is_that_of_the_files_own_times(tmp_path):
    for place in (5, 1, 3):
        artifact.save(a_night(place, name=f"x{9 - place}"), tmp_path)
    files = sorted(tmp_path.glob("*.json"))
    expected = ["x8", "x6", "x4"]
    assert [each.name for each in history.find(files).nights] == expected
    assert [each.name for each in history.find(files[::-1]).nights] == expected


def test_times_of_other_zones_are_times(tmp_path):
    artifact.save(a_night(0, created_at="2026-01-02T01:00:00+05:00", name="earlier"), tmp_path)
    artifact.save(a_night(0, created_at="2026-01-01T21:00:00Z", name="later"), tmp_path)
    assert [each.name for each in history.find([tmp_path]).nights] == ["earlier", "later"]


def test_a_file_without_a_time_is_set_aside(folder):
    artifact.save(a_night(3, name="timeless", created_at="yesterday"), folder)
    found = history.find([folder])
    assert len(found.nights) == 10
    assert "created_at" in found.set_aside[0].reason


def test_two_nights_of_quite_different_lengths_leave_one():
    nights = [night(0), msgspec.structs.replace(night(1), osl_mean=2048.0)]
    assert len(comparable("test", nights).nights) == 1


def test_folders_below_are_searched_and_hidden_ones_are_not(folder):
    (folder / "run-a").mkdir()
    (folder / ".confirmations").mkdir()
    artifact.save(a_night(20), folder / "run-a")
    artifact.save(a_night(21), folder / ".confirmations")
    assert [each.name for each in history.find([folder]).nights][-1] == "night-020"


def test_the_same_curve_twice_counts_once(folder):
    (folder / "copy").mkdir()
    artifact.save(a_night(4), folder / "copy")
    found = history.find([folder, folder / "night-000.curve.json"])
    assert len(found.nights) == 10
    assert ["the same curve as" in each.reason for each in found.set_aside] == [True]


def test_a_folder_without_curves_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no curve file"):
        regress.regress([tmp_path])
    with pytest.raises(UsageError, match="no such file"):
        regress.regress([tmp_path / "nowhere"])


# --- the index ---------------------------------------------------------------------------------------------------


def test_the_index_spares_reading_and_changes_nothing(folder, monkeypatch):
    first = history.find([folder])
    monkeypatch.setattr(reading, "read", None)  # nothing is read again
    assert history.find([folder]) == first


@pytest.mark.parametrize("damage", [b"", b"{", b'{"schema":"sweep.history/9","files":{}}', b"[" * 5000])
def test_a_lost_or_damaged_index_is_rebuilt(folder, damage):
    first = history.find([folder])
    whole = (folder / index.NAME).read_bytes()
    (folder / index.NAME).write_bytes(damage)
    assert history.find([folder]) == first
    assert (folder / index.NAME).read_bytes() == whole


def test_a_changed_file_is_read_again(folder):
    history.find([folder])
    artifact.save(a_night(9, run_id="other", created_at="2026-02-01T00:00:00+00:00"), folder)
    assert history.find([folder]).nights[-1].at == "2026-02-01T00:00:00+00:00"


# --- appending ---------------------------------------------------------------------------------------------------


def test_appending_never_writes_over(tmp_path):
    made = a_night(0)
    path = history.append(tmp_path / "history", made)
    assert history.append(tmp_path / "history", made) == path
    with pytest.raises(OutputError, match="already in the history"):
        history.append(tmp_path / "history", a_night(0, run_id="another"))
    assert artifact.load(path).run_id == "r0"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def write(folder, places):
    for place in places:
        regress.gate(folder, a_night(place))


def test_two_writers_do_not_disturb_each_other(tmp_path):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=write, args=(tmp_path, places)) for places in (range(0, 12, 2), range(1, 12, 2))]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    found = history.find([tmp_path])
    assert [each.name for each in found.nights] == [f"night-{place:03d}" for place in range(12)]
    assert not found.set_aside


def test_the_gate_answers_for_the_history_the_curve_belongs_to(folder):
    other = Profile(name="other", title="other", isl=plan().profile.isl, osl=plan().profile.osl)
    artifact.save(a_night(30, profile=other, plan=plan(profile=other)), folder)
    judged = regress.gate(folder, a_night(10))
    assert judged.nights[-1].name == "night-010"
    assert regress.exit_code([judged]) == 0


# --- what is comparable ------------------------------------------------------------------------------------------


def test_another_workload_is_set_aside_with_the_reason():
    nights = [night(place) for place in range(9)]
    nights[4] = msgspec.structs.replace(nights[4], workload={"load_kind": "closed", "text": "code"})
    nights[6] = msgspec.structs.replace(nights[6], osl_mean=1200.0)
    group = comparable("test", nights)
    assert len(group.nights) == 7
    assert [each.reason for each in group.set_aside] == ["text code, not prose", "realised OSL 1200, usually 1024"]
    assert group.unfair is None


def test_the_latest_night_alone_of_its_kind_is_unfair():
    nights = [night(place) for place in range(9)]
    nights[8] = msgspec.structs.replace(nights[8], workload={"load_kind": "closed", "text": "code"})
    assert comparable("test", nights).unfair == "text code, not prose"


def test_three_nights_of_a_new_workload_are_a_new_history():
    nights = [night(place) for place in range(12)]
    new = {"load_kind": "closed", "text": "code"}
    nights[9:] = [msgspec.structs.replace(each, workload=new) for each in nights[9:]]
    group = comparable("test", nights)
    assert len(group.nights) == 3
    assert group.unfair is None


def test_curves_of_one_night_are_one():
    """Measured again an hour later, the night's own noise is the same: it confirms nothing."""
    nights = [night(place) for place in range(10)] + [night(10, day=9.05)]
    merged = same_night_together(nights)
    assert len(merged) == 10
    assert merged[-1].name == "night-0010"
    assert merged[-1].cells[0].cohort == 400


def test_nights_compressed_into_minutes_are_nights():
    nights = [night(place, day=place / 1440) for place in range(12)]
    assert len(same_night_together(nights)) == 12


def test_a_baseline_of_another_workload_is_refused(folder, tmp_path_factory):
    text = msgspec.structs.replace(plan().profile, text="code")
    path = artifact.save(a_night(0, profile=text, plan=plan(profile=text)), tmp_path_factory.mktemp("golden"))
    with pytest.raises(TrustError, match="text differ"):
        regress.regress([folder], rules(baseline=str(path)))


@pytest.mark.parametrize("text", ["last:7", "last:x", "last:"])
def test_a_baseline_is_a_file_or_eight_nights_at_least(text):
    with pytest.raises(UsageError, match="expected last:N"):
        rules(baseline=text)


def test_an_unknown_metric_is_a_usage_error():
    with pytest.raises(UsageError, match="unknown metric 'ttft_p42'"):
        rules(["ttft_p42"])


def test_tails_have_a_higher_floor():
    assert [metric.floor for metric in rules(["ttft_p50", "ttft_p99"]).metrics] == [0.02, 0.06]
