"""Embeddings: token, position and type, summed."""

import torch
from torch import nn

from attnbook.embeddings import Embeddings
from attnbook.positions import sinusoidal
from tests.attnbook.copying import randomised
from tests.attnbook.strategies import close


def test_embeddings_are_scaled_and_placed() -> None:
    embed, tokens = Embeddings(7, 4).double(), torch.tensor([[1, 3, 0], [2, 2, 6]])
    expected = 2 * embed.tokens.weight[tokens] + sinusoidal(3, 4, dtype=torch.float64)
    close(embed(tokens), expected)
    close(embed(tokens[:, 1:], offset=1), expected[:, 1:])


def test_embeddings_of_a_bert() -> None:
    embed = randomised(
        Embeddings(
            7, 4, positions="learned", max_length=5, n_types=2, norm=True, eps=1e-12, scale=False
        ).double()
    )
    tokens, types = torch.tensor([[1, 3, 0]]), torch.tensor([[0, 1, 1]])
    table = embed.positions.table.weight[:3]
    summed = embed.tokens.weight[tokens] + table + embed.types.weight[types]
    expected = nn.functional.layer_norm(summed, (4,), embed.norm.weight, embed.norm.bias, eps=1e-12)
    close(embed(tokens, types), expected)
    close(embed(tokens), embed(tokens, torch.zeros_like(types)))


def test_scaled_embeddings_start_with_variance_one_and_the_norm_has_its_epsilon() -> None:
    torch.manual_seed(0)
    x = Embeddings(200, 64, positions=None)(torch.arange(200)[None])
    assert 0.95 < x.var().item() < 1.05
    unscaled = Embeddings(200, 64, positions=None, scale=False).tokens.weight
    assert 0.019 < unscaled.std().item() < 0.021
    assert Embeddings(9, 8, norm=True).norm.eps == 1e-5
    assert Embeddings(9, 8, norm=True, eps=1e-12).norm.eps == 1e-12
