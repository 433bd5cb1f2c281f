"""Who may attend to whom: boolean masks, ``True`` = may attend.

That is the convention of ``torch.nn.functional.scaled_dot_product_attention``;
``torch.nn.MultiheadAttention`` means the opposite.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnbook import _check


def causal_mask(
    n_q: int, n_k: int | None = None, *, device: torch.device | str | None = None
) -> Tensor:
    """Let every query attend to the keys up to its own position, mask[i, j] = (j ≤ i + n_k − n_q).

    The two sequences end together (bottom-right alignment), so that the mask stays right when the
    first n_k − n_q keys come from a cache, where PyTorch's ``is_causal`` would be wrong.

    Shapes: returns (n_q, n_k); ``n_k`` is ``n_q`` unless given.
    """
    n_k = n_q if n_k is None else n_k
    return torch.ones(n_q, n_k, dtype=torch.bool, device=device).tril(n_k - n_q)


def padding_mask(
    lengths: Tensor | Sequence[int], n_k: int, *, device: torch.device | str | None = None
) -> Tensor:
    """Let every query attend to the first ``lengths[b]`` keys of sentence b.

    Shapes: lengths (b,); returns (b, 1, n_k), on the device of ``lengths`` unless given.
    Raises: ValueError for lengths that are not from 0 to ``n_k``, or not of the shape (b,).
    """
    lengths = torch.as_tensor(lengths, device=device)
    _check.shapes(lengths=(lengths, "b"))
    _check.ids("lengths", lengths.cpu(), n_k + 1)
    positions = torch.arange(n_k, device=lengths.device)
    return (positions < lengths[:, None])[:, None, :]  # (b, 1, n_k)


def window_mask(
    n_q: int, n_k: int, window: int, *, sinks: int = 0, device: torch.device | str | None = None
) -> Tensor:
    """Let every query attend to the last ``window`` keys up to and including its own position.

    With p = i + n_k − n_q the position of query i: mask[i, j] = (p − window < j ≤ p). With
    ``sinks`` s the first s keys stay visible, and count: j < s or p − (window − s) < j, and j ≤ p.

    Shapes: returns (n_q, n_k), aligned bottom-right.
    Raises: ValueError for a window below 1, or sinks that leave no place in it.
    Source: Beltagy, Peters and Cohan (2020), section 3.1; Xiao et al. (2024) for the sinks.
    """
    _check.must(0 <= sinks < window, "sinks", f"be from 0 on, below window = {window}", sinks)
    past = causal_mask(n_q, n_k, device=device)
    near = past.triu(n_k - n_q - (window - sinks) + 1)
    near[:, :sinks] = past[:, :sinks]
    return near


def as_torch_mha_mask(mask: Tensor) -> Tensor:
    """Translate ``mask`` for ``torch.nn.MultiheadAttention``, where ``True`` = must not attend.

    The shape stays: an ``attn_mask`` is (n_q, n_k), a ``key_padding_mask`` is (b, n_k).

    Raises: TypeError for anything but a tensor; ValueError unless it is boolean.
    """
    _check.kind("mask", mask, torch.bool)
    return ~mask
