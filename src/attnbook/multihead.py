"""Multi-head attention: several attentions side by side, each on its own part of the vectors."""

from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnbook import _check
from attnbook.attention import (
    Chosen,
    attention_weights,
    chosen,
    fused,
    part_of,
    with_causal,
    without_unused_keys,
)
from attnbook.cache import KVCache
from attnbook.positions import Rotary


class Projected(NamedTuple):
    """A memory's keys and values, (b, h_kv, n_k, d) each, ready for any number of queries."""

    key: Tensor
    value: Tensor


class MultiHeadAttention(nn.Module):
    """Attend with ``n_heads`` heads of d = d_model / n_heads numbers each, and mix their outputs.

    output = concat(head_1, …, head_h) W_o, head_i = attention(x W_q,i, memory W_k,i, memory W_v,i).

    With ``n_kv_heads`` below ``n_heads`` the query heads share keys and values in neighbouring
    groups (grouped-query attention; with 1, multi-query attention). ``rope`` turns queries and
    keys. ``dropout`` falls on the weights, in training only. The parameters are ``qkv``, one linear
    map whose rows are those of W_q, W_k and W_v, and ``out``; with ``bias`` False they add nothing.

    Raises: ValueError where ``n_heads`` does not divide ``d_model``, or ``n_kv_heads``
    ``n_heads``, for a ``rope`` of another size than d, and for a dropout outside [0, 1).
    Source: Vaswani et al. (2017), section 3.2.2; Ainslie et al. (2023).
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        dropout: float = 0.0,
        rope: Rotary | None = None,
        bias: bool = True,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        _check.sizes(d_model=d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)
        _check.multiple("d_model", d_model, "n_heads", n_heads)
        _check.multiple("n_heads", n_heads, "n_kv_heads", n_kv_heads)
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d = d_model // n_heads
        _check.is_a("rope", rope, Rotary | None, "a Rotary or None")
        if rope is not None and rope.d != self.d:
            wanted = f"turn vectors of d_model / n_heads = {self.d}"
            _check.must(False, "rope", wanted, but=f"it turns {rope.d}")
        _check.flags(bias=bias)
        self.qkv = nn.Linear(d_model, (n_heads + 2 * n_kv_heads) * self.d, bias=bias)
        self.out = nn.Linear(d_model, d_model, bias=bias)
        self.rope = rope
        self.attend = Attend(dropout)
        for linear in (self.qkv, self.out):
            nn.init.xavier_uniform_(linear.weight)
            if bias:
                nn.init.zeros_(linear.bias)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | Projected | None = None,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        cache: KVCache | None = None,
        bias: Tensor | None = None,
    ) -> Tensor:
        """Let x attend to itself, or to ``memory`` where one is given.

        ``causal`` lets a row attend to no later one, on top of ``mask``. With a ``cache`` x goes
        on where the cache ends, and is added to it.

        Shapes: x (b, n_q, d_model), memory (b, n_k, d_model); mask, boolean, and bias, added to
        the scores, are (n_q, n_k), (b, n_q or 1, n_k) or (b, h or 1, n_q or 1, n_k), with n_k
        counting what is in the cache; returns (b, n_q, d_model).
        Raises: ValueError for other shapes, or a memory together with a cache or rope.
        """
        self._check_call(x, memory, cache)
        offset = 0 if cache is None else cache.length
        query, key, value = self._project(x, memory, offset)  # (b, h, n_q, d), (b, h_kv, n_k, d)
        mask, bias = of_all_heads(mask), _like(of_all_heads(bias), query)
        if cache is not None:
            mask, bias, causal = cache.visible(key, mask, bias, causal)
            key, value = cache.append(key, value)
        output = self.attend(query, key, value, mask, bias, causal)  # (b, h, n_q, d)
        merged = output.transpose(1, 2).flatten(2)  # (b, n_q, d_model)
        return self.out(merged)  # the heads' outputs, mixed

    def weights(
        self,
        x: Tensor,
        memory: Tensor | Projected | None = None,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        bias: Tensor | None = None,
        heads: Chosen | None = None,
        rows: Chosen | None = None,
    ) -> Tensor:
        """Compute the weights of ``forward``, before dropout, and only those that are asked for.

        Shapes: as ``forward``; returns (b, h, n_q, n_k), of the chosen heads and rows.
        Raises: as ``forward``; ValueError for heads or rows that do not exist.
        """
        self._check_call(x, memory, None)
        head = chosen("heads", slice(None) if heads is None else heads, self.n_heads, x)
        row = chosen("rows", slice(None) if rows is None else rows, x.shape[1], x)
        # slices of the projection: one head of a few rows costs a small part of the layer
        query = self._heads(x[:, row], head)  # (b, h, n_q, d), as chosen
        key = self._keys(x if memory is None else memory, head)
        if self.rope is not None:
            query, key = self.rope(query, positions=row), self.rope(key)
        n_q, n_k = x.shape[1], key.shape[2]
        mask, bias = of_all_heads(mask), _like(of_all_heads(bias), query)
        _check.parts(mask, bias, (len(x), self.n_heads, n_q, n_k), query)
        mask, bias = (part_of(part_of(part, -3, head), -2, row) for part in (mask, bias))
        if causal:
            past = torch.arange(n_k, device=x.device) <= row[:, None] + n_k - n_q
            mask = past if mask is None else mask & past
        return attention_weights(query, key, mask, bias=bias)

    def project(self, memory: Tensor) -> Projected:
        """Compute the keys and values of a memory once, for many calls of ``forward``.

        Shapes: memory (b, n_k, d_model); returns key and value (b, h_kv, n_k, d).
        """
        _check.vectors("memory", memory, self.qkv.weight, "b", "n", self.d_model)
        return self._keys_and_values(memory)

    def _keys_and_values(self, memory: Tensor) -> Projected:
        both = self._part(memory, slice(self.d_model, None))
        return Projected(*both.split(self.n_kv_heads, dim=1))

    @classmethod
    def from_torch(cls, other: nn.MultiheadAttention) -> Self:
        """Return a layer with a copy of PyTorch's weights, which computes what ``other`` does.

        Raises: TypeError for anything else; ValueError for what has no counterpart here.
        """
        kind = nn.MultiheadAttention
        _check.is_a("other", other, kind, "a torch.nn.MultiheadAttention")
        for name in ("kdim", "vdim"):
            size, wanted = getattr(other, name), f"equal embed_dim = {other.embed_dim}"
            _check.must(size == other.embed_dim, name, wanted, size)
        for name, has in (
            ("bias_kv", other.bias_k is not None),
            ("zero_attn", other.add_zero_attn),
        ):
            wanted = "be False, for it has no counterpart here"
            _check.must(not has, f"add_{name}", wanted, True)
        mine = cls(other.embed_dim, other.num_heads, dropout=other.dropout)
        mine.to(other.in_proj_weight)  # dtype and device
        with torch.no_grad():
            mine.qkv.weight.copy_(other.in_proj_weight)
            mine.out.weight.copy_(other.out_proj.weight)
            if other.in_proj_bias is not None:
                mine.qkv.bias.copy_(other.in_proj_bias)
                mine.out.bias.copy_(other.out_proj.bias)
        return mine.train(other.training)

    def _project(
        self, x: Tensor, memory: Tensor | Projected | None, offset: int
    ) -> tuple[Tensor, ...]:
        """Return the queries of x, and the keys and values of x or the memory, head by head.

        ``rope`` has turned queries and keys, for positions from ``offset`` on.
        """
        if memory is None:
            h, h_kv = self.n_heads, self.n_kv_heads
            both, value = self._split(self.qkv(x)).split((h + h_kv, h_kv), dim=1)
            both = both if self.rope is None else self.rope(both, offset)  # queries and keys alike
            return *both.split((h, h_kv), dim=1), value
        memory = memory if isinstance(memory, Projected) else self._keys_and_values(memory)
        return self._part(x, slice(self.d_model)), *memory

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.d)).transpose(1, 2)  # (b, heads, n, d)

    def _heads(self, x: Tensor, which: Tensor) -> Tensor:
        rows = torch.arange(self.d, device=which.device) + self.d * which[:, None]
        return self._part(x, rows.flatten())

    def _part(self, x: Tensor, rows: slice | Tensor) -> Tensor:
        # some of the projection's rows, those of whole heads
        bias = None if self.qkv.bias is None else self.qkv.bias[rows]
        return self._split(functional.linear(x, self.qkv.weight[rows], bias))

    def _keys(self, memory: Tensor | Projected, head: Tensor) -> Tensor:
        # where query heads share keys, each is projected once
        kv_head, place = torch.unique(
            head // (self.n_heads // self.n_kv_heads), return_inverse=True
        )
        if isinstance(memory, Projected):
            return memory.key[:, kv_head][:, place]
        return self._heads(memory, self.n_heads + kv_head)[:, place]

    def _check_call(
        self, x: Tensor, memory: Tensor | Projected | None, cache: KVCache | None
    ) -> None:
        _check.vectors("x", x, self.qkv.weight, "b", "n", self.d_model)
        if cache is not None:
            _check.is_a("cache", cache, KVCache, "a KVCache or None")
        if memory is None:
            return
        if cache is not None:
            raise ValueError("cache must be None where memory is given: use project(memory)")
        if self.rope is not None:
            why = "this layer's rope turns a sequence by its own positions"
            raise ValueError(f"memory must be None, for {why}")
        if not isinstance(memory, Projected):
            _check.vectors("memory", memory, self.qkv.weight, "b", "n", self.d_model)
            return _check.alike("leading dimensions", x=x, memory=memory)
        wanted = (x.shape[0], self.n_kv_heads, memory.key.shape[-2], self.d)
        for part in memory:
            form = f"keys and values of the shape (b, n_kv_heads, n_k, d) = {wanted}"
            came = f"one has {tuple(part.shape)}"
            words = f"hold {form}, as this layer's project returns them"
            _check.must(part.shape == wanted, "memory", words, but=came)


class Attend(nn.Module):
    """What stands between a layer's projections: from queries, keys and values to outputs.

    A module of its own, without parameters, so that ``record_attention`` can watch it.

    Shapes: query (b, h, n_q, d), key (b, h_kv, n_k, d), value (b, h_kv, n_k, d_v), mask and bias as
    in ``attention``; query head i uses key head ⌊i · h_kv / h⌋. Returns (b, h, n_q, d_v).
    Raises: ValueError for a dropout outside [0, 1), other shapes, an h that is no multiple of h_kv.
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
        options = {"causal": causal, "one_size": True, "groups": True}
        _check.attention(query, key, value, mask=mask, bias=bias, **options)
        b, h, n_q, d = query.shape
        shape = b, h, n_q, value.shape[-1]
        if h != key.shape[1]:
            _check_groups("the heads of query", h, key)
        if h != (h_kv := key.shape[1]) and n_q == 1:
            # the heads that share a key become the rows of one head: no key is copied
            query = query.reshape(b, h_kv, h // h_kv, d)
            mask, bias, causal = _as_rows(mask, h_kv), _as_rows(bias, h_kv), False
        else:
            key, value = _repeat(key, h), _repeat(value, h)
        if not (self.training and self.dropout > 0):
            return fused(query, key, value, mask, bias, causal).reshape(shape)
        mask = with_causal(mask, query, key) if causal else mask
        weights = attention_weights(query, key, mask, bias=bias)
        (value,) = without_unused_keys(mask, value)
        output = functional.dropout(weights, self.dropout) @ value
        return output.reshape(shape)


def repeat_heads(key: Tensor, n_heads: int) -> Tensor:
    """Repeat shared keys or values so that each query head has its own: (b, h_kv, …) → (b, h, …).

    Neighbouring query heads share, as with ``repeat_interleave``.

    Raises: ValueError where ``n_heads`` is no multiple of h_kv.
    """
    _check.must(key.dim() >= 2, "key", "have the shape (b, h_kv, …)", key)
    _check.sizes(n_heads=n_heads)
    _check_groups("n_heads", n_heads, key)
    return _repeat(key, n_heads)


def _repeat(key: Tensor, n_heads: int) -> Tensor:
    group = n_heads // key.shape[1]
    return key if group == 1 else key.repeat_interleave(group, dim=1)


def _as_rows(part: Tensor | None, h_kv: int) -> Tensor | None:
    # the heads of a mask or bias that share a key become the rows of one head
    if part is None or part.dim() == 2:
        return part if part is None else part[None, None]
    b, h, _, n_k = part.shape
    return part if h == 1 else part.reshape(b, h_kv, h // h_kv, n_k)


def of_all_heads(part: Tensor | None) -> Tensor | None:
    """Return a mask or bias (b, n_q, n_k) as (b, 1, n_q, n_k), the same for all heads."""
    return part[:, None] if isinstance(part, Tensor) and part.dim() == 3 else part


def _like(bias: Tensor | None, query: Tensor) -> Tensor | None:
    # autocast makes the query half precision, and a float tensor may join it
    return bias.to(query.dtype) if isinstance(bias, Tensor) and bias.is_floating_point() else bias


def _check_groups(name: str, n_heads: int, key: Tensor) -> None:
    h_kv = key.shape[1]
    wanted = f"be a multiple of the heads of key, {h_kv}"
    _check.must(h_kv and n_heads % h_kv == 0, name, wanted, but=f"there are {n_heads}")
