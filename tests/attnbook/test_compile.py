"""``torch.compile``: the same numbers, gradients too; in `make test-all` with its own backend."""

import shutil
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.exc import Unsupported

from attnbook.attention import attention
from attnbook.latent import LatentAttention
from attnbook.masks import padding_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import Rotary
from attnbook.rnn import RNNSeq2Seq
from attnbook.transformer import LanguageModel, ModelConfig, Seq2Seq
from tests.attnbook.graphs import CASES, EXAMPLE, SIZES, agrees

needs_gxx = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("g++"), reason="the backend needs g++ on Linux"
)
BACKENDS = ["aot_eager", pytest.param("inductor", marks=[needs_gxx, pytest.mark.heavy])]
# of the models below two by day: shared keys with positions, and a decoder that feeds its input
PLACES = [n if n in (1, 6) else pytest.param(n, marks=pytest.mark.heavy) for n in range(7)]


def models() -> list[tuple[nn.Module, tuple[Tensor, ...], dict[str, Tensor]]]:
    torch.manual_seed(0)
    tokens, lengths = torch.randint(3, 11, (2, 6)), torch.tensor([6, 6])
    seq2seq = Seq2Seq(11, 11, ModelConfig(d_model=16, n_heads=2, n_layers=1))
    shared = MultiHeadAttention(16, 4, n_kv_heads=2, rope=Rotary(4))
    mask = {"mask": padding_mask([5, 2], 5), "causal": True}
    alibi = Seq2Seq(11, 11, ModelConfig(d_model=16, n_heads=2, n_layers=1, positions="alibi"))
    feeding = RNNSeq2Seq(11, 11, 16, order="luong", input_feeding=True)
    return [
        (MultiHeadAttention(16, 2), (torch.randn(2, 5, 16),), {}),
        (shared, (torch.randn(2, 5, 16),), mask),
        (seq2seq, (tokens, tokens), {"source_lengths": lengths}),
        (alibi, (tokens, tokens), {"source_lengths": torch.tensor([6, 3])}),
        (RNNSeq2Seq(11, 11, 16, order="luong"), (tokens, tokens), {"source_lengths": lengths}),
        (RNNSeq2Seq(11, 11, 16), (tokens, tokens), {"source_lengths": lengths}),
        (feeding, (tokens, tokens), {"source_lengths": lengths}),
    ]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("place", PLACES)
def test_the_compiled_module_agrees(place: int, backend: str) -> None:
    model, given, named = models()[place]
    wanted = model(*given, **named)
    gradients = torch.autograd.grad(wanted.square().sum(), list(model.parameters()))
    found = torch.compile(model, backend=backend)(*given, **named)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
    again = torch.autograd.grad(found.square().sum(), list(model.parameters()))
    torch.testing.assert_close(again, gradients, atol=1e-4, rtol=1e-3)


def test_rotary_positions_and_masks_break_no_graph() -> None:
    """A layer whose graph breaks is compiled in pieces, and is not quicker."""
    x, mask = torch.randn(1, 4, 8), torch.ones(4, 4).tril().bool()
    tokens = torch.randint(3, 9, (2, 5))
    model = LanguageModel(9, ModelConfig(d_model=8, n_heads=2, positions="rope"))
    for one, given in (
        (model, (tokens,)),
        (MultiHeadAttention(8, 2, rope=Rotary(4)), (x, None, mask)),
        (LatentAttention(8, 2, d_latent=4, d_rope=2), (x,)),
        (attention, (x, x, x, mask)),
    ):
        torch.compiler.reset()
        explained = torch._dynamo.explain(one)(*given)
        assert (explained.graph_count, explained.graph_break_count) == (1, 0), one
        found = torch.compile(one, backend="aot_eager", fullgraph=True)(*given)
        torch.testing.assert_close(found, one(*given), atol=1e-5, rtol=1e-4)


# lengths that no graph has seen; nothing here is of one size with another, and nothing is 1
UNSEEN = ((2, 5), (4, 9), (5, 11))
# what holds most of the others; to compile all of them takes minutes
BY_DAY = ("a language model of today", "top keys")
# the compiler calls PyTorch's GRU, and what packs sentences, between two graphs
IN_PIECES = [name for name in CASES if name.startswith("a recurrent")]
# a graph for each way that sizes lead: other keys than queries, chunks, blocks, pages, a text's end
SEVERAL = ["fused, other keys", "a layer, a memory", "an additive score", "local attention"]
SEVERAL += ["a cache that rolls", "a cache in pages", "the delta rule, step by step", "tiles"]


def compiled(name: str, **options: bool) -> Callable[..., Any]:
    """Return the case compiled for any size, and called with the example."""
    torch.compiler.reset()
    case = CASES[name]
    found = torch.compile(case.module.eval(), backend="aot_eager", dynamic=True, **options)
    with torch.no_grad():
        found(*case.given(*EXAMPLE, True))
    return found


@pytest.mark.parametrize(
    "name", [n if n in BY_DAY else pytest.param(n, marks=pytest.mark.heavy) for n in CASES]
)
def test_what_is_compiled_for_all_sizes_is_right_at_others(name: str) -> None:
    """In one graph, without a break, but for those that are listed."""
    pieces = name in IN_PIECES
    one = not pieces and name not in SEVERAL
    with torch._dynamo.config.patch(error_on_recompile=one):
        agrees(CASES[name], compiled(name, fullgraph=not pieces), UNSEEN)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name", [*SEVERAL, "a layer, causal", "a cache", "the delta rule", "top keys", "a translator"]
)
def test_what_is_compiled_is_right_at_sizes_that_want_a_graph_of_their_own(name: str) -> None:
    agrees(CASES[name], compiled(name, fullgraph=True), (*SIZES, (2, 70)))


@pytest.mark.parametrize("name", IN_PIECES)
def test_a_recurrent_network_is_not_compiled_in_one_graph(name: str) -> None:
    """By PyTorch, whose compiler leaves a GRU and packed sentences to eager code."""
    reason = r"\['gru'\]|DelayGraphBreakVariable|pack_padded_sequence"
    with pytest.raises(Unsupported, match=reason):
        compiled(name, fullgraph=True)
