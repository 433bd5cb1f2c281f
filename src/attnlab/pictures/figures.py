"""Pictures that describe themselves: matplotlib figures with a text for those who cannot see them.

Every picture is drawn in dark ink on white, in the book's own font, without matplotlib's global
state, so that the same data gives the same bytes.
"""

import io
import struct
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from attnlab.pictures.describe import (
    alignment_alt,
    curves_alt,
    dots_alt,
    head_grid_alt,
    heatmap_alt,
    histograms_alt,
    plain,
    shown,
)
from attnlab.pictures.draw import (
    LINES,
    STYLE,
    draw_alignment,
    draw_curves,
    draw_dots,
    draw_head_grid,
    draw_heatmap,
    draw_histograms,
)

ROUND = 5  # bars of a histogram, of which its axis holds a whole number
DESK = 1.3  # of a chart: three quarters of it, to which a phone may shrink a picture, are its own
DPI = 144  # a page shows 96 CSS pixels to the inch: 1.5 dots for each


class Picture:
    """A matplotlib ``figure`` together with ``alt``, the text that says what it shows.

    Where there is room it is shown ``times`` as large as it is drawn: what is drawn for a phone
    fills a column on a desk.
    """

    def __init__(self, figure: Figure, alt: str, *, times: float = 1.0) -> None:
        self.figure = figure
        self.alt = alt
        self.times = times

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def _png(self) -> bytes:
        file = io.BytesIO()
        with style.context(["default", STYLE]):
            self.figure.savefig(
                file,
                format="png",
                dpi=DPI * self.times,
                bbox_inches="tight",
                metadata={"Software": None},
            )
        small = io.BytesIO()  # of 256 colours, which no eye tells from all: a third of the bytes
        colours = Image.open(file).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        colours.save(small, format="png", optimize=True)
        return small.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """Return the picture for Jupyter: bytes, and its text and size in CSS pixels."""
        png = self._png()
        width, height = struct.unpack(">II", png[16:24])
        scale = DPI / 96
        size = {"width": round(width / scale), "height": round(height / scale)}
        return png, {"alt": self.alt, **size}

    def save(self, path: str | Path) -> None:
        """Write the picture as a PNG file.

        Raises: ValueError for a name that does not end in ``.png``.
        """
        if Path(path).suffix.lower() != ".png":
            raise ValueError(f"path must end in .png: it is {str(path)!r}")
        Path(path).write_bytes(self._png())


def heatmap(
    weights: ArrayLike,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    title: str | None = None,
    signed: bool = False,
    digits: int = 2,
) -> Picture:
    """Draw one matrix of weights, a row for each query, with the number in each cell.

    Weights go from 0 (white) to 1 (blue); below 0.005 a cell has no number. With ``signed=True``
    the matrix may hold any scores, orange below zero and blue above, and −∞, grey, where a score
    is masked. Above 20 keys or queries a scale at the side replaces the numbers.

    Shapes: weights (n_q, n_k), an array or tensor; ``tokens`` are the n_q queries,
    ``key_tokens`` the n_k keys, the same as ``tokens`` unless given.
    Raises: ValueError for another shape, tokens that do not match it, NaN, or weights outside
    0 to 1.
    """
    matrix = _matrix(weights, signed)
    queries = [shown(token) for token in tokens]
    keys = queries if key_tokens is None else [shown(token) for token in key_tokens]
    _named(matrix.shape, tokens=queries, key_tokens=keys)
    with style.context(["default", STYLE]):
        figure = draw_heatmap(matrix, queries, keys, title, signed, digits)
    return Picture(figure, heatmap_alt(matrix, queries, keys, title, signed, digits))


def curves(
    x: Sequence[float] | Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    title: str | None = None,
    log: bool = False,
    spans: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Picture:
    """Draw up to six curves over ``x``, each told apart by colour, dashes, marker and its name.

    Where ``x`` are names, such as "7–12", they stand side by side in their order. ``log=True``
    makes both axes logarithmic, where a power of x is a straight line. ``spans`` are the least and
    the greatest number behind each point of a curve, drawn as a bar.

    Shapes: ``x`` and each of the ``series`` have the same length n, at least 1; ``spans`` (n, 2).
    Raises: ValueError for no or too many series, another length, NaN or ∞, names among numbers or
    on a logarithmic axis, a number there that is not positive, or spans of no such curve or that
    do not hold its points.
    """
    if not 1 <= len(series) <= len(LINES):
        raise ValueError(f"series must hold 1 to {len(LINES)} curves: it holds {len(series)}")
    names = [one for one in x if isinstance(one, str)]
    if names and (log or len(names) < len(x)):
        raise ValueError("x must be all numbers, or, without log=True, all names: it holds names")
    points = _numbers("x", range(1, len(names) + 1) if names else cast(Sequence[float], x), log)
    values = {name: _numbers(f"series {name!r}", y, log) for name, y in series.items()}
    for name, y in values.items():
        if y.shape != points.shape:
            raise ValueError(
                f"series {name!r} must have as many numbers as x: "
                f"it has {len(y)}, x has {len(points)}"
            )
    bars = {name: _span(name, span, values) for name, span in (spans or {}).items()}
    with style.context(["default", STYLE]):
        figure = draw_curves(points, values, bars, x_label, y_label, title, log, names)
    ends = (names[0], names[-1]) if names else (plain(points[0]), plain(points[-1]))
    return Picture(figure, curves_alt(ends, values, bars, x_label, y_label, title), times=DESK)


def dots(
    rows: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    x_label: str,
    title: str | None = None,
) -> Picture:
    """Draw each row's runs of up to six kinds: a mark at their mean, a bar from least to greatest.

    ``rows`` give for each name, from top to bottom, the numbers of each kind; all rows have the
    same kinds, which are told apart by colour and mark.

    Raises: ValueError for no row, no or too many kinds, other kinds in another row, no number, NaN
    or ∞.
    """
    kinds = list(next(iter(rows.values()), {}))
    if not 1 <= len(kinds) <= len(LINES):
        raise ValueError(
            f"rows must hold 1 to {len(LINES)} kinds of numbers: they hold {len(kinds)}"
        )
    for name, row in rows.items():
        if list(row) != kinds:
            raise ValueError(
                f"row {name!r} must have the kinds of the first, {', '.join(kinds)}: "
                f"it has {', '.join(row)}"
            )
    values = {
        name: {
            kind: _numbers(f"row {name!r}, {kind!r}", some, log=False) for kind, some in row.items()
        }
        for name, row in rows.items()
    }
    with style.context(["default", STYLE]):
        figure = draw_dots(values, x_label, title)
    return Picture(figure, dots_alt(values, x_label, title), times=DESK)


def histograms(
    values: Mapping[str, ArrayLike],
    marks: Mapping[str, Mapping[str, float]],
    *,
    x_label: str,
    y_label: str,
    width: float,
) -> Picture:
    """Draw how often values occur, a panel for each name, and single values as lines across it.

    A bar counts the values from one multiple of ``width`` to the next. The axis ends at multiples
    of five bars, so that the last digit of an outlier moves nothing. ``marks`` holds for a name of
    ``values`` the lines of its panel; a mark has one colour and one kind of dashes in all.

    Shapes: each of the ``values`` has any length from 1.
    Raises: ValueError for no values, marks of another name, more than five kinds of them, NaN or ∞,
    or a width that is not above 0 or makes more than 200 bars.
    """
    if not values:
        raise ValueError("values must hold at least one histogram: it is empty")
    given = {name: _numbers(f"values {name!r}", some, False) for name, some in values.items()}
    lines = {name: {mark: float(at) for mark, at in some.items()} for name, some in marks.items()}
    if strange := [name for name in lines if name not in given]:
        raise ValueError(f"marks must name histograms of values: {strange[0]!r} is none")
    kinds = {mark for some in lines.values() for mark in some}
    if len(kinds) >= len(LINES):
        raise ValueError(f"marks must be of at most {len(LINES) - 1} kinds: there are {len(kinds)}")
    for name, some in lines.items():
        _numbers(f"marks {name!r}", list(some.values()) or [0], False)
    drawn = [*given.values(), *(list(some.values()) for some in lines.values() if some)]
    low, high = (pick([pick(some) for some in drawn]) for pick in (min, max))
    if not width > 0 or not (high - low) / width <= 200:
        raise ValueError(
            f"width must be above 0 and make at most 200 bars from {low:g} to {high:g}: it is "
            f"{width:g}"
        )
    # a value that rounding puts a hair below a multiple belongs to the bar above it
    first, last = (np.floor(at / width + 1e-6) // ROUND * ROUND for at in (low, high))
    edges = width * np.arange(first, last + ROUND + 1)
    bins = {name: np.histogram(some + 1e-6 * width, edges) for name, some in given.items()}
    with style.context(["default", STYLE]):
        figure = draw_histograms(bins, lines, x_label, y_label)
    return Picture(figure, histograms_alt(given, lines, x_label, y_label))


def alignment(
    weights: ArrayLike,
    source: Sequence[str],
    target: Sequence[str],
    gold: Collection[tuple[int, int]] | None = None,
    *,
    title: str | None = None,
    digits: int = 2,
) -> Picture:
    """Draw a translation's attention, a row for each target word, with the gold links outlined.

    A target word agrees with the gold alignment where its greatest weight, the first if several
    are equal, lies on one of its links; the text counts how many do.

    Shapes: weights (n_t, n_s), an array or tensor; ``source`` are the n_s words that are attended
    to, ``target`` the n_t words that attend; ``gold`` holds links (i, j) of source word i and
    target word j, counted from 0.
    Raises: as ``heatmap``; ValueError for a link to a word that is not there.
    """
    matrix = _matrix(weights, signed=False)
    sources, targets = [shown(word) for word in source], [shown(word) for word in target]
    _named(matrix.shape, target=targets, source=sources)
    links = None if gold is None else {(int(i), int(j)) for i, j in gold}
    for i, j in links or ():
        if not (0 <= i < len(sources) and 0 <= j < len(targets)):
            raise ValueError(
                f"gold must link source words 0 to {len(sources) - 1} with target words 0 to "
                f"{len(targets) - 1}: ({i}, {j}) is among them"
            )
    with style.context(["default", STYLE]):
        figure = draw_alignment(matrix, sources, targets, links or (), title, digits)
    return Picture(figure, alignment_alt(matrix, sources, targets, links, title, digits))


def head_grid(
    weights: ArrayLike,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    names: Sequence[str] | None = None,
    columns: int = 4,
    title: str | None = None,
    digits: int = 2,
) -> Picture:
    """Draw the weights of several heads side by side, small and on one scale from 0 to 1.

    The text tells each head's strongest link, for the first eight heads.

    Shapes: weights (h, n_q, n_k), an array or tensor; ``tokens`` are the n_q queries,
    ``key_tokens`` the n_k keys, the same as ``tokens`` unless given; ``names`` are those of the h
    heads, "head 0" and so on unless given.
    Raises: as ``heatmap``; ValueError for names that are not one for each head, or ``columns``
    below 1.
    """
    heads = _heads(weights)
    queries = [shown(token) for token in tokens]
    keys = queries if key_tokens is None else [shown(token) for token in key_tokens]
    _named(heads.shape[1:], tokens=queries, key_tokens=keys)
    titles = [f"head {i}" for i in range(len(heads))] if names is None else list(map(shown, names))
    if len(titles) != len(heads):
        raise ValueError(
            f"names must name each head: there are {len(titles)} for {len(heads)} heads"
        )
    if isinstance(columns, bool) or not isinstance(columns, int) or columns < 1:
        raise ValueError(f"columns must be a whole number of at least 1: it is {columns!r}")
    with style.context(["default", STYLE]):
        figure = draw_head_grid(heads, queries, keys, titles, columns, title)
    return Picture(figure, head_grid_alt(heads, queries, keys, titles, title, digits))


def _array(name: str, numbers: Any) -> NDArray[np.float64]:
    """Return real numbers as an array; refuse those that NumPy would bend into some."""
    if hasattr(numbers, "detach"):
        numbers = numbers.detach().cpu()
        numbers = (numbers.double() if numbers.is_floating_point() else numbers).numpy()
    array = np.ma.asanyarray(numbers)
    if array.dtype.kind not in "buif" or np.ma.is_masked(array):
        kind = "masked" if np.ma.is_masked(array) else array.dtype
        raise ValueError(f"{name} must hold real numbers, none of them masked: they are {kind}")
    return np.asarray(numbers, dtype=np.float64)


def _heads(weights: ArrayLike) -> NDArray[np.float64]:
    heads = _array("weights", weights)
    if heads.ndim != 3 or 0 in heads.shape:
        raise ValueError(
            f"weights must have the shape (h, n_q, n_k), such as weights[0] for the heads of the "
            f"first sentence: the shape is {heads.shape}"
        )
    return np.stack([_matrix(head, signed=False) for head in heads])


def _named(shape: tuple[int, ...], **words: Sequence[str]) -> None:
    for axis, (name, listed) in enumerate(words.items()):
        if len(listed) != shape[axis]:
            raise ValueError(
                f"{name} must name each {('row', 'column')[axis]} of the weights: "
                f"there are {len(listed)} for a matrix of shape {shape}"
            )


def _matrix(weights: ArrayLike, signed: bool) -> NDArray[np.float64]:
    matrix = _array("weights", weights)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"weights must have the shape (n_q, n_k), such as weights[0, 0] for the first head of "
            f"the first sentence: the shape is {matrix.shape}"
        )
    if np.isnan(matrix).any() or np.isposinf(matrix).any():
        raise ValueError("weights must not hold NaN or +∞")
    if not signed and not ((matrix >= -1e-6) & (matrix <= 1 + 1e-6)).all():
        raise ValueError(
            f"weights must be from 0 to 1: they go from {matrix.min():.3g} to {matrix.max():.3g} "
            f"(for scores, write signed=True)"
        )
    return matrix if signed else matrix.clip(0, 1)


def _span(
    name: str, span: Sequence[tuple[float, float]], values: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    if name not in values:
        raise ValueError(f"spans must be of the series {', '.join(values)}: one is of {name!r}")
    array, y = _array(f"spans {name!r}", span), values[name]
    fits = array.shape == (len(y), 2) and bool(((array[:, 0] <= y) & (y <= array[:, 1])).all())
    if not fits:
        raise ValueError(
            f"spans {name!r} must hold a least and a greatest number around each of {len(y)} points"
        )
    return array


def _numbers(name: str, numbers: ArrayLike, log: bool) -> NDArray[np.float64]:
    array = _array(name, numbers)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a row of numbers: its shape is {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers: NaN or ∞ is among them")
    if log and array.min() <= 0:
        raise ValueError(f"{name} must be positive for log=True: its smallest is {array.min():g}")
    return array
