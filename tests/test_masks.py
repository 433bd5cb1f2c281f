"""Masks: True = may attend, and the last query stands at the last key."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnbook.masks import as_torch_mha_mask, causal_mask, padding_mask, window_mask

lengths = st.integers(0, 8)


def test_three_tokens_look_back_and_at_themselves() -> None:
    assert causal_mask(3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


@given(n_q=lengths, n_k=lengths)
def test_causal_mask_follows_its_formula(n_q: int, n_k: int) -> None:
    mask = causal_mask(n_q, n_k)
    assert mask.shape == (n_q, n_k)
    assert mask.dtype == torch.bool
    for i in range(n_q):
        for j in range(n_k):
            assert mask[i, j] == (j <= i + n_k - n_q)


@given(n_k=st.integers(1, 8), n_q=st.integers(1, 8))
def test_causal_mask_with_a_cache_is_the_end_of_the_whole_mask(n_k: int, n_q: int) -> None:
    n_q = min(n_q, n_k)
    assert torch.equal(causal_mask(n_q, n_k), causal_mask(n_k)[n_k - n_q :])


@given(n_q=lengths, n_k=lengths, window=st.integers(1, 10))
def test_window_mask_follows_its_formula(n_q: int, n_k: int, window: int) -> None:
    mask = window_mask(n_q, n_k, window)
    assert mask.shape == (n_q, n_k)
    for i in range(n_q):
        position = i + n_k - n_q
        for j in range(n_k):
            assert mask[i, j] == (position - window < j <= position)


def test_a_window_counts_its_own_position() -> None:
    assert window_mask(5, 5, 2).sum(dim=-1).tolist() == [1, 2, 2, 2, 2]
    assert torch.equal(window_mask(4, 4, 1), torch.eye(4, dtype=torch.bool))


@given(n_q=lengths, n_k=lengths)
def test_a_window_as_wide_as_the_keys_is_causal(n_q: int, n_k: int) -> None:
    assert torch.equal(window_mask(n_q, n_k, max(n_k, 1)), causal_mask(n_q, n_k))


@given(data=st.data(), n_k=lengths)
def test_padding_mask_allows_the_first_keys_of_each_sentence(data: st.DataObject, n_k: int) -> None:
    counts = data.draw(st.lists(st.integers(0, n_k), max_size=4))
    mask = padding_mask(counts, n_k)
    assert mask.shape == (len(counts), 1, n_k)
    assert mask.dtype == torch.bool
    for row, count in zip(mask[:, 0].tolist(), counts, strict=True):
        assert row == [True] * count + [False] * (n_k - count)


def test_padding_mask_takes_a_tensor_of_any_integer_type() -> None:
    for dtype in (torch.int64, torch.int32, torch.uint8):
        mask = padding_mask(torch.tensor([2, 0], dtype=dtype), 3)
        assert mask.tolist() == [[[True, True, False]], [[False, False, False]]]


def test_masks_are_made_on_the_device_asked_for() -> None:
    assert causal_mask(2, device="meta").device.type == "meta"
    assert window_mask(2, 3, 1, device="meta").device.type == "meta"
    assert padding_mask([1], 2, device="cpu").device.type == "cpu"


def test_polarity_flips_for_multihead_attention() -> None:
    mask = causal_mask(2, 3)
    assert torch.equal(as_torch_mha_mask(mask), torch.tensor([[0, 0, 1], [0, 0, 0]]).bool())


def test_multihead_attention_understands_the_translated_masks() -> None:
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(4, 1, batch_first=True, dtype=torch.float64)
    x = torch.randn(2, 4, 4, dtype=torch.float64)
    past, padding = causal_mask(4), padding_mask([4, 2], 4)
    _, weights = layer(
        x,
        x,
        x,
        attn_mask=as_torch_mha_mask(past),
        key_padding_mask=as_torch_mha_mask(padding[:, 0]),
    )
    assert torch.equal(weights > 0, past & padding)


@pytest.mark.parametrize("bad", [-1, 2.0, True, "3", None])
def test_a_length_is_a_whole_number_that_is_not_negative(bad: object) -> None:
    with pytest.raises(ValueError, match="n_q must be a whole number of at least 0: it is"):
        causal_mask(bad)
    with pytest.raises(ValueError, match="n_q must be a whole number of at least 0: it is"):
        window_mask(bad, 2, 1)
    with pytest.raises(ValueError, match="n_k must be a whole number of at least 0: it is"):
        padding_mask([], bad)


def test_the_number_of_keys_is_checked_too() -> None:
    with pytest.raises(ValueError, match="n_k must be a whole number of at least 0: it is -2"):
        causal_mask(1, -2)


@pytest.mark.parametrize("window", [0, -1, 1.5, True])
def test_a_window_holds_at_least_one_key(window: object) -> None:
    with pytest.raises(ValueError, match="window must be a whole number of at least 1"):
        window_mask(2, 2, window)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 4], r"lengths must be from 0 to n_k = 3: they are \[1, 4\]"),
        ([-1], r"lengths must be from 0 to n_k = 3: they are \[-1\]"),
        ([1.0], "lengths must be whole numbers: its dtype is torch.float32"),
        ([True], "lengths must be whole numbers: its dtype is torch.bool"),
        ([[1, 2]], r"lengths must have the shape \(b,\): its shape is \(1, 2\)"),
        (2, r"lengths must have the shape \(b,\): its shape is \(\)"),
    ],
)
def test_lengths_that_cannot_be_are_refused(counts: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        padding_mask(counts, 3)


def test_only_a_boolean_tensor_can_change_its_polarity() -> None:
    with pytest.raises(ValueError, match=r"mask must be boolean.*its dtype is torch.int64"):
        as_torch_mha_mask(torch.tensor([[0, 1]]))
    with pytest.raises(TypeError, match=r"mask must be a torch.Tensor: it is a list"):
        as_torch_mha_mask([[True]])
