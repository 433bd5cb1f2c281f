"""Where a token stands: sinusoidal, learned and rotary positions, and ALiBi.

The first two kinds are added to the embeddings, rotary positions turn the queries and keys, ALiBi
is a ``bias`` on the scores. ``offset`` is the position of the first row, where a sequence goes on
behind a cache: a whole number, or one for each sentence, of shape (b,). Rows before position 0
are padding on the left and are treated as position 0.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor, nn

from attnbook import _check


def sinusoidal(
    n: int,
    d: int,
    *,
    offset: int | Tensor = 0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return n position vectors, each a set of clock hands of d / 2 speeds.

    PE[pos, 2i] = sin(pos / 10000^(2i / d)), PE[pos, 2i + 1] = cos(pos / 10000^(2i / d)).

    Shapes: returns (n, d); (b, n, d) for an offset of shape (b,).
    Raises: ValueError for a negative n or offset, a d that is not positive and even, an offset
    that is no whole number or of another shape, and a dtype without fractions.
    Source: Vaswani et al. (2017), section 3.5.
    """
    _check.sizes(0, n=n)
    _even(d)
    _with_fractions(dtype)
    _check_offset(offset)
    return _sinusoidal(n, d, offset, dtype, device)


def _sinusoidal(
    n: int, d: int, offset: int | Tensor, dtype: torch.dtype, device: torch.device | str | None
) -> Tensor:
    angles = _angles(_positions(n, offset, device), d, 10000.0, dtype)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).to(dtype)


class Sinusoidal(nn.Module):
    """Add ``sinusoidal`` positions to vectors; nothing is learned, and no length is too long.

    Shapes: x (…, n, d), or (b, n, d) for an offset of shape (b,); returns the same.
    Source: Vaswani et al. (2017), section 3.5.
    """

    def __init__(self, d: int) -> None:
        super().__init__()
        _even(d)
        self.d = d

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Return x + PE for the positions from ``offset`` on."""
        _check_vectors(x, self.d, offset)
        return x + _sinusoidal(x.shape[-2], self.d, offset, x.dtype, x.device)


class LearnedPositions(nn.Module):
    """Add to vectors one learned vector for each of ``max_length`` positions.

    Shapes: x (…, n, d), or (b, n, d) for an offset of shape (b,); returns the same.
    Raises: ValueError for a position of ``max_length`` or later.
    Source: Gehring et al. (2017), section 3.1; Devlin et al. (2019).
    """

    def __init__(self, max_length: int, d: int) -> None:
        super().__init__()
        _check.sizes(max_length=max_length, d=d)
        self.table = nn.Embedding(max_length, d)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, x: Tensor, offset: int | Tensor = 0) -> Tensor:
        """Return x + the rows of the table from ``offset`` on."""
        _check_vectors(x, self.table.embedding_dim, offset)
        n, room = x.shape[-2], self.table.num_embeddings
        furthest = offset
        if isinstance(offset, Tensor):
            furthest = int(offset.max()) if len(offset) else 0
        last, wanted = furthest + n, f"end within max_length = {room} positions"
        _check.must(last <= room, "x and offset", wanted, but=f"{n} rows end at {last}")
        return x + self.table(_positions(n, offset, x.device)).to(x.dtype)


@dataclass(frozen=True)
class Scaling:
    """How ``Rotary`` is slowed down for texts ``factor`` times as long as the ``trained`` length.

    With s the factor, L the trained length and θ the speed of a pair, which turns θ L / 2π times
    in L tokens, the four kinds are

    - "interpolation": θ / s, so that a position p is taken for p / s;
    - "ntk": the base becomes base · s^(d / (d − 2)): the fastest pair stays, the slowest is θ / s;
    - "yarn": pairs of 32 turns or more stay, of one or fewer get θ / s, and between them the change
      grows from pair to pair; queries and keys become longer, each by 0.1 ln s + 1;
    - "llama3": pairs of 4 turns or more stay, of one or fewer get θ / s, and between them the
      change grows with the turns that are missing.

    Raises: ValueError for another kind, a factor below 1, and a ``trained`` below 1, which "yarn"
    and "llama3" must have.
    Source: Chen et al. (2023) for "interpolation"; bloc97 (2023) for "ntk"; Peng et al. (2023)
    for "yarn", its pairs rounded as in the authors' code; the code of Llama 3.1 for "llama3".
    """

    kind: Literal["interpolation", "ntk", "yarn", "llama3"]
    factor: float
    trained: int | None = None

    def __post_init__(self) -> None:
        _check.one_of("kind", self.kind, ("interpolation", "ntk", "yarn", "llama3"))
        fine = _check.is_number(self.factor) and 1 <= self.factor < math.inf
        _check.must(fine, "factor", "be at least 1 and finite", self.factor)
        if self.trained is not None or self.kind in ("yarn", "llama3"):
            _check.sizes(trained=self.trained)

    @property
    def stretch(self) -> float:
        """By how much queries and keys become longer; their scores by its square."""
        return 0.1 * math.log(self.factor) + 1 if self.kind == "yarn" else 1.0


def rotary_speeds(
    d: int,
    base: float = 10000.0,
    scaling: Scaling | None = None,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return the angle θ_i by which a step turns each pair: base^(−2i / d), slowed by ``scaling``.

    Shapes: returns (d / 2,).
    Raises: ValueError as ``Rotary``, and for a dtype without fractions.
    """
    _check_speeds(d, base, scaling)
    _with_fractions(dtype)
    return _speeds(d, base, scaling, dtype, device)


class Rotary(nn.Module):
    """Turn the vectors of a head by angles that grow with their position.

    The layout is "interleaved", as in the paper: x[2i] and x[2i + 1] are the two coordinates of a
    point, turned by pos · base^(−2i / d). Many models pair x[i] with x[i + d / 2] instead, the
    layout "halves"; the one becomes the other where the rows of W_q and W_k are reordered. In both,
    a query's product with a key depends on i − j alone. ``scaling`` slows the pairs down for texts
    longer than those of the training.

    Shapes: x (…, n, d); returns the same.
    Raises: ValueError for a d that is not positive and even, a base that is not positive, or
    another layout; with a ``scaling`` for a base of 1 or less, and with "ntk" for a d of 2.
    Source: Su et al. (2021), equation 34.
    """

    def __init__(
        self,
        d: int,
        base: float = 10000.0,
        *,
        layout: Literal["interleaved", "halves"] = "interleaved",
        scaling: Scaling | None = None,
    ) -> None:
        super().__init__()
        _check_speeds(d, base, scaling)
        _check.one_of("layout", layout, ("interleaved", "halves"))
        self.d = d
        self.base = base
        self.layout = layout
        self.scaling = scaling

    def forward(
        self, x: Tensor, offset: int | Tensor = 0, *, positions: Tensor | None = None
    ) -> Tensor:
        """Return x, its rows turned for the positions from ``offset`` on, or ``positions`` (n,).

        An offset for each sentence, (b,), needs x of shape (b, h, n, d).

        Raises: ValueError for positions or offsets of another shape or that are no whole
        numbers, and for both at once.
        """
        _check_vectors(x, self.d, offset, rank=4)
        clock = self.d, self.base, self.layout, self.scaling
        if positions is not None:
            _check_positions(positions, x.shape[-2], offset)
            turn = _turn(positions.to(x.device), *clock, x.dtype)
        elif isinstance(offset, Tensor):
            rows = _positions(x.shape[-2], offset, x.device)[:, None]  # the same for all heads
            turn = _turn(rows, *clock, x.dtype)
        else:
            of = (x.shape[-2], offset, *clock, x.dtype, x.device)
            # what is traced, or made in inference mode, cannot be used again outside
            plain = type(x) is Tensor and not torch.is_inference_mode_enabled()
            kept = plain and not torch.compiler.is_compiling()
            turn = _kept_turn(*of) if kept else _next_turn(*of)
        precise = x if x.dtype == torch.float64 else x.float()
        if self.layout == "halves":
            first, second = precise.chunk(2, dim=-1)
            cos, sin = turn
            return (precise * cos + torch.cat((-second, first), dim=-1) * sin).to(x.dtype)
        # a pair of numbers as one complex number: turning it is one multiplication
        points = torch.view_as_complex(precise.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(points * turn).flatten(-2).to(x.dtype)  # points (…, n, d / 2)


def _turn(
    positions: Tensor,
    d: int,
    base: float,
    layout: str,
    scaling: Scaling | None,
    dtype: torch.dtype,
) -> Tensor:
    """Return e^(i · angle) for positions (…, n) and d / 2 speeds: (…, n, d / 2), complex.

    In the layout "halves" it is the cosines and the sines, each of them twice: (2, …, n, d).
    """
    angles = _angles(positions, d, base, dtype, scaling)
    stretch = 1.0 if scaling is None else scaling.stretch
    if layout == "halves":
        twice = torch.cat((angles, angles), dim=-1)
        return torch.stack((twice.cos(), twice.sin())) * stretch
    return torch.polar(torch.full_like(angles, stretch), angles)


def _next_turn(
    n: int,
    offset: int,
    d: int,
    base: float,
    layout: str,
    scaling: Scaling | None,
    dtype: torch.dtype,
    device: torch.device,
) -> Tensor:
    return _turn(_positions(n, offset, device), d, base, layout, scaling, dtype)


# all layers of a model ask for the same, one after another
_kept_turn = lru_cache(maxsize=1)(_next_turn)


def alibi_bias(
    n_heads: int,
    n_q: int,
    n_k: int | None = None,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Tensor:
    """Return a bias that grows with the distance: −m |i + n_k − n_q − j| for head slopes m.

    With a power of two heads, m = 2^(−8/h), 2^(−16/h), … 2^(−8); with another number of them,
    those of the power of two below, then every other one of the power of two above. As with
    ``causal_mask`` the two sequences end together.

    Shapes: returns (n_heads, n_q, n_k), to which scores (b, h, n_q, n_k) add an axis:
    ``alibi_bias(…)[None]``; ``n_k`` is ``n_q`` unless given.
    Raises: ValueError for no heads, a negative length, or a dtype without fractions.
    Source: Press, Smith and Lewis (2022), section 3, and their code for other numbers of heads.
    """
    n_k = n_q if n_k is None else n_k
    _check.sizes(n_heads=n_heads)
    _check.sizes(0, n_q=n_q, n_k=n_k)
    _with_fractions(dtype)
    query = torch.arange(n_k - n_q, n_k, device=device)
    distance = (query[:, None] - torch.arange(n_k, device=device)).abs()  # (n_q, n_k)
    slopes = torch.tensor(_slopes(n_heads), dtype=dtype, device=device)
    return slopes[:, None, None] * -distance


def _slopes(n_heads: int) -> list[float]:
    power = 2 ** (n_heads.bit_length() - 1)  # the largest power of two that is no larger
    first = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    between = [2 ** (-8 * (i + 1) / (2 * power)) for i in range(0, 2 * power, 2)]
    return first + between[: n_heads - power]


def _positions(n: int, offset: int | Tensor, device: torch.device | str | None) -> Tensor:
    rows = torch.arange(n, device=device)
    if isinstance(offset, Tensor):
        return (offset.to(rows.device)[:, None] + rows).clamp(min=0)  # (b, n)
    return rows + offset  # (n,)


def _check_vectors(x: Tensor, d: int, offset: int | Tensor, rank: int = 3) -> None:
    if not (isinstance(x, Tensor) and x.is_floating_point() and x.dim() > 1 and x.shape[-1] == d):
        _check.floats("x", x)
        _check.shape("x", x, "…", "n", d)
    if isinstance(offset, Tensor):
        form = f"have the shape {'(b, n, d)' if rank == 3 else '(b, h, n, d)'}"
        _check.must(x.dim() == rank, "x", f"{form} for an offset of each sentence", x)
    _check_offset(offset, len(x))


def _check_offset(offset: int | Tensor, b: int | None = None) -> None:
    """Check one offset for all, or one for each of b sentences."""
    if not isinstance(offset, Tensor):
        return _check.whole_number("offset", offset)
    _check.integers("offset", offset)
    fine = offset.dim() == 1 and b in (None, len(offset))
    wanted = "(b,)" if b is None else f"(b,) = ({b},)"
    _check.must(fine, "offset", f"be a number, or have the shape {wanted}", offset)


def _check_positions(positions: Tensor, n: int, offset: int | Tensor) -> None:
    _check.integers("positions", positions)
    wanted = f"have the shape (n,) = ({n},), one for each row of x"
    _check.must(positions.shape == (n,), "positions", wanted, positions)
    if isinstance(offset, Tensor) or offset != 0:
        raise ValueError(f"offset must be 0 where positions are given: it is {offset}")


def _with_fractions(dtype: torch.dtype) -> None:
    fine = isinstance(dtype, torch.dtype) and dtype.is_floating_point
    _check.must(fine, "dtype", "be one of floating-point numbers", dtype)


def _angles(
    positions: Tensor, d: int, base: float, dtype: torch.dtype, scaling: Scaling | None = None
) -> Tensor:
    precise = dtype if dtype == torch.float64 else torch.float32  # half precision cannot count
    speeds = _speeds(d, base, scaling, precise, positions.device)
    return positions.to(precise)[..., None] * speeds  # (…, n, d / 2)


def _speeds(
    d: int,
    base: float,
    scaling: Scaling | None,
    dtype: torch.dtype,
    device: torch.device | str | None,
) -> Tensor:
    if scaling is not None and scaling.kind == "ntk":
        base *= scaling.factor ** (d / (d - 2))
    speeds = base ** (-torch.arange(0, d, 2, device=device, dtype=dtype) / d)
    if scaling is None or scaling.kind == "ntk":
        return speeds
    slowed = _slowed(speeds, d, base, scaling)  # 0 where a pair stays as it is, 1 where it is θ / s
    return speeds * (1 - slowed + slowed / scaling.factor)


def _slowed(speeds: Tensor, d: int, base: float, scaling: Scaling) -> Tensor:
    if scaling.kind == "interpolation" or scaling.trained is None:
        return torch.ones_like(speeds)
    if scaling.kind == "llama3":
        turns = scaling.trained * speeds / (2 * math.pi)
        return ((4 - turns) / (4 - 1)).clamp(0, 1)
    # the pairs that would make 32 turns, and one, in the trained length
    per_e = d / (2 * math.log(base))
    first, last = (per_e * math.log(scaling.trained / (2 * math.pi * turns)) for turns in (32, 1))
    first, last = max(math.floor(first), 0), min(math.ceil(last), d - 1)
    pair = torch.arange(d // 2, device=speeds.device, dtype=speeds.dtype)
    return ((pair - first) / max(last - first, 0.001)).clamp(0, 1)


def _check_speeds(d: int, base: float, scaling: Scaling | None) -> None:
    _even(d)
    _check.positive("base", base)
    if scaling is not None:
        _check.is_a("scaling", scaling, Scaling, "a Scaling or None")
        _check.must(base > 1, "base", "be above 1 where speeds are scaled", base)
        _check.must(d > 2 or scaling.kind != "ntk", "d", 'be at least 4 for "ntk"', d)


def _even(d: int) -> None:
    _check.sizes(2, d=d)
    _check.must(d % 2 == 0, "d", "be even, for its numbers are taken in pairs", d)
