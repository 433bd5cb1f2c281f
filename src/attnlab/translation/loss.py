"""The smoothed loss straight from vectors: the logits of all pieces are never held at once.

Logits (N, V) of a step are its largest tensor, some 64 MB for 2,000 tokens and 8,000 pieces, and
the usual way walks through four of that size. Here a few hundred rows at a time go the whole way:
logits, loss, and the gradient of vectors and matrix, which is softmax minus target and known at
once. What a chunk needs stays in the processor's cache, and the backward pass has nothing to do.
"""

from typing import Any

import torch
from torch import Tensor

from attnlab.language.vocabulary import PAD

CHUNK = 256  # rows: 256 × 8,000 float32 are 8 MB


class _Chunked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        matrix: Tensor,
        bias: Tensor | None,
        target: Tensor,
        smoothing: float,
        chunk: int,
        kind: torch.dtype,
        needs: bool,
    ) -> Tensor:
        wide, share = torch.promote_types(kind, torch.float32), smoothing / len(matrix)
        weight, grads = matrix.to(kind), _Gradients(vectors, matrix, bias) if needs else None
        loss = vectors.new_zeros((), dtype=wide)
        real = target != PAD
        padded = not bool(real.all())
        for start in range(0, len(vectors), chunk):
            x, y = vectors[start : start + chunk].to(kind), target[start : start + chunk, None]
            rows = real[start : start + chunk, None]
            logits = x @ weight.T  # (c, V)
            log_p = (logits if bias is None else logits + bias).to(wide).log_softmax(dim=-1)
            if padded:  # of a padded row nothing counts: not its loss, not its gradient
                log_p.mul_(rows)
            of_target = log_p.gather(1, y)
            loss -= (1 - smoothing) * of_target.sum()
            if smoothing:
                loss -= share * log_p.sum()
            if grads is None:
                continue
            of_logits = log_p.exp_()  # softmax, in the memory of its logarithm
            if smoothing:
                of_logits -= share
            of_logits.scatter_add_(1, y, torch.full_like(of_target, smoothing - 1))
            if padded:
                of_logits.mul_(rows)
            if grads.bias is not None:
                grads.bias += of_logits.sum(dim=0)
            of_logits = of_logits.to(kind)
            grads.vectors[start : start + chunk] = of_logits @ weight
            grads.matrix += of_logits.T @ x
        if grads is not None:
            ctx.save_for_backward(grads.vectors, grads.matrix, grads.bias)
        return loss

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor | None, ...]:
        factor = outputs[0]
        grads = (one if one is None else one * factor.to(one.dtype) for one in ctx.saved_tensors)
        return *grads, None, None, None, None, None


class _Gradients:
    def __init__(self, vectors: Tensor, matrix: Tensor, bias: Tensor | None) -> None:
        self.vectors, self.matrix = torch.empty_like(vectors), torch.zeros_like(matrix)
        self.bias = None if bias is None else torch.zeros_like(bias)


def smoothed_loss(
    vectors: Tensor,
    matrix: Tensor,
    target: Tensor,
    *,
    bias: Tensor | None = None,
    smoothing: float = 0.0,
    chunk: int = CHUNK,
) -> Tensor:
    """Sum Σ [−(1 − ε) log p(y) − ε/V Σ_v log p(v)] over N tokens, p = softmax(vectors · matrixᵀ).

    It is ``sequence_loss`` of the logits, which are computed ``chunk`` rows at a time, times the
    number of those tokens of the N that are not padding (0).

    Shapes: vectors (N, d), matrix (V, d), bias (V,), target (N,); returns (), a sum.
    """
    place, needs = vectors.device.type, torch.is_grad_enabled()
    mixed = torch.is_autocast_enabled(place)
    kind = torch.get_autocast_dtype(place) if mixed else vectors.dtype
    with torch.autocast(place, enabled=False):
        return _Chunked.apply(vectors, matrix, bias, target, smoothing, chunk, kind, needs)
