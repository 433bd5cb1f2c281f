"""Multi-head attention: several attentions side by side, each on its own part of the vectors."""

from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnbook import _check
from attnbook.attend import Attend
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
    keys. ``dropout`` falls on the weights, in training only.

    The parameters are ``qkv``, one linear map whose rows are those of W_q, W_k and W_v, and
    ``out``. ``forward`` returns the output alone and stores nothing; ``weights`` computes the
    weights that are asked for.

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
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        for name, n in (("d_model", d_model), ("n_heads", n_heads), ("n_kv_heads", n_kv_heads)):
            _check.whole_number(name, n, at_least=1)
        _check.multiple("d_model", d_model, "n_heads", n_heads)
        _check.multiple("n_heads", n_heads, "n_kv_heads", n_kv_heads)
        _check.probability("dropout", dropout)
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d = d_model // n_heads
        if rope is not None and rope.d != self.d:
            raise ValueError(
                f"rope must turn vectors of d_model / n_heads = {self.d}: it turns {rope.d}"
            )
        self.qkv = nn.Linear(d_model, (n_heads + 2 * n_kv_heads) * self.d)
        self.out = nn.Linear(d_model, d_model)
        self.rope = rope
        self.attend = Attend(dropout)
        for linear in (self.qkv, self.out):
            nn.init.xavier_uniform_(linear.weight)
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
        on where the cache ends, and is added to it. A memory that many queries come to can be
        projected once, by ``project``.

        Shapes: x (b, n_q, d_model), memory (b, n_k, d_model); mask, boolean, and bias, added to
        the scores, are (n_q, n_k), (b, n_q or 1, n_k) or (b, h or 1, n_q or 1, n_k), with n_k
        counting what is in the cache; returns (b, n_q, d_model).

        Raises: ValueError for other shapes, or a memory together with a cache or rope.
        """
        _check.vectors("x", x, self.d_model, batched=True)
        query, key, value = self._project(x, memory, cache)
        mask, bias = _with_heads(mask), _like(_with_heads(bias), query)
        output = self.attend(query, key, value, mask, bias, causal)  # (b, h, n_q, d)
        return self.out(output.transpose(1, 2).flatten(2))

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

        ``heads`` and ``rows`` are an int, a slice or several ints; the axes stay.

        Shapes: as ``forward``; returns (b, h, n_q, n_k), where h and n_q are the chosen ones.

        Raises: as ``forward``; ValueError for heads or rows that do not exist.
        """
        _check.vectors("x", x, self.d_model, batched=True)
        if memory is not None:
            self._check_memory(x, memory, None)
        head = self._chosen("heads", heads, self.n_heads)
        row = self._chosen("rows", rows, x.shape[1])
        query = self._heads(x[:, row], head)  # (b, h, n_q, d), as chosen
        key = self._keys_of(x if memory is None else memory, head)
        if self.rope is not None:
            query, key = self.rope(query, positions=row), self.rope(key)
        shape = (x.shape[0], self.n_heads, x.shape[1], key.shape[2])
        mask, bias = _parts("mask", mask, shape, head, row), _parts("bias", bias, shape, head, row)
        if causal:
            last = row[:, None] + shape[3] - shape[2]  # the rows of causal_mask(n_q, n_k)
            past = torch.arange(shape[3], device=row.device) <= last
            mask = past if mask is None else mask & past
        return attention_weights(query, key, mask, bias=_like(bias, query))

    def project(self, memory: Tensor) -> Projected:
        """Compute the keys and values of a memory once, for many calls of ``forward``.

        Shapes: memory (b, n_k, d_model); returns key and value (b, h_kv, n_k, d).
        """
        _check.vectors("memory", memory, self.d_model, batched=True)
        weight, bias = self.qkv.weight[self.d_model :], self.qkv.bias[self.d_model :]
        both = self._split(functional.linear(memory, weight, bias))
        return Projected(*both.split(self.n_kv_heads, dim=1))

    @classmethod
    def from_torch(cls, other: nn.MultiheadAttention) -> Self:
        """Return a layer with a copy of PyTorch's weights, which computes what ``other`` does.

        Raises: TypeError for anything else; ValueError for what has no counterpart here:
        ``kdim`` or ``vdim`` other than ``embed_dim``, ``add_bias_kv`` and ``add_zero_attn``.
        """
        _check_counterpart(other)
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
        self, x: Tensor, memory: Tensor | Projected | None, cache: KVCache | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        if memory is not None:
            self._check_memory(x, memory, cache)
            memory = memory if isinstance(memory, Projected) else self.project(memory)
            weight, bias = self.qkv.weight[: self.d_model], self.qkv.bias[: self.d_model]
            return self._split(functional.linear(x, weight, bias)), *memory
        sizes = (self.n_heads, self.n_kv_heads, self.n_kv_heads)
        query, key, value = self._split(self.qkv(x)).split(sizes, dim=1)
        if self.rope is not None:
            offset = 0 if cache is None else cache.length
            query, key = self.rope(query, offset), self.rope(key, offset)
        if cache is not None:
            key, value = cache.append(key, value)
        return query, key, value

    def _check_memory(self, x: Tensor, memory: Tensor | Projected, cache: KVCache | None) -> None:
        if cache is not None:
            raise ValueError("cache must be None where memory is given: use project(memory)")
        if self.rope is not None:
            raise ValueError(
                "memory must be None, for this layer's rope turns a sequence by its own positions"
            )
        if not isinstance(memory, Projected):
            _check.vectors("memory", memory, self.d_model, batched=True)
            _check.same_lead(x=x, memory=memory)
            return
        wanted = (x.shape[0], self.n_kv_heads, memory.key.shape[-2], self.d)
        for part in memory:
            if tuple(part.shape) != wanted:
                raise ValueError(
                    f"memory must hold keys and values of the shape (b, n_kv_heads, n_k, d) = "
                    f"{wanted}, as this layer's project returns them: one has {tuple(part.shape)}"
                )

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.d)).transpose(1, 2)  # (b, heads, n, d)

    def _heads(self, x: Tensor, which: Tensor) -> Tensor:
        # a slice of the projection: one head costs 1 / h of all
        weight = self.qkv.weight.unflatten(0, (-1, self.d))[which].flatten(0, 1)
        bias = self.qkv.bias.unflatten(0, (-1, self.d))[which].flatten()
        return self._split(functional.linear(x, weight, bias))

    def _keys_of(self, memory: Tensor | Projected, head: Tensor) -> Tensor:
        # the keys of the chosen query heads; where heads share keys, each is projected once
        group = self.n_heads // self.n_kv_heads
        kv_head, place = torch.unique(head // group, return_inverse=True)
        if isinstance(memory, Projected):
            return memory.key[:, kv_head][:, place]
        return self._heads(memory, self.n_heads + kv_head)[:, place]

    def _chosen(self, name: str, chosen: Chosen | None, size: int) -> Tensor:
        device = self.qkv.weight.device
        if chosen is None:
            return torch.arange(size, device=device)
        return torch.tensor(_check.indices(name, chosen, size), dtype=torch.long, device=device)


def _with_heads(part: Tensor | None) -> Tensor | None:
    # (b, n_q, n_k) → (b, 1, n_q, n_k): the same for all heads
    return part[:, None] if isinstance(part, Tensor) and part.dim() == 3 else part


def _like(bias: Tensor | None, query: Tensor) -> Tensor | None:
    # autocast makes the query half precision, and a float tensor may join it
    return bias.to(query.dtype) if isinstance(bias, Tensor) and bias.is_floating_point() else bias


def _parts(
    name: str, part: Tensor | None, shape: tuple[int, ...], head: Tensor, row: Tensor
) -> Tensor | None:
    # of a mask or bias, what belongs to the chosen heads and rows; an axis of size 1 is for all
    part = _with_heads(part)
    if part is None:
        return None
    (_check.boolean if name == "mask" else _check.floats)(name, part)
    _check.fits(name, part, shape, row.device)
    if part.dim() == 2:
        return part[row]
    part = part if part.shape[1] == 1 else part[:, head]
    return part if part.shape[2] == 1 else part[:, :, row]


def _check_counterpart(other: nn.MultiheadAttention) -> None:
    if not isinstance(other, nn.MultiheadAttention):
        raise TypeError(
            f"other must be a torch.nn.MultiheadAttention: it is a {type(other).__name__}"
        )
    for name in ("kdim", "vdim"):
        if getattr(other, name) != other.embed_dim:
            raise ValueError(
                f"{name} must equal embed_dim = {other.embed_dim}: it is {getattr(other, name)}"
            )
    for name, came in (
        ("add_bias_kv", other.bias_k is not None),
        ("add_zero_attn", other.add_zero_attn),
    ):
        if came:
            raise ValueError(f"{name} must be False, for it has no counterpart here: it is True")
