"""Workload profiles: a packaged name, a TOML file, or `ISL/OSL` such as `1k/8k` (1k = 1024 tokens)."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from sweep.errors import ProfileError
from sweep.model import Images, Length, Noun, Profile
from sweep.plan.packaged import profile_names, profiles_dir
from sweep.plan.problems import problems

_SHORT = re.compile(r"(\d+)(k?)/(\d+)(k?)", re.IGNORECASE)


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
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
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
    return str(raw) if isinstance(raw, float) else msgspec.json.encode(raw, enc_hook=str).decode()  # JSON has no nan


def _checked(profile: Profile, shown: str) -> Profile:
    """The profile itself, when what its types allow also makes sense."""
    for where, what, hint in problems(profile):  # the first says enough
        raise ProfileError(f"profile {shown}: {where}: {what}", hint)
    return profile
