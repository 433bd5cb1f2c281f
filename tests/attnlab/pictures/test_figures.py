"""Pictures: what they say in words, and that they can be read and repeated."""

import io
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import torch
from IPython.core.formatters import DisplayFormatter
from matplotlib.colors import to_rgb
from matplotlib.font_manager import findfont, get_font
from matplotlib.text import Text
from PIL import Image

from attnlab.pictures import draw
from attnlab.pictures.draw import BLUES, FONT, LINES, ORANGE_BLUE
from attnlab.pictures.figures import (
    Picture,
    alignment,
    curves,
    dots,
    head_grid,
    heatmap,
    histograms,
)

HANGS_ON = ("book/assets",)

WORDS = ["had", "bowl", "nuts"]
WEIGHTS = [[0.98, 0.01, 0.01], [0.24, 0.76, 0.0], [0.005, 0.09, 0.905]]


def luminance(colour) -> float:
    """WCAG 2's relative luminance, written once more so that a mistake cannot hide."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def texts(picture: Picture) -> list[str]:
    """All that is written in a picture."""
    return [text.get_text() for text in picture.figure.findobj(Text) if text.get_text()]


def cells(picture: Picture) -> dict[tuple[int, int], Text]:
    """The numbers in the cells of a heatmap, by row and column."""
    return {
        (int(text.get_position()[1]), int(text.get_position()[0])): text
        for text in picture.figure.axes[0].texts
    }


def test_jupyter_keeps_text_and_size_beside_an_opaque_picture_saved_as_png(tmp_path) -> None:
    picture = heatmap(WEIGHTS, WORDS)
    data, metadata = DisplayFormatter().format(picture)
    image = Image.open(io.BytesIO(data["image/png"]))
    assert metadata["image/png"]["alt"] == picture.alt
    assert data["text/plain"] == repr(picture) == f"<Picture: {picture.alt}>"
    assert metadata["image/png"]["width"] == pytest.approx(image.width / 1.5, abs=0.5)
    assert metadata["image/png"]["height"] == pytest.approx(image.height / 1.5, abs=0.5)
    assert set(image.info) <= {"dpi"}
    png, _ = heatmap(WEIGHTS, WORDS)._repr_png_()
    assert Image.open(io.BytesIO(png)).convert("RGBA").getpixel((0, 0)) == (255,) * 4
    picture = heatmap(WEIGHTS, WORDS)
    picture.save(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes() == picture._repr_png_()[0]
    with pytest.raises(ValueError, match=r"path must end in .png: it is 'picture.pdf'"):
        picture.save("picture.pdf")


def test_the_same_data_gives_the_same_bytes_and_needs_no_pyplot(tmp_path: Path) -> None:
    program = (
        "import sys; from attnlab.pictures.figures import heatmap;"
        f"heatmap({WEIGHTS}, {WORDS}, title='t').save(sys.argv[1]);"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    picture = heatmap(WEIGHTS, WORDS, title="t")
    first, _ = picture._repr_png_()
    with matplotlib.rc_context({"font.size": 20, "savefig.transparent": True, "savefig.dpi": 30}):
        assert picture._repr_png_()[0] == first
        assert heatmap(WEIGHTS, WORDS, title="t")._repr_png_()[0] == first
    elsewhere = tmp_path / "elsewhere.png"
    subprocess.run([sys.executable, "-c", program, elsewhere], check=True)
    assert elsewhere.read_bytes() == first


def texts_in_fonts(picture: Picture) -> set[str]:
    """The first font of each text that is drawn, which must hold all its letters."""
    letters = get_font(findfont(FONT)).get_charmap()
    shown = [text for text in picture.figure.findobj(Text) if text.get_text()]
    assert all(ord(letter) in letters for text in shown for letter in text.get_text())
    return {text.get_fontfamily()[0] for text in shown}


def test_the_fonts_are_the_books_own_and_matplotlibs() -> None:
    assert Path(findfont(FONT, fallback_to_default=False)).parent == Path(draw.__file__).parent
    own = Path(matplotlib.get_data_path()).resolve()
    assert Path(findfont("DejaVu Sans")).resolve().is_relative_to(own)
    assert texts_in_fonts(heatmap([[1.0]], ["√α → −∞ × ≤"])) == {FONT}


@pytest.mark.parametrize("signed", [False, True])
def test_every_number_can_be_read_on_its_cell(signed: bool) -> None:
    matrix = np.linspace(-1 if signed else 0, 1, 400).reshape(20, 20)
    if signed:
        matrix[0, 0] = -np.inf
    picture = heatmap(matrix, [f"t{i}" for i in range(20)], signed=signed)
    shades = picture.figure.axes[0].images[0].to_rgba(np.ma.masked_invalid(matrix))
    found = cells(picture)
    assert len(found) == 400
    for (i, j), text in found.items():
        assert contrast(text.get_color(), shades[i, j]) >= 4.5


def turned(colour, page: str) -> np.ndarray:
    """What ``invert(1) hue-rotate(180deg)`` and screening on a page make of a colour (CSS)."""
    red, green, blue = 0.213, 0.715, 0.072  # the weights of the standard's matrix
    rotation = 2 * np.array([[red, green, blue]] * 3) - np.eye(3)
    figure = (rotation @ (1 - np.array(to_rgb(colour)))).clip(0, 1)
    return 1 - (1 - figure) * (1 - np.array(to_rgb(page)))


@pytest.mark.parametrize("page", ["#121212", "#14181e"])
@pytest.mark.parametrize("signed", [False, True])
def test_every_number_can_be_read_in_the_dark_theme_too(signed: bool, page: str) -> None:
    css = (Path(__file__).parents[3] / "book/assets/book.css").read_text(encoding="utf-8")
    assert "filter: invert(1) hue-rotate(180deg) !important;\n  mix-blend-mode: screen;" in css
    matrix = np.linspace(-1 if signed else 0, 1, 400).reshape(20, 20)
    picture = heatmap(matrix, [f"t{i}" for i in range(20)], signed=signed)
    shades = picture.figure.axes[0].images[0].to_rgba(matrix)
    for place, text in cells(picture).items():
        ground = shades[place][:3]
        assert not text.get_path_effects()  # black or white alone
        assert contrast(text.get_color(), ground) >= 4.5
        assert contrast(turned(text.get_color(), page), turned(ground, page)) >= 4.5


@pytest.mark.parametrize("page", ["#121212", "#14181e"])
def test_curves_and_outlines_are_seen_in_the_dark_theme_too(page: str) -> None:
    ground = turned("white", page)
    assert contrast(turned("#1b1f24", page), ground) >= 7
    assert all(contrast(turned(colour, page), ground) >= 4.5 for colour, *_ in LINES)


def test_queries_go_down_keys_across_and_the_cells_hold_the_numbers() -> None:
    found = cells(heatmap([[0.25, 0.75], [1, 0]], ["a", "b"]))
    assert {place: text.get_text() for place, text in found.items()} == {
        (0, 0): "0.25", (0, 1): "0.75", (1, 0): "1.00", (1, 1): "",
    }  # fmt: skip
    found = cells(heatmap([[0.005, 0.0049]], ["q"], ["a", "b"], digits=3))
    assert [found[0, j].get_text() for j in range(2)] == ["0.005", ""]
    found = cells(heatmap([[-1.25, -0.001, -np.inf]], ["q"], ["a", "b", "c"], signed=True))
    assert [found[0, j].get_text() for j in range(3)] == ["−1.25", "0.00", "−∞"]
    axes = heatmap([[0, 1, 0], [1, 0, 0]], ["q0", "q1"], ["k0", "k1", "k2"]).figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["q0", "q1"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["k0", "k1", "k2"]
    top, bottom = axes.get_ylim()
    assert top > bottom  # row 0 is the upper one
    assert np.asarray(axes.images[0].get_array()).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_more_weight_is_darker_and_signed_scores_are_white_at_zero() -> None:
    shades = [luminance(BLUES(x)) for x in np.linspace(0, 1, 101)]
    assert shades[0] == 1
    assert all(a > b for a, b in pairwise(shades))
    shades = np.array([luminance(ORANGE_BLUE(x)) for x in np.linspace(0, 1, 255)])
    middle = len(shades) // 2
    assert shades[middle] > 0.95
    assert (np.diff(shades[: middle - 1]) > 0).all()
    assert (np.diff(shades[middle + 2 :]) < 0).all()
    red, _, blue = ORANGE_BLUE(0.1)[:3]
    assert red > blue  # orange and blue stay apart for colour-blind readers


def test_curves_differ_in_more_than_colour_and_named_places_stand_apart() -> None:
    series = {f"curve {i}": [i, i + 1] for i in range(6)}
    figure = curves([0, 1], series, x_label="x", y_label="y").figure
    axes = figure.axes[0]
    drawn = axes.get_lines()
    assert len({line.get_marker() for line in drawn}) == 6
    assert len({str(line._unscaled_dash_pattern) for line in drawn}) == 6
    assert all(contrast(colour, "white") >= 4.5 for colour, *_ in LINES)
    # the names stand in the order of the curves' ends
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == list(reversed(series))
    labels = {"x_label": "digits", "y_label": "right"}
    chart = curves(["2–6", "$7", "13–24"], {"a": [1, 0.5, 0]}, **labels)
    axes = chart.figure.axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2–6", "$7", "13–24"]
    assert list(axes.get_lines()[0].get_xdata()) == list(axes.get_xticks())
    assert "from 2–6 to 13–24" in chart.alt
    for x, log in ((["a", 2], False), (["a", "b"], True)):
        with pytest.raises(ValueError, match="x must be all numbers"):
            curves(x, {"a": [1, 2]}, **labels, log=log)


def test_bars_reach_from_the_least_to_the_greatest_and_rows_stand_from_top_to_bottom() -> None:
    spans = {"a": [(0, 1), (1, 3)]}
    chart = curves([1, 2], {"a": [0.5, 2]}, x_label="x", y_label="y", spans=spans)
    (bars,) = chart.figure.axes[0].collections
    assert [bar[:, 1].tolist() for bar in bars.get_segments()] == [[0, 1], [1, 3]]
    chart = dots(
        {"$up": {"all": [1, 2], "few": [4]}, "down": {"all": [3], "few": [5]}}, x_label="x"
    )
    axes = chart.figure.axes[0]
    assert axes.yaxis_inverted()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["$up", "down"]
    assert [list(line.get_xdata()) for line in axes.get_lines()] == [[1.5, 3], [4, 5]]
    assert len({line.get_marker() for line in axes.get_lines()}) == 2
    assert axes.collections[0].get_segments()[0][:, 0].tolist() == [1, 2]
    assert chart._repr_png_()[0].startswith(b"\x89PNG")


def test_charts_are_as_wide_as_a_phones_column_whatever_is_written_on_them() -> None:
    long = "a name that goes on for as long as a sentence of the lecture, " * 2
    labels = {"title": long, "x_label": "steps"}
    for chart in (
        curves([1, 2], {"a": [1, 2], long: [2, 1]}, y_label="nats per word", **labels),
        curves(["1–6", "7–12"], {"a": [1, 2]}, y_label="y", x_label="x"),
        dots({long: {"all": [1, 2], "few": [4]}}, **labels),
    ):
        size = chart._repr_png_()[1]
        # on a phone it may shrink to three quarters, where it is drawn at its own size
        assert 320 < 0.75 * size["width"] <= 356, size
        (legend,), axes = chart.figure.legends, chart.figure.axes[0]
        assert legend.get_window_extent().y1 < axes.get_tightbbox().y0  # below, on nothing


AXES = {"x_label": "score", "y_label": "searches", "width": 0.1}


def test_histograms_count_every_value_once_and_draw_a_mark_alike_in_all_panels() -> None:
    values = {"$a": torch.tensor([0.3, 0.31, 0.5]), "b": [0.1 + 0.2, 0.8]}
    picture = histograms(values, {"$a": {"x": 0.4}, "b": {"x": 0.9, "y": 0.2}}, **AXES)
    panels = picture.figure.axes
    heights = [[bar.get_height() for bar in axes.patches] for axes in panels]
    # the axis goes from 0 to 1 in tenths
    assert heights == [[0, 0, 0, 2, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0, 1, 0]]
    one, other = (axes.get_lines()[0] for axes in panels)
    assert (one.get_color(), one.get_linestyle()) == (other.get_color(), other.get_linestyle())
    assert one.get_color() != panels[1].get_lines()[1].get_color()
    assert [line.get_xdata()[0] for line in panels[1].get_lines()] == [0.9, 0.2]
    names = [text.get_text() for text in picture.figure.legends[0].get_texts()]
    assert names == ["x", "y"]
    assert "$a" in texts(picture)


def test_the_last_digit_of_an_outlier_moves_no_axis() -> None:
    axis = {"x_label": "score", "y_label": "searches", "width": 0.01}
    pictures = [histograms({"a": [low, 0.5]}, {"a": {"x": 0.6}}, **axis) for low in (0.389, 0.391)]
    limits = [picture.figure.axes[0].get_xlim() for picture in pictures]
    assert limits[0] == limits[1] == pytest.approx((0.35, 0.65))


def test_histograms_say_how_far_they_go_and_where_their_marks_stand() -> None:
    values = {"a": [0.25, 0.5, 0.5, 1], "b": [2]}
    assert histograms(values, {"a": {"best": 0.75}}, **AXES).alt == (
        "2 histograms of searches by score. a goes from 0.25 to 1, best is 0.75, above 75 %; "
        "b goes from 2 to 2."
    )


def test_charts_may_be_logarithmic_large_matrices_have_a_scale_and_long_tokens_are_cut() -> None:
    for log, scale in ((True, "log"), (False, "linear")):
        axes = curves([1, 8], {"a": [1, 64]}, x_label="x", y_label="y", log=log).figure.axes[0]
        assert (axes.get_xscale(), axes.get_yscale()) == (scale, scale)
    picture = heatmap(np.eye(21), [str(i) for i in range(21)])
    assert not cells(picture)
    assert len(picture.figure.axes) == 2
    assert "abcdefghijklmno…" in texts(heatmap([[1.0]], ["abcdefghijklmnopqrstuvwxyz"]))
    weights = torch.tensor(WEIGHTS, dtype=torch.bfloat16, requires_grad=True)
    assert "had attends most to had (0.98)" in heatmap(weights, WORDS).alt


@pytest.mark.parametrize("odd", ["$x$", "$x", "<img>", "a_b^c", "\\alpha", "50 %", "\n"])
def test_odd_tokens_are_shown_as_they_are(odd: str) -> None:
    picture = heatmap([[0.5, 0.5], [1, 0]], [odd, "b"], title=odd.strip())
    shown = odd.replace("\n", "\\n")
    found = [text for text in picture.figure.findobj(Text) if text.get_visible()]
    labels = [text for text in found if text.get_text() == shown]
    assert len(labels) >= 2
    assert not any(text.get_parse_math() for text in labels)
    assert f"{shown} attends most to {shown} and b" in picture.alt
    assert picture._repr_png_()[0].startswith(b"\x89PNG")
    chart = curves([1, 2], {odd: [1, 2]}, x_label=odd, y_label=odd, title=odd)
    found = [text for text in chart.figure.findobj(Text) if text.get_text() == odd]
    assert len(found) == 4
    assert not any(text.get_parse_math() for text in found)


CHAT = [[0.9, 0.05, 0.05], [0.1, 0.2, 0.7], [0.0, 0.6, 0.4]]
SOURCE, TARGET = ["the", "black", "cat"], ["le", "chat", "noir"]
GOLD = ((0, 0), (1, 2), (2, 1))


def outlined(picture: Picture) -> set[tuple[int, int]]:
    """The cells with an outline, as (column, row)."""
    return {
        (round(box.get_x() + 0.42), round(box.get_y() + 0.42))
        for box in picture.figure.axes[0].patches
    }


def test_an_alignment_outlines_the_gold_links() -> None:
    picture = alignment(CHAT, SOURCE, TARGET, [*GOLD, (2, 2)])
    axes = picture.figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == TARGET
    assert [label.get_text() for label in axes.get_xticklabels()] == SOURCE
    assert outlined(picture) == {*GOLD, (2, 2)}
    widths = {box.get_edgecolor(): box.get_linewidth() for box in axes.patches}
    assert widths[1, 1, 1, 1] > widths[(*to_rgb(LINES[1][0]), 1)]  # white shows at both sides
    assert not outlined(alignment(CHAT, SOURCE, TARGET))


def test_heads_stand_side_by_side_on_one_scale() -> None:
    heads = torch.full((5, 2, 3), 1 / 3)
    picture = head_grid(heads, ["a", "b"], ["x", "y", "z"], columns=2)
    maps = [axes for axes in picture.figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in maps] == [f"head {i}" for i in range(5)]
    assert all(axes.images[0].get_clim() == (0, 1) for axes in maps)
    rows = [[label.get_text() for label in axes.get_yticklabels()] for axes in maps]
    assert rows == [["a", "b"], [], ["a", "b"], [], ["a", "b"]]
    columns = [[label.get_text() for label in axes.get_xticklabels()] for axes in maps]
    assert columns == [[], [], [], ["x", "y", "z"], ["x", "y", "z"]]
    one = head_grid(heads[:1], ["a", "b"], ["x", "y", "z"], names=["first"], title="layer 1")
    assert {"first", "layer 1"} <= set(texts(one))
    assert one._repr_png_()[0].startswith(b"\x89PNG")


@pytest.mark.parametrize("heads", [1, 3, 8])
def test_a_grid_of_heads_repeats_itself(heads: int) -> None:
    weights = np.full((heads, 3, 3), 1 / 3)
    assert head_grid(weights, WORDS)._repr_png_()[0] == head_grid(weights, WORDS)._repr_png_()[0]
