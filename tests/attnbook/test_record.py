"""Recording: what every layer attended to, without changing what it does."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from attnbook.cache import KVCache
from attnbook.further.caches import PagedCache, PagePool, RollingCache
from attnbook.latent import LatentAttention
from attnbook.layers import Config, Decoder, Encoder
from attnbook.masks import padding_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import Rotary, alibi_bias
from attnbook.record import record_attention
from tests.attnbook.copying import randomised
from tests.attnbook.strategies import close, normal


def hooks(model: nn.Module) -> int:
    return sum(len(part._forward_pre_hooks) + len(part._forward_hooks) for part in model.modules())


def test_recorded_weights_are_those_of_the_layers() -> None:
    model = randomised(Decoder(2, Config(12, 6, n_kv_heads=2, rope=Rotary(2))).double())
    x, memory, mask = normal(2, 4, 12, seed=1), normal(2, 3, 12, seed=2), padding_mask([3, 1], 3)
    calls = []
    for block in model.blocks:
        for layer in (block.attention, block.cross):
            layer.register_forward_hook(
                lambda layer, args, kwargs, _: calls.append(layer.weights(*args, **_plain(kwargs))),
                with_kwargs=True,
            )
    with record_attention(model) as seen:
        output = model(x, memory, memory_mask=mask)
    assert torch.equal(output, model(x, memory, memory_mask=mask))
    assert seen.names == [
        "blocks.0.attention",
        "blocks.0.cross",
        "blocks.1.attention",
        "blocks.1.cross",
    ]
    for name, expected in zip(seen.names, calls, strict=False):
        close(seen.weights(name), expected)
        close(seen.weights(name, heads=[4, 1], rows=2), expected[:, [4, 1], 2:3])
    assert seen.weights("blocks.0.cross")[1, :, :, 1:].eq(0).all()
    assert seen.weights("blocks.0.attention").triu(1).eq(0).all()


def _plain(kwargs: dict) -> dict:
    return {name: value for name, value in kwargs.items() if name != "cache"}


def test_every_call_is_kept_and_biases_count() -> None:
    layer, cache = randomised(MultiHeadAttention(12, 3).double()), KVCache()
    x = normal(2, 4, 12)
    bias = alibi_bias(3, 4, dtype=torch.float64)[None]
    whole = layer.weights(x, causal=True, bias=bias)
    with torch.no_grad(), record_attention(layer) as seen:
        for i in range(4):
            part = bias[:, :, i : i + 1, : i + 1]
            layer(x[:, i : i + 1], causal=True, cache=cache, bias=part)
    assert seen.names == [""]
    assert len(seen[""]) == 4
    for i in range(4):
        close(seen.weights("", call=i), whole[:, :, i : i + 1, : i + 1])
    close(seen.weights(""), seen.weights("", call=3))


def test_the_model_is_left_as_it_was() -> None:
    model, x = Encoder(2, Config(12, 3)).double(), normal(2, 4, 12)
    before = hooks(model), set(model.state_dict()), x.clone()
    with record_attention(model) as seen:
        model(x)
        assert hooks(model) == 2
    model(x)
    assert (hooks(model), set(model.state_dict())) == before[:2]
    assert all(len(calls) == 1 for calls in seen.calls.values())
    with pytest.raises(RuntimeError, match="on the way"), record_attention(model):
        raise RuntimeError("on the way")
    assert hooks(model) == 0


def test_no_dropout_nothing_of_n_times_n_and_no_gradient_is_kept() -> None:
    model, x = Encoder(1, Config(12, 3)).double(), normal(2, 40, 12).requires_grad_()
    with record_attention(model) as seen:
        model(x, causal=True).sum().backward()
    (call,) = seen["blocks.0.attention"]
    kept = [part for part in vars(call).values() if isinstance(part, torch.Tensor)]
    assert sum(part.numel() for part in kept) == 2 * 2 * 40 * 12
    assert not any(part.requires_grad for part in kept)
    assert x.grad is not None
    layer, x = MultiHeadAttention(12, 3, dropout=0.5).double(), normal(2, 4, 12)
    with record_attention(layer) as seen:
        layer(x)
    close(seen.weights("").sum(dim=-1), torch.ones(2, 3, 4, dtype=torch.float64))


def test_what_is_not_there_is_refused() -> None:
    model, x = Encoder(1, Config(12, 3)).double(), normal(2, 4, 12)
    with record_attention(model) as seen:
        model(x)
    with pytest.raises(KeyError, match=r"no call of 'encoder' was seen, only of \['blocks.0"):
        seen.weights("encoder")
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        seen.weights("blocks.0.attention", heads=3)
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        seen.weights("blocks.0.attention", rows=4)


def test_only_the_chosen_weights_are_computed() -> None:
    layer, x = MultiHeadAttention(64, 8), torch.zeros(1, 50, 64)
    with record_attention(layer) as seen:
        layer(x)
    with FlopCounterMode(display=False) as counter:
        weights = seen.weights("", heads=2, rows=slice(3, 7))
    assert weights.shape == (1, 1, 4, 50)
    assert counter.get_total_flops() == 2 * (4 * 50 * 8)


def test_what_was_seen_stays_when_a_window_rolls_on() -> None:
    torch.manual_seed(0)
    layer, cache, x = MultiHeadAttention(4, 1).eval(), RollingCache(2), torch.randn(1, 4, 4)
    at_once = []
    with torch.no_grad(), record_attention(layer) as seen:
        for i in range(4):
            layer(x[:, i : i + 1], cache=cache)
            at_once.append(seen.weights(""))
    torch.testing.assert_close(at_once[1], torch.tensor([[[[0.5192, 0.4808]]]]), atol=5e-5, rtol=0)
    for i, wanted in enumerate(at_once):
        close(seen.weights("", call=i), wanted)


CACHES = {
    "all": KVCache,
    "window": lambda: RollingCache(5, sinks=1),
    "pages": lambda: PagedCache(PagePool(20, page=2)),
}
LAYERS = {
    "shared": lambda: MultiHeadAttention(12, 6, n_kv_heads=2, rope=Rotary(2)),
    "latents": lambda: LatentAttention(12, 3, d_latent=4, d_rope=2),
}


@pytest.mark.parametrize("grad_free", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("kind", CACHES)
@pytest.mark.parametrize("which", LAYERS)
def test_what_was_seen_stays_when_a_cache_is_rewound_and_goes_on(which, kind, grad_free) -> None:
    layer, cache = randomised(LAYERS[which]().double()), CACHES[kind]()
    x, at_once = normal(2, 12, 12, seed=1), []

    def read(start: int, stop: int) -> None:
        layer(x[:, start:stop], causal=True, cache=cache)
        at_once.append(seen.weights("").clone())

    with grad_free(), record_attention(layer) as seen:
        for start, stop in ((0, 3), (3, 4), (4, 5)):
            read(start, stop)
        cache.rewind(2)
        for start, stop in ((7, 9), (9, 10), (10, 11)):
            read(start, stop)
    for i, wanted in enumerate(at_once):
        close(seen.weights("", call=i), wanted)


def test_what_was_seen_stays_when_a_caller_writes_to_mask_bias_or_memory() -> None:
    layer, x = randomised(MultiHeadAttention(12, 3).double()), normal(2, 4, 12)
    memory = layer.project(normal(2, 5, 12, seed=1))
    mask, bias = torch.ones(2, 4, 5, dtype=torch.bool), normal(4, 5, seed=2)
    with torch.no_grad(), record_attention(layer) as seen:
        layer(x, memory, mask, bias=bias)
        wanted = seen.weights("").clone()
        mask[:, :, 1:], bias[:] = False, 0
        memory.key.zero_()
        layer(x, memory, mask, bias=bias)
    close(seen.weights("", call=0), wanted)
    assert seen.weights("")[..., 1:].eq(0).all()


def test_a_text_that_grows_is_kept_once() -> None:
    """Each step's keys are those before it and one more: n rows in all, and not n² / 2."""
    layer, cache, x = MultiHeadAttention(12, 3).eval(), KVCache(), torch.randn(1, 64, 12)
    with torch.no_grad(), record_attention(layer) as seen:
        for i in range(64):
            layer(x[:, i : i + 1], cache=cache)
    kept = {call.key.untyped_storage().data_ptr(): call.key.untyped_storage() for call in seen[""]}
    assert sum(part.nbytes() for part in kept.values()) <= 4 * 64 * 12 * 4


def test_layers_that_are_given_one_mask_and_bias_keep_one() -> None:
    model, x = Encoder(3, Config(12, 3)), torch.randn(2, 4, 12)
    bias = alibi_bias(3, 4)[None]
    with record_attention(model) as seen:
        model(x, padding_mask([4, 2], 4), bias=bias)
    for part in ("mask", "bias"):
        places = {getattr(call, part).data_ptr() for (call,) in seen.calls.values()}
        assert len(places) == 1
        assert bias.data_ptr() not in places


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_a_backward_pass_computes_again_is_no_call(reentrant: bool) -> None:
    model, x = Encoder(2, Config(12, 3)), torch.randn(2, 4, 12, requires_grad=True)
    with record_attention(model) as seen:
        checkpoint(model, x, use_reentrant=reentrant).sum().backward()
        assert x.grad is not None
        model(x)
    assert [len(calls) for calls in seen.calls.values()] == [2, 2]
