"""Pictures and sound that other programs can read, of the size asked for, and never twice the same."""

from __future__ import annotations

import io
import struct
import wave
import zlib

import numpy as np
import pytest

from sweep.errors import UsageError
from sweep.model import Images
from sweep.prompt import media
from sweep.prompt.ask import compose_ask


def decoded(png: bytes) -> tuple[int, int, bytes]:
    """(width, height, rows) by PNG's own rules, every checksum verified."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, data, size = 8, b"", (0, 0)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", png, at + 8 + length) == (zlib.crc32(kind + body),)
        size = struct.unpack_from(">II", body) if kind == b"IHDR" else size
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    return *size, zlib.decompress(data)  # which verifies the Adler-32


@pytest.mark.parametrize(("width", "height"), [(1, 1), (7, 1), (1, 9), (640, 480), (1025, 31)])
def test_a_picture_has_its_size_and_its_checksums(width: int, height: int) -> None:
    found = decoded(media.picture(width, height, 3, "run"))
    assert found[:2] == (width, height)
    assert len(found[2]) == height * (1 + 3 * width)
    assert set(found[2][:: 1 + 3 * width]) == {0}


def test_no_two_pictures_are_alike() -> None:
    asked = [(request, nonce, place) for request in range(20) for nonce in ("a", "b") for place in (0, 1)]
    assert len({media.picture(64, 64, request, nonce, place) for request, nonce, place in asked}) == len(asked)
    assert media.picture(64, 64, 1, "a") == media.picture(64, 64, 1, "a")


@pytest.mark.parametrize("kind", media.KINDS)
@pytest.mark.parametrize("seconds", [1, 7, 30])
def test_sound_is_a_wav_of_its_length(kind: str, seconds: int) -> None:
    with wave.open(io.BytesIO(media.sound(kind, seconds, 0, "run"))) as read:
        assert (read.getnchannels(), read.getsampwidth(), read.getframerate()) == (1, 2, media.SAMPLES_PER_S)
        assert read.getnframes() == seconds * media.SAMPLES_PER_S
        samples = np.frombuffer(read.readframes(read.getnframes()), "<i2").astype(float)
    assert 0.5 < np.abs(samples).max() / 32_768 <= 1
    syllables = np.sqrt((samples[: len(samples) // 800 * 800].reshape(-1, 800) ** 2).mean(axis=1))
    assert syllables.min() < 0.3 * syllables.max()  # loud and quiet by turns, as speech is


def test_no_two_requests_sound_alike() -> None:
    assert len({media.sound("speech", 1, request, nonce) for request in range(20) for nonce in ("a", "b")}) == 40
    with pytest.raises(UsageError):
        media.sound("song", 1, 0, "a")


def test_a_request_carries_what_its_profile_says() -> None:
    common = {"model": "m", "words": 12, "osl": 3, "fields": ("f",), "seed": 0, "request": 5, "nonce": "n"}
    seen = compose_ask("prose", Images(width=8, height=4, count=2), **common)
    assert len(seen.prompt.split()) == 12
    assert [decoded(image)[:2] for image in seen.images] == [(8, 4), (8, 4)]
    assert seen.images[0] != seen.images[1]
    assert seen.audio is None
    heard = compose_ask("speech", None, **common)
    assert heard.prompt == ""
    assert heard.audio is not None
    assert len(heard.audio) == 44 + 3 * 2 * media.SAMPLES_PER_S
