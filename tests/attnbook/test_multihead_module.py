"""Multi-head attention as a module: dropout, dtypes, compilation, and what it refuses."""

import pytest
import torch

from attnbook.masks import causal_mask, padding_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import alibi_bias
from tests.attnbook.copying import grouped, ordinary
from tests.attnbook.strategies import chances, close, normal


def test_evaluation_drops_nothing() -> None:
    layer = MultiHeadAttention(24, 6, dropout=0.5).double()
    x, plain = normal(2, 5, 24), MultiHeadAttention(24, 6).double()
    plain.load_state_dict(layer.state_dict())
    layer.eval()
    assert torch.equal(layer(x), layer(x))
    assert torch.equal(layer(x), plain(x))


@pytest.mark.parametrize(("n_kv_heads", "n_q"), [(6, 5), (2, 5), (2, 1)])
@pytest.mark.parametrize("causal", [False, True])
def test_training_drops_weights_and_keeps_their_mean(n_kv_heads, n_q, causal) -> None:
    torch.manual_seed(1)
    layer = MultiHeadAttention(24, 6, n_kv_heads=n_kv_heads, dropout=0.25).double()
    x, memory, mask = normal(1, n_q, 24), normal(1, 5, 24, seed=2), chances(1, 1, 5, seed=3, p=0.8)
    drawn = layer(*(part.expand(2000, -1, -1) for part in (x, memory, mask)), causal=causal)
    assert not torch.equal(drawn[0], drawn[1])
    mean = drawn.mean(dim=0, keepdim=True)
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
        torch.manual_seed(0)
        seen.append(layer(x, mask=mask, causal=causal)[:, :4])
    assert torch.equal(*seen) == (causal or padded)


def test_dropout_joins_a_mask_and_the_past_and_takes_empty_rows() -> None:
    layer, x = MultiHeadAttention(8, 2, dropout=0.5).double(), normal(1, 5, 8)
    both = causal_mask(5) & padding_mask([3], 5)
    outputs = []
    for mask, causal in ((padding_mask([3], 5), True), (both, False)):
        torch.manual_seed(0)
        outputs.append(layer(x, mask=mask, causal=causal))
    assert torch.equal(*outputs)
    layer = MultiHeadAttention(24, 6, dropout=0.1).double()
    memory = normal(2, 4, 24)
    memory[1] = torch.nan
    output = layer(normal(2, 3, 24), memory, padding_mask([4, 0], 4))
    close(output[1], layer.out.bias.expand(3, 24))
    assert output.isfinite().all()


def test_it_is_an_ordinary_module() -> None:
    layer, other = grouped(2, rope=True), grouped(2, rope=True)
    ordinary(layer, other, normal(2, 5, 24), causal=True, single=1e-5, half=0.05)


def test_autocast_computes_in_half_precision() -> None:
    layer, x = grouped(2, rope=True, dtype=torch.float32), normal(2, 5, 24).float()
    bias = alibi_bias(6, 5)[None]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = layer(x, mask=padding_mask([5, 2], 5), causal=True, bias=bias)
        weights = layer.weights(x, mask=padding_mask([5, 2], 5), causal=True, bias=bias)
    assert output.dtype == torch.bfloat16
    close(output.float(), layer(x, mask=padding_mask([5, 2], 5), causal=True, bias=bias), 0.05)
    close(weights.float().sum(dim=-1), torch.ones(2, 6, 5), 0.02)


X = torch.zeros(2, 3, 8)


@pytest.mark.parametrize("training", [False, True])
def test_a_wrong_mask_is_refused_on_every_path(training: bool) -> None:
    layer = MultiHeadAttention(8, 4, n_kv_heads=2, dropout=0.1).train(training)
    for n_q in (1, 3):
        with pytest.raises(ValueError, match="mask must have the shape"):
            layer(X[:, :n_q], X, causal_mask(3).expand(3, 3, 3), causal=True)
    with pytest.raises(TypeError, match=r"mask must be a torch\.Tensor: it is a list"):
        layer(X, mask=[[True]])
