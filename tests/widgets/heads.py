"""What the tests of HeadGrid share: three heads, and the parts of the page by name."""

from __future__ import annotations

import numpy as np

from attnbook.widgets import HeadGrid
from attnbook.widgets.core import markup
from tests.widgets.conftest import TOKENS, settle

QUERY = np.array([[[2, 0], [1, 1], [1, 2]], [[2, -1], [1, 1], [1, 2]], [[0, 1], [1, 0], [0, 0]]])
KEY = np.array([[[2, -1], [1, 1], [1, 2]], [[-1, 0], [1, 1], [2, 2]], [[3, 0], [0, 3], [1, 1]]])


def three(**changes) -> HeadGrid:
    """Three heads of three tokens; the third sees differently from the others."""
    return HeadGrid(QUERY, KEY, tokens=TOKENS, **changes)


def status(page):
    return page.locator(".attnbook-status")


def title(page):
    return page.locator(".attnbook-title")


def small(page, h: int):
    return page.get_by_role("button", name=f"enlarge head {h}", exact=True)


def box(page, h: int):
    return page.get_by_role("checkbox", name=f"head {h}", exact=True)


def table(page) -> dict[str, list[str]]:
    """The table that says the same as the pictures: the cells of each row by its name."""
    if page.locator("details.attnbook-twin:not([open])").count():
        page.locator(".attnbook-twin > summary").click()
    settle(page)
    rows = page.locator(".attnbook-twin tbody tr").all()
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}


def lanes(page) -> list[list[str]]:
    """The bars of each key, as their texts."""
    settle(page)
    keys = page.locator(".attnbook-groups > li").all()
    return [key.locator(".attnbook-lane").all_text_contents() for key in keys]


def fixed(values) -> list[str]:
    return [markup.fixed(value) for value in values]


def cell(page, i: int, j: int) -> dict[str, float]:
    """The middle of a cell of a small matrix, whose cells are the largest there are."""
    bounds = page.locator(".attnbook-plot canvas").bounding_box()
    left, top = bounds["width"] - 2 - 3 * 56, bounds["height"] - 2 - 3 * 56
    return {"x": left + (j + 0.5) * 56, "y": top + (i + 0.5) * 56}


def click_cell(page, i: int, j: int) -> None:
    page.locator(".attnbook-plot canvas").click(position=cell(page, i, j))
