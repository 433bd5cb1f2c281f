"""Pictures that describe themselves: matplotlib figures with a text for those who cannot see them.

Every picture is drawn in dark ink on white, from matplotlib's own font, without its global
state, so that the same data gives the same bytes.
"""

import io
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from attnbook._describe import curves_alt, heatmap_alt, number, plain, shown

DPI = 144  # a page shows 96 CSS pixels to the inch: 1.5 dots for each
INK, GRID = "#1b1f24", "#c9ced6"
BLUES = LinearSegmentedColormap.from_list("weights", ["#ffffff", "#8fb4dd", "#1f4e8c"])
ORANGE_BLUE = LinearSegmentedColormap.from_list(
    "signed", ["#a34a00", "#eab685", "#ffffff", "#8fb4dd", "#1f4e8c"]
)
LINES = (  # colour, dashes, marker: each tells the curves apart without the others
    ("#1f4e8c", "-", "o"),
    ("#a34a00", "--", "s"),
    ("#00735c", "-.", "^"),
    ("#7a3b8f", ":", "D"),
    ("#333333", (0, (6, 1, 1, 1, 1, 1)), "v"),
    ("#8c6d00", (0, (1, 3)), "x"),
)
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}
SMALL = 20  # tokens; with more, numbers in the cells would be too small to read


class Picture:
    """A matplotlib ``figure`` together with ``alt``, the text that says what it shows."""

    def __init__(self, figure: Figure, alt: str) -> None:
        self.figure = figure
        self.alt = alt

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def _png(self) -> bytes:
        file = io.BytesIO()
        with style.context(["default", STYLE]):
            self.figure.savefig(
                file, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None}
            )
        return file.getvalue()

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

    Weights go from 0 (white) to 1 (deep blue). With ``signed=True`` the matrix may hold any
    scores, orange below zero and blue above, and −∞, grey, where a score is masked. Above 20
    keys or queries a scale at the side replaces the numbers.

    Shapes: weights (n_q, n_k), an array or tensor; ``tokens`` are the n_q queries,
    ``key_tokens`` the n_k keys, the same as ``tokens`` unless given.

    Raises: ValueError for another shape, tokens that do not match it, NaN, or weights outside
    0 to 1.
    """
    matrix = _matrix(weights, signed)
    queries = [shown(token) for token in tokens]
    keys = queries if key_tokens is None else [shown(token) for token in key_tokens]
    for axis, (name, words) in enumerate((("tokens", queries), ("key_tokens", keys))):
        if len(words) != matrix.shape[axis]:
            raise ValueError(
                f"{name} must name each {('row', 'column')[axis]} of the weights: "
                f"there are {len(words)} for a matrix of shape {matrix.shape}"
            )
    with style.context(["default", STYLE]):
        figure = _draw_heatmap(matrix, queries, keys, title, signed, digits)
    return Picture(figure, heatmap_alt(matrix, queries, keys, title, signed, digits))


def curves(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    title: str | None = None,
    log: bool = False,
) -> Picture:
    """Draw up to six curves over ``x``, each told apart by colour, dashes, marker and its name.

    ``log=True`` makes both axes logarithmic, where a power of x is a straight line.

    Shapes: ``x`` and each of the ``series`` have the same length n, at least 1.

    Raises: ValueError for no or too many series, another length, NaN or ∞, or a number that is
    not positive on a logarithmic axis.
    """
    if not 1 <= len(series) <= len(LINES):
        raise ValueError(f"series must hold 1 to {len(LINES)} curves: it holds {len(series)}")
    points = _numbers("x", x, log)
    values = {name: _numbers(f"series {name!r}", y, log) for name, y in series.items()}
    for name, y in values.items():
        if y.shape != points.shape:
            raise ValueError(
                f"series {name!r} must have as many numbers as x: "
                f"it has {len(y)}, x has {len(points)}"
            )
    with style.context(["default", STYLE]):
        figure = Figure(figsize=(5, 3))
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        _draw_curves(axes, points, values, log)
        axes.set_xlabel(x_label, parse_math=False)
        axes.set_ylabel(y_label, parse_math=False)
        if title:
            axes.set_title(title, parse_math=False)
    return Picture(figure, curves_alt(points, values, x_label, y_label, title))


def _matrix(weights: ArrayLike, signed: bool) -> NDArray[np.float64]:
    if hasattr(weights, "detach"):
        weights = weights.detach().cpu().double().numpy()
    matrix = np.asarray(weights, dtype=np.float64)
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


def _numbers(name: str, numbers: Sequence[float], log: bool) -> NDArray[np.float64]:
    array = np.asarray(numbers, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a row of numbers: its shape is {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers: NaN or ∞ is among them")
    if log and array.min() <= 0:
        raise ValueError(f"{name} must be positive for log=True: its smallest is {array.min():g}")
    return array


def _draw_heatmap(
    matrix: NDArray[np.float64],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str | None,
    signed: bool,
    digits: int,
) -> Figure:
    n_q, n_k = matrix.shape
    small = max(n_q, n_k) <= SMALL
    numbers = [[number(value, digits) for value in row] for row in matrix] if small else []
    longest = max((len(text) for row in numbers for text in row), default=0)
    side = max(0.42, 0.08 + 0.08 * longest) if small else 5 / max(n_q, n_k)  # inches
    figure = Figure(figsize=(side * n_k, side * n_q))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    colours, limit = _colours(matrix, signed)
    norm = Normalize(-limit if signed else 0, limit)
    image = axes.imshow(np.ma.masked_invalid(matrix), cmap=colours, norm=norm, aspect="auto")
    _write_tokens(axes, queries, keys, side)
    if small:
        _write_numbers(axes, numbers, image.to_rgba(np.ma.masked_invalid(matrix)))
    else:
        figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02)
    if title:
        axes.set_title(title, parse_math=False, pad=10)
    return figure


def _colours(matrix: NDArray[np.float64], signed: bool) -> tuple[Colormap, float]:
    """Return the colour map and the number that gets its last colour."""
    if not signed:
        return BLUES, 1.0
    finite = np.abs(matrix[np.isfinite(matrix)])
    limit = float(finite.max(initial=0)) or 1.0
    return ORANGE_BLUE.with_extremes(bad="#d5d8dd"), limit


def _write_tokens(axes: Axes, queries: Sequence[str], keys: Sequence[str], side: float) -> None:
    """Name the rows at the left and the columns at the top, slanted where they are too wide."""
    axes.xaxis.tick_top()
    wide = 0.09 * max(map(len, keys)) > side
    slant = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if wide else {}
    axes.set_xticks(range(len(keys)), keys, **slant)
    axes.set_yticks(range(len(queries)), queries)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)
        label.set_fontsize(min(10, 60 * side))
    axes.tick_params(length=0)


def _write_numbers(axes: Axes, numbers: list[list[str]], shades: NDArray[np.float64]) -> None:
    """Write a number into each cell, in the ink that its shade leaves readable."""
    for i, row in enumerate(numbers):
        for j, text in enumerate(row):
            # black rather than the page's ink: only pure black reaches 4.5 to 1 on every shade
            ink = "black" if _luminance(shades[i, j]) > 0.179 else "white"
            axes.text(j, i, text, color=ink, ha="center", va="center", fontsize=9)
    axes.set_xticks(np.arange(len(numbers[0]) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(numbers) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=GRID, linewidth=0.5)
    axes.tick_params(which="minor", length=0)


def _luminance(colour: Sequence[float]) -> float:
    """Return the relative luminance of an sRGB colour, 0 for black and 1 for white (WCAG 2)."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _draw_curves(
    axes: Axes, x: NDArray[np.float64], values: dict[str, NDArray[np.float64]], log: bool
) -> None:
    if log:
        axes.set_xscale("log")
        axes.set_yscale("log")
        ticks = x[:: -(-len(x) // 8)]
        axes.set_xticks(ticks, [plain(tick) for tick in ticks])
        axes.set_xticks([], minor=True)
    every = -(-len(x) // 20)  # markers on many points would hide the line
    lines = [
        axes.plot(x, y, c=colour, ls=dashes, marker=marker, ms=4, markevery=every, label=name)[0]
        for (name, y), (colour, dashes, marker) in zip(values.items(), LINES, strict=False)
    ]
    axes.grid(color=GRID, linewidth=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    # the names stand beside the curves' ends, in the same order from top to bottom
    lines.sort(key=lambda line: -line.get_ydata()[-1])
    legend = axes.legend(
        handles=lines, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, handlelength=4
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
