"""The position explorer wherever it is shown: anywidget, a phone, paper, no script; its cost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from attnbook.widgets import PositionExplorer
from attnbook.widgets.core import markup
from tests.widgets.conftest import settle
from tests.widgets.test_everywhere import EVIL, rendered, violations
from tests.widgets.test_positions_page import agrees, status


def largest() -> PositionExplorer:
    return PositionExplorer(64, 64, position=40, shift=20, pair=9)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_folded_and_unfolded(show, theme: str) -> None:
    page = show(largest(), PositionExplorer(8, 12), theme=theme)
    assert violations(page) == []
    for summary in page.locator("summary").all():
        summary.click()
    page.get_by_label("components d").first.fill("x")
    assert violations(page) == []


def test_a_phone_scrolls_down_only_and_has_room_for_a_finger(show) -> None:
    page = show(largest(), width=390, has_touch=True, is_mobile=True)
    for summary in page.locator("summary").all():
        summary.tap()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = """() => [...document.querySelectorAll('figure :is(button, select, input, summary)')]
      .filter((node) => node.getBoundingClientRect().height)
      .filter((node) => node.getBoundingClientRect().height < 44).length"""
    assert page.evaluate(small) == 0
    page.locator(".attnbook-plot").tap(position={"x": 100, "y": 100})
    expect(status(page)).to_contain_text("component")


def test_the_largest_picture_stays_within_its_budgets(show) -> None:
    widget = largest()
    page = show(widget)
    agrees(page, widget)  # both tables are open
    assert page.locator("figure *").count() <= 500
    assert len(widget.html()) < 50_000


def test_without_javascript_the_tables_are_there(show) -> None:
    widget = PositionExplorer(8, 12, position=3, shift=2, caption=EVIL)
    page = show(widget, ready=False, java_script_enabled=False)
    tables = page.locator(".attnbook-fallback table")
    expect(tables).to_have_count(3)
    expect(tables.nth(1)).to_contain_text(markup.fixed(widget.similarities[11]))
    expect(page.locator("figcaption")).to_have_text(EVIL)
    assert page.locator("figure img").count() == 0


def test_on_paper_there_are_pictures_and_tables_and_no_controls(show) -> None:
    page = show(PositionExplorer())
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-controls").first).to_be_hidden()
    for part in ("plot canvas", "curve svg", "dials svg"):
        expect(page.locator(f".attnbook-{part}").first).to_be_visible()
    expect(page.locator(".attnbook-twin table")).to_have_count(2)
    page.emulate_media(media="screen")
    expect(page.locator(".attnbook-twin table").first).to_be_hidden()


def test_the_hand_moves_python_and_the_other_view(show) -> None:
    page = rendered(show, PositionExplorer(8, 12, position=11, pair=3))
    page.get_by_label("positions n").first.fill("6")
    state = "['d', 'n', 'position', 'pair', 'formula', 'base'].map(model.get)"
    assert page.evaluate(state) == [8, 6, 5, 3, "divides", 10_000]
    assert page.evaluate("saves") == 1
    settle(page)
    expect(page.get_by_label("positions n").last).to_have_value("6")
    expect(page.get_by_label("position p").last).to_have_value("5")
    page.get_by_role("combobox").last.select_option(index=1)
    page.get_by_label("base as a number").last.fill("50")
    assert page.evaluate(state) == [8, 6, 5, 3, "multiplies", 50]
    page.get_by_role("button", name="reset").first.click()
    assert page.evaluate(state) == [8, 12, 11, 3, "divides", 10_000]


def test_python_moves_the_view_and_hears_no_echo(show) -> None:
    widget = PositionExplorer(8, 12, position=11, pair=3)
    page = rendered(show, widget, views=1)
    widget.d, widget.n, widget.shift = 4, 6, 2
    # one by one: for a moment position and pair lie beyond the table
    page.evaluate("() => { model.set('n', 6); model.set('d', 4); model.set('shift', 2); }")
    settle(page)
    page.evaluate("() => { model.set('position', 5); model.set('pair', 1); }")
    agrees(page, widget)
    assert page.evaluate("saves") == 0
