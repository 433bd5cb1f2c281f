"""Where a token stands: sinusoidal, learned and rotary positions, and ALiBi.

The first two kinds are added to the embeddings, rotary positions turn the queries and keys, ALiBi
is a ``bias`` on the scores. ``offset`` is the position of the first row, where a sequence goes on
behind a cache: a whole number, or one for each sentence, of shape (b,). Rows before position 0
are padding on the left and are treated as position 0.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeGuard

import torch
from torch import Tensor, nn

from attnbook import _ask, _check

Device = torch.device | str | None


def sinusoidal(
    n: int,
    d: int,
    *,
    offset: int | Tensor = 0,
    dtype: torch.dtype = torch.float32,
    device: Device = None,
) -> Tensor:
    """Return n position vectors, each a set of clock hands of d / 2 speeds.

    PE[pos, 2i] = sin(pos / 10000^(2i / d)), PE[pos, 2i + 1] = cos(pos / 10000^(2i / d)).

    Shapes: returns (n, d); (b, n, d) for an offset of shape (b,).
    Raises: ValueError for a d that is not even.
    Source: Vaswani et al. (2017), section 3.5.
    """
    speeds = rotary_speeds(d, dtype=_precise(dtype), device=device)
    angles = _positions(n, offset, device).to(speeds.dtype)[..., None] * speeds  # (…, n, d / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).to(dtype)


class Sinusoidal(nn.Module):
    """Add ``sinusoidal`` positions to vectors; nothing is learned, and no length is too long.

    Shapes: x (…, n, d), or (b, n, d) for an offset of shape (b,); returns the same.
    Raises: as ``sinusoidal``.
    """

    def __init__(self, d: int) -> None:
        super().__init__()
        rotary_speeds(d)  # an odd d is refused before a forward pass
        self.d = d

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Return x + PE for the positions from ``offset`` on."""
        _fits(x, offset, "", self.d)
        return x + sinusoidal(*x.shape[-2:], offset=offset, dtype=x.dtype, device=x.device)


class LearnedPositions(nn.Module):
    """Add to vectors one learned vector for each of ``max_length`` positions.

    Shapes: x (…, n, d), or (b, n, d) for an offset of shape (b,); returns the same.
    Raises: ValueError for a position of ``max_length`` or later.
    Source: Gehring et al. (2017), section 3.1; Devlin et al. (2019).
    """

    def __init__(self, max_length: int, d: int) -> None:
        super().__init__()
        self.table = nn.Embedding(max_length, d)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Return x + the rows of the table from ``offset`` on."""
        _fits(x, offset, "", self.table.embedding_dim)
        positions = _positions(x.shape[-2], offset, x.device)
        _check.ids("positions of x", positions, self.table.num_embeddings)
        return x + self.table(positions).to(x.dtype)


def rotary_speeds(
    d: int, base: float = 10000.0, *, dtype: torch.dtype = torch.float32, device: Device = None
) -> Tensor:
    """Return the angle by which a step turns each pair, θ_i = base^(−2i / d).

    Shapes: returns (d / 2,).
    Raises: ValueError for a d that is not even.
    """
    _check.must(d % 2 == 0, "d", "be even, for its numbers are taken in pairs", d)
    return base ** (-torch.arange(0, d, 2, device=device, dtype=dtype) / d)


@dataclass(frozen=True)
class Pace:
    """How fast ``Rotary`` turns: as ``rotary_speeds`` says, unless a subclass slows it down."""

    @property
    def stretch(self) -> float:
        """By how much queries and keys become longer; their scores by its square."""
        return 1.0

    def speeds(
        self, d: int, base: float, *, dtype: torch.dtype = torch.float32, device: Device = None
    ) -> Tensor:
        """Return the angle by which a step turns each pair, (d / 2,).

        Raises: as ``rotary_speeds``.
        """
        return rotary_speeds(d, base, dtype=dtype, device=device)


class Rotary(nn.Module):
    """Turn the vectors of a head by angles that grow with their position.

    The layout is "interleaved", as in the paper: x[2i] and x[2i + 1] are the two coordinates of a
    point, turned by pos · base^(−2i / d). Many models pair x[i] with x[i + d / 2] instead, the
    layout "halves"; the one becomes the other where the rows of W_q and W_k are reordered. In both,
    a query's product with a key depends on i − j alone. ``scaling`` slows the pairs down for texts
    longer than those of the training: ``attnbook.further.longer.Scaling``.

    Shapes: x (…, n, d); returns the same.
    Raises: ValueError as ``rotary_speeds``, and for another layout.
    Source: Su et al. (2021), equation 34.
    """

    def __init__(
        self,
        d: int,
        base: float = 10000.0,
        *,
        layout: Literal["interleaved", "halves"] = "interleaved",
        scaling: Pace | None = None,
    ) -> None:
        super().__init__()
        self.scaling = Pace() if scaling is None else scaling
        self.scaling.speeds(d, base)  # refuses what cannot be, before a forward pass
        _check.one_of("layout", layout, ("interleaved", "halves"))
        self.d, self.base, self.layout = d, base, layout

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Return x, its rows turned for the positions from ``offset`` on.

        An offset for each sentence, (b,), needs x of shape (b, h, n, d).
        """
        _fits(x, offset, "h", self.d)
        # what is traced, or made in inference mode, cannot be used again outside
        alone = _ask.making_graph() or type(x) is not Tensor or torch.is_inference_mode_enabled()
        turned = _turn if alone or isinstance(offset, Tensor) else _kept_turn
        clock = self.d, self.base, self.layout, self.scaling
        turn = turned(x.shape[-2], offset, x.device, clock, _precise(x.dtype))
        precise = x.to(_precise(x.dtype))
        if self.layout == "halves":
            first, second = precise.chunk(2, dim=-1)
            cos, sin = turn
            return (precise * cos + torch.cat((-second, first), dim=-1) * sin).to(x.dtype)
        # a pair of numbers as one complex number: turning it is one multiplication
        points = torch.complex(*precise.unflatten(-1, (-1, 2)).unbind(-1))  # (…, n, d / 2)
        return torch.view_as_real(points * turn).flatten(-2).to(x.dtype)


Clock = tuple[int, float, str, Pace]  # d, base, layout, scaling


def _turn(
    n: int, offset: int | Tensor, device: torch.device, clock: Clock, dtype: torch.dtype
) -> Tensor:
    """Return e^(i · angle) for n positions and d / 2 speeds: (n, d / 2), complex.

    In the layout "halves" it is the cosines and the sines, each of them twice: (2, n, d). With an
    offset for each sentence (b, 1) stands before n.
    """
    d, base, layout, scaling = clock
    positions = _positions(n, offset, device)
    if _of_each(offset):
        positions = positions[:, None]  # the same for all heads
    speeds, stretch = scaling.speeds(d, base, dtype=dtype, device=device), scaling.stretch
    angles = positions.to(dtype)[..., None] * speeds  # (…, n, d / 2)
    if layout == "halves":
        twice = torch.cat((angles, angles), dim=-1)
        return torch.stack((twice.cos(), twice.sin())) * stretch
    return torch.polar(torch.full_like(angles, stretch), angles)


_kept_turn = lru_cache(maxsize=1)(_turn)  # a model's layers ask for the same, one after another


def alibi_bias(
    n_heads: int,
    n_q: int,
    n_k: int | None = None,
    *,
    dtype: torch.dtype = torch.float32,
    device: Device = None,
) -> Tensor:
    """Return a bias that grows with the distance: −m |i + n_k − n_q − j| for head slopes m.

    With a power of two heads, m = 2^(−8/h), 2^(−16/h), … 2^(−8); with another number of them,
    those of the power of two below, then every other one of the power of two above. As with
    ``causal_mask`` the two sequences end together.

    Shapes: returns (n_heads, n_q, n_k), to which scores (b, h, n_q, n_k) add an axis:
    ``alibi_bias(…)[None]``; ``n_k`` is ``n_q`` unless given.
    Source: Press, Smith and Lewis (2022), section 3, and their code for other numbers of heads.
    """
    n_k = n_q if n_k is None else n_k
    query = torch.arange(n_k - n_q, n_k, device=device)
    distance = (query[:, None] - torch.arange(n_k, device=device)).abs()  # (n_q, n_k)
    power = 2 ** (n_heads.bit_length() - 1)  # the largest power of two that is no larger
    slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    slopes += [2 ** (-4 * (i + 1) / power) for i in range(0, 2 * (n_heads - power), 2)]
    return torch.tensor(slopes, dtype=dtype, device=device)[:, None, None] * -distance


def _of_each(offset: int | Tensor) -> TypeGuard[Tensor]:
    # a trace makes a tensor without axes of a cache's length
    return isinstance(offset, Tensor) and (offset.dim() > 0 or not _ask.tracing())


def _fits(x: Tensor, offset: int | Tensor, of_each: str, d: int) -> None:
    """Check vectors of size d: any, or the rows of each offset."""
    of_each = f"b {of_each} n {d}" if _of_each(offset) else f"… n {d}"
    _check.fit(x=(x, of_each))
    if _of_each(offset):
        _check.shapes(x=(x, of_each), offset=(offset, "b"))


def _positions(n: int, offset: int | Tensor, device: Device) -> Tensor:
    """Return the positions of n rows: (n,), or (b, n) for an offset of each sentence."""
    rows = torch.arange(n, device=device)
    if _of_each(offset):
        _check.shapes(offset=(offset, "b"))
        return (offset.to(rows.device)[:, None] + rows).clamp(min=0)  # (b, n)
    return rows + offset  # (n,)


def _precise(dtype: torch.dtype) -> torch.dtype:
    # half precision cannot count
    return dtype if dtype == torch.float64 else torch.float32
