"""Multi-head latent attention: two ways to one output, and a cache of latents."""

import pytest
import torch
from torch import Tensor, nn

from attnbook.cache import KVCache
from attnbook.further.caches import PagedCache, PagePool, RollingCache
from attnbook.latent import LatentAttention
from attnbook.masks import causal_mask, padding_mask, window_mask
from attnbook.record import record_attention
from tests.attnbook.strategies import close, normal


def made(**sizes: int) -> LatentAttention:
    torch.manual_seed(0)
    sizes = {"d_latent": 5, "d_rope": 4, "d": 6, "d_v": 3} | sizes
    layer = LatentAttention(16, 3, base=20.0, **sizes).double()
    nn.init.normal_(layer.norm.weight)
    return layer


def naive(layer: LatentAttention, x: Tensor, mask: Tensor) -> Tensor:
    """One head and one sentence after another, as the formulae read."""
    d, rope, outputs = layer.d, layer.rope, []
    up = layer.up.weight.view(layer.n_heads, d + layer.d_v, layer.d_latent)
    for b, sentence in enumerate(x):
        down, heads = layer.down(sentence), []
        latent, shared = layer.norm(down[:, : layer.d_latent]), rope(down[:, layer.d_latent :])
        for i, query in enumerate(layer.query(sentence).chunk(layer.n_heads, dim=-1)):
            key = latent @ up[i, :d].T
            scores = query[:, :d] @ key.T + rope(query[:, d:]) @ shared.T
            scores = scores / (d + rope.d) ** 0.5
            weights = scores.masked_fill(~mask[b], -torch.inf).softmax(dim=-1)
            heads.append(weights @ (latent @ up[i, d:].T))
        outputs.append(layer.out(torch.cat(heads, dim=-1)))
    return torch.stack(outputs)


@pytest.mark.parametrize("absorb", [False, True, None])
def test_both_ways_are_the_formula(absorb: bool | None) -> None:
    layer, x = made(), normal(2, 7, 16)
    causal, padded = causal_mask(7).expand(2, 7, 7), padding_mask([7, 4], 7).expand(2, 7, 7)
    close(layer(x, causal=True, absorb=absorb), naive(layer, x, causal))
    close(layer(x, padded, absorb=absorb), naive(layer, x, padded))
    close(layer(x, padded, causal=True, absorb=absorb), naive(layer, x, padded & causal))


def test_both_ways_have_the_same_gradients() -> None:
    layer, x = made(), normal(2, 5, 16).requires_grad_()
    inputs = [x, *layer.parameters()]
    wanted = naive(layer, x, causal_mask(5).expand(2, 5, 5)).square().sum()
    wanted = torch.autograd.grad(wanted, inputs)
    for absorb in (False, True):
        mine = torch.autograd.grad(layer(x, causal=True, absorb=absorb).square().sum(), inputs)
        for one, other in zip(mine, wanted, strict=True):
            close(one, other)


@torch.no_grad()
@pytest.mark.parametrize("absorb", [False, True, None])
@pytest.mark.parametrize("pieces", [[1] * 9, [5, 1, 3], [4, 5]])
@pytest.mark.parametrize("kind", ["all", "window", "pages"])
def test_pieces_through_a_cache_are_the_whole(absorb: bool | None, pieces, kind: str) -> None:
    layer, x, window = made(), normal(2, 9, 16), 4 if kind == "window" else 9
    cache = {
        "all": KVCache(),
        "window": RollingCache(4, sinks=1),
        "pages": PagedCache(PagePool(20, page=2)),
    }[kind]
    parts = [layer(part, causal=True, cache=cache, absorb=absorb) for part in x.split(pieces, 1)]
    mask = window_mask(9, 9, window, sinks=int(kind == "window"))
    close(torch.cat(parts, dim=1), naive(layer, x, mask.expand(2, 9, 9)))


@torch.no_grad()
def test_a_token_costs_its_latent_and_a_turned_key_and_absorbed_weights_are_the_weights() -> None:
    layer, cache = made(), KVCache()
    layer(normal(1, 3, 16), causal=True, cache=cache)
    keys, values = cache.append(normal(1, 1, 0, 9), normal(1, 1, 0, 0))
    assert (keys.shape, values.shape) == ((1, 1, 3, 5 + 4), (1, 1, 3, 0))
    layer, x, found = made(), normal(2, 4, 16), []
    for absorb in (False, True):
        with record_attention(layer) as seen:
            layer(x, causal=True, absorb=absorb)
        found.append(seen.weights(*seen.names))
    close(*found)


def test_heads_are_as_wide_as_they_are_asked_to_be() -> None:
    layer = LatentAttention(8, 2, d_latent=4, d_rope=2, d=3, d_v=5)
    assert (layer.query.out_features, layer.out.in_features) == (2 * (3 + 2), 2 * 5)
    assert layer(torch.ones(1, 4, 8)).shape == (1, 4, 8)


def test_a_text_is_decoded_with_an_odd_latent_and_a_refused_call_leaves_its_cache() -> None:
    """With an odd latent the turned key of one token is a view at an odd place."""
    layer, cache = made(d_latent=5), KVCache()
    x = normal(1, 3, layer.d_model)
    with torch.no_grad():
        steps = [layer(x[:, t : t + 1], cache=cache) for t in range(3)]
        close(torch.cat(steps, dim=1), layer(x, causal=True))
        assert layer(x[:0], causal=True).shape == (0, 3, layer.d_model)
    layer, cache = made(), KVCache()
    with torch.no_grad():
        layer(normal(1, 3, layer.d_model), cache=cache)
        with pytest.raises(ValueError, match="mask"):
            layer(normal(1, 2, layer.d_model), torch.ones(2, 2).bool(), cache=cache)
    assert cache.length == 3


def test_its_weights_begin_as_they_should() -> None:
    """Else the other tests would compare nothing with nothing."""
    layer = made()
    assert layer(normal(1, 4, layer.d_model)).abs().mean() > 0.01
    for linear in (layer.query, layer.down, layer.up, layer.out):
        wanted = (2 / sum(linear.weight.shape)) ** 0.5  # Glorot and Bengio's
        assert 0.7 * wanted < linear.weight.std() < 1.3 * wanted
    sizes = {"d_latent": 4, "d_rope": 2}
    assert LatentAttention(8, 2, **sizes, eps=0.5).norm.eps == 0.5
    for one in ({"d": 3}, {"d_v": 3}):
        with pytest.raises(ValueError, match="d_model"):
            LatentAttention(7, 2, **sizes, **one)
    assert LatentAttention(7, 2, **sizes, d=3, d_v=3).d == 3


def test_no_map_adds_a_bias_and_the_way_is_the_one_that_was_asked_for() -> None:
    layer, x, ways = made(), normal(1, 3, 16), []
    assert [name for name, _ in layer.named_parameters() if "bias" in name] == []
    for name in ("_absorbed", "_unabsorbed"):
        way = getattr(layer, name)
        setattr(layer, name, lambda *parts, way=way, name=name: ways.append(name) or way(*parts))
    cache = KVCache()
    with torch.no_grad():
        for absorb in (None, True, False):
            layer(x, absorb=absorb)
        layer(x, cache=cache)
        layer(x, cache=cache)
    first, *asked = ways[:3]
    assert first == "_unabsorbed"
    assert asked == ["_absorbed", "_unabsorbed"]
    assert ways[3:] == ["_unabsorbed", "_absorbed"]  # absorbed where the cache holds rows
