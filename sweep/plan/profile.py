"""Workload profiles: a packaged name, a TOML file, or `ISL/OSL` such as `1k/8k` (1k = 1024 tokens)."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from sweep.errors import ProfileError, SloError
from sweep.model import Images, Length, Noun, Profile
from sweep.plan import rows, slo
from sweep.plan.lengths import nominal
from sweep.plan.packaged import profile_names
from sweep.plan.packaged import profiles_dir as profiles_dir

TEXT_KINDS = ("prose", "code", "random")
AUDIO_KINDS = ("speech", "murmur")  # in place of a text; such requests have no prompt tokens
_SHORT = re.compile(r"(\d+)(k?)/(\d+)(k?)", re.IGNORECASE)
_LONGEST = 1 << 30
_WIDEST, _MOST_IMAGES = 8192, 64


def load_profile(text: str) -> Profile:
    """The profile a user means. Raises ProfileError, one line that names the field and one hint."""
    if text in profile_names():
        return _read(profiles_dir() / f"{text}.toml", text, text)
    path = Path(text)
    if text.endswith(".toml") or path.is_file():
        return _read(path, text, path.stem)
    if "/" in text:
        return _from_lengths(text)
    raise ProfileError(f"unknown profile {text!r}", _known(text))


def list_profiles() -> list[Profile]:
    """Every packaged profile, by name."""
    return [load_profile(name) for name in profile_names()]


def _known(text: str) -> str:
    names = profile_names()
    close = difflib.get_close_matches(text.lower(), names, n=3, cutoff=0.5)
    ordered = close + [name for name in names if name not in close]
    return f"known: {', '.join(ordered)}; or ISL/OSL such as 1k/8k, or a path to a .toml file"


def _from_lengths(text: str) -> Profile:
    match = _SHORT.fullmatch(text)
    if not match:
        raise ProfileError(f"profile {text!r} is neither a file nor ISL/OSL", "write whole tokens, 1k = 1024: 1k/8k, 512/128")
    isl, osl = (int(count) * (1024 if k else 1) for count, k in (match.group(1, 2), match.group(3, 4)))
    return _checked(
        Profile(
            name=f"{_short(isl)}-{_short(osl)}",
            title=f"{isl} input, {osl} output tokens",
            isl=Length(mean=isl),
            osl=Length(mean=osl),
        ),
        text,
    )


def _short(tokens: int) -> str:
    return f"{tokens // 1024}k" if tokens and tokens % 1024 == 0 else str(tokens)


def _read(path: Path, shown: str, name: str) -> Profile:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProfileError(f"profile {shown}: {(error.strerror or 'cannot be read').lower()}", _known(name)) from None
    except UnicodeDecodeError:
        raise ProfileError(f"profile {shown}: not UTF-8 text", "save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        message = " ".join(str(error).split())
        raise ProfileError(f"profile {shown}: not TOML: {message}", "see the packaged profiles for the form") from None
    try:
        profile = msgspec.convert({"name": name, "title": name, **raw}, Profile)
    except msgspec.ValidationError as error:
        raise _wrong_type(str(error), raw, shown) from None
    _refuse_unknown(raw, shown)
    return _checked(profile, shown)


def _refuse_unknown(raw: dict[str, Any], shown: str) -> None:
    """A misspelt field in a file a person wrote. Curve files may hold fields of later versions; profiles may not."""
    known: dict[str, type[Noun]] = {"$": Profile, "$.isl": Length, "$.osl": Length, "$.images": Images}
    for where, noun in known.items():
        table = raw if where == "$" else raw.get(where.removeprefix("$."), {})
        strange = next((field for field in table if field not in noun.__struct_fields__), None)
        if strange is not None:
            hint = f"fields: {', '.join(noun.__struct_fields__)}"
            raise ProfileError(f"profile {shown}: {where}: unknown field {strange}", hint)


def _wrong_type(message: str, raw: dict[str, Any], shown: str) -> ProfileError:
    """msgspec's "Expected `int`, got `str` - at `$.osl.mean`", with the value that stands there in place of its type."""
    what, _, where = message.partition(" - at ")
    where = where.strip("`") or "$"
    what = what[0].lower() + what[1:].replace("`", "").replace(" | null", "")
    expected, got, _ = what.partition(", got ")
    if got:
        what = f"{expected}{got}{_value_at(raw, where)}"
    about = Length if where.startswith(("$.isl", "$.osl")) else Profile
    hint = f"fields: {', '.join(about.__struct_fields__)}"
    if got and about is Length:
        hint = "lengths are whole tokens, as in osl.mean = 8192"
    return ProfileError(f"profile {shown}: {where}: {what}", hint)


def _value_at(raw: Any, where: str) -> str:
    for step in re.findall(r"[A-Za-z_]\w*|\d+", where):
        raw = raw[int(step)] if isinstance(raw, list) else raw[step]
    return msgspec.json.encode(raw, enc_hook=str).decode()


def _checked(profile: Profile, shown: str) -> Profile:
    """The profile itself, when what its types allow also makes sense."""
    problems = [
        *([] if _silent(profile) else _length_problems("$.isl", profile.isl)),
        *_length_problems("$.osl", profile.osl),
        *_field_problems(profile),
    ]
    for where, what, hint in problems:
        raise ProfileError(f"profile {shown}: {where}: {what}", hint)
    return profile


def _field_problems(profile: Profile) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    if not profile.name.strip():
        found.append(("$.name", "is empty", "leave it out to use the file's name"))
    if profile.text not in TEXT_KINDS + AUDIO_KINDS:
        found.append(("$.text", f"unknown text kind {profile.text!r}", f"known: {', '.join(TEXT_KINDS + AUDIO_KINDS)}"))
    found += _image_problems(profile)
    if profile.rows is not None:
        try:
            rows.decode(profile.rows)
        except ValueError as error:
            found.append(("$.rows", str(error), "leave it out and give --dataset FILE"))
    if not 0 <= profile.prefix_share < 1:
        found.append(("$.prefix_share", f"{profile.prefix_share:g} is not a share", "give 0 or more, below 1"))
    if profile.duration_s is not None and not 0 < profile.duration_s < float("inf"):
        found.append(("$.duration_s", f"{profile.duration_s:g} is not a duration", "give seconds above 0"))
    if profile.max_concurrency is not None and profile.max_concurrency < 1:
        found.append(("$.max_concurrency", f"{profile.max_concurrency} is no concurrency", "give 1 or more"))
    for place, text in enumerate(profile.slos):
        try:
            slo.parse(text)
        except SloError as error:
            found.append((f"$.slos[{place}]", error.message, error.hint or ""))
    return found


def _silent(profile: Profile) -> bool:
    """Sound alone: ISL is 0, since no text goes with it."""
    return profile.text in AUDIO_KINDS and profile.isl == Length(mean=0)


def _image_problems(profile: Profile) -> list[tuple[str, str, str]]:
    images = profile.images
    if images is None:
        return []
    found = [
        (f"$.images.{name}", f"{size} pixels", f"give 1 to {_WIDEST}")
        for name, size in (("width", images.width), ("height", images.height))
        if not 1 <= size <= _WIDEST
    ]
    if not 1 <= images.count <= _MOST_IMAGES:
        found.append(("$.images.count", f"{images.count} pictures", f"give 1 to {_MOST_IMAGES}"))
    return found


def _length_problems(where: str, length: Length) -> list[tuple[str, str, str]]:
    """A length is fixed (mean), a range (max, range_ratio) or log-normal (mean, sd, max and perhaps min)."""
    given = {name for name in Length.__struct_fields__ if getattr(length, name) is not None}
    if given not in ({"mean"}, {"max", "range_ratio"}, {"mean", "sd", "max"}, {"mean", "sd", "max", "min"}):
        fields = ", ".join(sorted(given)) or "nothing"
        return [(where, f"{fields} make no length", "give mean, or max and range_ratio, or mean, sd and max (and min)")]
    for name in sorted(given - {"range_ratio"}):
        tokens = getattr(length, name)
        if not 1 <= tokens <= _LONGEST:
            return [(f"{where}.{name}", f"{tokens} tokens", f"lengths are 1 to {_LONGEST} tokens")]
    if length.range_ratio is not None and not 0 < length.range_ratio <= 1:
        return [(f"{where}.range_ratio", f"{length.range_ratio:g} is not a ratio", "U[r·max, max] needs 0 < r <= 1")]
    if length.sd is not None and not (length.min or 1) <= nominal(length) <= (length.max or 0):
        return [(where, f"mean {length.mean} is outside {length.min or 1}..{length.max}", "keep min <= mean <= max")]
    if length.sd is not None and (length.min or 1) == length.max:
        return [(where, "min equals max", "give only mean for a fixed length")]
    return []
