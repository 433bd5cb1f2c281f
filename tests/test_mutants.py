"""Small things that only mutation testing missed: see benchmarks/mutation.md."""

import pytest
import torch
from torch import Tensor

from attnbook.attend import Attend
from attnbook.attention import attention, attention_weights, fused_attention
from attnbook.masks import causal_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import Rotary
from attnbook.scores import Additive
from tests.strategies import close, normal

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


@pytest.mark.parametrize(("n_q", "n_k"), [(5, 5), (3, 5)])
def test_the_kernel_takes_a_bias_and_causal_together(n_q: int, n_k: int) -> None:
    query, key, value = normal(2, n_q, 4), normal(2, n_k, 4, seed=1), normal(2, n_k, 3, seed=2)
    bias = normal(n_q, n_k, seed=3)
    wanted = attention(query, key, value, causal_mask(n_q, n_k), bias=bias).output
    close(fused_attention(query, key, value, bias=bias, causal=True), wanted)


def test_what_is_made_on_the_way_lies_where_the_query_does() -> None:
    """The meta device holds no numbers, but refuses to meet another device."""
    query, key = (torch.zeros(2, n, 4, device="meta") for n in (3, 5))
    mask = torch.ones(3, 5, dtype=torch.bool, device="meta")
    assert fused_attention(query, key, key, mask, causal=True).device.type == "meta"


@pytest.mark.parametrize("key", [X.double(), X[:1], X.to("meta")])
def test_a_score_that_checks_nothing_is_no_way_round_the_checks(key: Tensor) -> None:
    with pytest.raises(ValueError, match="query and key must have the same"):
        attention_weights(X, key, score=lambda query, key: torch.zeros(2, 5, 5))


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


def test_without_a_cap_of_its_own_the_hidden_layer_holds_four_million_numbers() -> None:
    assert Additive(2, 2, 2).cap == 2**22


def test_a_layer_begins_with_xaviers_weights_and_no_bias() -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(16, 4)
    for linear in (layer.qkv, layer.out):
        bound = (6 / sum(linear.weight.shape)) ** 0.5
        assert 0.9 * bound < linear.weight.abs().max() <= bound
        assert not linear.bias.any()
