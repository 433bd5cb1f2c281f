"""The beam tree in a browser: the search of Python, told in words, moved by hand and keyboard."""

from __future__ import annotations

import math

import pytest
from playwright.sync_api import expect

from attnbook.widgets import BeamTree
from tests.widgets.beams import DETERMINERS, EOS, full_table, model_table
from tests.widgets.conftest import settle


def page_number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def ranking(page) -> list[tuple[str, ...]]:
    rows = page.get_by_role("group", name="The hypotheses that have ended").locator("tbody tr")
    return [tuple(row.locator("th, td").all_inner_texts()) for row in rows.all()]


def wanted(tree: BeamTree) -> list[tuple[str, ...]]:
    """The ranking as Python has it, in the words of the page."""
    return [
        (
            " ".join([*one.tokens, EOS if one.finished else "(unfinished)"]),
            page_number(one.log_probability),
            str(len(one.tokens) + one.finished),
            page_number(one.score),
        )
        for one in tree.hypotheses
    ]


def boxes(page, kind: str = "") -> list[str]:
    return page.locator(f".attnbook-tree button{kind} b").all_inner_texts()


def status(page):
    return page.get_by_role("status")


def press(page, name: str) -> None:
    # at either end the button says that it is disabled, and may be pressed all the same
    page.get_by_role("button", name=name, exact=True).click(force=True)


@pytest.mark.parametrize("penalty", [0.0, 0.7, 2.0])
def test_the_ranking_is_that_of_python_for_every_beam(show, penalty: float) -> None:
    trees = [BeamTree(DETERMINERS), BeamTree(full_table(1, lacking=0.8)), BeamTree(model_table())]
    for tree in trees:
        tree.penalty, tree.step = penalty, -1
        page = show(tree)
        for beam in range(1, 6):
            tree.beam = beam
            page.get_by_role("combobox").select_option(index=beam - 1)
            press(page, "end")
            assert ranking(page) == wanted(tree)


def test_the_first_view_says_what_to_do(show) -> None:
    page = show(BeamTree(DETERMINERS))
    expect(status(page)).to_have_text(
        "Nothing is written yet. Press “next”: the possible first words compete."
    )
    assert boxes(page) == []
    expect(page.get_by_text("word 0 of 3")).to_be_visible()


def test_each_word_is_told_with_what_is_kept_and_what_has_ended(show) -> None:
    page = show(BeamTree(DETERMINERS))
    press(page, "next")
    expect(status(page)).to_have_text(
        "Word 1, k = 2, candidates: 2. Kept: “le” (−0.693), “la” (−0.916)."
    )
    press(page, "next")
    expect(status(page)).to_have_text(
        "Word 2, k = 2, candidates: 5. Kept: “la souris” (−1.022), “le chat” (−1.743)."
    )
    assert boxes(page, ".attnbook-kept") == ["le", "la", "souris", "chat"]
    press(page, "next")
    expect(status(page)).to_have_text(
        "Word 3, k = 2, candidates: 3. Ended and put aside: “la souris </s>” (−1.245), "
        "“le chat </s>” (−1.743). The search is over: no hypothesis lives on. "
        "Best: “la souris </s>”, score −1.245."
    )
    assert boxes(page, ".attnbook-over") == [EOS, EOS]
    assert boxes(page, ".attnbook-best") == ["la", "souris", EOS]


def test_the_search_says_why_it_ends(show) -> None:
    page = show(BeamTree({(): {"a": 0.1, EOS: 0.8}, ("a",): {EOS: 1.0}}, beam=1, step=-1))
    expect(status(page)).to_contain_text("The search is over: no hypothesis lives on.")
    page = show(BeamTree({(): {"a": 0.4, EOS: 0.6}, ("a",): {EOS: 1.0}}, beam=1, step=-1))
    expect(status(page)).to_contain_text("no hypothesis lives on. Best: “</s>”, score −0.511.")
    table = {(): {"a": 0.3, "b": 0.3, EOS: 0.3}}
    table |= {(word,): {"a": 0.5, EOS: 0.01} for word in "ab"}
    page = show(BeamTree(table, beam=2, max_length=2, penalty=0, step=-1))
    expect(status(page)).to_contain_text("no more words are allowed")
    table = {(): {EOS: 0.7, "a": 0.2}, ("a",): {EOS: 0.5, "a": 0.4}, ("a", "a"): {EOS: 1}}
    page = show(BeamTree(table, beam=2, penalty=0, step=-1))
    expect(status(page)).to_contain_text(
        "what lives on can no longer come among the best. Best: “</s>”"
    )


def test_a_pruned_candidate_says_why_and_a_kept_one_how_it_adds_up(show) -> None:
    page = show(BeamTree(DETERMINERS, step=2))
    pruned = page.locator(".attnbook-tree button", has_text="chien")
    pruned.hover()
    expect(status(page)).to_have_text(
        "“le chien”: log p = −0.693 + ln 0.33 = −0.693 + (−1.109) = −1.802; "
        "pruned: number 3 of the candidates, and k = 2."
    )
    assert boxes(page, ".attnbook-best") == ["le", "chien"]
    page.locator(".attnbook-tree button", has_text="souris").click()
    expect(status(page)).to_contain_text("−0.916 + (−0.105) = −1.022; kept.")
    expect(page.get_by_text("pruned: 3", exact=True)).to_be_visible()


def test_the_keyboard_goes_through_the_tree_and_on(show) -> None:
    tree = BeamTree(DETERMINERS, step=1)
    page = show(tree)
    page.locator(".attnbook-tree button[tabindex='0']").focus()
    expect(status(page)).to_contain_text("“le”: log p = 0.000 + ln 0.5")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("word 2 of 3")).to_be_visible()
    expect(status(page)).to_contain_text("“la souris”")
    for key, words in [
        ("ArrowDown", "“le chat”"),
        ("ArrowDown", "“le chien”"),
        ("ArrowLeft", "“la”"),
        ("ArrowUp", "“le”"),
        ("ArrowUp", "“le”"),
        ("End", "“la souris”"),
        ("Home", "“le”"),
    ]:
        page.keyboard.press(key)
        expect(status(page)).to_contain_text(f"{words}: log p")
    expect(page.get_by_text("word 2 of 3")).to_be_visible()  # only the right arrow goes on


def test_the_arrow_keys_step_through_the_words(show) -> None:
    page = show(BeamTree(DETERMINERS))
    press(page, "next")
    for key, word in [("ArrowRight", 2), ("ArrowRight", 3), ("ArrowRight", 3), ("ArrowLeft", 2)]:
        page.keyboard.press(key)
        expect(page.get_by_text(f"word {word} of 3")).to_be_visible()
    press(page, "start")
    expect(page.get_by_role("button", name="previous")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("word 0 of 3")).to_be_visible()


def test_the_table_of_candidates_gives_every_number(show) -> None:
    page = show(BeamTree(DETERMINERS, step=2, beam=1))
    page.get_by_text("The candidates for word 2 as a table").click()
    rows = page.get_by_role("group", name="The candidates of this word").locator("tbody tr")
    assert rows.all_inner_texts() == [
        "le chat\t−0.693\t0.35\t−1.743\tkept",
        "le chien\t−0.693\t0.33\t−1.802\tpruned: number 2 of the candidates, and k = 1",
        f"le {EOS}\t−0.693\t0.2\t−2.303\tpruned: number 3 of the candidates, and k = 1",
    ]
    page = show(BeamTree(model_table(), beam=2, step=2))
    page.get_by_text("The candidates for word 2 as a table").click()
    expect(page.get_by_role("row", name="and 19 more")).to_be_visible()


def test_the_penalty_moves_the_ranking_by_slider_and_by_number(show) -> None:
    tree = BeamTree(full_table(3, lacking=0.5), beam=4, step=-1)
    page = show(tree)
    exact = page.get_by_label("length penalty α as a number")
    for penalty in ("1,5", "2", "0.25"):
        exact.fill(penalty)
        tree.penalty = float(penalty.replace(",", "."))
        assert ranking(page) == wanted(tree)
    page.get_by_label("length penalty α", exact=True).fill("1")
    tree.penalty = 1
    assert ranking(page) == wanted(tree)
    for bad in ("", "-1", "2.1", "much"):
        exact.fill(bad)
        expect(page.get_by_role("alert")).to_contain_text("a number from 0 to 2 is wanted; 1 is")
        assert ranking(page) == wanted(tree)


def test_every_probability_can_be_edited_and_the_rest_goes_to_others(show) -> None:
    tree = BeamTree(DETERMINERS, editable=True, step=-1)
    page = show(tree)
    start = page.get_by_role("group", name="first")
    start.get_by_label("la, first").fill("0.05")
    expect(start).to_contain_text("others 0.45")
    tree.logs = [[math.log(0.5), math.log(0.05)], *tree.logs[1:]]
    assert ranking(page) == wanted(tree)
    assert ranking(page)[0][0] == f"le chat {EOS}"
    box = page.get_by_label("noir, after “le chien”")
    box.press("ArrowUp")
    expect(box).to_have_value("0.1")  # the row is full
    page.get_by_label(f"{EOS}, after “le chien”").press("ArrowDown")
    box.press("ArrowUp")
    expect(box).to_have_value("0.15")


@pytest.mark.parametrize("bad", ["", "0.61", "-0.1", "2", "half", "1e9"])
def test_a_row_over_1_is_refused_in_words_and_the_last_number_stays(show, bad: str) -> None:
    tree = BeamTree(DETERMINERS, editable=True, step=-1)
    page = show(tree)
    box = page.get_by_label("le, first")
    box.fill(bad)
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert")).to_have_text(
        "le, first: a number from 0 to 1, with at most 1 in all in its line, is wanted; "
        "0.5 is kept."
    )
    assert ranking(page) == wanted(tree)
    box.press("Tab")
    expect(box).to_have_value("0.5")
    box.fill("0.6")
    expect(page.get_by_role("alert")).to_be_empty()


def test_a_table_of_zeros_is_said_to_lead_nowhere(show) -> None:
    page = show(BeamTree({(): {"a": 0.5}, ("a",): {EOS: 1}}, editable=True, step=-1))
    page.get_by_label("a, first").fill("0")
    expect(status(page)).to_have_text(
        "Word 1, k = 2, candidates: 0. The search is over: no hypothesis lives on."
    )
    assert ranking(page) == []
    page.get_by_label("a, first").press("ArrowUp")
    expect(page.get_by_label("a, first")).to_have_value("0.05")
    assert ranking(page)[0][0] == f"a {EOS}"


def test_reset_brings_back_the_first_search_every_time(show) -> None:
    tree = BeamTree(DETERMINERS, editable=True, step=2, penalty=0.5)
    page = show(tree)
    for _ in range(2):
        page.get_by_label("le, first").fill("0.1")
        page.get_by_label("chat, after “le”").fill("")
        page.get_by_label("length penalty α as a number").fill("9")
        page.get_by_role("combobox").select_option("5")
        press(page, "end")
        page.get_by_role("button", name="reset").click()
        settle(page)
        assert page.locator("[aria-invalid]").count() == 0
        expect(page.get_by_role("alert")).to_be_empty()
        expect(page.get_by_label("le, first")).to_have_value("0.5")
        expect(page.get_by_label("length penalty α as a number")).to_have_value("0.5")
        expect(page.get_by_role("combobox")).to_have_value("2")
        expect(page.get_by_text("word 2 of 3")).to_be_visible()
