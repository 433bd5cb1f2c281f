"""What stands behind attention's doors, for who has checked the arguments.

Shapes: as in ``attention``.
"""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnbook import _ask, _check
from attnbook.masks import causal_mask


def allowed(mask: Tensor | None, bias: Tensor | None) -> Tensor | None:
    """Return who may attend to whom: a bias of −∞ forbids, as ``mask`` does."""
    if bias is None:
        return mask
    finite = bias != -torch.inf
    if _ask.all_of(finite):
        return mask
    return finite if mask is None else mask & finite


def with_causal(mask: Tensor | None, query: Tensor, key: Tensor) -> Tensor:
    """Return ``causal_mask(n_q, n_k)``, on top of ``mask`` where there is one."""
    past = causal_mask(query.shape[-2], key.shape[-2], device=query.device)
    return past if mask is None else mask & past


def without_unused_keys(mask: Tensor | None, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Return keys or values (…, n_k, d), 0 where no query may look: 0 · NaN would be NaN."""
    if mask is None:
        return tensors
    used = mask.any(dim=-2)  # (…, n_k)
    if mask.dim() == 4 and 0 < (h_kv := tensors[0].shape[1]) < mask.shape[1]:  # shared by heads
        used = used.unflatten(1, (h_kv, -1)).any(dim=2)
    if _ask.all_of(used):
        return tensors
    return tuple(tensor.masked_fill(~used.unsqueeze(-1), 0) for tensor in tensors)


def part_of(part: Tensor | None, axis: int, index: Tensor) -> Tensor | None:
    """Choose from a mask or bias, which may lack the axis, or have size 1 there for all of it."""
    if part is None or part.dim() < -axis or part.shape[axis] == 1:
        return part
    return part.index_select(axis, index)


def check_energies(energies: Tensor, query: Tensor, key: Tensor) -> None:
    """Ask a score of somebody's own for the shape (…, n_q, n_k)."""
    sides = {"query": (query, "… n_q d"), "key": (key, "… n_k d_k")}
    _check.shapes(**sides, **{"score(query, key)": (energies, "… n_q n_k")})


def fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    causal: bool,
    enable_gqa: bool = False,
) -> Tensor:
    """Compute ``fused_attention`` for a layer, which has checked its arguments."""
    n_q, n_k = query.shape[-2], key.shape[-2]
    causal = causal and not _ask.same(n_q, 1)  # a single query is the last, and sees every key
    if causal and not (mask is None and bias is None and _ask.same(n_q, n_k)):
        mask, causal = with_causal(mask, query, key), False
    mask = seen = allowed(mask, bias)
    key, value = without_unused_keys(mask, key, value)
    if bias is not None:  # the kernel takes a bias and a mask as one float mask
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    output = scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=causal, enable_gqa=enable_gqa
    )
    if seen is None or not _ask.for_all_sizes():
        return output
    # ONNX before opset 23 gives a query with nothing to attend to the values' mean, or NaN
    return output.masked_fill(~seen.any(dim=-1, keepdim=True), 0)
