"""The block in Python: PyTorch's numbers, arguments checked, words in the HTML."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from attnbook.layers import DecoderBlock, EncoderBlock
from attnbook.positions import Rotary
from attnbook.widgets import BlockFlow
from attnbook.widgets.core import markup
from tests.widgets.conftest import TOKENS

EVIL = "<img src=x onerror=alert(1)>"
NUTS = [[2, -1, 0, 1], [1, 1, 1, 0], [1, 2, 2, -1]]
WAYS = list(itertools.product(["pre", "post", "none"], [True, False]))
SIZES = [  # d_model, heads, key-value heads, d_ff, activation, eps, tokens
    (4, 2, 2, 8, "relu", 1e-5, 3),
    (8, 4, 2, 16, "gelu", 1e-12, 6),
    (6, 1, 1, 1, "gelu", 0.5, 1),
]


def block(size: tuple = SIZES[0], *, norm: str = "pre") -> EncoderBlock:
    """An untrained block whose norms have gains and shifts of their own, in double precision."""
    d, n_heads, n_kv_heads, d_ff, activation, eps, _ = size
    torch.manual_seed(d)
    options = {"norm": norm, "activation": activation, "eps": eps, "n_kv_heads": n_kv_heads}
    made = EncoderBlock(d, n_heads, d_ff, **options).double().eval()
    with torch.no_grad():
        for one in [*made.norms.parameters(), made.attention.qkv.bias, made.attention.out.bias]:
            one.add_(torch.randn_like(one) / 3)
        for one in made.parameters():  # as the page has them
            one.copy_(one.round(decimals=8))
    return made


def example(size: tuple) -> list:
    rng = np.random.default_rng(size[0])
    return rng.normal(size=(size[-1], size[0])).round(3).tolist()


def made(**changes) -> BlockFlow:
    given = {"block": block(), "x": NUTS, "tokens": TOKENS}
    return BlockFlow(**(given | changes))


def largest() -> BlockFlow:
    names = ["The", "animal", "incomprehensibilities", "", "the", "street"]
    return BlockFlow(block(SIZES[1]), example(SIZES[1]), names, token=2, blocks=12, shown=12)


@torch.no_grad()
def by_torch(one: EncoderBlock, x: list, norm: str, residual: bool, blocks: int) -> np.ndarray:
    """The vectors after each block, x first, from the block's own parts."""

    def apply(part, layer_norm, x: Tensor) -> Tensor:
        added = part(layer_norm(x) if norm == "pre" else x)
        total = x + added if residual else added
        return layer_norm(total) if norm == "post" else total

    found = [torch.tensor([x], dtype=torch.float64)]
    for _ in range(blocks):
        after = apply(one.attention, one.norms[0], found[-1])
        found.append(apply(one.feed_forward, one.norms[1], after))
    return torch.cat(found).numpy()


def near(here: np.ndarray, wanted: np.ndarray, atol: float = 1e-6) -> bool:
    """Whether numbers agree, of their own size where they are large."""
    return bool((np.abs(np.array(here) - wanted) <= atol * np.maximum(1, np.abs(wanted))).all())


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_with_the_sum_it_is_the_encoder_block(size: tuple, norm: str) -> None:
    one, x = block(size, norm=norm), example(size)
    widget = BlockFlow(one, x, [str(i) for i in range(len(x))], blocks=3)
    wanted = by_torch(one, x, norm, True, 3)
    twice = one(one(torch.tensor([x], dtype=torch.float64))).detach().numpy()
    assert np.abs(wanted[2] - twice[0]).max() < 1e-12  # the reference is right
    assert np.abs(widget.outputs - wanted).max() < 1e-9


@pytest.mark.parametrize(("norm", "residual"), WAYS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_switch_gives_torchs_numbers(size: tuple, norm: str, residual: bool) -> None:
    one, x = block(size), example(size)
    tokens = [str(i) for i in range(len(x))]
    widget = BlockFlow(one, x, tokens, norm=norm, residual=residual, blocks=12)
    assert near(widget.outputs, by_torch(one, x, norm, residual, 12))


def test_the_weights_are_those_of_the_blocks_attention() -> None:
    one = block(SIZES[1])
    x = torch.tensor([example(SIZES[1])], dtype=torch.float64)
    widget = BlockFlow(one, x[0], list("abcdef"), blocks=2, shown=2)
    with torch.no_grad():
        wanted = one.attention.weights(one.norms[0](one(x)))[0].numpy()
    assert np.abs(widget.weights - wanted).max() < 1e-9


def test_the_stages_follow_each_other_as_their_formulas_say() -> None:
    found = made().stages
    assert list(found) == ["x", "n₁", "a", "s₁", "n₂", "f", "s₂"]
    assert np.allclose(found["s₁"], found["x"] + found["a"])
    assert np.allclose(found["s₂"], found["s₁"] + found["f"])
    assert list(made(norm="post").stages) == ["x", "a", "s₁", "n₁", "f", "s₂", "n₂"]
    assert list(made(norm="none").stages) == ["x", "a", "s₁", "f", "s₂"]
    assert list(made(residual=False).stages) == ["x", "n₁", "a", "n₂", "f"]


@pytest.mark.parametrize("seed", range(4))
def test_without_the_sum_the_first_vector_is_forgotten_and_tokens_become_alike(seed: int) -> None:
    torch.manual_seed(seed)
    one = EncoderBlock(4, 2, 8)
    with_sum, without = (made(block=one, blocks=6, residual=on).trace for on in (True, False))
    assert with_sum[0] == without[0]
    assert with_sum[0][:3] == pytest.approx((np.linalg.norm(NUTS[0]), np.std(NUTS[0]), 1.0))
    assert with_sum[1].first > 0.8 > without[1].first
    assert without[6].others > 0.9999 > 0.99 > with_sum[6].others
    edited = made(block=one, blocks=6, residual=False, x=[[100, -100, 0, 50], *NUTS[1:]])
    assert edited.trace[6].length == pytest.approx(without[6].length, abs=0.01)


def test_a_zero_vector_or_a_single_token_has_no_cosine() -> None:
    assert made(x=np.zeros((3, 4))).trace[0][2:] == (None, None)
    alone = made(x=NUTS[:1], tokens=["had"])
    assert alone.trace[1].others is None
    assert alone.trace[1].first is not None
    assert "–" in alone.html()


def test_the_largest_numbers_stay_finite() -> None:
    one = block(SIZES[1])
    with torch.no_grad():
        for weight in one.parameters():
            weight.fill_(100.0)
    x = np.full((6, 8), 100.0)
    for norm, residual in WAYS:
        widget = BlockFlow(one, x, list("abcdef"), norm=norm, residual=residual, blocks=12)
        assert np.isfinite(widget.outputs).all()
        assert "nan" not in widget.html()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x": [[1, 2, 3]] * 3}, r"x must have the shape \(n, 4\), as the block has it"),
        ({"x": [[1, 2, 3, 4]] * 7, "tokens": "abcdefg"}, "with n at most 6, got shape"),
        ({"x": [[1, 2, 3, 101]] * 3}, "x must hold numbers from −100 to 100"),
        ({"x": [[1, 2, 3, np.nan]] * 3}, "x must be finite"),
        ({"tokens": ["a"]}, "tokens must be 3 strings"),
        ({"token": 3}, "token must be a whole number from -3 to 2"),
        ({"norm": "Pre"}, "norm must be one of 'pre', 'post', 'none': it is 'Pre'"),
        ({"blocks": 0}, "blocks must be a whole number of at least 1: it is 0"),
        ({"blocks": 13}, "blocks must be at most 12, got 13"),
        ({"blocks": 2, "shown": 3}, "shown must be at most 2, got 3"),
        ({"step": 0}, "step must be a finite number above 0"),
        ({"block": EncoderBlock(16, 2, 8)}, "block must have a d_model of at most 8, got 16"),
        ({"block": EncoderBlock(4, 2, 32)}, "block must have a d_ff of at most 16, got 32"),
        ({"block": EncoderBlock(4, 2, 8, rope=Rotary(2))}, "block must have no rope"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(changes: dict, words: str) -> None:
    if "tokens" in changes:
        changes = changes | {"tokens": list(changes["tokens"])}
    with pytest.raises(ValueError, match=words):
        made(**changes)


def test_what_is_no_block_or_has_unusable_weights_is_refused() -> None:
    with pytest.raises(TypeError, match="block must be an EncoderBlock: it is a DecoderBlock"):
        made(block=DecoderBlock(4, 2, 8))
    with pytest.raises(TypeError, match="residual must be True or False"):
        made(residual=1)
    for value, words in ((np.inf, "must be finite"), (101.0, "numbers from −100 to 100")):
        one = block()
        with torch.no_grad():
            one.feed_forward.widen.weight[0, 0] = value
        with pytest.raises(ValueError, match=f"block's w_1 .*{words}"):
            made(block=one)


def test_traits_are_checked_when_they_are_moved() -> None:
    widget = made()
    for name, value in (("vectors", NUTS[:2]), ("token", 3), ("norm", "no"), ("blocks", 13)):
        with pytest.raises(ValueError, match=f"{name} must"):
            setattr(widget, name, value)
    widget.blocks, widget.shown = 4, 4
    widget.blocks = 2  # the last of those that are left is shown
    assert np.array_equal(widget.stages["s₂"], widget.outputs[2])


def test_the_html_says_it_all_without_a_script_and_is_the_same_each_time() -> None:
    widget = made(tokens=[EVIL, "bowl", "nuts"], norm="post", blocks=3, shown=2)
    html = widget.html()
    assert html == made(tokens=[EVIL, "bowl", "nuts"], norm="post", blocks=3, shown=2).html()
    assert EVIL not in html.split("</script>")[1]
    words = html.split("</script>")[1]
    for formula in ("a = attention(x)", "s₁ = x + a", "n₁ = norm(s₁)", "f = FFN(n₁)"):
        assert formula in words
    assert "block 2 of 3, all with the same weights: post-norm, with the residual sum" in words
    assert markup.fixed(widget.trace[3].length) in words
    assert repr(widget).startswith(f"BlockFlow(token {EVIL}, norm post, with the sum, blocks 3")


def test_the_largest_block_stays_within_fifty_kilobytes() -> None:
    assert len(largest().html()) < 50_000
