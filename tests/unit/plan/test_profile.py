from __future__ import annotations

from pathlib import Path

import pytest

from sweep.curve.files import read_text
from sweep.errors import ProfileError
from sweep.model import Length
from sweep.plan import lengths
from sweep.plan.packaged import profiles_dir
from sweep.plan.problems import TEXT_KINDS
from sweep.plan.profile import list_profiles, load_profile
from sweep.prompt import text


def packaged() -> dict[str, object]:
    return {profile.name: profile for profile in list_profiles()}


def test_the_packaged_profiles() -> None:
    assert set(packaged()) == {
        *("1k-1k", "1k-8k", "8k-1k", "1k-1k-ifx", "1k-8k-ifx", "8k-1k-ifx", "demo", "chat", "rag"),
        *("vision", "embeddings", "embeddings-query", "rerank", "transcription"),
    }
    assert all(profile.title != profile.name for profile in list_profiles())


@pytest.mark.parametrize(("name", "isl", "osl"), [("1k-1k", 1024, 1024), ("1k-8k", 1024, 8192), ("8k-1k", 8192, 1024)])
def test_a_name_means_exactly_what_it_says(name: str, isl: int, osl: int) -> None:
    exact, ifx = load_profile(name), load_profile(f"{name}-ifx")
    assert (exact.isl, exact.osl) == (Length(mean=isl), Length(mean=osl))
    assert (ifx.isl, ifx.osl) == (Length(max=isl, range_ratio=0.8), Length(max=osl, range_ratio=0.8))
    assert ifx.start == "cold"
    assert lengths.expected(ifx.isl) == pytest.approx(0.9 * isl, rel=1e-3)


def test_isl_osl_in_the_command_line() -> None:
    assert load_profile("1k/8k").isl == Length(mean=1024)
    assert load_profile("1K/8K").name == load_profile("1024/8192").name == "1k-8k"
    assert load_profile("512/128").osl == Length(mean=128)


def test_a_path_is_a_profile_and_its_stem_the_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('isl.mean = 10\nosl = { mean = 20, sd = 5, max = 40 }\nslos = ["ttft<=1s"]\n')
    profile = load_profile(str(path))
    assert (profile.name, profile.isl.mean, profile.osl.sd) == ("mine", 10, 5)


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ('isl.mean = 8\nosl.mean = "8k"', '$.osl.mean: expected int, got "8k"'),
        ("isl.mean = 8\nosl.mean = 8.5", "$.osl.mean: expected int, got 8.5"),
        ("isl.mean = nan\nosl.mean = 8", "$.isl.mean: expected int, got nan"),
        ("isl.mean = 8\nosl.mean = true", "$.osl.mean: expected int, got true"),
        ("isl.mean = 8", "$: object missing required field osl"),
        ("isl.mean = 8\nosl.men = 8", "$.osl: unknown field men"),
        ("isl.mean = 8\nosl.mean = 8\ncolour = 1", "$: unknown field colour"),
        ("isl.mean = 0\nosl.mean = 8", "$.isl.mean: 0 tokens"),
        ("isl.mean = 8\nosl.sd = 8", "$.osl: sd make no length"),
        ("isl.mean = 8\nosl = {}", "$.osl: nothing make no length"),
        ("isl.mean = 8\nosl = { max = 8, range_ratio = 1.5 }", "$.osl.range_ratio: 1.5 is not a ratio"),
        ("isl.mean = 8\nosl = { mean = 9, sd = 2, max = 8 }", "$.osl: mean 9 is outside 1..8"),
        ('isl.mean = 8\nosl.mean = 8\ntext = "poems"', "$.text: unknown text kind 'poems'"),
        ('isl.mean = 8\nosl.mean = 8\nslos = ["ttft<=1"]', "$.slos[0]: SLO 'ttft<=1': the unit is missing"),
        ("isl.mean = 8\nosl.mean = 8\nslos = [1]", "$.slos[0]: expected str, got 1"),
        ('isl.mean = 8\nosl.mean = 8\nstart = "warm"', "$.start: invalid enum value 'warm'"),
        ("isl.mean = 8\nosl.mean = 8\nduration_s = nan", "$.duration_s: nan is not a duration"),
        ("isl.mean = 8\nosl.mean = 8\nmax_concurrency = 0", "$.max_concurrency: 0 is no concurrency"),
        ("isl.mean = 8\nosl.mean = 8\nprefix_share = 1.0", "$.prefix_share: 1 is not a share"),
        ('isl.mean = 8\nosl.mean = 8\nname = ""', "$.name: is empty"),
        ("isl.mean = = 8", "not TOML: Invalid value (at line 1, column 12)"),
        ("isl = 8\nosl.mean = 8", "$.isl: expected object, got 8"),
    ],
)
def test_a_bad_file_is_one_line_with_the_place(tmp_path: Path, toml: str, says: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(toml)
    with pytest.raises(ProfileError) as caught:
        load_profile(str(path))
    assert caught.value.message == f"profile {path}: {says}"
    assert caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


def test_a_byte_order_mark_is_no_statement(tmp_path: Path) -> None:
    """Some editors write one."""
    file = tmp_path / "mine.toml"
    file.write_bytes(b"\xef\xbb\xbfisl.mean = 8\nosl.mean = 9\n")
    assert load_profile(str(file)).osl == Length(mean=9)
    assert read_text(file).startswith("isl")


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ProfileError, match="not UTF-8"):
        load_profile(str(path))
    with pytest.raises(ProfileError, match="no such file"):
        load_profile(str(tmp_path / "absent.toml"))


def test_an_unknown_name_lists_the_known_with_the_closest_first() -> None:
    with pytest.raises(ProfileError, match="unknown profile '1k-8'") as caught:
        load_profile("1k-8")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("known: 1k-8k,")
    assert all(name in caught.value.hint for name in packaged())
    assert "slo," not in caught.value.hint


@pytest.mark.parametrize("name", ["8k/", "/", "1k/8k/1k", "1.5k/1k", "a/b", "-1/8"])
def test_a_bad_pair_explains_the_form(name: str) -> None:
    with pytest.raises(ProfileError, match="neither a file nor ISL/OSL"):
        load_profile(name)


def test_text_kinds_are_those_that_can_be_composed() -> None:
    assert TEXT_KINDS == text.KINDS


def test_the_profiles_lie_beside_the_package_or_in_it() -> None:
    assert (profiles_dir() / "slo.toml").is_file()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("images = { width = 0, height = 9 }", r"\$\.images\.width: 0 pixels"),
        ("images = { width = 9, height = 9, count = 65 }", r"\$\.images\.count: 65 pictures"),
        ("isl.mean = 0", r"\$\.isl\.mean: 0 tokens"),
        ('text = "song"', r"\$\.text: unknown text kind \"song\"|unknown text kind 'song'"),
    ],
)
def test_media_that_make_no_sense(tmp_path: Path, lines: str, says: str) -> None:
    file = tmp_path / "p.toml"
    lengths = "osl.mean = 8\n" if "isl" in lines else "isl.mean = 8\nosl.mean = 8\n"
    file.write_text(lengths + lines)
    with pytest.raises(ProfileError, match=says):
        load_profile(str(file))


def test_sound_needs_no_text() -> None:
    assert load_profile("transcription").isl == Length(mean=0)
