"""``torch.compile``: the same numbers, gradients too; in `make test-all` with its own backend."""

import shutil
import sys

import pytest
import torch
from torch import Tensor, nn

from attnbook.attention import attention
from attnbook.latent import LatentAttention
from attnbook.masks import padding_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import Rotary
from attnbook.rnn import RNNSeq2Seq
from attnbook.transformer import LanguageModel, Seq2Seq

needs_gxx = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("g++"), reason="the backend needs g++ on Linux"
)
BACKENDS = ["aot_eager", pytest.param("inductor", marks=[needs_gxx, pytest.mark.heavy])]


def models() -> list[tuple[nn.Module, tuple[Tensor, ...], dict[str, Tensor]]]:
    torch.manual_seed(0)
    tokens, lengths = torch.randint(3, 11, (2, 6)), torch.tensor([6, 6])
    seq2seq = Seq2Seq(11, 11, d_model=16, n_heads=2, n_layers=1)
    shared = MultiHeadAttention(16, 4, n_kv_heads=2, rope=Rotary(4))
    mask = {"mask": padding_mask([5, 2], 5), "causal": True}
    alibi = Seq2Seq(11, 11, d_model=16, n_heads=2, n_layers=1, positions="alibi")
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
@pytest.mark.parametrize("place", range(7))
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
    model = LanguageModel(9, d_model=8, n_heads=2, positions="rope")
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
