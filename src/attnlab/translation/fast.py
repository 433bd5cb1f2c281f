"""What makes a step cheaper on a processor, without another result: products, attention, dropout.

Each was measured alone, on an AMD EPYC of the fifth generation, one thread: float32 products by
oneDNN instead of MKL take 0.43 of the time, and dropout by bytes of chance 0.23.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.multihead import Attend

SIDES = 256  # of the die that is thrown for each number that may be dropped


@contextmanager
def products(precision: str) -> Generator[None]:
    """Set torch's precision of float32 products inside the block, and leave it as it was.

    "medium" lets oneDNN compute them: in bfloat16 where the processor has tiles for it (AMX), and
    else in float32, but with AVX-512, where MKL's own products keep to AVX2 on AMD's processors.
    """
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


class PlainAttend(Attend):
    """``Attend`` with products of the highest precision: oneDNN is slow at its many tiny ones."""

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """Return the outputs, as ``Attend``."""
        if not torch.is_grad_enabled() or torch.get_float32_matmul_precision() == "highest":
            return super().forward(query, key, value, mask, bias, causal)

        def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            return super(PlainAttend, self).forward(query, key, value, mask, bias, causal)

        return _Highest.apply(attend, query, key, value)


class _Highest(torch.autograd.Function):
    """Call a function, forwards and backwards, with products of the highest precision."""

    @staticmethod
    def forward(ctx: Any, function: Any, *inputs: Tensor) -> Tensor:
        ctx.inputs = [one.detach().requires_grad_() for one in inputs]
        with torch.enable_grad(), products("highest"):
            ctx.output = function(*ctx.inputs)
        return ctx.output.detach()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        with products("highest"):
            return None, *torch.autograd.grad(ctx.output, ctx.inputs, gradients)


class BytesDropout(nn.Dropout):
    """Drop each number with a probability of p, rounded to a multiple of 1/256; scale the others.

    Eight numbers share one of 64 bits that is drawn: a byte is enough to be dropped or kept. On
    other devices than a processor it is PyTorch's own.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, in training with some of its numbers 0."""
        x = input
        dropped = round(self.p * SIDES)
        if not self.training or dropped == 0:
            return x
        if x.device.type != "cpu":
            return super().forward(x)
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        thrown = words.view(torch.uint8)[: x.numel()].view(x.shape)
        kept = (thrown >= dropped).to(x.dtype)
        return x * kept.mul_(SIDES / (SIDES - dropped))


def quicken(model: nn.Module) -> None:
    """Exchange a model's dropout and attention, which have no weights, for the quicker ones."""
    for module in list(model.modules()):
        for name, part in module.named_children():
            if type(part) is nn.Dropout:
                setattr(module, name, BytesDropout(part.p))
            if type(part) is Attend:
                setattr(module, name, PlainAttend(part.dropout))
