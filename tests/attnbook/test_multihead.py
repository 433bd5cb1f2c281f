"""Multi-head attention: PyTorch's own layer by copied weights, and what must hold for any heads."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import linear, scaled_dot_product_attention

from attnbook.attention import attention
from attnbook.masks import as_torch_mha_mask, causal_mask, padding_mask
from attnbook.multihead import Attend, MultiHeadAttention, repeat_heads
from attnbook.positions import alibi_bias
from tests.attnbook.copying import grouped
from tests.attnbook.strategies import chances, close, normal

PRECISION = {torch.float32: 2e-5, torch.float64: 1e-10}
SHAPES = [(1, 1, 1, 1, 1), (1, 3, 1, 12, 3), (2, 1, 6, 10, 5), (3, 7, 5, 9, 1), (2, 33, 17, 14, 7)]


def pair(d_model: int, n_heads: int, dtype: torch.dtype = torch.float64, **options):
    """Return PyTorch's layer and ours with its weights, biases included."""
    torch.manual_seed(d_model)
    theirs = nn.MultiheadAttention(d_model, n_heads, batch_first=True, dtype=dtype, **options)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=d_model**-0.5)
    return theirs, MultiHeadAttention.from_torch(theirs)


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("masked", ["no", "causal", "padded", "both"])
def test_it_is_torchs_layer(shape, dtype: torch.dtype, cross: bool, masked: str) -> None:
    b, n_q, n_k, d_model, n_heads = shape
    theirs, mine = pair(d_model, n_heads, dtype)
    x = normal(b, n_q, d_model, seed=1, dtype=dtype).requires_grad_()
    memory = normal(b, n_k, d_model, seed=2, dtype=dtype).requires_grad_() if cross else x
    n_k = n_k if cross else n_q
    causal = masked in ("causal", "both") and n_k >= n_q  # an empty row is NaN in theirs
    lengths = [n_k, *(max(1, n_k // (i + 2)) for i in range(b - 1))]
    mask = padding_mask(lengths, n_k) if masked in ("padded", "both") else None
    wanted, weights = theirs(
        x,
        memory,
        memory,
        key_padding_mask=None if mask is None else as_torch_mha_mask(mask[:, 0]),
        attn_mask=as_torch_mha_mask(causal_mask(n_q, n_k)) if causal else None,
        average_attn_weights=False,
    )
    arguments = (x, memory if cross else None, mask)
    output, mine_weights = mine(*arguments, causal=causal), mine.weights(*arguments, causal=causal)
    close(output, wanted, PRECISION[dtype])
    close(mine_weights, weights, PRECISION[dtype])
    inputs = (x, memory) if cross else (x,)
    for one, other in zip(
        torch.autograd.grad(output.square().sum(), inputs),
        torch.autograd.grad(wanted.square().sum(), inputs),
        strict=True,
    ):
        close(one, other, 100 * PRECISION[dtype])


def test_gradients_are_torchs_and_those_of_finite_differences() -> None:
    theirs, mine = pair(12, 3)
    x = normal(2, 5, 12)
    theirs(x, x, x)[0].square().sum().backward()
    mine(x).square().sum().backward()
    close(mine.qkv.weight.grad, theirs.in_proj_weight.grad)
    close(mine.qkv.bias.grad, theirs.in_proj_bias.grad)
    close(mine.out.weight.grad, theirs.out_proj.weight.grad)
    close(mine.out.bias.grad, theirs.out_proj.bias.grad)
    layer = grouped(2, rope=True)
    x = normal(1, 3, 24, seed=1).requires_grad_()
    mask = chances(1, 1, 3, seed=4)
    assert torch.autograd.gradcheck(lambda each: layer(each, mask=mask, causal=True), (x,))


def test_a_layer_without_bias_or_batch_first_can_be_copied() -> None:
    theirs = nn.MultiheadAttention(8, 2, dropout=0.25, bias=False, dtype=torch.float64).eval()
    mine = MultiHeadAttention.from_torch(theirs)
    x = normal(2, 5, 8)
    close(mine(x), theirs(*(x.transpose(0, 1),) * 3)[0].transpose(0, 1))
    assert not mine.training
    assert mine.attend.dropout == 0.25
    assert sum(one.numel() for one in mine.parameters()) == 256  # as many as theirs
    mine.qkv.weight.data.zero_()
    assert theirs.in_proj_weight.any()  # a copy, not the same memory


@pytest.mark.parametrize("frozen", range(4))
def test_what_is_not_trained_is_not_trained_in_the_copy(frozen: int) -> None:
    theirs = nn.MultiheadAttention(8, 2).to(torch.bfloat16).train()
    parts = theirs.in_proj_weight, theirs.in_proj_bias, theirs.out_proj.weight, theirs.out_proj.bias
    parts[frozen].requires_grad_(False)
    mine = MultiHeadAttention.from_torch(theirs)
    copies = mine.qkv.weight, mine.qkv.bias, mine.out.weight, mine.out.bias
    assert [one.requires_grad for one in copies] == [one.requires_grad for one in parts]
    assert all(torch.equal(one, part) for one, part in zip(copies, parts, strict=True))
    assert all(one.is_leaf for one in copies)
    assert mine.training
    assert mine.qkv.weight.dtype == torch.bfloat16


def test_a_weight_that_is_computed_is_copied_as_it_is() -> None:
    theirs = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    nn.utils.parametrizations.weight_norm(theirs.out_proj)
    x = torch.randn(2, 3, 8)
    close(MultiHeadAttention.from_torch(theirs)(x), theirs(x, x, x)[0], 1e-6)


@given(
    n_kv_heads=st.sampled_from([1, 2, 3, 6]),
    b=st.integers(1, 3),
    n_q=st.integers(1, 4),
    n_k=st.integers(1, 4),
    mask_kind=st.sampled_from([None, "flat", "batch", "row", "heads", "all"]),
    biased=st.booleans(),
    causal=st.booleans(),
)
def test_groups_are_those_of_torch(n_kv_heads, b, n_q, n_k, mask_kind, biased, causal) -> None:
    layer, x, memory = grouped(n_kv_heads), normal(b, n_q, 24, seed=1), normal(b, n_k, 24, seed=2)
    shapes = {
        "flat": (n_q, n_k),
        "batch": (b, 1, n_k),
        "row": (b, n_q, n_k),
        "heads": (1, 6, 1, n_k),
        "all": (b, 6, n_q, n_k),
    }
    mask = None if mask_kind is None else chances(*shapes[mask_kind], seed=3)
    bias = normal(6, n_q, n_k, seed=4)[None] if biased else None
    output = layer(x, memory, mask, bias=bias, causal=causal)

    whole = torch.ones(b, 6, n_q, n_k, dtype=torch.bool)
    if mask is not None:
        whole = whole & (mask[:, None] if mask.dim() == 3 else mask)
    if causal:
        whole = whole & causal_mask(n_q, n_k)
    kept = torch.zeros(b, 6, n_q, n_k, dtype=torch.float64) if bias is None else bias
    kept = kept.masked_fill(~whole, -torch.inf)
    weights, biases = layer.qkv.weight, layer.qkv.bias
    query = linear(x, weights[:24], biases[:24]).view(b, n_q, 6, 4).transpose(1, 2)
    both = linear(memory, weights[24:], biases[24:]).view(b, n_k, 2, n_kv_heads, 4)
    key, value = both.permute(2, 0, 3, 1, 4)
    expected = scaled_dot_product_attention(query, key, value, attn_mask=kept, enable_gqa=True)
    close(output, layer.out(expected.transpose(1, 2).flatten(2)))

    got = layer.weights(x, memory, mask, bias=bias, causal=causal)
    close(got.sum(dim=-1), whole.any(dim=-1).double())
    values = value.repeat_interleave(6 // n_kv_heads, dim=1)
    close(layer.out((got @ values).transpose(1, 2).flatten(2)), output)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("shape", [(2, 5), (2, 1, 5), (2, 2, 5), (1, 6, 1, 5), (2, 6, 2, 5)])
def test_one_query_attends_as_it_does_beside_another(n_kv_heads: int, shape) -> None:
    layer, x, memory = grouped(n_kv_heads), normal(2, 2, 24, seed=1), normal(2, 5, 24, seed=2)
    mask, bias = chances(*shape, seed=3), normal(*shape, seed=4)
    beside = layer(x, memory, mask, bias=bias)
    for i in range(2):
        own = slice(None) if shape[-2] == 1 else slice(i, i + 1)
        alone = layer(x[:, i : i + 1], memory, mask[..., own, :], bias=bias[..., own, :])
        close(alone, beside[:, i : i + 1])


def test_groups_of_one_are_multi_head_attention() -> None:
    one, other = grouped(6), MultiHeadAttention(24, 6).double()
    other.load_state_dict(one.state_dict())
    x = normal(2, 5, 24)
    assert torch.equal(one(x), other(x))


def test_shared_keys_are_those_of_a_layer_that_repeats_them() -> None:
    shared, full = grouped(2), MultiHeadAttention(24, 6).double()
    query, key, value = shared.qkv.weight.split((24, 8, 8))
    repeated = [
        part.view(2, 4, 24).repeat_interleave(3, dim=0).view(24, 24) for part in (key, value)
    ]
    with torch.no_grad():
        full.qkv.weight.copy_(torch.cat([query, *repeated]))
        query, key, value = shared.qkv.bias.split((24, 8, 8))
        repeated = [part.view(2, 4).repeat_interleave(3, dim=0).flatten() for part in (key, value)]
        full.qkv.bias.copy_(torch.cat([query, *repeated]))
        full.out.load_state_dict(shared.out.state_dict())
    for n in (1, 5):
        x = normal(2, n, 24)
        close(shared(x), full(x))
        close(shared.weights(x), full.weights(x))


@given(
    n_kv_heads=st.sampled_from([2, 6]),
    rope=st.booleans(),
    causal=st.booleans(),
    biased=st.booleans(),
    mask_kind=st.sampled_from([None, "flat", "batch", "heads", "all"]),
    data=st.data(),
)
def test_chosen_weights_are_those_of_the_whole(
    n_kv_heads: int, rope: bool, causal: bool, biased: bool, mask_kind, data: st.DataObject
) -> None:
    layer, x = grouped(n_kv_heads, rope=rope), normal(2, 5, 24)
    shapes = {"flat": (5, 5), "batch": (2, 1, 5), "heads": (1, 6, 1, 5), "all": (2, 6, 5, 5)}
    mask = None if mask_kind is None else chances(*shapes[mask_kind], seed=3)
    bias = alibi_bias(6, 5, dtype=torch.float64)[None] if biased else None
    heads = data.draw(st.lists(st.integers(-6, 5), max_size=4))
    rows = data.draw(st.lists(st.integers(-5, 4), max_size=4))
    whole = layer.weights(x, mask=mask, causal=causal, bias=bias)
    part = layer.weights(x, mask=mask, causal=causal, bias=bias, heads=heads, rows=rows)
    close(part, whole[:, heads][:, :, rows])
    value = layer.qkv(x)[..., -4 * n_kv_heads :].unflatten(-1, (n_kv_heads, 4)).transpose(1, 2)
    output = whole @ value.repeat_interleave(6 // n_kv_heads, dim=1)
    output = layer.out(output.transpose(1, 2).flatten(2))
    close(output, layer(x, mask=mask, causal=causal, bias=bias))


def test_forward_stores_nothing() -> None:
    layer = grouped(2, rope=True)
    before = set(vars(layer)), set(vars(layer.attend)), set(layer.state_dict())
    layer(normal(2, 5, 24), causal=True)
    layer.weights(normal(2, 5, 24))
    assert before == (set(vars(layer)), set(vars(layer.attend)), set(layer.state_dict()))


@given(n=st.integers(1, 6), rope=st.booleans(), data=st.data())
def test_the_future_cannot_change_the_past(n: int, rope: bool, data: st.DataObject) -> None:
    now = data.draw(st.integers(0, n - 1))
    layer, x = grouped(2, rope=rope), normal(2, n, 24)
    other = x.clone()
    other[:, now:] += 1
    before, after = layer(x, causal=True), layer(other, causal=True)
    close(after[:, :now], before[:, :now], 1e-12)
    assert not torch.allclose(after[:, now:], before[:, now:])


@given(
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    bad=st.sampled_from([0, 9e9, torch.nan]),
)
def test_padding_changes_nothing(lengths: list[int], bad: float) -> None:
    layer, memory = grouped(2), normal(len(lengths), 4, 24, seed=2)
    x = normal(len(lengths), 3, 24, seed=1)
    padded = memory.clone()
    for b, length in enumerate(lengths):
        padded[b, length:] = bad
    output = layer(x, padded, padding_mask(lengths, 4))
    for b, length in enumerate(lengths):
        close(output[b : b + 1], layer(x[b : b + 1], memory[b : b + 1, :length]))


@given(data=st.data(), n_kv_heads=st.sampled_from([1, 6]))
def test_without_positions_order_means_nothing(data: st.DataObject, n_kv_heads: int) -> None:
    order = data.draw(st.permutations(range(5)))
    layer, x = grouped(n_kv_heads), normal(2, 5, 24)
    close(layer(x[:, order]), layer(x)[:, order])
    assert not torch.allclose(grouped(1, rope=True)(x.flip(1)), grouped(1, rope=True)(x).flip(1))


def test_a_projected_memory_serves_many_queries() -> None:
    layer, memory = grouped(2), normal(2, 4, 24, seed=2)
    projected, mask = layer.project(memory), padding_mask([4, 2], 4)
    for n_q in (1, 3):
        x = normal(2, n_q, 24, seed=n_q)
        close(layer(x, projected, mask), layer(x, memory, mask))
        close(layer.weights(x, projected, mask, heads=4), layer.weights(x, memory, mask, heads=4))


def test_dropout_takes_whole_weights_and_heeds_the_bias() -> None:
    attend, bias = Attend(0.5), alibi_bias(2, 3, dtype=torch.float64)[None]
    q, k, v = (normal(1, 2, 3, 4, seed=seed) for seed in range(3))
    torch.manual_seed(0)
    found = attend(q, k, v, bias=bias)
    torch.manual_seed(0)
    close(found, nn.functional.dropout(attention(q, k, v, bias=bias).weights, 0.5) @ v)


def test_a_key_that_no_head_of_its_group_sees_cannot_poison_them() -> None:
    """Heads 2 and 3 share keys of which none sees the third, and 0 and 1 see their own third."""
    query, key, value = normal(2, 4, 5, 3), normal(2, 2, 4, 3, seed=1), normal(2, 2, 4, 6, seed=2)
    mask = torch.ones(2, 4, 5, 4, dtype=torch.bool)
    mask[:, 2:, :, 2] = False
    wanted = attention(query, repeat_heads(key, 4), repeat_heads(value, 4), mask).output
    for part in (key, value):
        part[:, 1, 2] = torch.nan
    for rows in (slice(None), slice(1)):  # by the kernel, and folded where one token is decoded
        close(Attend()(query[:, :, rows], key, value, mask[:, :, rows]), wanted[:, :, rows])
