"""The simulator's tokenizer: four UTF-8 bytes of prompt text are one token; chat adds a template of seven.

Prefix blocks are 16 tokens, 64 bytes; the template counts at the end, so that it never shifts them.
"""

from __future__ import annotations

import hashlib

from sweep.sim.device import BLOCK_TOKENS

BYTES_PER_TOKEN = 4
TEMPLATE_TOKENS = {"chat": 7}
TOKEN_TEXT = "tok "


def count(prompt: bytes, dialect: str) -> int:
    """Prompt tokens, at least one."""
    return max(1, -(-len(prompt) // BYTES_PER_TOKEN)) + TEMPLATE_TOKENS.get(dialect, 0)


def chain(prompt: bytes, tokens: int) -> tuple[int, ...]:
    """Chain hashes of the full blocks of the text. The last of the `tokens` is always computed, so its block is left out."""
    width = BLOCK_TOKENS * BYTES_PER_TOKEN
    blocks = min(len(prompt) // width, (tokens - 1) // BLOCK_TOKENS)
    running = hashlib.blake2b(digest_size=8)
    hashes = []
    for block in range(blocks):
        running.update(prompt[block * width : (block + 1) * width])
        hashes.append(int.from_bytes(running.copy().digest(), "big"))
    return tuple(hashes)
