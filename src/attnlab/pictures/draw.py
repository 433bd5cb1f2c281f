"""How the pictures of ``figures`` are drawn: colours, cells, names and lines."""

from collections.abc import Collection, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from attnlab.pictures.describe import number, plain

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
FONT = "Attnbook Serif"  # the page's own: book/tools/fonts.py makes both
fontManager.addfont(Path(__file__).with_name("attnbook-serif.ttf"))
STYLE = {
    "font.family": [FONT, "DejaVu Sans"],  # which has what the first lacks
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
PHONE = 3.5  # inches; with its margin a picture is as wide as the column on a phone
BLANK = 0.005  # a smaller weight is told by its white cell alone
# of a ramp, where black can be read; of the rest neither black nor white can in both themes, since
# the dark one turns lightness round
PALE = 0.6


def _canvas(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def draw_heatmap(
    matrix: NDArray[np.float64],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str | None,
    signed: bool,
    digits: int,
) -> Figure:
    """Draw a matrix with a number in each cell, or with a scale where it is large."""
    n_q, n_k = matrix.shape
    small = max(n_q, n_k) <= SMALL
    numbers = [[_told(value, digits, signed) for value in row] for row in matrix] if small else []
    longest = max((len(text) for row in numbers for text in row), default=0)
    side = max(0.4, 0.08 + 0.08 * longest) if small else 5 / max(n_q, n_k)  # inches
    figure = _canvas(side * n_k, side * n_q)
    axes = figure.add_axes((0, 0, 1, 1))
    colours, limit = _colours(matrix, signed)
    limit /= PALE if small else 1
    norm = Normalize(-limit if signed else 0, limit)
    image = axes.imshow(np.ma.masked_invalid(matrix), cmap=colours, norm=norm, aspect="auto")
    _write_tokens(axes, queries, keys, side)
    if small:
        _write_numbers(axes, numbers)
    else:
        figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02)
    if title:
        axes.set_title(title, parse_math=False, pad=10)
    return figure


def draw_alignment(
    matrix: NDArray[np.float64],
    source: Sequence[str],
    target: Sequence[str],
    gold: Collection[tuple[int, int]],
    title: str | None,
    digits: int,
) -> Figure:
    """Draw a heatmap with the cells of the gold links outlined."""
    figure = draw_heatmap(matrix, target, source, title, False, digits)
    for i, j in sorted(gold):
        # white under the orange keeps the outline apart from dark cells
        for colour, width in (("white", 4.5), (LINES[1][0], 2)):
            corner = (i - 0.42, j - 0.42)
            outline = Rectangle(corner, 0.84, 0.84, fill=False, edgecolor=colour, linewidth=width)
            figure.axes[0].add_patch(outline)
    return figure


def draw_head_grid(
    heads: NDArray[np.float64],
    queries: Sequence[str],
    keys: Sequence[str],
    names: Sequence[str],
    columns: int,
    title: str | None,
) -> Figure:
    """Draw a small map for each head, the tokens named at the left and below."""
    n_heads, n_q, n_k = heads.shape
    columns = min(columns, n_heads)
    rows = -(-n_heads // columns)
    side = min(max(1.5 / max(n_q, n_k), 0.12), 0.3)  # inches
    figure = _canvas(columns * (side * n_k + 0.15), rows * (side * n_q + 0.3))
    grid = figure.subplots(rows, columns, squeeze=False)
    figure.subplots_adjust(0, 0, 1, 1, wspace=0.12, hspace=0.3 / (side * n_q))
    for place, axes in enumerate(grid.flat):
        if place >= n_heads:
            axes.remove()
            continue
        axes.imshow(heads[place], cmap=BLUES, norm=Normalize(0, 1), aspect="auto")
        axes.set_title(names[place], parse_math=False, fontsize=9, pad=3)
        lowest = place + columns >= n_heads
        _name_cells(axes, queries if place % columns == 0 else [], keys if lowest else [], side)
    width, height = figure.get_size_inches()
    bar = figure.add_axes((1 + 0.15 / width, 0, 0.12 / width, 1))
    figure.colorbar(ScalarMappable(Normalize(0, 1), BLUES), cax=bar)
    if title:
        figure.suptitle(title, y=1 + 0.3 / height, va="bottom", parse_math=False)
    return figure


def _name_cells(axes: Axes, queries: Sequence[str], keys: Sequence[str], side: float) -> None:
    axes.set_yticks(range(len(queries)), queries)
    axes.set_xticks(range(len(keys)), keys, rotation=90)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)
        label.set_fontsize(min(9, 60 * side))
    axes.tick_params(length=0)


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
    slant: dict[str, Any] = (
        {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if wide else {}
    )
    axes.set_xticks(range(len(keys)), keys, **slant)
    axes.set_yticks(range(len(queries)), queries)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)
        label.set_fontsize(min(10, 60 * side))
    axes.tick_params(length=0)


def _told(value: float, digits: int, signed: bool) -> str:
    return "" if not signed and value < BLANK else number(value, digits)


def _write_numbers(axes: Axes, numbers: list[list[str]]) -> None:
    """Write a number into each cell, black, for on a pale cell pure black reaches 4.5 to 1."""
    for i, row in enumerate(numbers):
        for j, text in enumerate(row):
            axes.text(j, i, text, color="black", ha="center", va="center", fontsize=9)
    axes.set_xticks(np.arange(len(numbers[0]) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(numbers) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=GRID, linewidth=0.5)
    axes.tick_params(which="minor", length=0)


def draw_curves(
    x: NDArray[np.float64],
    values: dict[str, NDArray[np.float64]],
    bars: dict[str, NDArray[np.float64]],
    x_label: str,
    y_label: str,
    title: str | None,
    log: bool,
    names: Sequence[str],
) -> Figure:
    """Draw curves over ``x`` with their names beside them; ``names`` are those of the places."""
    figure = _canvas(PHONE, 2.2, "constrained")
    axes = figure.add_subplot()
    _draw_lines(axes, x, values, log)
    for name, (colour, _, _) in zip(values, LINES, strict=False):
        if name in bars:
            axes.vlines(x, bars[name][:, 0], bars[name][:, 1], color=colour, linewidth=1)
    if names:
        axes.set_xticks(x, names, parse_math=False)
    axes.set_xlabel(x_label, parse_math=False)
    axes.set_ylabel(y_label, parse_math=False)
    _finish(axes, title, ended=True)
    return figure


def _broken(text: str, letters: int) -> str:
    return text if len(text) <= letters else fill(text, letters)


def _finish(axes: Axes, title: str | None, *, ended: bool = False) -> None:
    """Write a title above and the curves' names below, of curves as they have ``ended``.

    What is long is broken, so that nothing makes the picture wider than a phone.
    """
    figure = cast(Figure, axes.get_figure())
    head = _broken(title or "", 42)
    if head:  # over all of it: the axes of dots are narrow, beside their names
        figure.suptitle(head, parse_math=False, fontsize=11)
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    if ended:
        lines.sort(key=lambda line: -np.asarray(line.get_ydata())[-1])
    names = [_broken(str(line.get_label()), 40) for line in lines]
    longest = max(len(part) for name in names for part in name.split("\n"))
    columns = min(len(names), max(1, int(PHONE / (0.7 + 0.07 * longest))))  # inches of a column
    legend = figure.legend(
        lines,
        names,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        handlelength=3,
        columnspacing=1,
    )
    written = head.count("\n") + sum(1 + name.count("\n") for name in names) / columns
    figure.set_figheight(figure.get_figheight() + 0.25 * (written + 1 + bool(head)))
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_lines(
    axes: Axes, x: NDArray[np.float64], values: dict[str, NDArray[np.float64]], log: bool
) -> None:
    if log:
        axes.set_xscale("log")
        axes.set_yscale("log")
        ticks = x[:: -(-len(x) // 8)]
        axes.set_xticks(ticks, [plain(tick) for tick in ticks])
        axes.set_xticks([], minor=True)
    every = -(-len(x) // 20)  # markers on many points would hide the line
    for (name, y), (colour, dashes, marker) in zip(values.items(), LINES, strict=False):
        axes.plot(x, y, c=colour, ls=dashes, marker=marker, ms=4, markevery=every, label=name)
    axes.grid(color=GRID, linewidth=0.4)
    axes.spines[["top", "right"]].set_visible(False)


def draw_dots(
    rows: dict[str, dict[str, NDArray[np.float64]]], x_label: str, title: str | None
) -> Figure:
    """Draw a mark at each mean and a bar from the least to the greatest, a row for each name."""
    names = [_broken(row, 18) for row in rows]
    deep = max(0.4, 0.18 * max(name.count("\n") + 1 for name in names))  # inches of a row
    figure = _canvas(PHONE, deep * len(rows) + 0.6, "constrained")
    axes = figure.add_subplot()
    kinds = list(next(iter(rows.values())))
    for k, (kind, (colour, _, marker)) in enumerate(zip(kinds, LINES, strict=False)):
        some = [row[kind] for row in rows.values()]
        y = np.arange(len(rows)) + 0.5 * ((k + 0.5) / len(kinds) - 0.5)
        axes.hlines(y, [one.min() for one in some], [one.max() for one in some], color=colour)
        means = [one.mean() for one in some]
        axes.plot(means, y, c=colour, ls="", marker=marker, ms=4, label=kind)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), names, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=GRID, linewidth=0.4)
    axes.set_yticks(np.arange(1, len(rows)) - 0.5, minor=True)
    axes.grid(axis="y", which="minor", color=GRID, linewidth=0.4)
    axes.tick_params(axis="y", which="minor", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(x_label, parse_math=False)
    _finish(axes, title)
    return figure


def draw_histograms(
    bins: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    marks: dict[str, dict[str, float]],
    x_label: str,
    y_label: str,
) -> Figure:
    """Draw a panel for each histogram, one below the other over one axis, with its marks."""
    height = 0.5 + 1.25 * len(bins)
    figure = _canvas(3.2, height)  # with its numbers, as wide as a phone
    panels = figure.subplots(len(bins), 1, sharex=True, squeeze=False)[:, 0]
    figure.subplots_adjust(hspace=0.45)
    kinds = dict.fromkeys(mark for some in marks.values() for mark in some)
    styles = dict(zip(kinds, LINES[1:], strict=False))
    for axes, (name, (counts, edges)) in zip(panels, bins.items(), strict=True):
        axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=LINES[0][0], alpha=0.6)
        for mark, at in marks.get(name, {}).items():
            colour, dashes, _ = styles[mark]
            axes.axvline(at, c=colour, ls=dashes, lw=2, label=mark)
        axes.set_title(name, parse_math=False, loc="left", fontsize=10, pad=3)
        axes.set_ylabel(y_label, parse_math=False)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlim(edges[0], edges[-1])
    panels[-1].set_xlabel(x_label, parse_math=False)
    handles = {line.get_label(): line for axes in panels for line in axes.get_lines()}
    if handles:
        legend = figure.legend(
            handles=[handles[mark] for mark in styles],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.15 / height),
            ncols=2,
            frameon=False,
            handlelength=3,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
    return figure
