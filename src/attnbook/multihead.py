"""Multi-head attention: several attentions side by side, each on its own part of the vectors."""

from typing import Any, NamedTuple, Self

from torch import Tensor, nn
from torch.nn import functional

from attnbook import _ask, _check, _core
from attnbook.attention import Chosen, attention_weights
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
    ``n_heads``, and for a dropout outside [0, 1].
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
        _check.multiple("d_model", d_model, "n_heads", n_heads)
        _check.multiple("n_heads", n_heads, "n_kv_heads", n_kv_heads)
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d = d_model // n_heads
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
        Raises: ValueError for other shapes, or a memory together with a cache or rope; TypeError
        for anything but tensors.
        """
        query, key, value, mask, bias = self._arguments(x, memory, mask, bias, cache)
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
        Raises: as ``forward``; IndexError for heads or rows that do not exist.
        """
        query, key, _, mask, bias = self._arguments(x, memory, mask, bias, None)
        key = repeat_heads(key, self.n_heads)
        mask = _core.with_causal(mask, query, key) if causal else mask
        return attention_weights(query, key, mask, bias=bias, heads=heads, rows=rows)

    def project(self, memory: Tensor) -> Projected:
        """Compute the keys and values of a memory once, for many calls of ``forward``.

        Shapes: memory (b, n_k, d_model); returns key and value (b, h_kv, n_k, d).
        """
        _check.fit(self.qkv.weight, memory=(memory, f"b n {self.d_model}"))
        return self._keys_and_values(memory)

    @classmethod
    def from_torch(cls, other: nn.MultiheadAttention) -> Self:
        """Return a layer with a copy of PyTorch's weights, which computes what ``other`` does.

        Inputs here are (b, n, d), whatever ``other.batch_first``, and a mask's ``True`` means *may
        attend*. Biases, dtype, device, dropout, training mode and which parameters are trained are
        those of ``other``.

        Raises: ValueError for what has no counterpart here.
        """
        if not isinstance(other, nn.MultiheadAttention):
            raise _check.wrong("other", "be a torch.nn.MultiheadAttention", type(other).__name__)
        odd = [name for name in ("kdim", "vdim") if getattr(other, name) != other.embed_dim]
        odd += ["add_bias_kv"] * (other.bias_k is not None)
        odd += ["add_zero_attn"] * other.add_zero_attn
        wanted = "have no kdim, vdim, add_bias_kv or add_zero_attn"
        _check.must(not odd, "other", wanted, but=f"it has {', '.join(odd)}")
        mine = cls(other.embed_dim, other.num_heads, dropout=other.dropout)
        for linear, name, part in (
            (mine.qkv, "weight", other.in_proj_weight),
            (mine.qkv, "bias", other.in_proj_bias),
            (mine.out, "weight", other.out_proj.weight),
            (mine.out, "bias", other.out_proj.bias),
        ):
            own = None if part is None else nn.Parameter(part.detach().clone(), part.requires_grad)
            linear.register_parameter(name, own)
        return mine.train(other.training)

    def _arguments(
        self,
        x: Tensor,
        memory: Tensor | Projected | None,
        mask: Tensor | None,
        bias: Tensor | None,
        cache: KVCache | None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
        """Return what goes to the heads, all of it checked: query, key, value, mask and bias.

        Nothing is added to the cache before all is known to fit.
        """
        given: dict[str, Any] = {"x": (x, f"b n {self.d_model}")}
        if isinstance(memory, Projected):
            given["memory"] = memory.key, f"b {self.n_kv_heads} n_k {self.d}"
        elif memory is not None:
            given["memory"] = memory, f"b n_k {self.d_model}"
        _check.fit(self.qkv.weight, **given)
        if memory is not None and (cache is not None or self.rope is not None):
            raise _check.wrong("memory", "be None with a cache or rope", but="it is given")
        offset = 0 if cache is None else cache.length
        h, h_kv = self.n_heads, self.n_kv_heads
        if memory is None:
            both, value = self._split(self.qkv(x)).split((h + h_kv, h_kv), dim=1)
            both = both if self.rope is None else self.rope(both, offset)  # queries and keys alike
            query, key = both.split((h, h_kv), dim=1)  # (b, h, n_q, d), (b, h_kv, n_k, d)
        else:
            key, value = memory if isinstance(memory, Projected) else self._keys_and_values(memory)
            query = self._part(x, slice(self.d_model))
        if mask is not None or bias is not None:
            mask, bias = of_all_heads(mask), of_all_heads(bias)
            if isinstance(bias, Tensor) and bias.dtype == x.dtype:
                bias = bias.to(query.dtype)  # autocast makes the query half precision
            _check.parts(mask, bias, (*query.shape[:3], offset + key.shape[2]), query.dtype)
        return query, key, value, mask, bias

    def _keys_and_values(self, memory: Tensor) -> Projected:
        both = self._part(memory, slice(self.d_model, None))
        return Projected(*both.split(self.n_kv_heads, dim=1))

    def _part(self, x: Tensor, rows: slice) -> Tensor:
        # some of the projection's rows, those of whole heads
        bias = None if self.qkv.bias is None else self.qkv.bias[rows]
        return self._split(functional.linear(x, self.qkv.weight[rows], bias))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.d)).transpose(1, 2)  # (b, heads, n, d)


class Attend(nn.Module):
    """What stands between a layer's projections: from queries, keys and values to outputs.

    A module of its own, without parameters, so that ``record_attention`` can watch it. The layer
    has checked its arguments.

    Shapes: query (b, h, n_q, d), key (b, h_kv, n_k, d), value (b, h_kv, n_k, d_v), mask and bias as
    in ``attention``; query head i uses key head ⌊i · h_kv / h⌋. Returns (b, h, n_q, d_v).
    Raises: ValueError for a dropout outside [0, 1].
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout).p  # which refuses what is no probability

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
        (b, h, n_q, d), h_kv = query.shape, key.shape[1]
        if self.training and self.dropout > 0:
            key, value = repeat_heads(key, h), repeat_heads(value, h)
            mask = _core.with_causal(mask, query, key) if causal else mask
            weights = attention_weights(query, key, mask, bias=bias)
            (value,) = _core.without_unused_keys(mask, value)
            return functional.dropout(weights, self.dropout) @ value
        if h == h_kv or not _ask.same(n_q, 1):
            return _core.fused(query, key, value, mask, bias, causal, enable_gqa=bool(h != h_kv))
        # the heads that share a key become the rows of one head, and no key is copied
        query = query.reshape(b, h_kv, h // h_kv, d)
        mask, bias = _as_rows(mask, h_kv), _as_rows(bias, h_kv)
        return _core.fused(query, key, value, mask, bias, False).reshape(b, h, 1, value.shape[-1])


def repeat_heads(key: Tensor, n_heads: int) -> Tensor:
    """Repeat shared keys or values so that each query head has its own: (b, h_kv, …) → (b, h, …).

    Neighbouring query heads share, as with ``repeat_interleave``.
    """
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
