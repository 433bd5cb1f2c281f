"""``torch.vmap``, per-sample gradients, second derivatives and forward mode."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck
from torch.func import functional_call, grad, jvp
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnbook.attention import attention, attention_weights, fused_attention, masked_softmax
from attnbook.embeddings import Embeddings
from attnbook.further.sparse import local_attention, top_keys
from attnbook.further.tiles import tiled_attention
from attnbook.latent import LatentAttention
from attnbook.masks import padding_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.rnn import RNNSeq2Seq
from attnbook.scores import Additive
from attnbook.transformer import LanguageModel, ModelConfig, Seq2Seq
from tests.attnbook.copying import randomised
from tests.attnbook.strategies import close, normal

torch.manual_seed(0)
QUERY, KEY, VALUE = (normal(3, 2, 5, 4, seed=i) for i in range(3))
# one allows all, one has a query that may attend to nothing, one a key that nobody may attend to
MASKS = torch.ones(3, 5, 5, dtype=torch.bool)
MASKS[1, 2], MASKS[2, :, 3] = False, False
BIASES = normal(3, 5, 5, seed=3)
BIASES[1, 0, 2], BIASES[2, :, 1] = -torch.inf, -torch.inf
X, TOKENS = normal(3, 2, 5, 12, seed=4), torch.randint(3, 11, (3, 2, 5))
LENGTHS = torch.tensor([[5, 5], [2, 4], [1, 5]])
LAYER = randomised(MultiHeadAttention(12, 6, n_kv_heads=2).double())
LATENT = randomised(LatentAttention(12, 3, d_latent=4, d_rope=2).double())
SCORE = Additive(4, 4, 3).double()


def language_model(positions: str) -> nn.Module:
    return (
        LanguageModel(11, ModelConfig(d_model=12, n_heads=3, positions=positions)).double().eval()
    )


TRANSLATOR = Seq2Seq(11, 11, ModelConfig(d_model=12, n_heads=3, n_layers=1)).double().eval()
SEGMENTS = Embeddings(11, 12, n_types=2, positions="learned").double().eval()
WRITER = RNNSeq2Seq(11, 11, 12).double().eval()
BEGUN = WRITER.start(TOKENS[0], LENGTHS[0])
# a function, the axes over which it is mapped, and its arguments: one of three, or the same
MAPPED: dict[str, tuple[Callable[..., Any], tuple[int | None, ...], tuple[Tensor, ...]]] = {
    **{
        f"{name}, {of}": (call, axes, (QUERY if axes[0] == 0 else QUERY[0], MASKS))
        for name, call in (
            ("attention", lambda q, m: attention(q, KEY[0], VALUE[0], m).output),
            ("fused", lambda q, m: fused_attention(q, KEY[0], VALUE[0], m)),
            ("fused causal", lambda q, m: fused_attention(q, KEY[0], VALUE[0], m, causal=True)),
            ("weights", lambda q, m: attention_weights(q, KEY[0], m)),
            ("additive", lambda q, m: attention(q, KEY[0], VALUE[0], m, score=SCORE).output),
        )
        for of, axes in (("masks", (None, 0)), ("queries and masks", (0, 0)))
    },
    "attention, biases": (lambda b: attention(*ONE, bias=b).output, (0,), (BIASES,)),
    "fused, biases": (lambda b: fused_attention(*ONE, bias=b), (0,), (BIASES,)),
    "softmax": (masked_softmax, (None, 0), (normal(2, 5, 5), MASKS)),
    "a layer": (lambda x, m: LAYER(x, mask=m), (None, 0), (X[0], MASKS)),
    "a layer's weights": (lambda x, m: LAYER.weights(x, mask=m), (0, 0), (X, MASKS)),
    "latents": (lambda x, m: LATENT(x, m, causal=True), (0, 0), (X, MASKS)),
    "tokens": (language_model("rope"), (0,), (TOKENS,)),
    "tokens, learned positions": (language_model("learned"), (0,), (TOKENS,)),
    "types": (lambda t: SEGMENTS(t, t % 2), (0,), (TOKENS,)),
    "sentences": (lambda s, n: TRANSLATOR(s, s, source_lengths=n), (0, 0), (TOKENS, LENGTHS)),
    "lengths": (lambda n: padding_mask(n, 5), (0,), (LENGTHS,)),
    "a recurrent decoder": (lambda t: WRITER.decoder(t, BEGUN), (0,), (TOKENS,)),
    "top keys": (lambda m: top_keys(BIASES[0], 2, m), (0,), (MASKS,)),
}
ONE = QUERY[0], KEY[0], VALUE[0]


@pytest.mark.parametrize("name", MAPPED)
def test_many_at_once_are_each_by_itself(name: str) -> None:
    call, axes, given = MAPPED[name]
    found = torch.vmap(call, in_dims=axes)(*given)
    for i, one in enumerate(found):
        wanted = call(*(x if axis is None else x[i] for axis, x in zip(axes, given, strict=True)))
        close(one.double(), wanted.double())


def test_each_sentence_has_its_gradient() -> None:
    model = language_model("rope")
    weights = dict(model.named_parameters())

    def loss(weights: dict[str, Tensor], tokens: Tensor) -> Tensor:
        return functional_call(model, weights, (tokens[None],)).square().mean()

    found = torch.vmap(grad(loss), in_dims=(None, 0))(weights, TOKENS[:, 0])
    for i in range(3):
        alone = grad(loss)(weights, TOKENS[i, 0])
        for name in weights:
            close(found[name][i], alone[name])


def test_wrong_ids_are_still_refused_where_nobody_can_ask_for_them() -> None:
    with pytest.raises(IndexError, match="out of range"):
        torch.vmap(language_model("rope"))(TOKENS + 9)


MASK = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0]]).bool()
SMALL = randomised(MultiHeadAttention(6, 2, n_kv_heads=1).double())
FUSED: dict[str, tuple[Callable[[Tensor], Tensor], Tensor]] = {
    "fused_attention": (lambda q: fused_attention(q, q, q, causal=True), normal(1, 4, 3)),
    "an empty row": (lambda q: fused_attention(q, q, q, MASK), normal(1, 2, 4, 3)),
    "a bias": (lambda q: fused_attention(q, q, q, bias=q @ q.mT), normal(1, 2, 4, 3)),
    "a layer": (lambda x: SMALL(x, mask=MASK, causal=True), normal(1, 4, 6)),
    "a window": (lambda q: local_attention(q, q, q, 2), normal(1, 4, 3)),
}


@pytest.mark.parametrize("name", FUSED)
def test_a_fused_form_has_second_derivatives_and_forward_mode_by_the_plain_kernel(name) -> None:
    call, given = FUSED[name]
    given = given.requires_grad_()
    with sdpa_kernel(SDPBackend.MATH):
        assert gradgradcheck(call, (given,))
        assert gradcheck(call, (given,), check_forward_ad=True)
        _, found = jvp(call, (given.detach(),), (torch.ones_like(given),))
    moved = [call(given.detach() + step) for step in (1e-6, -1e-6)]
    close(found, (moved[0] - moved[1]) / 2e-6, 1e-7)


def test_without_it_both_are_refused_and_nothing_is_wrong_silently() -> None:
    call, given = FUSED["a layer"]
    given = given.detach().requires_grad_()
    (first,) = torch.autograd.grad(call(given).square().sum(), given, create_graph=True)
    with pytest.raises(RuntimeError, match="not implemented"):
        torch.autograd.grad(first.sum(), given)
    with pytest.raises(NotImplementedError, match="forward AD"):
        jvp(call, (given.detach(),), (torch.ones_like(given),))


def test_tiles_have_neither_and_say_so() -> None:
    given = normal(1, 4, 3).requires_grad_()
    call = lambda q: tiled_attention(q, q, q).output  # noqa: E731
    with pytest.raises(NotImplementedError, match="jvp"):
        jvp(call, (given.detach(),), (torch.ones_like(given),))
    with pytest.raises(RuntimeError, match="vmap"):
        torch.vmap(call)(given.detach()[None])
    # what it is checked against has all three
    plain = lambda q: attention(q, q, q).output  # noqa: E731
    assert gradgradcheck(plain, (given,))
    assert gradcheck(plain, (given,), check_forward_ad=True)
