"""RMSNorm, SwiGLU, layers without biases and rotary layouts: written out, and PyTorch's own."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional

from attnbook.attention import attention
from attnbook.layers import Config, Decoder, DecoderBlock, Encoder, EncoderBlock, FeedForward
from attnbook.masks import causal_mask
from attnbook.positions import Rotary
from attnbook.transformer import LanguageModel, ModelConfig, Seq2Seq
from tests.attnbook.copying import randomised
from tests.attnbook.strategies import close, normal

LLAMA = {"norm_kind": "rms", "activation": "swiglu", "bias": False}


def rms_norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return gain * x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_a_block_of_todays_kind_is_its_formula(eps: float) -> None:
    rope = Rotary(4)
    options = {"n_kv_heads": 2, "eps": eps, **LLAMA}
    block = randomised(EncoderBlock(Config(16, 4, 7, rope=rope, **options)).double())
    x = normal(2, 5, 16)
    wide = rms_norm(x, block.norms[0].weight, eps) @ block.attention.qkv.weight.T
    query, key, value = (part.unflatten(-1, (-1, 4)) for part in wide.split((16, 8, 8), dim=-1))
    heads = [
        attention(
            rope(query[:, :, i]), rope(key[:, :, i // 2]), value[:, :, i // 2], causal_mask(5)
        ).output
        for i in range(4)
    ]
    y = x + torch.cat(heads, dim=-1) @ block.attention.out.weight.T
    wide = rms_norm(y, block.norms[1].weight, eps) @ block.feed_forward.widen.weight.T
    gate, up = wide.split(7, dim=-1)
    hidden = gate / (1 + (-gate).exp()) * up
    close(block(x, causal=True), y + hidden @ block.feed_forward.narrow.weight.T)


def test_a_stack_of_them_ends_in_their_norm() -> None:
    stack, x = randomised(Encoder(2, Config(12, 3, eps=0.1, **LLAMA)).double()), normal(2, 5, 12)
    inside = stack.blocks[1](stack.blocks[0](x))
    close(stack(x), rms_norm(inside, stack.norm.weight, 0.1))


@given(factor=st.floats(0.1, 100), seed=st.integers(0, 99))
def test_an_rms_norm_forgets_the_length_but_not_the_mean(factor: float, seed: int) -> None:
    """LayerNorm forgets both."""
    norms = {
        kind: EncoderBlock(Config(6, 2, norm_kind=kind, eps=1e-12)).double().norms[0]
        for kind in ("rms", "layer")
    }
    x = normal(3, 6, seed=seed)
    for norm in norms.values():
        close(norm(factor * x), norm(x), 1e-6)
    close(norms["layer"](x + factor), norms["layer"](x), 1e-6)
    assert not torch.allclose(norms["rms"](x + factor), norms["rms"](x))


def test_swiglu_lets_a_gate_through() -> None:
    layer, x = FeedForward(3, 7, activation="swiglu").double(), normal(2, 4, 3)
    gate, value = layer.widen.weight.split(7), layer.widen.bias.split(7)
    first, second = (functional.linear(x, *each) for each in zip(gate, value, strict=True))
    close(layer(x), layer.narrow(first * torch.sigmoid(first) * second))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_blocks_without_biases_are_torchs(norm: str) -> None:
    sizes = {"batch_first": True, "norm_first": norm == "pre", "bias": False}
    other = randomised(nn.TransformerDecoderLayer(12, 3, 7, 0.0, **sizes).double())
    block = DecoderBlock(Config(12, 3, 7, norm=norm, bias=False)).double()
    theirs = {
        "attention.qkv": other.self_attn.in_proj_weight,
        "attention.out": other.self_attn.out_proj.weight,
        "cross.qkv": other.multihead_attn.in_proj_weight,
        "cross.out": other.multihead_attn.out_proj.weight,
        "feed_forward.widen": other.linear1.weight,
        "feed_forward.narrow": other.linear2.weight,
        "norms.0": other.norm1.weight,
        "norms.1": other.norm2.weight,
        "norms.2": other.norm3.weight,
    }
    block.load_state_dict({f"{name}.weight": weight for name, weight in theirs.items()})
    x, memory = normal(2, 5, 12, seed=1), normal(2, 4, 12, seed=2)
    close(block(x, memory), other(x, memory, tgt_mask=~causal_mask(5)))


@pytest.mark.parametrize("kind", [Encoder, Decoder])
@pytest.mark.parametrize("norm_kind", ["layer", "rms"])
def test_without_biases_there_are_none(kind, norm_kind: str) -> None:
    names = dict(kind(1, Config(8, 2, norm_kind=norm_kind, bias=False)).named_parameters())
    assert not [name for name in names if "bias" in name]
    kept = dict(kind(1, Config(8, 2)).named_parameters())
    assert names.keys() == {name for name in kept if "bias" not in name}


@given(
    half=st.integers(1, 4), offset=st.integers(0, 50), n=st.integers(1, 5), seed=st.integers(0, 99)
)
def test_one_layout_is_the_other_with_the_numbers_reordered(half, offset, n, seed) -> None:
    order = torch.arange(2 * half).unflatten(0, (2, half)).T.flatten()  # 0, d / 2, 1, d / 2 + 1, …
    x = normal(2, 3, n, 2 * half, seed=seed)
    halves, neighbours = (Rotary(2 * half, 20.0, layout=name) for name in ("halves", "interleaved"))
    close(halves(x, offset)[..., order], neighbours(x[..., order], offset))
    each = torch.tensor([offset, 0])
    close(halves(x, each)[..., order], neighbours(x[..., order], each))


def test_what_one_layer_worked_out_serves_the_next_and_no_other_place() -> None:
    """A turn is kept for the next layer: not for another base, place or precision, nor traced."""
    x, y = normal(1, 2, 3, 4), normal(1, 2, 3, 4, seed=1)
    wanted = {(base, at): Rotary(4, base)(x, at) for base in (10.0, 20.0) for at in (0, 5)}
    for (base, at), turned in wanted.items():
        close(Rotary(4, base, layout="halves")(y, at).norm(dim=-1), y.norm(dim=-1))
        close(Rotary(4, base)(x, at), turned)
        close(Rotary(4, base)(x.float(), at).double(), turned, 1e-5)
        close(Rotary(4, base)(x, at), turned)
        close(Rotary(4, base)(x[:, :, :1], at), turned[:, :, :1])
    with torch.inference_mode():
        Rotary(4, 30.0)(x, 7)
    with FakeTensorMode() as mode:
        Rotary(4, 30.0)(mode.from_tensor(x), 7)
    assert Rotary(4, 30.0)(x.to("meta"), 7).device.type == "meta"
    inside = x.clone().requires_grad_()
    Rotary(4, 30.0)(inside, 7).square().sum().backward()
    close(inside.grad, 2 * x)  # a turn keeps lengths


def model(**options) -> LanguageModel:
    rope = Rotary(4, 50.0, layout="halves")
    made = LanguageModel(9, ModelConfig(d_model=12, n_heads=3, positions=rope, **LLAMA, **options))
    return randomised(made.double()).eval()


def test_a_model_takes_a_rotary_of_your_own_and_embeddings_as_they_are() -> None:
    mine = model(n_kv_heads=1)
    assert [block.attention.rope.base for block in mine.decoder.blocks] == [50.0, 50.0]
    usual = LanguageModel(
        9, ModelConfig(d_model=12, n_heads=3, positions="rope", n_kv_heads=1, **LLAMA)
    )
    usual.double().load_state_dict(mine.state_dict())
    tokens = torch.tensor([[1, 2, 3, 4, 5]])
    assert not torch.allclose(usual(tokens), mine(tokens))
    translator = Seq2Seq(9, 9, ModelConfig(d_model=12, n_heads=3, positions=Rotary(4, 50.0)))
    assert translator.decoder.blocks[1].attention.rope.base == 50.0
    tokens = torch.tensor([[1, 2, 3]])
    mine = model(scale=False)
    assert torch.equal(mine.embed(tokens), mine.embed.tokens(tokens))
    close(model().embed(tokens), 12**0.5 * mine.embed(tokens))
