"""The block wherever it is shown: anywidget, a phone, paper, no script; and its cost."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.widgets.conftest import settle
from tests.widgets.test_block import largest, made
from tests.widgets.test_block_page import agrees, box, choice
from tests.widgets.test_everywhere import rendered


def test_a_phone_never_scrolls_sideways_and_shows_the_chosen_block(show) -> None:
    page = show(made(), largest(), width=390, has_touch=True, is_mobile=True)
    page.locator("summary").last.tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    now = page.locator(".attnbook-trace .attnbook-now").last.bounding_box()
    assert now["x"] + now["width"] <= 390
    cells = page.locator(".attnbook-cells > span").all()
    assert all(one.bounding_box()["height"] < 30 for one in cells)  # no number is broken


def test_the_largest_picture_stays_within_its_budgets(show) -> None:
    page = show(largest())
    agrees(page, largest())
    page.locator("summary").click()
    page.locator(".attnbook-twin table").wait_for()
    assert page.locator("figure *").count() <= 500


def test_without_javascript_the_tables_are_there(show) -> None:
    page = show(made(blocks=2), ready=False, java_script_enabled=False)
    expect(page.locator(".attnbook-fallback table")).to_have_count(3)
    expect(page.locator(".attnbook-fallback")).to_contain_text("a = attention(n₁)")


def test_on_paper_there_are_all_numbers_and_no_controls(show) -> None:
    page = show(made())
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-controls")).to_be_hidden()
    expect(page.locator(".attnbook-twin table")).to_be_visible()
    settle(page)
    agrees(page, made())


def test_the_hand_moves_python_and_the_other_view(show) -> None:
    page = rendered(show, made())
    box(page, 2).first.fill("3.5")
    assert page.evaluate("model.get('vectors')[0]") == [2, 3.5, 0, 1]
    assert page.evaluate("saves") == 1
    expect(box(page, 2).last).to_have_value("3.5")
    choice(page, "norm").last.select_option(index=2)
    page.get_by_label("residual sum").last.uncheck()
    choice(page, "blocks").last.select_option("4")
    page.get_by_role("button", name="next").last.click()
    state = "['norm', 'residual', 'blocks', 'shown'].map((name) => model.get(name))"
    assert page.evaluate(state) == ["none", False, 4, 2]
    page.get_by_role("button", name="reset").first.click()
    assert page.evaluate(state) == ["pre", True, 1, 1]


def test_python_moves_the_view(show) -> None:
    widget = made()
    page = rendered(show, widget, views=1)
    widget.norm, widget.token, widget.residual = "post", 1, False
    page.evaluate(
        "() => { model.set('norm', 'post'); model.set('token', 1); model.set('residual', false); }"
    )
    agrees(page, widget)
    assert page.evaluate("saves") == 0
