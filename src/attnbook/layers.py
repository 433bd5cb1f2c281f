"""The blocks of a Transformer: attention and a feed-forward network, each around a sum.

Each of a block's *parts* adds its output to its input: x + part(norm(x)) with ``norm="pre"``, the
default, and norm(x + part(x)) with ``norm="post"``, the original of 2017. A stack of pre-norm
blocks ends in a norm of its own. The norm is LayerNorm, g (x − mean(x)) / √(var(x) + eps) + b, or
with ``norm_kind="rms"`` RMSNorm, g x / √(mean(x²) + eps) (Zhang and Sennrich, 2019). With
``bias=False`` no linear map and no norm has a b.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

from torch import Tensor, nn
from torch.nn import functional

from attnbook import _check
from attnbook.cache import KVCache
from attnbook.multihead import MultiHeadAttention, Projected
from attnbook.positions import Rotary

Activation = Literal["relu", "gelu", "swiglu"]


def _swiglu(x: Tensor) -> Tensor:
    gate, value = x.chunk(2, dim=-1)  # (…, d_ff) each
    return functional.silu(gate).mul_(value)  # in place: no memory for the product


ACTIVATIONS = {"relu": functional.relu, "gelu": functional.gelu, "swiglu": _swiglu}


@dataclass(frozen=True)
class Config:
    """The sizes and options of a block, with the defaults that all blocks and models share.

    ``d_ff`` is 4 d_model unless given.

    Raises: ValueError for another norm or norm_kind.
    """

    d_model: int = 128
    n_heads: int = 4
    d_ff: int | None = None
    norm: Literal["pre", "post"] = "pre"
    norm_kind: Literal["layer", "rms"] = "layer"
    activation: Activation = "relu"
    bias: bool = True
    dropout: float = 0.0
    eps: float = 1e-5
    n_kv_heads: int | None = None
    rope: Rotary | None = None

    def __post_init__(self) -> None:
        _check.one_of("norm", self.norm, ("pre", "post"))
        _check.one_of("norm_kind", self.norm_kind, ("layer", "rms"))

    def rotary(self) -> Rotary | None:
        """Return what turns a block's queries and keys."""
        return self.rope

    def layer_norm(self) -> nn.Module:
        """Return a norm of the chosen kind."""
        if self.norm_kind == "rms":
            return nn.RMSNorm(self.d_model, eps=self.eps)
        return nn.LayerNorm(self.d_model, eps=self.eps, bias=self.bias)


class FeedForward(nn.Module):
    """Transform every vector by itself: FFN(x) = W_2 f(W_1 x + b_1) + b_2, f ReLU or GELU, x Φ(x).

    With "swiglu" f(u, v) = Swish(u) ⊙ v, Swish(u) = u σ(u), of two such maps of x, u the gate;
    ``widen`` is both, one above the other.

    Shapes: x (…, d_model), hidden (…, d_ff), twice for "swiglu"; returns (…, d_model).
    Source: Vaswani et al. (2017), equation 2; Hendrycks and Gimpel (2016) for GELU; Shazeer (2020),
    equation 6, for SwiGLU.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: Activation = "relu",
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        _check.one_of("activation", activation, ACTIVATIONS)
        self.widen = nn.Linear(d_model, d_ff * (1 + (activation == "swiglu")), bias=bias)
        self.narrow = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Return W_2 f(W_1 x + b_1) + b_2 for every vector of x (…, d_model)."""
        return self.narrow(self.dropout(ACTIVATIONS[self.activation](self.widen(x))))


class _Block(nn.Module):
    """What both kinds of block share: the parts' norms, and the sum around a part."""

    n_parts: ClassVar[int]

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = c = config
        self.attention = self._attention(c.rotary())
        d_ff = 4 * c.d_model if c.d_ff is None else c.d_ff
        self.feed_forward = FeedForward(
            c.d_model, d_ff, activation=c.activation, dropout=c.dropout, bias=c.bias
        )
        self.norms = nn.ModuleList(c.layer_norm() for _ in range(self.n_parts))
        self.dropout = nn.Dropout(c.dropout)

    def _attention(self, rope: Rotary | None) -> MultiHeadAttention:
        c = self.config
        return MultiHeadAttention(
            c.d_model, c.n_heads, n_kv_heads=c.n_kv_heads, dropout=c.dropout, rope=rope, bias=c.bias
        )

    def _before(self, x: Tensor, part: int) -> Tensor:
        return self.norms[part](x) if self.config.norm == "pre" else x

    def _after(self, x: Tensor, added: Tensor, part: int) -> Tensor:
        x = x + (self.dropout(added) if self.training else added)
        return x if self.config.norm == "pre" else self.norms[part](x)


class EncoderBlock(_Block):
    """Self-attention, then a feed-forward network; with ``causal=True`` a decoder without memory.

    Shapes: x (b, n, d_model); returns the same.
    Raises: ValueError as ``Config``, ``MultiHeadAttention`` and ``FeedForward``.
    Source: Vaswani et al. (2017), section 3.1; Xiong et al. (2020) for pre-norm.
    """

    n_parts = 2

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        bias: Tensor | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Return x (b, n, d_model) after both parts; arguments as in ``MultiHeadAttention``."""
        added = self.attention(self._before(x, 0), mask=mask, causal=causal, bias=bias, cache=cache)
        x = self._after(x, added, 0)
        return self._after(x, self.feed_forward(self._before(x, 1)), 1)


class DecoderBlock(_Block):
    """Causal self-attention, attention to a memory, then a feed-forward network.

    Shapes: x (b, n_t, d_model), memory (b, n_s, d_model); returns the shape of x.
    Raises: as ``EncoderBlock``.
    Source: Vaswani et al. (2017), section 3.1.
    """

    n_parts = 3

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.cross = self._attention(None)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | Projected,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        bias: Tensor | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        """Return x (b, n_t, d_model) after its three parts.

        ``memory_mask`` belongs to the attention to the memory, which ``self.cross.project`` may
        have projected already; ``mask``, ``bias`` and ``cache`` to the self-attention.
        """
        if not isinstance(memory, Projected):
            memory = self.cross.project(memory)
        added = self.attention(self._before(x, 0), mask=mask, causal=True, bias=bias, cache=cache)
        x = self._after(x, added, 0)
        x = self._after(x, self.cross(self._before(x, 1), memory, memory_mask), 1)
        return self._after(x, self.feed_forward(self._before(x, 2)), 2)


class _Stack(nn.Module):
    """What both stacks share: blocks of one kind, and a norm after those that are pre-norm."""

    kind: type[EncoderBlock | DecoderBlock]

    def __init__(self, n_layers: int, config: Config) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(self.kind(config) for _ in range(n_layers))
        self.norm = nn.Identity() if config.norm == "post" else config.layer_norm()


class Encoder(_Stack):
    """A stack of ``EncoderBlock``: x (b, n, d_model) → the same.

    Raises: as ``EncoderBlock``; ValueError unless there is one cache for each block.
    """

    kind = EncoderBlock

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        bias: Tensor | None = None,
        caches: list[KVCache] | None = None,
    ) -> Tensor:
        """Return x (b, n, d_model) after all blocks; ``caches`` holds one for each."""
        caches = _each("caches", caches, self.blocks)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, mask, causal=causal, bias=bias, cache=cache)
        return self.norm(x)


class Decoder(_Stack):
    """A stack of ``DecoderBlock``: x (b, n_t, d_model), memory (b, n_s, d_model) → the shape of x.

    Raises: as ``DecoderBlock``; ValueError unless there is one cache for each block.
    """

    kind = DecoderBlock

    def forward(
        self,
        x: Tensor,
        memory: Tensor | list[Projected],
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        bias: Tensor | None = None,
        caches: list[KVCache] | None = None,
    ) -> Tensor:
        """Return x (b, n_t, d_model) after all blocks; arguments as in ``DecoderBlock``.

        The memory is one tensor for all blocks, or ``project(memory)``, one for each.
        """
        one = isinstance(memory, Tensor)
        memories = [memory] * len(self.blocks) if one else _each("memory", memory, self.blocks)
        caches = _each("caches", caches, self.blocks)
        for block, own, cache in zip(self.blocks, memories, caches, strict=True):
            x = block(x, own, mask, memory_mask, bias=bias, cache=cache)
        return self.norm(x)

    def project(self, memory: Tensor) -> list[Projected]:
        """Compute each block's keys and values of the memory once, for many calls."""
        return [cast(DecoderBlock, block).cross.project(memory) for block in self.blocks]


def _each(name: str, given: list[Any] | None, blocks: nn.ModuleList) -> list[Any]:
    if given is None:
        return [None] * len(blocks)
    # one of its own, or two blocks would write into one
    fine = len({id(one) for one in given}) == len(given) == len(blocks)
    _check.must(fine, name, f"hold one each for {len(blocks)} blocks", but=f"it holds {len(given)}")
    return given
