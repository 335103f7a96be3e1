"""What all nouns are."""

from __future__ import annotations

import msgspec


class Noun(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every noun."""
