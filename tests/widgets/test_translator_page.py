"""The translator in a browser: weights on demand, words one by one, beams, and what it looks at."""

from __future__ import annotations

from itertools import chain

import pytest
from playwright.sync_api import expect

from attnbook.widgets.core import markup
from attnbook.widgets.core.assets import asset_script
from tests.widgets.conftest import settle
from tests.widgets.test_translator import put_asset, translator

FRENCH = ["le", "petit", "chat", "noir", "ne", "mange", "pas", "la", "pomme", "rouge", "<eos>"]


@pytest.fixture
def opened(show, folder):
    """Open a page with one translator whose weights lie beside it; words do not wait."""

    def at_once(widget=None, **options):
        widget = widget or translator()
        put_asset(folder, widget)
        return show(widget, **{"reduced_motion": "reduce"} | options)

    return at_once


def box(page):
    return page.get_by_label("English sentence")


def button(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def words(page) -> list[str]:
    settle(page)
    return page.locator(".attnbook-words button > span").all_inner_texts()


def written(page):
    return page.locator(".attnbook-written")


def status(page):
    return page.get_by_role("status").last


def translate(page, text: str | None = None) -> None:
    """Have a sentence translated, and wait until its first word is there."""
    if text is not None:
        box(page).fill(text)
    button(page, "translate").click()
    page.locator(".attnbook-words li").first.wait_for()
    settle(page)


def choose(page, name: str, option: str | int) -> None:
    """Choose by text or place; then the picture is drawn."""
    page.get_by_role("combobox", name=name).select_option(
        **({"index": option} if isinstance(option, int) else {"label": option})
    )
    settle(page)


def rows(page, which: int) -> list[list[str]]:
    """A folded table's rows, headings left out."""
    fold = page.locator(".attnbook-twin").nth(which)
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
        settle(page)
    lines = fold.locator("tbody tr").all()
    return [line.locator("td").all_inner_texts() for line in lines]


def test_before_it_is_asked_the_page_loads_nothing_and_shows_the_servers_table(opened) -> None:
    widget = translator()
    page = opened(widget)
    assert page.evaluate("globalThis.attnbookAssets") is None
    expect(page.locator(".attnbook-fallback table")).to_be_visible()
    expect(page.get_by_text(f"loads the weights, {widget.size / 1e3:.0f} KB, once")).to_be_visible()
    expect(page.locator(".attnbook-stepper")).to_be_hidden()


@pytest.mark.parametrize("via", ["file", "http"])
def test_the_first_sentence_is_translated_with_its_probabilities(opened, via: str) -> None:
    widget = translator()
    page = opened(widget, via=via)
    translate(page)
    assert words(page) == FRENCH
    expect(written(page)).to_have_text(widget.translation)
    chances, _ = widget._run(widget.hypotheses[0], "cross")
    drawn = page.locator(".attnbook-words small").all_inner_texts()
    assert drawn == [markup.fixed(p, 2) for p in chances]
    expect(page.locator(".attnbook-fallback")).to_have_count(0)
    expect(page.get_by_text("loads the weights")).to_have_count(0)
    assert [float(row[0]) for row in rows(page, 1)] == pytest.approx(chances.tolist(), abs=6e-4)


def test_it_steps_word_by_word_and_names_the_rivals(opened) -> None:
    page = opened()
    translate(page)
    button(page, "to the start").click()
    assert words(page) == []
    expect(status(page)).to_contain_text("Press “next word”")
    on = button(page, "next word")
    on.evaluate("(node) => { node.click(); node.click(); }")  # both within one frame
    assert words(page) == ["le", "petit"]
    on.press("ArrowLeft")
    on.press("ArrowRight")
    assert words(page) == ["le", "petit"]
    expect(written(page)).to_have_text("le petit")
    expect(page.locator(".attnbook-side")).to_contain_text("Word 2, after le")
    expect(page.locator(".attnbook-side li").first).to_contain_text("petit")
    expect(status(page)).to_contain_text("To write petit (p 0.9")
    button(page, "back").click()
    settle(page)
    assert words(page) == ["le"]
    button(page, "all").click()
    settle(page)
    assert words(page) == FRENCH


def test_without_haste_the_words_come_one_after_another(opened) -> None:
    page = opened(reduced_motion="no-preference")
    translate(page)
    assert 1 <= len(words(page)) < 11
    expect(page.locator(".attnbook-words li")).to_have_count(11, timeout=10_000)
    translate(page)  # the same sentence again
    button(page, "back").click()
    settle(page)
    shown = len(words(page))
    assert shown < 11
    page.wait_for_timeout(600)
    assert len(words(page)) == shown  # a hand took over


def test_a_typed_sentence_is_translated_by_enter_as_python_does(opened) -> None:
    widget = translator(examples=["how was your day"])
    page = opened(widget)
    box(page).fill("  The small RED cat doesn’t eat!")
    box(page).press("Enter")
    page.locator(".attnbook-words li").first.wait_for()
    widget.sentence = ["the", "small", "red", "cat", "does", "not", "eat"]
    expect(written(page)).to_have_text(widget.translation)
    page.get_by_role("button", name="how was your day").click()
    widget.sentence = ["how", "was", "your", "day"]
    expect(written(page)).to_have_text(widget.translation)
    expect(box(page)).to_have_value("how was your day")


def test_unknown_words_are_named_and_the_nearest_offered(opened) -> None:
    page = opened()
    box(page).fill("teh cat eats xylophonic aples")
    button(page, "translate").click()
    alert = page.get_by_role("alert").first
    expect(alert).to_have_text("The model does not know “teh”, “xylophonic”, “aples”.")
    expect(page.get_by_text("No known word is near “xylophonic”.")).to_be_visible()
    expect(box(page)).to_have_attribute("aria-invalid", "true")
    assert page.evaluate("globalThis.attnbookAssets") is None
    offered = page.locator(".attnbook-hints p").last.get_by_role("button").all_inner_texts()
    assert len(offered) == 3
    assert "apples" in offered
    button(page, "apples").click()
    expect(box(page)).to_have_value("teh cat eats xylophonic apples")
    expect(alert).to_have_text("The model does not know “teh”, “xylophonic”.")
    box(page).fill("teh cat")
    box(page).press("Enter")
    button(page, "the").click()
    expect(alert).to_be_empty()
    expect(button(page, "translate")).to_be_focused()
    for junk, told in (("", "not 0"), ("the " * 17, "not 17"), (" .,! ", "not 0")):
        box(page).fill(junk)
        box(page).press("Enter")
        expect(alert).to_have_text(f"1 to 16 words are wanted, {told}.")


def test_a_beam_ranks_its_hypotheses_as_python_does(opened) -> None:
    widget = translator(sentence="does the famous cat eat", beam=5, length_penalty=0.5)
    page = opened(widget)
    translate(page)
    for _ in range(2):
        table = page.locator(".attnbook-translator .attnbook-scroll table").first
        expect(table.locator("tbody tr")).to_have_count(widget.beam)
        drawn = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
        wanted = [
            [
                markup.fixed(h.log_probability),
                str(len(h.tokens) + h.finished),
                markup.fixed(h.score),
            ]
            for h in widget.hypotheses
        ]
        assert drawn == wanted
        widget.beam, widget.penalty = 3, 2.0
        page.get_by_label("length penalty α as a number").fill("2")
        choose(page, "beam", "3")
    choose(page, "beam", "1 (greedy)")
    expect(table).to_be_hidden()
    page.get_by_label("length penalty α as a number").fill("7")
    expect(page.get_by_role("alert").first).to_contain_text("a number from 0 to 2 is wanted")


@pytest.mark.parametrize(("place", "part"), [(0, "cross"), (1, "encoder"), (2, "decoder")])
def test_the_weights_of_every_part_layer_and_head_are_pythons(opened, place, part: str) -> None:
    widget = translator(sentence="the small cat does not eat")
    page = opened(widget)
    translate(page)
    widget.part = part
    choose(page, "attention", place)
    for layer, head in ((0, None), (0, 1), (1, 0)):
        widget.layer, widget.head = layer, head
        choose(page, "layer", str(layer))
        choose(page, "head", "mean of all" if head is None else str(head))
        masked = [
            ["masked" if part == "decoder" and j > i else w for j, w in enumerate(row)]
            for i, row in enumerate(widget.weights.tolist())
        ]
        drawn = rows(page, 0)
        assert [len(row) for row in drawn] == [len(row) for row in masked]
        for mine, theirs in zip(chain(*drawn), chain(*masked), strict=True):
            assert mine == theirs or float(mine) == pytest.approx(theirs, abs=5.1e-4)


def test_a_row_is_pinned_by_word_click_or_keys_and_let_go(opened) -> None:
    page = opened()
    translate(page)
    page.locator(".attnbook-words button").nth(2).click()
    settle(page)
    expect(status(page)).to_contain_text("To write chat (p 0.9")
    expect(page.locator(".attnbook-words [aria-pressed=true]")).to_contain_text("chat")
    plot = page.get_by_role("application")
    plot.focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    settle(page)
    expect(page.locator(".attnbook-words [aria-pressed=true]")).to_contain_text("noir")
    expect(status(page)).to_contain_text("noir → the 0.")
    page.keyboard.press("Escape")
    settle(page)
    expect(page.locator(".attnbook-words [aria-pressed=true]")).to_have_count(0)
    choose(page, "attention", 1)
    page.locator(".attnbook-words button").first.click()  # a word belongs to the decoder
    settle(page)
    expect(page.get_by_role("combobox", name="attention")).to_have_js_property("selectedIndex", 0)
    expect(status(page)).to_contain_text("To write le")


def test_reset_goes_back_to_the_first_sentence_more_than_once(opened) -> None:
    page = opened()
    translate(page)
    for _ in range(2):
        translate(page, "how was your day")
        choose(page, "beam", "4")
        choose(page, "attention", 2)
        choose(page, "head", 1)
        box(page).fill("unicorn")
        button(page, "translate").click()
        page.get_by_role("button", name="reset").click()
        expect(page.locator(".attnbook-words li")).to_have_count(11)
        expect(box(page)).to_have_value("the small black cat does not eat the red apple")
        expect(page.get_by_role("alert").first).to_be_empty()
        chosen = "() => Array.from(document.querySelectorAll('select'), (s) => s.selectedIndex)"
        assert page.evaluate(chosen) == [0, 0, 1, 0]


def test_weights_that_cannot_be_had_are_said_to_and_may_be_asked_for_again(
    show, opened, folder
) -> None:
    page = opened(translator(asset="late"))
    (folder / "assets" / "late.js").unlink()
    button(page, "translate").click()
    alert = page.get_by_role("alert").first
    expect(alert).to_contain_text("The model cannot be used:")
    expect(alert).to_contain_text("late.js could not be loaded")
    expect(page.locator(".attnbook-fallback table")).to_be_visible()
    show.logged.clear()  # the browser's own complaint
    put_asset(folder, translator(asset="late"))
    translate(page)
    expect(alert).to_be_empty()
    assert words(page) == FRENCH


def test_the_weights_of_another_model_are_refused_in_words(opened, folder) -> None:
    page = opened(translator(asset="other"))
    text = asset_script("other", b"12345678")
    (folder / "assets" / "other.js").write_text(text, encoding="ascii")
    button(page, "translate").click()
    expect(page.get_by_role("alert").first).to_have_text(
        "The model cannot be used: the weights are those of another model."
    )
