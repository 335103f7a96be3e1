"""A user's own texts or lengths, read once as long as the file stays as it is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from sweep.errors import UsageError
from sweep.model import Profile
from sweep.plan import rows
from sweep.prompt.dataset import FORMS, Dataset, column, parse

MAX_BYTES = 256 << 20


def read(path: Path, tokenizer: Path | None = None) -> Dataset:
    """What the file holds; the lengths of its texts too, where a tokenizer is given. UsageError when it cannot be used."""
    try:
        found = path.stat()
        if found.st_size > MAX_BYTES:
            raise UsageError(f"--dataset {path}: larger than {MAX_BYTES >> 20} MiB", "a part of it will do")
        return _parsed(path.absolute(), found.st_mtime_ns, tokenizer)
    except OSError as error:
        raise UsageError(f"--dataset {path}: {error.strerror or error}", FORMS) from None


@cache
def _parsed(path: Path, changed_ns: int, tokenizer: Path | None) -> Dataset:
    data = path.read_bytes()
    if tokenizer is None:
        return parse(str(path), data)
    from sweep.load.tokenizer import encoder

    encode = encoder(str(tokenizer))
    return parse(str(path), data, lambda text: len(encode(text)))


def still(profile: Profile, given: str | None) -> Path | None:
    """The file that a begun sweep's prompts are cut from; None where it needs none. UsageError when it is another by now."""
    if given is None or not profile.text.startswith("dataset:"):
        return None
    found = read(Path(given)).material
    if found is None or found.kind != profile.text:
        raise UsageError(f"--dataset {given}: not the file that the sweep began with", "put it back, or start the sweep again")
    return Path(given)


def applied(profile: Profile, path: Path, tokenizer: Path | None) -> Profile:
    """The profile with the texts and the lengths of a file, as far as it has them."""
    found = read(path, tokenizer)
    if found.material is not None:
        profile = msgspec.structs.replace(profile, text=found.material.kind)
    if not found.rows:
        return profile
    isl, osl = zip(*found.rows, strict=True)
    return msgspec.structs.replace(
        profile,
        title=f"lengths as in {path.name}",
        isl=column(isl),
        osl=column(osl),
        rows=rows.encode(rows.thinned(found.rows)),
    )
