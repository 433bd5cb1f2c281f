"""Masks: True = may attend, and the last query stands at the last key."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.masks import as_torch_mha_mask, causal_mask, padding_mask, window_mask

lengths = st.integers(0, 8)


@given(n_q=lengths, n_k=lengths)
def test_causal_mask_follows_its_formula(n_q: int, n_k: int) -> None:
    mask = causal_mask(n_q, n_k)
    assert mask.shape == (n_q, n_k)
    assert mask.dtype == torch.bool
    for i in range(n_q):
        for j in range(n_k):
            assert mask[i, j] == (j <= i + n_k - n_q)


@given(n_q=lengths, n_k=lengths, window=st.integers(1, 10), data=st.data())
def test_a_window_shows_its_last_keys_and_the_sinks(n_q, n_k, window, data) -> None:
    """The first s keys and the last window − s, so never more than the window."""
    sinks = data.draw(st.integers(0, window - 1))
    mask = window_mask(n_q, n_k, window, sinks=sinks)
    assert mask.shape == (n_q, n_k)
    for i in range(n_q):
        p = i + n_k - n_q
        seen = {j for j in range(p + 1) if j < sinks or j > p - (window - sinks)}
        assert set(mask[i].nonzero().flatten().tolist()) == seen
        assert len(seen) == min(max(p + 1, 0), window)


@given(data=st.data(), n_k=lengths)
def test_padding_mask_allows_the_first_keys_of_each_sentence(data: st.DataObject, n_k: int) -> None:
    counts = data.draw(st.lists(st.integers(0, n_k), max_size=4))
    mask = padding_mask(counts, n_k)
    assert mask.shape == (len(counts), 1, n_k)
    assert mask.dtype == torch.bool
    for row, count in zip(mask[:, 0].tolist(), counts, strict=True):
        assert row == [True] * count + [False] * (n_k - count)


def test_masks_take_any_integer_lie_where_asked_and_flip_for_torchs_layer() -> None:
    for dtype in (torch.int64, torch.int32, torch.uint8):
        mask = padding_mask(torch.tensor([2, 0], dtype=dtype), 3)
        assert mask.tolist() == [[[True, True, False]], [[False, False, False]]]
    assert causal_mask(2, device="meta").device.type == "meta"
    assert window_mask(2, 3, 1, device="meta").device.type == "meta"
    assert padding_mask([1], 2, device="cpu").device.type == "cpu"
    mask = causal_mask(2, 3)
    assert torch.equal(as_torch_mha_mask(mask), torch.tensor([[0, 0, 1], [0, 0, 0]]).bool())
