"""PyTorch's Transformer layers, and ours with a copy of their weights."""

import copy

import torch
from torch import Tensor, nn

from attnbook.layers import Config, Decoder, DecoderBlock, Encoder, EncoderBlock
from attnbook.multihead import MultiHeadAttention
from attnbook.positions import Rotary
from tests.attnbook.strategies import close


def randomised(module: nn.Module, seed: int = 0) -> nn.Module:
    """Give every parameter of a module, norms and biases too, numbers of their own."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            spread = parameter.shape[-1] ** -0.5 if parameter.dim() > 1 else 0.3
            parameter.copy_(noise * spread)
    return module


def copied(theirs: nn.Module) -> nn.Module:
    """Return our block or stack with PyTorch's sizes and weights."""
    if isinstance(theirs, nn.TransformerEncoder | nn.TransformerDecoder):
        return _stack(theirs)
    decoder = isinstance(theirs, nn.TransformerDecoderLayer)
    mine = (DecoderBlock if decoder else EncoderBlock)(_config(theirs))
    mine.to(theirs.linear1.weight)
    _copy(mine.attention, theirs.self_attn)
    norms = [theirs.norm1, theirs.norm2]
    if decoder:
        _copy(mine.cross, theirs.multihead_attn)
        norms.append(theirs.norm3)
    for norm, other in zip(mine.norms, norms, strict=True):
        norm.load_state_dict(other.state_dict())
    mine.feed_forward.widen.load_state_dict(theirs.linear1.state_dict())
    mine.feed_forward.narrow.load_state_dict(theirs.linear2.state_dict())
    return mine.train(theirs.training)


def _stack(theirs: nn.TransformerEncoder | nn.TransformerDecoder) -> nn.Module:
    first = theirs.layers[0]
    kind = Encoder if isinstance(theirs, nn.TransformerEncoder) else Decoder
    mine = kind(len(theirs.layers), _config(first))
    mine.to(first.linear1.weight)
    for block, layer in zip(mine.blocks, theirs.layers, strict=True):
        block.load_state_dict(copied(layer).state_dict())
    if theirs.norm is not None:
        mine.norm.load_state_dict(theirs.norm.state_dict())
    return mine.train(theirs.training)


def _config(layer: nn.Module) -> Config:
    return Config(
        layer.linear1.in_features,
        layer.self_attn.num_heads,
        layer.linear1.out_features,
        norm="pre" if layer.norm_first else "post",
        activation=layer.activation.__name__,
        dropout=layer.dropout.p,
        eps=layer.norm1.eps,
    )


def _copy(mine: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    mine.load_state_dict(MultiHeadAttention.from_torch(theirs).state_dict())


def gradients(output: Tensor, inputs: list[Tensor]) -> tuple[Tensor, ...]:
    """Return the gradients of the sum of squares of ``output``."""
    return torch.autograd.grad(output.square().sum(), inputs)


def grouped(
    n_kv_heads: int, *, rope: bool = False, dtype: torch.dtype = torch.float64
) -> MultiHeadAttention:
    """Return a layer of 6 heads of 4 numbers, which share keys and values."""
    torch.manual_seed(0)
    layer = MultiHeadAttention(
        24, 6, n_kv_heads=n_kv_heads, rope=Rotary(4, base=20.0) if rope else None
    )
    nn.init.normal_(layer.qkv.bias)
    nn.init.normal_(layer.out.bias)
    return layer.to(dtype)


def ordinary(
    module: nn.Module, other: nn.Module, *given: Tensor, single: float, half: float, **named
) -> None:
    """Raise unless a module, and ``other`` with its weights, are copied and cast as any is."""
    expected = module(*given, **named)
    assert torch.equal(copy.deepcopy(module)(*given, **named), expected)
    other.load_state_dict({name: 0 * part for name, part in module.state_dict().items()})
    assert not torch.allclose(other(*given, **named), expected)
    other.load_state_dict(module.state_dict())
    assert torch.equal(other(*given, **named), expected)
    for dtype, cast in ((torch.float32, False), (torch.float32, True), (torch.bfloat16, False)):
        other.to(dtype)
        parts = [part.to(dtype) if part.is_floating_point() else part for part in given]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=cast):
            found = other(*parts, **named)
        if dtype == torch.float32:
            close(found.double(), expected, half if cast else single)
        else:
            assert found.dtype == dtype
