from __future__ import annotations

import pytest

from sweep.sim.blocks import Blocks, blocks_of


def published(pool: Blocks, *chain: int) -> None:
    """Computed, named and released: idle in the cache."""
    pool.take(len(chain))
    pool.release(pool.publish(chain))


def test_a_started_block_is_a_block():
    assert [blocks_of(tokens) for tokens in (0, 1, 16, 17)] == [0, 1, 1, 2]


def test_idle_prefixes_are_found_until_their_place_is_needed():
    pool = Blocks(4)
    published(pool, 1, 2)
    assert pool.free == 4
    assert pool.hits((1, 2, 3)) == 2
    pool.take(3)
    assert pool.hits((1, 2)) == 1  # the end of the prefix went first


def test_the_least_recently_used_prefix_goes_first():
    pool = Blocks(3)
    published(pool, 1)
    published(pool, 2)
    pool.share((1,))
    pool.release((1,))
    pool.take(2)
    assert (pool.hits((1,)), pool.hits((2,))) == (1, 0)


def test_a_shared_block_is_held_once_and_kept_while_one_needs_it():
    pool = Blocks(2)
    pool.take(1)
    pool.publish((7,))
    pool.share((7,))
    assert pool.held == 1
    pool.release((7,))
    assert pool.held == 1
    pool.release((7,))
    assert pool.held == 0


def test_two_who_compute_the_same_block_at_once_do_not_share_it():
    pool = Blocks(4)
    pool.take(2)
    assert pool.publish((7,)) == [7]
    assert pool.publish((7,)) == []


def test_more_than_there_is_cannot_be_taken():
    with pytest.raises(AssertionError):
        Blocks(1).take(2)
