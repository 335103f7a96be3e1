"""Pictures and sound of a wanted size, different in every request of every run, cheap to make.

A server that keeps what it has seen finds nothing twice: the first row of a picture and the place where sound begins come from
(nonce, request). All else is made once per process.
"""

from __future__ import annotations

import struct
import zlib
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sweep.errors import UsageError

SAMPLES_PER_S = 16_000
_ADLER = 65_521
_TILE = 32  # pixels, a side of the squares in a picture


# --- pictures ----------------------------------------------------------------------------------------------------


def picture(width: int, height: int, request: int, nonce: str, place: int = 0) -> bytes:
    """A PNG, 8 bits RGB. `place` tells the pictures of one request apart."""
    row = np.random.default_rng(_number(f"{nonce}/{request}/{place}")).integers(0, 256, 3 * width, np.uint8)
    first = b"\0" + row.tobytes()
    body, packed = _rest(width, height)
    packer = zlib.compressobj()
    head = packer.compress(first) + packer.flush(zlib.Z_FULL_FLUSH)
    check = _adler_joined(zlib.adler32(first), body, len(first) * (height - 1))
    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = head + packed + struct.pack(">I", check)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", size) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


@cache
def _rest(width: int, height: int) -> tuple[int, bytes]:
    """(Adler-32, deflated) of all rows but the first: coloured squares, small on the wire and of full size for a model."""
    colours = np.random.default_rng(width * 65_537 + height).integers(
        0, 256, (height // _TILE + 1, width // _TILE + 1, 3), np.uint8
    )
    pixels = colours.repeat(_TILE, 0).repeat(_TILE, 1)[1:height, :width].reshape(height - 1, 3 * width)
    rows = np.concatenate([np.zeros((height - 1, 1), np.uint8), pixels], axis=1).tobytes()
    packer = zlib.compressobj(wbits=-15)
    return zlib.adler32(rows), packer.compress(rows) + packer.flush()


def _adler_joined(first: int, second: int, second_length: int) -> int:
    """Adler-32 of two texts, one after the other, from those of each (zlib's adler32_combine)."""
    low = ((first & 0xFFFF) + (second & 0xFFFF) - 1) % _ADLER
    high = ((first >> 16) + (second >> 16) + second_length * ((first & 0xFFFF) - 1)) % _ADLER
    return high << 16 | low


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# --- sound -------------------------------------------------------------------------------------------------------


def sound(kind: str, seconds: int, request: int, nonce: str) -> bytes:
    """A WAV, 16 bits mono at 16 kHz. `speech` is spoken English, over and over; `murmur` sounds like speech and says nothing.

    Raises UsageError for an unknown kind.
    """
    if kind not in _MAKERS:
        raise UsageError(f"unknown kind of sound {kind!r}", f"known: {', '.join(KINDS)}")
    material = _material(kind)
    begin = _number(f"{nonce}/{request}") % len(material)
    samples = np.resize(np.roll(material, -begin), seconds * SAMPLES_PER_S).tobytes()
    shape = struct.pack("<HHIIHH", 1, 1, SAMPLES_PER_S, 2 * SAMPLES_PER_S, 2, 16)
    head = b"RIFF" + struct.pack("<I", 36 + len(samples)) + b"WAVEfmt " + struct.pack("<I", len(shape)) + shape
    return head + b"data" + struct.pack("<I", len(samples)) + samples


@cache
def _material(kind: str) -> NDArray[np.int16]:
    samples: NDArray[np.int16] = np.rint(_MAKERS[kind]() * 32_767).astype("<i2")
    return samples


def _speech() -> NDArray[np.float64]:
    """Two sentences of ours as espeak-ng speaks them, 8 bits µ-law in `speech.ulaw`."""
    level = (np.frombuffer(Path(__file__).with_name("speech.ulaw").read_bytes(), np.uint8) - 128.0) / 127
    expanded: NDArray[np.float64] = np.sign(level) * np.expm1(np.abs(level) * np.log(256)) / 255
    return expanded


def _murmur() -> NDArray[np.float64]:
    """Ten seconds of a voice's harmonics under two wandering formants, in syllables of a quarter of a second."""
    at_s = np.arange(10 * SAMPLES_PER_S) / SAMPLES_PER_S
    pitch = 2 * np.pi * np.cumsum(115 + 15 * np.sin(2 * np.pi * 0.4 * at_s)) / SAMPLES_PER_S
    formants = (500 + 200 * np.sin(2 * np.pi * 1.1 * at_s), 1500 + 500 * np.sin(2 * np.pi * 0.7 * at_s))
    voice = np.zeros_like(at_s)
    for harmonic in range(1, 30):
        loudness = sum(np.exp(-(((115 * harmonic - formant) / 150) ** 2)) for formant in formants)
        voice += loudness * np.sin(harmonic * pitch)
    syllables = np.clip(np.sin(2 * np.pi * 4 * at_s), 0, None) ** 0.5
    murmur: NDArray[np.float64] = 0.8 * voice * syllables / np.abs(voice * syllables).max()
    return murmur


_MAKERS = {"speech": _speech, "murmur": _murmur}
KINDS = tuple(_MAKERS)


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
