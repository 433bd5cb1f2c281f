"""One graph for all sizes: what is exported or traced computes what eager code does.

A graph is made from an example that makes work needless, with nothing masked and nothing padded;
then it meets other sizes, queries with nothing to attend to and keys that nobody may attend to.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim, export

from attnbook.attention import attention, attention_weights, fused_attention, masked_softmax
from attnbook.embeddings import Embeddings
from attnbook.further.linear import delta_rule, delta_steps, linear_attention
from attnbook.further.sparse import local_attention, top_keys
from attnbook.further.tiles import tiled_attention
from attnbook.latent import LatentAttention
from attnbook.layers import Decoder
from attnbook.masks import padding_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import LearnedPositions, Rotary, alibi_bias
from attnbook.rnn import RNNSeq2Seq
from attnbook.scores import Additive
from attnbook.transformer import LanguageModel, Seq2Seq

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


def language_model(**options: Any) -> Case:
    model = LanguageModel(11, d_model=16, n_heads=4, **options)
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
    of_x = lambda *of: (x(*of),)  # noqa: E731
    of_mask = lambda b, n, easy: (x(b, n), mask(b, n, n, easy=easy))  # noqa: E731
    three = lambda *of: (heads(*of), heads(*of), heads(*of))  # noqa: E731
    crossed = lambda b, n, easy: (heads(b, n), heads(b, n + 2 * easy), heads(b, n + 2 * easy))  # noqa: E731
    return {
        "a language model": language_model(),
        "a language model of today": language_model(n_kv_heads=1, positions=halves, **own),
        "learned positions": language_model(positions="learned", norm="post"),
        "ALiBi": language_model(positions="alibi"),
        "a translator": translator(Seq2Seq(11, 11, d_model=16, n_heads=2, n_layers=1)),
        "a stack of decoders": Case(Decoder(1, 16, 2), lambda *of: (x(*of), x(*of))),
        "a layer, causal": Case(Called(turned, turned, causal=True), of_x),
        "a layer, a mask": Case(Called(lambda x, m: layer(x, mask=m), layer), of_mask),
        "a layer, mask and bias": Case(Biased(), of_mask),
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
            LearnedPositions(20, 16), lambda b, n, easy: (x(b, n), torch.arange(b))
        ),
        "top keys": Case(Called(top_keys, k=1), lambda b, n, easy: (torch.randn(b, n, n),)),
        "linear attention": Case(Called(linear_attention), three),
    }  # fmt: skip


CASES = cases()
# what holds most of the others; to export all of them costs more
BY_DAY = ("a language model of today", "a translator", "a layer, mask and bias", "latents")


def exported(module: nn.Module, given: tuple[Tensor, ...]) -> Callable[..., Any]:
    """Return the exported module; each axis of batch or length may have any size."""

    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, given: tuple[Tensor, ...]) -> Any:
            return self.module(*given)

    axes = tuple(
        {i: Dim.DYNAMIC for i, n in enumerate(part.shape) if n in (*EXAMPLE, EXAMPLE[1] + 2)}
        for part in given
    )
    graph = export(Holder(), (given,), dynamic_shapes=(axes,), strict=False).module()
    return lambda *given: graph(given)


def traced(module: nn.Module, given: tuple[Tensor, ...]) -> Callable[..., Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of each size that Python compares
        return torch.jit.trace(module, given, check_trace=False)


def agrees(case: Case, graph: Callable[..., Any], sizes: tuple[tuple[int, int], ...]) -> None:
    for b, n in sizes:
        given = case.given(b, n, False)
        with torch.no_grad():
            wanted, found = case.module(*given), graph(*given)
        one = isinstance(wanted, Tensor)
        torch.testing.assert_close(
            found if one else tuple(found), wanted if one else tuple(wanted), atol=1e-5, rtol=1e-4
        )


@pytest.mark.parametrize(
    "name", [n if n in BY_DAY else pytest.param(n, marks=pytest.mark.heavy) for n in CASES]
)
def test_an_exported_module_is_right_at_other_sizes(name: str) -> None:
    case = CASES[name]
    agrees(case, exported(case.module.eval(), case.given(*EXAMPLE, True)), SIZES)


@pytest.mark.parametrize("example", [EXAMPLE, (1, 1)])
@pytest.mark.parametrize("name", CASES)
def test_a_traced_module_is_right_at_other_sizes(name: str, example: tuple[int, int]) -> None:
    case = CASES[name]
    agrees(case, traced(case.module.eval(), case.given(*example, True)), SIZES)


@pytest.mark.parametrize("order", ["none", "luong", "bahdanau"])
def test_a_traced_recurrent_model_is_right_where_its_decoder_has_no_loop(order: str) -> None:
    case = translator(RNNSeq2Seq(11, 11, 16, order=order))
    graph = traced(case.module.eval(), case.given(*EXAMPLE, True))
    if order == "bahdanau":  # a step after another, as many as in the example
        agrees(case, graph, ((2, 7),))
        with pytest.raises(RuntimeError, match="Expected 7 elements in a list but found 5"):
            graph(*case.given(2, 5, False))
    else:
        agrees(case, graph, SIZES)


def test_packed_sentences_are_not_exported() -> None:
    """What the docstring of the recurrent encoder says: PyTorch packs no sentence in a graph."""
    case = translator(RNNSeq2Seq(11, 11, 16))
    with pytest.raises(TypeError, match="FakeTensor"):
        exported(case.module, case.given(*EXAMPLE, True))


LOOPS = {
    "local_attention": lambda x, _: local_attention(x, x, x, 3),
    "linear_attention": lambda x, _: linear_attention(x, x, x, causal=True),
    "the delta rule": lambda x, beta: delta_rule(x, x / 9, x, beta),
    "the delta rule ": lambda x, beta: delta_steps(x, x / 9, x, beta),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_not_traced_for_one_length(name: str) -> None:
    """A trace would keep as many steps as the example needs, and cut longer texts short."""
    given = torch.randn(1, 7, 4), torch.rand(1, 7)
    with pytest.raises(ValueError, match=rf"^{name.strip()} must not be traced: its loop"):
        traced(Called(LOOPS[name]), given)


def test_tiles_are_traced_with_their_loop() -> None:
    graph = traced(Called(tiled_attention, causal=True), (torch.randn(1, 7, 4),) * 3)
    longer = (torch.randn(1, 300, 4),) * 3
    torch.testing.assert_close(tuple(graph(*longer)), tuple(tiled_attention(*longer, causal=True)))


class Elsewhere(torch.fx.Interpreter):
    """An exported graph, run by a runtime whose attention gives an empty row what softmax gives."""

    def __init__(self, graph: torch.fx.GraphModule, least: float) -> None:
        super().__init__(graph)
        self.least, self.asked = least, 0

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if target is not torch.ops.aten.scaled_dot_product_attention.default:
            return super().call_function(target, args, kwargs)
        self.asked += 1
        query, key, value, mask = args[:4]
        group = query.shape[1] // key.shape[1]
        key, value = (part.repeat_interleave(group, dim=1) for part in (key, value))
        bias = mask
        if mask.dtype == torch.bool:
            bias = torch.zeros(mask.shape).masked_fill(~mask, self.least)
        return (query @ key.mT * query.shape[-1] ** -0.5 + bias).softmax(dim=-1) @ value


@pytest.mark.parametrize("least", [-1e30, -torch.inf])  # the mean of all values, or NaN
@pytest.mark.parametrize("name", ["a layer, a mask", "a layer, mask and bias"])
def test_an_exported_graph_sets_empty_rows_to_zero_by_itself(name: str, least: float) -> None:
    """ONNX's attention does so from opset 23 on, but not with what stands for it before."""
    case = CASES[name]
    given = case.given(2, 5, False)
    program = export(case.module.eval(), given, strict=False)
    elsewhere = Elsewhere(program.module(), least)
    torch.testing.assert_close(elsewhere.run(*given), case.module(*given), atol=1e-5, rtol=1e-4)
    assert elsewhere.asked == 1
