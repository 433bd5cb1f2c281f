"""A head as two matrices: its scores and what it writes are those of its layer."""

import pytest
import torch

from attnbook.masks import causal_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import Rotary
from attnlab.models.circuits import circuit
from attnlab.training import seeded


def fresh(**options) -> MultiHeadAttention:
    with seeded(0):
        return MultiHeadAttention(12, 3, bias=False, **options).double()


def test_the_heads_of_a_layer_are_their_two_matrices() -> None:
    layer, x = fresh(), torch.randn(1, 5, 12, generator=torch.Generator().manual_seed(0)).double()
    written = torch.zeros(5, 12).double()
    for head in range(3):
        qk, ov = circuit(layer, head)
        assert torch.linalg.matrix_rank(qk) == torch.linalg.matrix_rank(ov) == 4
        scores = (x[0] @ qk @ x[0].mT).masked_fill(~causal_mask(5), -torch.inf)
        alpha = scores.softmax(dim=-1)
        torch.testing.assert_close(alpha, layer.weights(x, causal=True)[0, head])
        written += alpha @ x[0] @ ov
    torch.testing.assert_close(written, layer(x, causal=True)[0])
    torch.testing.assert_close(circuit(layer, -1), circuit(layer, 2))


def test_with_rotary_positions_the_scores_are_those_of_a_distance() -> None:
    layer = fresh(rope=Rotary(4))
    x = torch.randn(1, 6, 12, generator=torch.Generator().manual_seed(1)).double()
    weights = layer.weights(x)[0, 1]
    scores = torch.empty(6, 6).double()
    for i in range(6):
        for j in range(i + 1):
            scores[i, j] = x[0, i] @ circuit(layer, 1, distance=i - j).qk @ x[0, j]
    for i in range(1, 6):  # a row of weights is known up to a factor
        found = weights[i, : i + 1].log() - scores[i, : i + 1]
        torch.testing.assert_close(found, found[:1].expand(i + 1))


@pytest.mark.parametrize(
    ("layer", "options", "told"),
    [
        (fresh(), {"head": 3}, "head must be whole numbers from 0 to 2"),
        (fresh(), {"head": 0, "distance": -1}, "distance must be a whole number of at least 0"),
        (fresh(), {"head": 0, "distance": 1.5}, "distance must be a whole number of at least 0"),
        (MultiHeadAttention(12, 3), {"head": 0}, "layer must have no biases"),
        (fresh(n_kv_heads=1), {"head": 0}, "layer must have no biases, and a set of keys"),
    ],
)
def test_what_has_no_two_matrices_is_refused(layer, options: dict, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        circuit(layer, **options)
