"""What a multi-head layer does between its projections: heads that may share keys, and dropout."""

from torch import Tensor, nn
from torch.nn import functional

from attnbook import _check
from attnbook.attention import attention_weights, fused_attention
from attnbook.masks import causal_mask


class Attend(nn.Module):
    """The part of a layer between its projections: from queries, keys and values to outputs.

    A module of its own, without parameters, so that ``record_attention`` can watch it.

    Shapes: query (b, h, n_q, d), key and value (b, h_kv, n_k, d), mask and bias as in
    ``attention``; query head i uses key head ⌊i · h_kv / h⌋. Returns (b, h, n_q, d).

    Raises: ValueError for a dropout outside [0, 1), other shapes, and an h that is no multiple
    of h_kv.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        _check.probability("dropout", dropout)
        self.dropout = dropout

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """Return the outputs, by the fused kernel where no weight has to be dropped."""
        _check_heads(query, key, value)
        _check.mask_and_bias(query, key, mask, bias)
        b, h, n_q, d = query.shape
        h_kv = key.shape[1]
        if h != h_kv and n_q == 1:
            # the heads that share a key become the rows of one head: no key is copied
            query = query.reshape(b, h_kv, h // h_kv, d)
            mask, bias, causal = _fold(mask, h_kv), _fold(bias, h_kv), False
        else:
            key, value = spread(key, h), spread(value, h)
        if self.training and self.dropout > 0:
            output = self._with_dropout(query, key, value, mask, bias, causal)
        else:
            output = fused_attention(query, key, value, mask, bias=bias, causal=causal)
        return output.reshape(b, h, n_q, d)

    def _with_dropout(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        bias: Tensor | None,
        causal: bool,
    ) -> Tensor:
        if causal:
            past = causal_mask(query.shape[2], key.shape[2], device=query.device)
            mask = past if mask is None else mask & past
        weights = attention_weights(query, key, mask, bias=bias)
        if mask is not None:  # 0 · NaN is NaN: a value that no query uses may hold anything
            value = value.masked_fill(~mask.any(dim=-2)[..., None], 0)
        return functional.dropout(weights, self.dropout) @ value


def spread(key: Tensor, n_heads: int) -> Tensor:
    """Repeat shared keys or values so that each query head has its own: (b, h_kv, …) → (b, h, …).

    Neighbouring query heads share, as with ``repeat_interleave``.

    Raises: ValueError where ``n_heads`` is no multiple of h_kv.
    """
    if key.dim() < 2:
        raise ValueError(f"key must have the shape (b, h_kv, …): its shape is {tuple(key.shape)}")
    _check.whole_number("n_heads", n_heads, at_least=1)
    _check_groups("n_heads", n_heads, key)
    group = n_heads // key.shape[1]
    return key if group == 1 else key.repeat_interleave(group, dim=1)


def _fold(part: Tensor | None, h_kv: int) -> Tensor | None:
    if part is None or part.dim() == 2:
        return part if part is None else part[None, None]
    b, h, _, n_k = part.shape
    return part if h == 1 else part.reshape(b, h_kv, h // h_kv, n_k)


def _check_heads(query: Tensor, key: Tensor, value: Tensor) -> None:
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        _check.floats(name, tensor)
        if tensor.dim() != 4:
            raise ValueError(
                f"{name} must have the shape (b, h, n, d): its shape is {tuple(tensor.shape)}"
            )
    _check.same_lead(key=key, value=value)
    _check_groups("the heads of query", query.shape[1], key)


def _check_groups(name: str, n_heads: int, key: Tensor) -> None:
    h_kv = key.shape[1]
    if h_kv == 0 or n_heads % h_kv:
        raise ValueError(
            f"{name} must be a multiple of the heads of key, {h_kv}: there are {n_heads}"
        )
