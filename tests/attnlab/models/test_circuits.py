"""A head as two matrices: its scores and what it writes are those of its layer."""

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
