"""Small things that only mutation testing missed: see benchmarks/mutation.md."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from attnbook.attention import attention, attention_weights, fused_attention
from attnbook.decoding import beam_search
from attnbook.embeddings import Embeddings
from attnbook.further.linear import feature_map
from attnbook.further.tiles import tiled_attention
from attnbook.layers import Config, Encoder
from attnbook.multihead import Attend, MultiHeadAttention
from attnbook.positions import LearnedPositions, Rotary, Sinusoidal, alibi_bias
from attnbook.scores import Additive, Bilinear
from tests.attnbook.strategies import close, normal
from tests.attnbook.tables import batch, random_table

X = torch.zeros(2, 5, 8)


def test_rotary_positions_are_relative_in_the_output_too() -> None:
    """What stands before a window of two moves every position, and must change nothing."""
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, 3, rope=Rotary(4, base=20.0)).double()
    x = normal(2, 5, 12)
    moved = torch.cat((normal(2, 3, 12, seed=9), x), dim=1)
    own = torch.zeros(8, 8, dtype=torch.bool)
    own[3:, 3:] = True
    close(layer(moved, mask=own)[:, 3:], layer(x))
    assert not torch.allclose(layer(x.flip(1)).flip(1), layer(x))


def test_a_weight_is_dropped_or_scaled_and_nothing_else() -> None:
    """Each is 0 or 1 / (1 − p) of what it was: rows are not made to sum to one again."""
    query, key = normal(2, 4, 6, 5), normal(2, 2, 5, 5, seed=1)
    value = torch.eye(5, dtype=torch.float64).expand(2, 2, 5, 5)  # shows the weights themselves
    kept = Attend(0.0)(query, key, value)
    torch.manual_seed(0)
    for n_q in (6, 1):  # one query goes another way where heads share keys
        dropped = Attend(0.25)(query[:, :, :n_q], key, value) / kept[:, :, :n_q]
        assert (dropped == 0).any()
        close(dropped, torch.where(dropped == 0, dropped, 1 / 0.75))


def test_what_is_made_on_the_way_lies_where_the_query_does() -> None:
    """The meta device holds no numbers, but refuses to meet another device."""
    query, key = (torch.zeros(2, n, 4, device="meta") for n in (3, 5))
    mask = torch.ones(3, 5, dtype=torch.bool, device="meta")
    assert fused_attention(query, key, key, mask, causal=True).device.type == "meta"
    output, weights = attention(query, key, key, mask)
    assert (output.shape, weights.device.type) == ((2, 3, 4), "meta")


@pytest.mark.parametrize(("d", "cap", "queries"), [(3, 1, 1), (1, 8, 2), (1, 15, 3), (2, 80, 10)])
def test_the_hidden_layer_holds_as_many_queries_as_its_cap_allows(
    d: int, cap: int, queries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 4 keys a query takes 4 d numbers, and at least one is always taken."""
    score, taken = Additive(2, 2, d, cap=cap), []
    energies = score._energies

    def watched(query: Tensor, projected: Tensor) -> Tensor:
        taken.append(query.shape[-2])
        return energies(query, projected)

    monkeypatch.setattr(score, "_energies", watched)
    score(torch.zeros(10, 2), torch.zeros(4, 2))
    assert taken[0] == queries
    assert sum(taken) == 10


def test_a_layer_begins_with_xaviers_weights_and_no_bias() -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(16, 4)
    for linear in (layer.qkv, layer.out):
        bound = (6 / sum(linear.weight.shape)) ** 0.5
        assert 0.9 * bound < linear.weight.abs().max() <= bound
        assert not linear.bias.any()


def on_meta(module: nn.Module, *arguments: object, **options: object) -> Tensor:
    return module.to("meta")(*arguments, **options)


@pytest.mark.parametrize(
    "made",
    [
        lambda x: on_meta(Sinusoidal(8), x),
        lambda x: on_meta(LearnedPositions(9, 8), x),
        lambda x: on_meta(Rotary(8), x),
        lambda x: alibi_bias(2, 3, 5, device="meta"),
    ],
)
def test_everything_is_made_on_one_device(made: Callable[[Tensor], Tensor]) -> None:
    assert made(X.to("meta")).device.type == "meta"


def test_what_nobody_asks_for_is_as_it_is_said_to_be() -> None:
    torch.manual_seed(0)
    assert 0.018 < LearnedPositions(100, 50).table.weight.std() < 0.022
    assert Rotary(4).base == 10000
    assert Additive(2, 2, 2).cap == 2**22
    assert Encoder(1, Config(8, 2, eps=1e-3)).norm.eps == 1e-3
    assert LearnedPositions(5, 4)(torch.zeros(1, 3, 4, dtype=torch.float16)).dtype == torch.float16


def test_alibi_counts_steps_a_beam_its_tokens_and_a_bilinear_score_is_not_transposed() -> None:
    steps = -alibi_bias(1, 3, 4, dtype=torch.float64)[0] / 2.0**-8
    assert steps.tolist() == [[1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]
    table = random_table(3, 6)
    options = {"beam": 3, "max_length": 5}
    asked = beam_search(table, *batch(3), length_penalty=1.0, **options)
    assert beam_search(table, *batch(3), **options) == asked
    assert beam_search(table, *batch(3), length_penalty=0.0, **options) != asked
    score, query, key = Bilinear(4, 4).double(), normal(2, 4), normal(3, 4, seed=1)
    close(score(query, key), query @ score.key.weight @ key.mT)
    x = torch.tensor([-1.0, 0.0, 1.0, -200.0], dtype=torch.float64, requires_grad=True)
    feature_map(x).sum().backward()
    close(x.grad, torch.tensor([math.exp(-1), 1, 1, math.exp(-200)], dtype=torch.float64))


def test_each_head_of_each_sentence_is_tiled_under_its_own_mask() -> None:
    """Masks that differ from head to head, and from sentence to sentence."""
    query, key, value = (normal(2, 3, 5, 4, seed=seed) for seed in range(3))
    mask = normal(2, 3, 5, 5, seed=3) > -0.5
    for one in (mask, mask[:1], mask[:, :1]):
        wanted = attention(query, key, value, one).output
        close(tiled_attention(query, key, value, one, tile=2).output, wanted)


def test_embeddings_drop_after_the_norm() -> None:
    """As BERT does: what is left out is 0 in the result, and the rest is scaled."""
    embed = Embeddings(9, 8, norm=True, dropout=0.5)
    tokens = torch.arange(9)[None]
    wanted = embed.eval()(tokens)
    torch.manual_seed(0)
    found = embed.train()(tokens)
    assert (found == 0).any()
    torch.testing.assert_close(found, torch.where(found == 0, 0, 2 * wanted))


@pytest.mark.parametrize("heads", [1, 3])
def test_a_bias_that_forbids_a_whole_row_gives_zeros_in_every_path(heads: int) -> None:
    """As a mask does, with gradients that are numbers."""
    query, key, value = (normal(2, heads, 4, 6, seed=seed).requires_grad_() for seed in range(3))
    bias = torch.zeros(heads, 4, 4, dtype=torch.float64)[None]
    bias[:, :, 1] = -torch.inf
    bias[:, :, 2, 3] = -torch.inf
    mask = bias == 0
    wanted = attention(query, key, value, mask).output
    for output in (
        attention(query, key, value, bias=bias).output,
        attention_weights(query, key, bias=bias) @ value,
        fused_attention(query, key, value, bias=bias),
    ):
        close(output, wanted)
        (gradient,) = torch.autograd.grad(output.sum(), query, retain_graph=True)
        assert gradient.isfinite().all()
    layer = MultiHeadAttention(6 * heads, heads).double().eval()
    x = normal(2, 4, 6 * heads)
    allowed = mask.expand(2, -1, -1, -1)
    close(layer(x, bias=bias), layer(x, mask=allowed))
    close(layer.weights(x, bias=bias), layer.weights(x, mask=allowed))


@pytest.mark.parametrize("n_kv_heads", [1, 2])
def test_a_layer_without_biases_asks_a_memory_and_shows_its_weights(n_kv_heads: int) -> None:
    layer = MultiHeadAttention(8, 2, n_kv_heads=n_kv_heads, bias=False).double()
    x, memory = normal(2, 3, 8), normal(2, 5, 8, seed=1)
    both = (memory @ layer.qkv.weight[8:].T).chunk(2, dim=-1)
    found = attention(
        *(
            part.unflatten(-1, (-1, 4)).transpose(1, 2).expand(-1, 2, -1, -1)
            for part in (x @ layer.qkv.weight[:8].T, *both)
        )
    )
    close(layer(x, memory), layer.out(found.output.transpose(1, 2).flatten(2)))
    close(layer.weights(x, memory), found.weights)
