"""What a profile may say by its types and still makes no sense."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.errors import SloError
from sweep.model import Images, Length, Profile
from sweep.plan import rows, slo
from sweep.plan.lengths import nominal

TEXT_KINDS = ("prose", "code", "random")
AUDIO_KINDS = ("speech", "murmur")  # in place of a text; such requests have no prompt tokens
_LONGEST = 1 << 30
_WIDEST, _MOST_IMAGES = 8192, 64

Problem = tuple[str, str, str]  # where (`$.osl.mean`), what, and what to do


def problems(profile: Profile) -> Iterator[Problem]:
    """One at a time: what follows a problem may be its consequence."""
    silent = profile.text in AUDIO_KINDS and profile.isl == Length(mean=0)
    if not silent:
        yield from _length("$.isl", profile.isl)
    yield from _length("$.osl", profile.osl)
    if not profile.name.strip():
        yield "$.name", "is empty", "leave it out to use the file's name"
    if profile.text not in TEXT_KINDS + AUDIO_KINDS:
        yield "$.text", f"unknown text kind {profile.text!r}", f"known: {', '.join(TEXT_KINDS + AUDIO_KINDS)}"
    if profile.images is not None:
        yield from _images(profile.images)
    if profile.rows is not None:
        try:
            rows.decode(profile.rows)
        except ValueError as error:
            yield "$.rows", str(error), "leave it out and give --dataset FILE"
    if not 0 <= profile.prefix_share < 1:
        yield "$.prefix_share", f"{profile.prefix_share:g} is not a share", "give 0 or more, below 1"
    if profile.duration_s is not None and not 0 < profile.duration_s < float("inf"):
        yield "$.duration_s", f"{profile.duration_s:g} is not a duration", "give seconds above 0"
    if profile.max_concurrency is not None and profile.max_concurrency < 1:
        yield "$.max_concurrency", f"{profile.max_concurrency} is no concurrency", "give 1 or more"
    for place, text in enumerate(profile.slos):
        try:
            slo.parse(text)
        except SloError as error:
            yield f"$.slos[{place}]", error.message, error.hint or ""


def _images(images: Images) -> Iterator[Problem]:
    for name, size in (("width", images.width), ("height", images.height)):
        if not 1 <= size <= _WIDEST:
            yield f"$.images.{name}", f"{size} pixels", f"give 1 to {_WIDEST}"
    if not 1 <= images.count <= _MOST_IMAGES:
        yield "$.images.count", f"{images.count} pictures", f"give 1 to {_MOST_IMAGES}"


def _length(where: str, length: Length) -> Iterator[Problem]:
    """A length is fixed (mean), a range (max, range_ratio) or log-normal (mean, sd, max and perhaps min)."""
    given = {name for name in Length.__struct_fields__ if getattr(length, name) is not None}
    if given not in ({"mean"}, {"max", "range_ratio"}, {"mean", "sd", "max"}, {"mean", "sd", "max", "min"}):
        fields = ", ".join(sorted(given)) or "nothing"
        yield where, f"{fields} make no length", "give mean, or max and range_ratio, or mean, sd and max (and min)"
    for name in sorted(given - {"range_ratio"}):
        tokens = getattr(length, name)
        if not 1 <= tokens <= _LONGEST:
            yield f"{where}.{name}", f"{tokens} tokens", f"lengths are 1 to {_LONGEST} tokens"
    if length.range_ratio is not None and not 0 < length.range_ratio <= 1:
        yield f"{where}.range_ratio", f"{length.range_ratio:g} is not a ratio", "U[r·max, max] needs 0 < r <= 1"
    if length.sd is not None and not (length.min or 1) <= nominal(length) <= (length.max or 0):
        yield where, f"mean {length.mean} is outside {length.min or 1}..{length.max}", "keep min <= mean <= max"
    if length.sd is not None and (length.min or 1) == length.max:
        yield where, "min equals max", "give only mean for a fixed length"
