"""The beam tree wherever it is shown: http, file, anywidget, a phone, paper, no script."""

from __future__ import annotations

import math

import pytest
from playwright.sync_api import expect

from attnbook.widgets import BeamTree
from tests.widgets.beams import DETERMINERS, EOS, model_table
from tests.widgets.conftest import settle
from tests.widgets.test_beam_page import boxes, press, ranking, status, wanted
from tests.widgets.test_everywhere import rendered


@pytest.mark.parametrize("via", ["file", "http"])
def test_a_search_goes_on_over_http_and_from_a_file(show, via: str) -> None:
    tree = BeamTree(DETERMINERS, beam=1)
    page = show(tree, via=via)
    assert page.url.startswith(via)
    press(page, "end")
    assert ranking(page) == wanted(tree)
    page.get_by_role("combobox").select_option("3")
    tree.beam = 3
    press(page, "end")
    assert ranking(page) == wanted(tree)


def test_the_largest_tree_stays_within_its_budgets(show) -> None:
    tree = BeamTree(model_table(), beam=5, step=-1)
    page = show(tree)
    press(page, "end")
    page.get_by_text("as a table").click()
    assert page.locator("figure *").count() <= 500


def test_the_words_just_written_are_in_sight_in_a_long_search(show) -> None:
    page = show(BeamTree(model_table(), beam=2), width=390)
    for _ in range(5):
        press(page, "next")
        newest = page.locator(".attnbook-tree button[tabindex='0']").bounding_box()
        assert newest["x"] >= 0
        assert newest["x"] + newest["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_finger_on_a_phone_sees_a_candidates_sum(show) -> None:
    page = show(
        BeamTree(DETERMINERS, editable=True, step=2), width=390, has_touch=True, is_mobile=True
    )
    page.locator(".attnbook-tree button", has_text="chat").tap()
    expect(status(page)).to_contain_text("“le chat”: log p = −0.693")
    page.get_by_role("button", name="next", exact=True).tap()
    expect(page.get_by_text("word 3 of 3")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_javascript_the_tables_are_there(show) -> None:
    page = show(BeamTree(DETERMINERS), ready=False, java_script_enabled=False)
    expect(page.locator(".attnbook-fallback table")).to_have_count(2)
    expect(page.locator(".attnbook-fallback")).to_contain_text("la souris </s>")


def test_on_paper_there_are_tree_and_tables_and_no_controls(show) -> None:
    page = show(BeamTree(DETERMINERS, editable=True, step=-1))
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-controls")).to_be_hidden()
    expect(page.locator(".attnbook-stepper")).to_be_hidden()
    expect(page.locator(".attnbook-tree button").first).to_be_visible()
    settle(page)
    expect(page.get_by_role("group", name="The candidates of this word")).to_contain_text("kept")
    assert ranking(page)[0][0] == f"la souris {EOS}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_kept_and_what_is_pruned_do_not_hang_on_colour(show, theme: str) -> None:
    page = show(BeamTree(DETERMINERS, step=2), theme=theme)
    titles = [one.get_attribute("title") for one in page.locator(".attnbook-tree button").all()]
    assert [title.split(":")[0] for title in titles] == ["kept"] * 4 + ["pruned"] * 3


def test_the_view_moves_python_and_the_other_view(show) -> None:
    page = rendered(show, BeamTree(DETERMINERS, editable=True))
    page.get_by_role("button", name="next", exact=True).first.click()
    assert page.evaluate("model.get('step')") == 1
    assert boxes(page) == ["le", "la"] * 2
    page.get_by_role("combobox").last.select_option("1 (greedy)")
    assert page.evaluate("model.get('beam')") == 1
    expect(page.get_by_role("combobox").first).to_have_value("1 (greedy)")
    page.get_by_label("length penalty α as a number").first.fill("0.5")
    assert page.evaluate("model.get('penalty')") == 0.5
    page.get_by_label("le, first").first.fill("0.25")
    assert page.evaluate("model.get('logs')[0][0]") == pytest.approx(math.log(0.25))
    assert page.evaluate("model.get('initial').logs[0][0]") == pytest.approx(math.log(0.5))
    assert page.get_by_label("le, first").last.input_value() == "0.25"
    assert page.evaluate("saves") == 4


def test_the_numbers_that_the_view_sends_are_accepted_in_python(show) -> None:
    tree = BeamTree(DETERMINERS, editable=True)
    page = rendered(show, tree, views=1)
    for value in ("0", "0.6", "0.123456789"):
        page.get_by_label("le, first").fill(value)
        tree.logs = page.evaluate("model.get('logs')")
        assert tree.table[()]["le"] == pytest.approx(float(value), abs=1e-7)


def test_python_moves_the_view(show) -> None:
    page = rendered(show, BeamTree(DETERMINERS))
    page.evaluate("() => { model.set('beam', 1); model.set('step', 3); }")
    for view in page.locator("figure").all():
        expect(view.get_by_role("status")).to_contain_text("Best: “le chat </s>”, score −1.743.")
    assert page.evaluate("saves") == 0
