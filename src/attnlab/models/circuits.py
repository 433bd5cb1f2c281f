"""A head as two matrices: whom it asks, and what it says.

    e_ij = x_i W^QK x_jᵀ,   output_i = Σ_j α_ij x_j W^OV

Both are (d_model, d_model), of rank at most d, the size of a head.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.multihead import MultiHeadAttention
from attnlab import _check


class Circuit(NamedTuple):
    """The two matrices of a head, (d_model, d_model) each."""

    qk: Tensor
    ov: Tensor


@torch.no_grad()
def circuit(layer: MultiHeadAttention, head: int, *, distance: int = 0) -> Circuit:
    """Return W^QK = W^Q W^Kᵀ / √d and W^OV = W^V W^O of one head, whose layer has no biases.

    Where the layer turns queries and keys, W^QK holds for a key that stands ``distance`` tokens
    before its query: W^Q R(distance) W^Kᵀ / √d. ``head`` counts from 0, −1 being the last.

    Raises: ValueError for a head that does not exist, a distance that is no whole number of at
    least 0, a layer with biases, or with fewer sets of keys than heads.
    Source: Elhage et al. (2021).
    """
    d_model, d = layer.d_model, layer.d
    (head,) = _check.indices("head", [head], layer.n_heads)
    _check.whole_number("distance", distance, at_least=0)
    plain = layer.qkv.bias is None and layer.n_kv_heads == layer.n_heads
    _check.must(plain, "layer", "have no biases, and a set of keys for each head", layer)
    part = slice(head * d, (head + 1) * d)
    w_q, w_k, w_v = (one[part].mT for one in layer.qkv.weight.split(d_model))  # (d_model, d)
    w_o = layer.out.weight.mT[part]  # (d, d_model)
    if layer.rope is not None:
        w_q = layer.rope(w_q[:, None], distance)[:, 0]
        w_k = layer.rope(w_k[:, None], 0)[:, 0]
    return Circuit(w_q @ w_k.mT / math.sqrt(d), w_v @ w_o)
