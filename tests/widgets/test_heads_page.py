"""Heads side by side in a browser: chosen, enlarged and compared by mouse and by keyboard."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from attnbook.widgets import HeadGrid
from attnbook.widgets.core import markup
from attnbook.widgets.core.chunks import module
from tests.widgets.conftest import TOKENS, settle
from tests.widgets.heads import box, click_cell, fixed, lanes, small, table, three, title
from tests.widgets.test_everywhere import RENDER


@pytest.mark.parametrize("via", ["file", "http"])
def test_mouse_and_keyboard_choose_heads_from_a_file_and_over_http(show, via: str) -> None:
    widget = three(chosen=[])
    page = show(widget, via=via)
    expect(title(page)).to_have_text("no head is chosen: average of all 3 heads")
    box(page, 2).check()
    expect(title(page)).to_have_text("head 2")
    small(page, 0).focus()
    page.keyboard.press("Enter")
    expect(box(page, 0)).to_be_checked()
    expect(title(page)).to_have_text(
        "head 0 and head 2: in each cell a bar for each, in this order"
    )
    page.get_by_label("query").select_option("nuts")
    mean = widget.weights[[0, 2]].mean(0)
    rows = zip(widget.weights[0, 2], widget.weights[2, 2], mean[2], strict=True)
    assert lanes(page) == [
        [f"0 {a}", f"2 {b}", f"average {c}"] for a, b, c in (fixed(row) for row in rows)
    ]


def test_arrow_keys_move_between_the_heads_and_enlarge_them(show) -> None:
    page = show(three())
    small(page, 0).focus()
    for key, h in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowRight", 2), ("ArrowLeft", 1)]:
        page.keyboard.press(key)
        expect(small(page, h)).to_be_focused()
        expect(title(page)).to_have_text(f"head {h}")
    page.keyboard.press("End")
    expect(small(page, 2)).to_be_focused()
    page.keyboard.press("Home")
    expect(small(page, 0)).to_be_focused()
    expect(small(page, 0)).to_have_attribute("aria-pressed", "true")
    expect(small(page, 1)).to_have_attribute("aria-pressed", "false")


def test_the_arrows_up_and_down_move_by_a_row_of_the_grid(show) -> None:
    x = np.random.default_rng(0).normal(size=(12, 3, 4))
    page = show(HeadGrid(x, tokens=TOKENS))
    tops = [small(page, h).bounding_box()["y"] for h in range(12)]
    columns = tops.count(tops[0])
    assert 1 < columns < 12
    small(page, 0).focus()
    page.keyboard.press("ArrowUp")
    expect(small(page, 0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(small(page, columns)).to_be_focused()


def test_enter_and_space_choose_a_head_and_let_it_go(show) -> None:
    page = show(three())
    small(page, 0).focus()
    page.keyboard.press("ArrowRight")
    for key in ("Space", "Enter"):
        page.keyboard.press(key)
        expect(box(page, 1)).not_to_be_checked()
        expect(title(page)).to_have_text("head 0")
        page.keyboard.press(key)
        expect(box(page, 1)).to_be_checked()
        expect(title(page)).to_contain_text("head 0 and head 1")
        expect(small(page, 1)).to_be_focused()


def test_the_heads_are_one_stop_of_the_tab_key(show) -> None:
    page = show(three())
    page.get_by_role("button", name="reset").focus()
    page.keyboard.press("Tab")
    expect(small(page, 0)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="one head")).to_be_focused()


def test_a_click_enlarges_a_head_and_shows_its_numbers(show) -> None:
    page = show(three())
    widget = three()
    small(page, 2).click()
    expect(title(page)).to_have_text("head 2")
    assert list(table(page).values()) == [fixed(row) for row in widget.weights[2]]
    assert [box(page, h).is_checked() for h in range(3)] == [True, True, False]
    page.get_by_role("button", name="the chosen heads").click()
    assert list(table(page).values()) == [
        fixed(widget.weights[h, i]) for i in range(3) for h in (0, 1)
    ]
    assert list(table(page))[:2] == ["had, head 0", "had, head 1"]


def test_the_average_is_that_of_the_chosen_heads_or_of_all(show) -> None:
    page = show(three())
    weights = three().weights
    page.get_by_role("button", name="their average").click()
    expect(title(page)).to_have_text("average of head 0 and head 1")
    assert list(table(page).values()) == [fixed(row) for row in weights[:2].mean(0)]
    box(page, 2).check()
    expect(title(page)).to_have_text("average of all 3 heads")
    assert list(table(page).values()) == [fixed(row) for row in weights.mean(0)]
    for h in range(3):
        box(page, h).uncheck()
    assert list(table(page).values()) == [fixed(row) for row in weights.mean(0)]


def test_the_average_stays_while_the_keyboard_looks_for_another_head(show) -> None:
    page = show(three())
    page.get_by_role("button", name="their average").click()
    small(page, 0).focus()
    for key in ("ArrowRight", "ArrowRight", "Space"):
        page.keyboard.press(key)
    expect(title(page)).to_have_text("average of all 3 heads")


def test_scale_mask_and_temperature_move_every_head(show) -> None:
    widget = three(row=2)
    page = show(widget)
    page.get_by_label("divide by √2").uncheck()
    page.get_by_label("temperature as a number").fill("2.5")
    widget.scaled, widget.temperature = False, 2.5
    assert [table(page)[f"head {h}"] for h in range(3)] == [fixed(w[2]) for w in widget.weights]
    page.get_by_label("causal mask").check()
    page.get_by_label("query").select_option("bowl")
    widget.causal = True
    for h in range(3):
        assert table(page)[f"head {h}"] == [*fixed(widget.weights[h, 1, :2]), "masked"]
    assert lanes(page)[2] == ["0 masked", "1 masked", "average masked"]


def test_a_click_and_a_key_pin_a_row_of_the_large_map(show) -> None:
    page = show(three())
    click_cell(page, 1, 2)
    expect(page.locator(".attnbook-side")).to_contain_text("bowl attends to")
    expect(page.get_by_label("query")).to_have_value("bowl")
    click_cell(page, 1, 0)
    expect(page.locator(".attnbook-groups")).to_have_count(0)
    page.get_by_role("application").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_label("query")).to_have_value("nuts")
    page.keyboard.press("Escape")
    expect(page.get_by_label("query")).to_have_value("none")
    page.get_by_label("query").select_option("had")
    page.get_by_role("button", name="let go").click()
    expect(page.locator(".attnbook-groups")).to_have_count(0)
    expect(page.get_by_role("application")).to_be_focused()


def test_a_slow_press_on_let_go_is_a_click(show) -> None:
    """The press takes the focus from the map, which is drawn anew before the release."""
    page = show(three())
    page.get_by_role("application").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    box = page.get_by_role("button", name="let go").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.evaluate("() => new Promise((done) => setTimeout(done, 150))")
    page.mouse.up()
    expect(page.locator(".attnbook-groups")).to_have_count(0)


def test_a_finger_enlarges_chooses_and_pins(show) -> None:
    page = show(three(), width=390, has_touch=True, is_mobile=True)
    small(page, 2).tap()
    expect(title(page)).to_have_text("head 2")
    page.locator(".attnbook-item label").nth(2).tap()
    expect(title(page)).to_contain_text("head 0, head 1 and head 2")
    bounds = page.locator(".attnbook-plot canvas").bounding_box()
    page.locator(".attnbook-plot canvas").tap(position={"x": 5, "y": bounds["height"] - 20})
    expect(page.get_by_label("query")).to_have_value("nuts")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_at_most_six_heads_are_compared(show) -> None:
    x = np.random.default_rng(0).normal(size=(8, 3, 4))
    page = show(HeadGrid(x, tokens=TOKENS, chosen=range(6), row=0))
    box(page, 6).click()
    expect(page.get_by_role("alert")).to_have_text(
        "At most 6 heads are compared: let one go first."
    )
    settle(page)
    expect(box(page, 6)).not_to_be_checked()
    box(page, 5).uncheck()
    expect(page.get_by_role("alert")).to_be_empty()
    box(page, 6).check()
    expect(title(page)).to_contain_text("head 4 and head 6")


def test_reset_brings_back_the_first_picture(show) -> None:
    page = show(three(row=2, large="average"))
    before = table(page)
    box(page, 1).uncheck()
    small(page, 2).click()
    page.get_by_label("causal mask").check()
    page.get_by_label("query").select_option("none")
    page.get_by_label("temperature as a number").fill("0")
    page.get_by_role("button", name="reset").click()
    assert table(page) == before
    expect(page.get_by_role("alert")).to_be_empty()
    expect(page.get_by_label("query")).to_have_value("nuts")
    expect(page.get_by_label("temperature as a number")).to_have_value("1")
    expect(title(page)).to_have_text("average of head 0 and head 1")


def test_the_whole_state_follows_python_and_python_follows_it(show) -> None:
    page = show()
    page.evaluate(RENDER, [module(), markup.tidy(three().state()), 2])
    settle(page)
    page.evaluate("() => { model.set('row', 1); model.set('chosen', [2]); }")
    settle(page)
    for view in page.locator("figure").all():
        expect(view.locator(".attnbook-title")).to_have_text("head 2")
        expect(view.get_by_label("query")).to_have_value("bowl")
    assert page.evaluate("saves") == 0  # a view that is told of a change sends none back
    first = page.locator("figure").first
    first.get_by_role("checkbox", name="head 0").check()
    first.get_by_role("button", name="their average").click()
    assert page.evaluate("[model.get('chosen'), model.get('large'), model.get('head')]") == [
        [0, 2],
        "average",
        0,
    ]
    expect(page.locator(".attnbook-title").last).to_have_text("average of head 0 and head 2")
