"""Tiles of scores: their sweep, the softmax from parts as in NumPy, and what the factor is for."""

from itertools import product
from math import ceil

import numpy as np
import pytest
from playwright.sync_api import expect

from attnlab.widgets import TileSteps
from tests.attnlab.widgets.examples import normal, tiles
from tests.attnlab.widgets.pages import tells


def softmax(scores, values) -> float:
    parts = 2.0 ** np.array(scores, dtype=float)
    return float(parts @ values / parts.sum())


@pytest.mark.parametrize("tile", [1, 2, 3, 7, 9])
def test_any_tile_gives_the_softmax(tile: int) -> None:
    scores, values = 5 * normal(9), normal(9, seed=1)
    widget = TileSteps(scores, values, tile=tile, step=-1)
    assert widget.output == pytest.approx(softmax(scores, values), abs=1e-6)


def test_the_table_is_the_worked_example(show) -> None:
    page = show(tiles())
    table = page.get_by_role("group", name="What is kept").get_by_role("row")
    rows = [row.locator("th, td").all_inner_texts() for row in table.all()]
    assert rows == [
        ["keys seen", "m", "factor", "ℓ", "o", "o / ℓ"],
        ["1", "0", "–", "1", "4", "4"],
        ["2", "2", "0.25", "1.25", "2", "1.6"],
        ["3", "2", "1", "1.75", "3", "1.7143"],
        ["4", "3", "0.5", "1.875", "1.5", "0.8"],
    ]
    expect(page.get_by_role("status")).to_contain_text("m grew to 3: what was summed counts 0.5")
    expect(page.get_by_role("status")).to_contain_text("all scores at once gives the same")


def test_the_page_computes_what_python_does(show) -> None:
    scores, values = (5 * normal(4)).round(2), normal(4, seed=1).round(2)
    made = [
        TileSteps(scores, values, tile=tile, step=ceil(4 / tile), factor=factor)
        for tile, factor in product(range(1, 5), (True, False))
    ]
    page = show(*made)
    for view, widget in zip(page.locator("figure").all(), made, strict=True):
        tells(view, "the softmax")
        cells = view.get_by_role("group", name="What is kept").get_by_role("row").last
        shown = cells.locator("td").last.inner_text().replace("−", "-")
        assert float(shown) == pytest.approx(widget.output, abs=1e-4)


def test_without_the_factor_the_page_says_what_is_right_and_larger_tiles_are_fewer(show) -> None:
    page = show(tiles(factor=False))
    status = page.get_by_role("status")
    expect(status).to_contain_text("should shrink, and does not")
    expect(status).to_contain_text("y = o / ℓ = 1.7143; the softmax gives 0.8")
    page.get_by_role("button", name="next").click()  # the second row of tiles
    expect(status).to_contain_text("Query 1 has y = 1.7143; the softmax gives 0.8. The others")
    page.get_by_role("button", name="previous").click()
    page.get_by_label("score of key 1").fill("9")  # the first tile holds the greatest: no harm
    expect(status).to_contain_text("gives the same")
    page = show(tiles(step=3))
    page.get_by_label("side of a tile").fill("3")
    expect(page.get_by_text("3 of 4 tiles seen")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Query 1 has y = 0.8; the softmax")
    page.get_by_role("button", name="previous").click()
    expect(page.get_by_role("status")).to_contain_text("Key 4 came.")
    page.get_by_role("button", name="previous").click()
    expect(page.get_by_role("status")).to_contain_text("Keys 1 to 3 came.")
    widget = tiles(step=-1)
    assert widget.step == 16
    widget.tile = 3
    assert widget.step == 4
    assert tiles(step=0).output is None


def test_the_sweep_is_on_one_screen_opens_after_a_tile_and_never_stores_the_scores(
    show, maths
) -> None:
    for n, tile in ((8, 2), (16, 5), (3, 3)):
        widget = TileSteps([0.0] * n, [0.0] * n, tile=tile)
        swept = maths("([n, tile]) => maths.sweep(n, tile, 1)", [n, tile], "tiles")
        for name in ("fast", "moved"):
            assert swept[name] == widget.numbers[name]
    page = show(TileSteps([0, 2, 1, 3, 2, 4, 0, 1], [4, 1, 2, 0, 2, 1, 4, 2], tile=2), width=1280)
    expect(page.get_by_text("1 of 16 tiles seen")).to_be_visible()
    sizes = page.locator(".attnbook-memories p")
    assert sizes.all_inner_texts() == [
        "Fast memory: Q 2, K 2, V 2, scores 2 × 2, m, ℓ, o 2 × 3: 16 numbers",
        "Slow memory: Q, K, V, Y 4 × 8: 32 numbers; of Y 0 are written",
        "Never stored: 8 × 8 = 64 scores",
        "Moved in a whole sweep: Q, Y once, K, V × 4: 80 numbers",
    ]
    lit = page.locator("path.attnbook-of-weight")
    assert lit.get_attribute("d") == "M20 40h30v30h-30z"
    page.get_by_role("button", name="next").focus()
    page.keyboard.press("End")
    assert lit.get_attribute("d") == "M110 130h30v30h-30z"
    expect(sizes.nth(1)).to_contain_text("of Y 8 are written")
    page.keyboard.press("Home")
    expect(sizes.first).to_have_text("Fast memory: nothing yet")
    assert page.locator("figure.attnbook").bounding_box()["height"] <= 690
