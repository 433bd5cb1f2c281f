"""Batches: right-padded, shifted targets, every pair once, little padding."""

from functools import partial

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.language import Batch, batches, pad_batch

sentence = st.lists(st.integers(3, 20), min_size=1, max_size=6)
examples = st.lists(st.tuples(sentence, st.lists(st.integers(3, 20), max_size=6)), min_size=1)


def rows(batch: Batch) -> list[tuple[list[int], list[int]]]:
    """Return the pairs of a batch without padding, bos and eos."""
    sources = zip(batch.source.tolist(), batch.source_lengths.tolist(), strict=True)
    targets = zip(batch.target_in.tolist(), batch.target_lengths.tolist(), strict=True)
    return [
        (source[:n_s], target[1:n_t])
        for (source, n_s), (target, n_t) in zip(sources, targets, strict=True)
    ]


def test_a_batch_is_padded_on_the_right_and_its_targets_are_shifted() -> None:
    batch = pad_batch([([5, 6, 7], [8]), ([9], [10, 11])])
    assert batch.source.tolist() == [[5, 6, 7], [9, 0, 0]]
    assert batch.source_lengths.tolist() == [3, 1]
    assert batch.target_in.tolist() == [[1, 8, 0], [1, 10, 11]]
    assert batch.target_out.tolist() == [[8, 2, 0], [10, 11, 2]]
    assert batch.target_lengths.tolist() == [2, 3]
    assert {tensor.dtype for tensor in batch} == {torch.int64}


@given(pairs=examples)
def test_the_next_input_is_the_output(pairs: list) -> None:
    batch = pad_batch(pairs)
    assert rows(batch) == pairs
    for taken, said, n in zip(
        batch.target_in.tolist(), batch.target_out.tolist(), batch.target_lengths.tolist(),
        strict=True,
    ):  # fmt: skip
        assert taken[0] == 1
        assert said[n - 1] == 2
        assert taken[1:n] == said[: n - 1]
        assert taken[n:] == said[n:] == [0] * (len(said) - n)


@given(pairs=examples, batch_size=st.integers(1, 5), pool=st.integers(1, 3))
def test_every_pair_comes_exactly_once(pairs: list, batch_size: int, pool: int) -> None:
    cut = list(batches(pairs, batch_size, seed=0, pool=pool))
    assert sorted(row for batch in cut for row in rows(batch)) == sorted(pairs)
    assert max(len(batch.source) for batch in cut) <= batch_size
    assert len(cut) == -(-len(pairs) // batch_size)


@given(pairs=examples, batch_size=st.integers(1, 5))
def test_without_a_generator_the_order_is_kept(pairs: list, batch_size: int) -> None:
    cut = list(batches(pairs, batch_size))
    assert [row for batch in cut for row in rows(batch)] == pairs
    assert all(len(batch.source) == batch_size for batch in cut[:-1])


def numbered(n: int) -> list[tuple[list[int], list[int]]]:
    lengths = torch.randint(1, 20, (n,), generator=torch.Generator().manual_seed(3)).tolist()
    return [([3 + row] * length, [3] * length) for row, length in enumerate(lengths)]


def test_the_seed_alone_decides_the_order() -> None:
    def order(seed: int) -> list[int]:
        cut = batches(numbered(200), 8, seed=seed, pool=5)
        return [first for batch in cut for first in batch.source[:, 0].tolist()]

    torch.manual_seed(5)
    assert order(1) == order(1)
    assert order(1) != order(2)


def test_sorting_by_length_saves_padding_and_batches_come_in_no_order_of_length() -> None:
    def padding(pool: int) -> int:
        cut = batches(numbered(800), 16, seed=0, pool=pool)
        return sum(int((batch.source == 0).sum()) for batch in cut)

    assert padding(50) < 0.2 * padding(1)
    cut = list(batches(numbered(800), 16, seed=0, pool=50))
    widths = [batch.source.shape[1] for batch in cut]
    assert widths != sorted(widths)


def test_a_batch_moves_to_a_device_and_arrays_are_sentences_too() -> None:
    moved = pad_batch([([5], [6])]).to("meta")
    assert isinstance(moved, Batch)
    assert {tensor.device.type for tensor in moved} == {"meta"}
    wanted = pad_batch([([5, 6], [7]), ([8], [])])
    for kind in (partial(np.array, dtype=np.int32), partial(torch.tensor, dtype=torch.int32)):
        found = pad_batch([(kind([5, 6]), kind([7])), (kind([8]), kind([]))])
        assert all(torch.equal(*pair) for pair in zip(found, wanted, strict=True))
    assert pad_batch([([np.int64(5), torch.tensor(6)], [7])]).source.tolist() == [[5, 6]]
