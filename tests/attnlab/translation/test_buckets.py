"""Batches of like length: every pair once an epoch, whoever takes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from attnlab.translation.buckets import Buckets, Share

LENGTHS = some.lists(some.tuples(some.integers(1, 12), some.integers(0, 12)), min_size=1)


def examples(lengths: list[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    # each pair has a number of its own, so that it can be told from the others
    return [([4 + k] * n_s, [4 + k] * n_t) for k, (n_s, n_t) in enumerate(lengths)]


def pairs(share: Share) -> list[int]:
    return [] if share.batch is None else (share.batch.source[:, 0] - 4).tolist()


@given(LENGTHS, some.integers(1, 4), some.integers(0, 2))
def test_every_pair_comes_once_an_epoch(lengths, world, epoch) -> None:
    buckets = Buckets(examples(lengths), 30, 0)
    n = buckets.per_epoch
    steps = range(1 + epoch * n, 1 + (epoch + 1) * n)
    seen = [pair for s in steps for r in range(world) for pair in pairs(buckets.step(s, r, world))]
    assert sorted(seen) == list(range(len(lengths)))


@given(LENGTHS, some.integers(1, 4))
def test_processes_share_the_batch_of_one(lengths: list[tuple[int, int]], world: int) -> None:
    buckets = Buckets(examples(lengths), 40, 1)
    for step in range(1, buckets.per_epoch + 1):
        alone = buckets.step(step)
        parts = [buckets.step(step, rank, world) for rank in range(world)]
        assert sorted(pair for part in parts for pair in pairs(part)) == sorted(pairs(alone))
        assert {part.tokens for part in parts} == {alone.tokens}
        assert alone.batch is not None
        assert alone.tokens == int(alone.batch.target_lengths.sum())


@given(LENGTHS)
def test_a_batch_stays_within_its_pieces_unless_a_single_pair_is_longer(lengths) -> None:
    buckets = Buckets(examples(lengths), 20, 0)
    for step in range(1, buckets.per_epoch + 1):
        batch = buckets.step(step).batch
        assert batch is not None
        assert max(batch.source.numel(), batch.target_in.numel()) <= 20 or len(batch.source) == 1


def test_most_batches_have_16_pairs_and_a_step_says_what_it_takes() -> None:
    buckets = Buckets(examples([(5 + k % 20, 4 + k % 20) for k in range(3000)]), 1000, 0)
    sizes = [len(pairs(buckets.step(step))) for step in range(1, buckets.per_epoch + 1)]
    assert sum(size % 16 == 0 for size in sizes) >= len(sizes) - 1
    lengths = [(1 + k % 7, 2 + k % 5) for k in range(80)]
    one, other = (Buckets(examples(lengths), 50, 3) for _ in range(2))
    wanted = [pairs(one.step(step)) for step in range(1, 40)]
    assert [pairs(other.step(step)) for step in range(39, 0, -1)] == wanted[::-1]
    assert pairs(one.step(1)) != pairs(one.step(1 + one.per_epoch))
    assert pairs(Buckets(examples(lengths), 50, 4).step(1)) != wanted[0]


@pytest.mark.parametrize("world", [1, 2])
def test_batches_of_real_lengths_hold_little_padding(world: int) -> None:
    lengths = [(5 + (k * 37) % 20, 4 + (k * 37) % 20 + k % 3) for k in range(3000)]
    buckets = Buckets(examples(lengths), 1000, 0)
    cells = real = 0
    for step in range(1, buckets.per_epoch + 1):
        batch = buckets.step(step, 0, world).batch
        assert batch is not None
        cells += batch.source.numel() + batch.target_in.numel()
        real += int(batch.source_lengths.sum() + batch.target_lengths.sum())
    assert real / cells > 0.95
