"""Multi-head latent attention: two ways to one output, and a cache of latents."""

import pytest
import torch
from torch import Tensor, nn

from attnbook.cache import KVCache, PagedCache, PagePool, RollingCache
from attnbook.latent import LatentAttention
from attnbook.masks import causal_mask, padding_mask, window_mask
from attnbook.record import record_attention
from tests.attnbook.strategies import close, normal
from tests.needs import needs


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
def test_a_token_costs_the_cache_its_latent_and_one_turned_key() -> None:
    layer, cache = made(), KVCache()
    layer(normal(1, 3, 16), causal=True, cache=cache)
    keys, values = cache.append(normal(1, 1, 0, 9), normal(1, 1, 0, 0))
    assert (keys.shape, values.shape) == ((1, 1, 3, 5 + 4), (1, 1, 3, 0))


@torch.no_grad()
def test_the_absorbed_weights_are_the_weights() -> None:
    layer, x, found = made(), normal(2, 4, 16), []
    for absorb in (False, True):
        with record_attention(layer) as seen:
            layer(x, causal=True, absorb=absorb)
        found.append(seen.weights(*seen.names))
    close(*found)


@torch.no_grad()
@pytest.mark.parametrize("absorb", [False, True])
def test_it_is_deepseeks_attention(absorb: bool) -> None:
    """Their cosines are float32."""
    needs("transformers")
    from transformers.models.deepseek_v3.configuration_deepseek_v3 import DeepseekV3Config
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import (
        DeepseekV3Attention,
        DeepseekV3RotaryEmbedding,
    )

    config = DeepseekV3Config(
        hidden_size=16,
        num_attention_heads=3,
        num_key_value_heads=3,
        q_lora_rank=None,
        kv_lora_rank=5,
        qk_rope_head_dim=4,
        qk_nope_head_dim=6,
        v_head_dim=3,
        rope_parameters={"rope_type": "default", "rope_theta": 20.0},
        attn_implementation="eager",
    )
    mine, theirs = made(), DeepseekV3Attention(config, layer_idx=0).double().eval()
    for ours, name in (
        (mine.query, "q_proj"),
        (mine.down, "kv_a_proj_with_mqa"),
        (mine.norm, "kv_a_layernorm"),
        (mine.up, "kv_b_proj"),
        (mine.out, "o_proj"),
    ):
        getattr(theirs, name).weight.copy_(ours.weight)
    x = normal(2, 7, 16)
    turn = DeepseekV3RotaryEmbedding(config)(x, torch.arange(7)[None])
    forbidden = torch.zeros(7, 7).masked_fill(~causal_mask(7), -torch.inf).double()
    wanted, _ = theirs(x, tuple(part.double() for part in turn), forbidden[None, None])
    close(mine(x, causal=True, absorb=absorb), wanted, 1e-6)
