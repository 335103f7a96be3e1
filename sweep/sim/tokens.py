"""The simulator's tokenizer: a token is a run of at most 16 bytes without white space; chat adds a template of seven.

So a word is a token, as most short English words are for the tokenizers in use, a longer run is several, and a prompt of so
many words has exactly as many tokens. Prefix blocks are 16 tokens; the template counts at the end, so it never shifts them.
"""

from __future__ import annotations

import hashlib
import re

from sweep.sim.device import BLOCK_TOKENS

TEMPLATE_TOKENS = {"chat": 7}
TOKEN_TEXT = "tok "
_tokens = re.compile(rb"\S{1,16}").findall


def count(prompt: bytes, dialect: str) -> int:
    """Prompt tokens, at least one."""
    return max(1, len(_tokens(prompt))) + TEMPLATE_TOKENS.get(dialect, 0)


def ids(text: bytes) -> list[int]:
    """The id of each token, the same for the same token; an id is a token too, where it is written as a word."""
    return [int.from_bytes(hashlib.blake2b(token, digest_size=2).digest(), "big") for token in _tokens(text)]


def chain(prompt: bytes, tokens: int) -> tuple[int, ...]:
    """Chain hashes of the full blocks of the text. The last of the `tokens` is always computed, so its block is left out."""
    words = _tokens(prompt)
    running = hashlib.blake2b(digest_size=8)
    hashes = []
    for end in range(BLOCK_TOKENS, min(len(words), tokens - 1) + 1, BLOCK_TOKENS):
        running.update(b" ".join(words[end - BLOCK_TOKENS : end]) + b" ")
        hashes.append(int.from_bytes(running.copy().digest(), "big"))
    return tuple(hashes)
