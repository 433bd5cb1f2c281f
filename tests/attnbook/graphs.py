"""Modules and functions of which graphs are made, with arguments of any batch and length."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention import attention, attention_weights, fused_attention, masked_softmax
from attnbook.cache import KVCache
from attnbook.embeddings import Embeddings
from attnbook.further.caches import PagedCache, PagePool, RollingCache
from attnbook.further.linear import delta_rule, delta_steps, linear_attention
from attnbook.further.longer import Scaling
from attnbook.further.sparse import index_scores, local_attention, top_keys
from attnbook.further.tiles import Tiled, combine, tiled_attention, with_sink
from attnbook.latent import LatentAttention
from attnbook.layers import Config, Decoder, DecoderBlock, Encoder, EncoderBlock, FeedForward
from attnbook.masks import padding_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import LearnedPositions, Rotary, Sinusoidal, alibi_bias
from attnbook.rnn import AttentionDecoder, Encoded, RNNSeq2Seq
from attnbook.scores import Additive, Bilinear
from attnbook.transformer import LanguageModel, ModelConfig, Seq2Seq

EXAMPLE = (3, 7)
SIZES = ((2, 5), (5, 5), (1, 9), (4, 1))  # of batch and length; of one size, too


class Called(nn.Module):
    """A call of a function or a method, with options, as a module of its arguments alone."""

    def __init__(self, call: Callable[..., Any], module: nn.Module | None = None, **named: Any):
        super().__init__()
        self.call, self.module, self.named = call, module, named

    def forward(self, *given: Tensor) -> Any:
        return self.call(*given, **self.named)


class Translating(nn.Module):
    """A translator, all of whose arguments have places."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
        return self.model(source, target, source_lengths=lengths)


class Biased(nn.Module):
    """Causal attention under a mask, with positions as a bias."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = MultiHeadAttention(16, 4, n_kv_heads=2)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        bias = alibi_bias(4, x.shape[1])[None]
        return self.layer(x, mask=mask, causal=True, bias=bias)


class Case(NamedTuple):
    """A module, and its arguments for b sentences of n tokens; an ``easy`` one has no work less."""

    module: nn.Module
    given: Callable[[int, int, bool], tuple[Tensor, ...]]


def x(b: int, n: int, easy: bool = False) -> Tensor:
    return torch.randn(b, n, 16)


def heads(b: int, n: int, easy: bool = False) -> Tensor:
    return torch.randn(b, 2, n, 8)


def tokens(b: int, n: int, easy: bool = False) -> Tensor:
    return torch.randint(3, 11, (b, n))


def lengths(b: int, n: int, easy: bool) -> Tensor:
    return torch.full((b,), n) if easy else torch.randint(1, n + 1, (b,))


def mask(*shape: int, easy: bool) -> Tensor:
    """Return a mask with an empty row and an empty column, or one that allows all."""
    allowed = torch.ones(shape, dtype=torch.bool) if easy else torch.rand(shape) < 0.5
    if not easy:
        allowed[..., -1, :] = False
        allowed[..., :, 0] = False
    return allowed


def of_x(*of: Any) -> tuple[Tensor, ...]:
    return (x(*of),)


def with_mask(b: int, n: int, easy: bool) -> tuple[Tensor, ...]:
    return x(b, n), mask(b, n, n, easy=easy)


def language_model(**options: Any) -> Case:
    model = LanguageModel(11, ModelConfig(d_model=16, n_heads=4, **options))
    return Case(model, lambda *of: (tokens(*of),))


def translator(model: nn.Module) -> Case:
    return Case(Translating(model), lambda *of: (tokens(*of), tokens(*of), lengths(*of)))


def bert() -> Embeddings:
    return Embeddings(11, 16, positions="learned", n_types=2, norm=True)


def cases() -> dict[str, Case]:
    torch.manual_seed(0)
    own = {"norm_kind": "rms", "activation": "swiglu", "bias": False, "tied": True}
    halves = Rotary(4, layout="halves")
    layer, latent = (
        MultiHeadAttention(16, 4, n_kv_heads=2),
        LatentAttention(16, 2, d_latent=4, d_rope=2),
    )
    turned = MultiHeadAttention(16, 4, n_kv_heads=1, rope=Rotary(4))
    small = Additive(16, 16, 8, cap=500)
    three = lambda *of: (heads(*of), heads(*of), heads(*of))  # noqa: E731
    crossed = lambda b, n, easy: (heads(b, n), heads(b, n + 2 * easy), heads(b, n + 2 * easy))  # noqa: E731
    return {
        "a language model": language_model(),
        "a language model of today": language_model(n_kv_heads=1, positions=halves, **own),
        "learned positions": language_model(positions="learned", norm="post"),
        "ALiBi": language_model(positions="alibi"),
        "a translator": translator(Seq2Seq(11, 11, ModelConfig(d_model=16, n_heads=2, n_layers=1))),
        "a stack of decoders": Case(Decoder(1, Config(16, 2)), lambda *of: (x(*of), x(*of))),
        "a layer, causal": Case(Called(turned, turned, causal=True), of_x),
        "a layer, a mask": Case(Called(lambda x, m: layer(x, mask=m), layer), with_mask),
        "a layer, mask and bias": Case(Biased(), with_mask),
        "a layer's weights": Case(Called(layer.weights, layer, causal=True, heads=1), of_x),
        "latents": Case(Called(latent, latent, causal=True), of_x),
        "latents, absorbed": Case(Called(latent, latent, absorb=True, causal=True), of_x),
        "attention": Case(
            Called(attention),
            lambda b, n, easy: (*three(b, n), mask(b, 1, n, n, easy=easy)),
        ),
        "weights": Case(Called(attention_weights, rows=0), lambda *of: (heads(*of), heads(*of))),
        "softmax": Case(
            Called(masked_softmax),
            lambda b, n, easy: (torch.randn(b, n, n), mask(b, n, n, easy=easy)),
        ),
        "fused, other keys": Case(Called(fused_attention, causal=True), crossed),
        "embeddings": Case(bert(), lambda *of: (tokens(*of), tokens(*of) % 2)),
        "an additive score": Case(small, lambda *of: (x(*of), x(*of))),
        "a padding mask": Case(
            Called(lambda x, lengths: padding_mask(lengths, x.shape[1])),
            lambda *of: (x(*of), lengths(*of)),
        ),
        "a bias of each head": Case(Called(lambda x: alibi_bias(2, x.shape[1])), of_x),
        "positions behind others": Case(
            Called(Rotary(8)), lambda b, n, easy: (heads(b, n), torch.arange(b))
        ),
        "learned positions behind others": Case(
            LearnedPositions(100, 16), lambda b, n, easy: (x(b, n), torch.arange(b))
        ),
        "top keys": Case(Called(top_keys, k=1), lambda b, n, easy: (torch.randn(b, n, n),)),
        "linear attention": Case(Called(linear_attention), three),
    }  # fmt: skip


def blocks() -> dict[str, Case]:
    """Return what layers and models are made of."""
    torch.manual_seed(0)
    layer, score = MultiHeadAttention(16, 4, n_kv_heads=2), Bilinear(16, 16)
    slowed = Rotary(8, scaling=Scaling("yarn", 4.0, 256))
    own = {"norm_kind": "rms", "activation": "swiglu", "bias": False}
    block = EncoderBlock(Config(16, 2, rope=slowed, **own))
    crossed = lambda b, n, easy: (*with_mask(b, n, easy)[:1], x(b, n + 2 * easy))  # noqa: E731
    both = lambda b, n, easy: (x(b, n), x(b, n), mask(b, n, n, easy=easy), mask(b, 1, n, easy=easy))  # noqa: E731
    return {
        "a layer, a memory": Case(layer, crossed),
        "a layer, a projected memory": Case(
            Called(lambda x, memory: layer(x, layer.project(memory)), layer), crossed
        ),
        "a block": Case(Called(block, block, causal=True), of_x),
        "a stack of encoders": Case(Encoder(2, Config(16, 2, norm="post")), with_mask),
        "a decoder's block": Case(DecoderBlock(Config(16, 4, norm="post", n_kv_heads=2)), both),
        "a feed-forward network": Case(FeedForward(16, 8, activation="swiglu"), of_x),
        "sinusoidal positions": Case(Sinusoidal(16), of_x),
        "a bilinear score": Case(
            Called(lambda x, y: attention(x, y, y, score=score), score), crossed
        ),
        "scores of an index": Case(
            Called(index_scores), lambda *of: (heads(*of), heads(*of)[:, 0], heads(*of)[..., 0])
        ),
        "parts put together": Case(
            Called(lambda a, b, c, d: combine(Tiled(a, b), Tiled(c, d))),
            lambda *of: (x(*of), x(*of)[..., 0], x(*of), x(*of)[..., 0]),
        ),
        "a sink": Case(
            Called(lambda a, b: with_sink(Tiled(a, b), torch.zeros(2))),
            lambda *of: (heads(*of), heads(*of)[..., 0]),
        ),
    }  # fmt: skip


def written(model: Any) -> Case:
    """Return a model that reads a text and goes on after it, two steps with its caches."""

    def call(text: Tensor, lengths: Tensor, next_tokens: Tensor) -> tuple[Tensor, ...]:
        first, state = model.step(next_tokens, model.start(text, lengths))
        return first, model.step(next_tokens, state)[0]

    return Case(Called(call, model), lambda *of: (tokens(*of), lengths(*of), tokens(*of)[:, 0]))


def cached(layer: Any, make: Callable[[], KVCache]) -> Case:
    """Return a layer that goes on behind a cache."""

    def call(x: Tensor) -> tuple[Tensor, ...]:
        cache = make()
        return layer(x, causal=True, cache=cache), layer(x[:, :1], cache=cache)

    return Case(Called(call, layer.requires_grad_(False)), of_x)


def recurrent(**options: Any) -> Case:
    """Return a recurrent decoder by itself, before which no sentence need be packed."""
    decoder = AttentionDecoder(11, 16, **options)

    def call(target: Tensor, annotations: Tensor, summary: Tensor, lengths: Tensor) -> Tensor:
        return decoder(target, decoder.start(Encoded(annotations, summary), lengths))

    def given(*of: Any) -> tuple[Tensor, ...]:
        return tokens(*of), x(*of), x(*of)[:, 0], lengths(*of)

    return Case(Called(call, decoder), given)


def steps() -> dict[str, Case]:
    """Return what goes on behind a cache, and what loops."""
    torch.manual_seed(0)
    layer = MultiHeadAttention(16, 4, n_kv_heads=2, rope=Rotary(4))
    latent = LatentAttention(16, 2, d_latent=4, d_rope=2)
    small = {"d_model": 16, "n_heads": 2, "n_layers": 1}
    pages = lambda: PagedCache(PagePool(400, page=4))  # noqa: E731
    three = lambda *of: (heads(*of), heads(*of), heads(*of))  # noqa: E731
    delta = lambda rule: Called(lambda x: rule(x, x / 9, x, x[..., 0].sigmoid()))  # noqa: E731
    return {
        "a language model's steps": written(
            LanguageModel(11, ModelConfig(**small, positions="rope"))
        ),
        "a language model's steps, ALiBi": written(
            LanguageModel(11, ModelConfig(**small, positions="alibi"))
        ),
        "a translator's steps": written(Seq2Seq(11, 11, ModelConfig(**small))),
        "a cache": cached(layer, KVCache),
        "a cache of latents": cached(latent, KVCache),
        "a cache that rolls": cached(layer, partial(RollingCache, 4, sinks=1)),
        "a cache in pages": cached(layer, pages),
        "a recurrent model": translator(RNNSeq2Seq(11, 11, 16, order="luong")),
        "a recurrent decoder without attention": recurrent(order="none"),
        "a recurrent decoder": recurrent(order="luong"),
        "a recurrent decoder, fed": recurrent(order="luong", input_feeding=True),
        "a recurrent decoder, step by step": recurrent(order="bahdanau"),
        "local attention": Case(Called(lambda x: local_attention(x, x, x, 3)), of_x),
        "linear attention, causal": Case(Called(linear_attention, causal=True), three),
        "the delta rule": Case(delta(delta_rule), of_x),
        "the delta rule, step by step": Case(delta(delta_steps), of_x),
        "tiles": Case(Called(tiled_attention, causal=True), three),
    }


CASES = cases() | blocks() | steps()


def agrees(case: Case, graph: Callable[..., Any], sizes: tuple[tuple[int, int], ...]) -> None:
    """Compare a graph with eager code at each of the sizes, of batch and length."""
    for b, n in sizes:
        given = case.given(b, n, False)
        with torch.no_grad():
            wanted, found = case.module(*given), graph(*given)
        one = isinstance(wanted, Tensor)
        torch.testing.assert_close(
            found if one else tuple(found), wanted if one else tuple(wanted), atol=1e-5, rtol=1e-4
        )
