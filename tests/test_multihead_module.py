"""Multi-head attention as a module: dropout, dtypes, compilation, and what it refuses."""

import copy

import pytest
import torch
from torch import Tensor, nn

from attnbook.masks import causal_mask, padding_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import Rotary, alibi_bias
from attnbook.training.seeds import seeded
from tests.copying import grouped
from tests.strategies import chances, close, normal

# --- dropout --------------------------------------------------------------------------------------


def test_evaluation_drops_nothing() -> None:
    layer = MultiHeadAttention(24, 6, dropout=0.5).double()
    x, plain = normal(2, 5, 24), MultiHeadAttention(24, 6).double()
    plain.load_state_dict(layer.state_dict())
    layer.eval()
    assert torch.equal(layer(x), layer(x))
    assert torch.equal(layer(x), plain(x))


@pytest.mark.parametrize(("n_kv_heads", "n_q"), [(6, 5), (2, 5), (2, 1)])
@pytest.mark.parametrize("causal", [False, True])
def test_training_drops_weights_and_keeps_their_mean(
    n_kv_heads: int, n_q: int, causal: bool
) -> None:
    torch.manual_seed(1)
    layer = MultiHeadAttention(24, 6, n_kv_heads=n_kv_heads, dropout=0.25).double()
    x, memory, mask = normal(1, n_q, 24), normal(1, 5, 24, seed=2), chances(1, 1, 5, seed=3, p=0.8)
    mean = torch.stack([layer(x, memory, mask, causal=causal) for _ in range(2000)]).mean(dim=0)
    assert not torch.equal(layer(x, memory, mask), layer(x, memory, mask))
    close(mean, layer.eval()(x, memory, mask, causal=causal), 0.1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_dropout_lets_nothing_past_a_mask(causal: bool, padded: bool) -> None:
    layer = MultiHeadAttention(8, 2, dropout=0.5).double()
    mask = padding_mask([4], 5) if padded else None
    other = normal(1, 5, 8, seed=1)
    seen = []
    for later in (other, -other):
        x = normal(1, 5, 8)
        x[:, 4] = later[:, 4]  # padding, or the future of rows 0 to 3
        with seeded(0):
            seen.append(layer(x, mask=mask, causal=causal)[:, :4])
    assert torch.equal(*seen) == (causal or padded)


def test_dropout_joins_a_mask_and_the_past() -> None:
    layer, x = MultiHeadAttention(8, 2, dropout=0.5).double(), normal(1, 5, 8)
    both = causal_mask(5) & padding_mask([3], 5)
    outputs = []
    for mask, causal in ((padding_mask([3], 5), True), (both, False)):
        with seeded(0):
            outputs.append(layer(x, mask=mask, causal=causal))
    assert torch.equal(*outputs)


def test_dropout_takes_empty_rows_and_poisoned_padding() -> None:
    layer = MultiHeadAttention(24, 6, dropout=0.1).double()
    memory = normal(2, 4, 24)
    memory[1] = torch.nan
    output = layer(normal(2, 3, 24), memory, padding_mask([4, 0], 4))
    close(output[1], layer.out.bias.expand(3, 24))
    assert output.isfinite().all()


# --- an ordinary module ---------------------------------------------------------------------------


def test_it_is_an_ordinary_module() -> None:
    layer, x = grouped(2, rope=True), normal(2, 5, 24)
    expected = layer(x, causal=True)
    assert torch.equal(copy.deepcopy(layer)(x, causal=True), expected)
    other = MultiHeadAttention(24, 6, n_kv_heads=2, rope=Rotary(4, base=20.0)).double()
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(x, causal=True), expected)
    close(other.float()(x.float(), causal=True).double(), expected, 1e-5)
    assert other.bfloat16()(x.bfloat16(), causal=True).dtype == torch.bfloat16


def test_autocast_computes_in_half_precision() -> None:
    layer, x = grouped(2, rope=True, dtype=torch.float32), normal(2, 5, 24).float()
    bias = alibi_bias(6, 5)[None]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = layer(x, mask=padding_mask([5, 2], 5), causal=True, bias=bias)
        weights = layer.weights(x, mask=padding_mask([5, 2], 5), causal=True, bias=bias)
    assert output.dtype == torch.bfloat16
    close(output.float(), layer(x, mask=padding_mask([5, 2], 5), causal=True, bias=bias), 0.05)
    close(weights.float().sum(dim=-1), torch.ones(2, 6, 5), 0.02)


@pytest.mark.parametrize("masked", [False, True])
def test_it_compiles(masked: bool) -> None:
    layer, x = grouped(2, rope=True, dtype=torch.float32), normal(2, 5, 24).float()
    mask = padding_mask([5, 2], 5) if masked else None
    compiled = torch.compile(layer, backend="aot_eager")
    close(compiled(x, mask=mask, causal=True), layer(x, mask=mask, causal=True), 1e-5)


# --- refused --------------------------------------------------------------------------------------


def layer_8() -> MultiHeadAttention:
    return MultiHeadAttention(8, 4, n_kv_heads=2)


X = torch.zeros(2, 3, 8)


def mask_of(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultiHeadAttention(10, 4), "d_model must be a multiple of n_heads = 4: it is 10"),
        (
            lambda: MultiHeadAttention(12, 6, n_kv_heads=4),
            "n_heads must be a multiple of n_kv_heads = 4: it is 6",
        ),
        (lambda: MultiHeadAttention(0, 1), "d_model must be a whole number of at least 1: it is 0"),
        (lambda: MultiHeadAttention(8, 0), "n_heads must be a whole number of at least 1"),
        (lambda: MultiHeadAttention(8, -2), "n_heads must be a whole number of at least 1"),
        (lambda: MultiHeadAttention(8, 2, n_kv_heads=0), "n_kv_heads must be a whole number"),
        (lambda: MultiHeadAttention(8, 2, dropout=1.0), "dropout must be at least 0 and below 1"),
        (lambda: MultiHeadAttention(8, 2, dropout=-0.1), "dropout must be at least 0"),
        (lambda: MultiHeadAttention(8, 2, rope=Rotary(8)), "d_model / n_heads = 4: it turns 8"),
        (lambda: layer_8()(X[0]), r"x must have the shape \(b, n, 8\): its shape is \(3, 8\)"),
        (lambda: layer_8()(X[..., :7]), r"x must have the shape \(b, n, 8\)"),
        (lambda: layer_8()(X, X[..., :7]), r"memory must have the shape \(b, n, 8\)"),
        (lambda: layer_8()(X.long()), "x must hold floating-point numbers"),
        (lambda: layer_8()(X, X[:1]), "the same leading dimensions"),
        (lambda: layer_8()(X, mask=mask_of(4, 3)), r"mask must have the shape \(n_q, n_k\)"),
        (lambda: layer_8()(X, mask=mask_of(3, 1, 3)), r"mask .*: its shape is \(3, 1, 1, 3\)"),
        (lambda: layer_8()(X, mask=mask_of(2, 2, 3, 3)), r"mask .*its shape is \(2, 2, 3, 3\)"),
        (lambda: layer_8()(X[:, :1], X, mask_of(2, 2, 1, 3)), r"mask .*is \(2, 2, 1, 3\)"),
        (lambda: layer_8()(X, mask=torch.ones(3, 3)), "mask must be boolean"),
        (lambda: layer_8()(X, bias=torch.ones(4, 3, 3)), r"bias .*its shape is \(4, 1, 3, 3\)"),
        (lambda: layer_8().weights(X, mask=mask_of(3, 1, 3)), r"mask .*is \(3, 1, 1, 3\)"),
        (lambda: layer_8().weights(X, mask=torch.ones(3, 3)), "mask must be boolean"),
        (lambda: layer_8().weights(X, heads=4), "heads must be from 0 to 3: 4 is among them"),
        (lambda: layer_8().weights(X, rows=3), "rows must be from 0 to 2: 3 is among them"),
        (lambda: layer_8().weights(X[0]), r"x must have the shape \(b, n, 8\)"),
        (lambda: layer_8().project(X[0]), r"memory must have the shape \(b, n, 8\)"),
    ],
)
def test_wrong_arguments_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("training", [False, True])
def test_a_wrong_mask_is_refused_on_every_path(training: bool) -> None:
    layer = MultiHeadAttention(8, 4, n_kv_heads=2, dropout=0.1).train(training)
    for n_q in (1, 3):
        with pytest.raises(ValueError, match="mask must have the shape"):
            layer(X[:, :n_q], X, mask_of(3, 3, 3), causal=True)
    with pytest.raises(TypeError, match=r"mask must be a torch\.Tensor: it is a list"):
        layer(X, mask=[[True]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kdim": 6}, "kdim must equal embed_dim = 8: it is 6"),
        ({"vdim": 4}, "vdim must equal embed_dim = 8: it is 4"),
        ({"add_bias_kv": True}, "add_bias_kv must be False"),
        ({"add_zero_attn": True}, "add_zero_attn must be False"),
    ],
)
def test_what_has_no_counterpart_cannot_be_copied(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, **options))


def test_only_torchs_layer_can_be_copied() -> None:
    with pytest.raises(TypeError, match=r"a torch\.nn\.MultiheadAttention: it is a Linear"):
        MultiHeadAttention.from_torch(nn.Linear(2, 2))
