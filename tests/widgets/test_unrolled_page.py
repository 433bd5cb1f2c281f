"""The unrolled model in a browser: typed, stepped through and forced, with PyTorch's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from attnbook.widgets import UnrolledModel
from attnbook.widgets.core import markup
from tests.widgets.conftest import settle
from tests.widgets.test_unrolled import DIGITS, digits, expected, model, words


@pytest.fixture
def page(show):
    return show(digits())


def sentence(page):
    return page.get_by_label("sentence", exact=True)


def target(page):
    return page.get_by_label("forced target", exact=True)


def enter(field, text: str) -> None:
    field.fill(text)
    field.press("Enter")


def status(page):
    return page.get_by_role("status")


def alert(page):
    return page.get_by_role("alert")


def press(page, name: str, times: int = 1) -> None:
    for _ in range(times):
        page.get_by_role("button", name=name, exact=True).click()


def net(page, which: int) -> list[list[str]]:
    """The readers (0) or the decoder (1): the rows' texts, headings left out."""
    rows = page.locator(".attnbook-net table").nth(which).locator("tr").all()
    return [row.locator(":is(th, td):not(:first-child)").all_inner_texts() for row in rows]


def bars(page) -> list[tuple[str, str]]:
    lines = page.locator(".attnbook-next li").all()
    parts = [(line.locator("button"), line.locator(".attnbook-value")) for line in lines]
    return [(word.inner_text(), value.inner_text()) for word, value in parts]


def written(page, widget: UnrolledModel) -> None:
    """At its last step, the page shows all that Python says of both tables."""
    page.locator(".attnbook-net .attnbook-scroll").first.press("End")
    words = [
        f"[{widget.forced[t]}]" if t in widget.forced else word
        for t, word in enumerate(widget.chosen, 1)
    ]
    ids = [widget.target_words.index(word.strip("[]")) for word in words]
    assert net(page, 1) == [
        [f"s{low(t)}" for t in range(len(words) + 1)],
        ["", "<bos>", *words[:-1]],
        two(widget.norms.decoder),
        ["", *words],
        ["", *two(row[i] for row, i in zip(widget.probabilities, ids, strict=True))],
    ]
    assert net(page, 0)[1:] == [two(widget.norms.forward), two(widget.norms.backward)]


def low(number: int) -> str:
    return "".join(chr(0x2080 + int(digit)) for digit in str(number))


def two(values) -> list[str]:
    return [markup.fixed(value, 2) for value in values]


def test_the_first_view_says_what_the_first_step_reads(page) -> None:
    norms, steps = digits().norms, 6 + len(digits().chosen)
    expect(status(page)).to_have_text(
        f"Step 1 of {steps}, reading: → reads “3” (norm {norms.forward[0]:.3f}), "
        f"← reads “5” (norm {norms.backward[4]:.3f})."
    )
    assert net(page, 0) == [
        list("31415"),
        [*two(norms.forward[:1]), *"····"],
        [*"····", *two(norms.backward[4:])],
    ]
    expect(page.locator(".attnbook-next")).to_be_hidden()


def test_stepping_reads_from_both_ends_and_then_writes_word_by_word(page) -> None:
    widget = digits()
    press(page, "next", 2)
    assert net(page, 0)[1][2:] == [*two(widget.norms.forward[2:3]), "·", "·"]
    assert net(page, 0)[2][:3] == ["·", "·", *two(widget.norms.backward[2:3])]
    press(page, "next", 3)
    expect(status(page)).to_contain_text("summary: the last states of → and ← become s₀, 8 numbers")
    assert net(page, 1)[2] == two(widget.norms.decoder[:1])
    press(page, "next", 2)
    best = widget.probabilities[1].max()
    assert net(page, 1) == [
        ["s₀", "s₁", "s₂"],
        ["", "<bos>", widget.chosen[0]],
        two(widget.norms.decoder[:3]),
        ["", *widget.chosen[:2]],
        ["", *two(widget.probabilities[:2].max(1))],
    ]
    expect(status(page)).to_contain_text(
        f"writing: the decoder reads “{widget.chosen[0]}”, its own; s₂ has the norm "
        f"{widget.norms.decoder[2]:.3f}. Most probable next: “{widget.chosen[1]}” ({best:.3f})."
    )


@pytest.mark.parametrize("seed", range(5))
def test_every_number_of_the_page_is_pythons(show, seed: int) -> None:
    text = "".join(map(str, np.random.default_rng(seed).integers(0, 10, 3 * seed % 12 + 1)))
    widget = digits(text, seed=seed, forced={2: "7"} if seed % 2 else {}, step=-1)
    page = show(widget)
    written(page, widget)
    last = widget.probabilities[-1]
    order = np.argsort(-last, kind="stable")[:8]
    assert bars(page) == [(DIGITS.tokens[i], markup.fixed(last[i])) for i in order]
    rest = 1 - last[order].sum()
    expect(page.locator(".attnbook-next .attnbook-note")).to_have_text(
        f"The other 5 words together: {markup.fixed(abs(rest))}."
    )


def test_another_sentence_is_read_from_its_beginning_or_seen_to_its_end(page) -> None:
    press(page, "next", 3)
    enter(sentence(page), " 27 18")
    expect(status(page)).to_contain_text("Step 1 of")
    assert net(page, 0)[0] == list("2718")
    expect(sentence(page)).to_have_value("2718")
    press(page, "to the end")
    enter(sentence(page), "8")
    widget = digits("8")
    assert net(page, 1)[3] == ["", *widget.chosen]
    expect(status(page)).to_contain_text(f"Step {2 + len(widget.chosen)} of")


def test_typed_sentences_give_torchs_numbers(show) -> None:
    page = show(digits(d=20, seed=4))
    for text in ("0", "99", "123456789012", "5555"):
        enter(sentence(page), text)
        states, rows, _ = expected(
            model(d=20, seed=4), DIGITS.encode(list(text)), {}, len(text) * 3 // 2 + 3
        )
        page.locator(".attnbook-net .attnbook-scroll").first.press("End")
        assert net(page, 1)[2] == two(np.linalg.norm(states, axis=-1))
        assert net(page, 1)[4][1:] == two(row.max() for row in rows)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("31x5", "“x” is not a word that the model knows, which are 0 1 2 3 4 5 6 7 8 9."),
        ("", "1 to 12 words are wanted, not 0."),
        ("1234567890123", "1 to 12 words are wanted, not 13."),
        ("3😀", "“😀” is not a word that the model knows"),
        ("3<eos>", "“<eos>” is not a word that the model knows"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_sentence_stays(page, typed: str, said: str) -> None:
    enter(sentence(page), typed)
    expect(alert(page)).to_contain_text(f"sentence: {said}")
    expect(alert(page)).to_contain_text("What was there is kept.")
    expect(sentence(page)).to_have_attribute("aria-invalid", "true")
    assert net(page, 0)[0] == list("31415")
    press(page, "next")
    expect(sentence(page)).to_have_value(typed)  # still there to be mended
    enter(sentence(page), "77")
    expect(alert(page)).to_be_empty()
    assert net(page, 0)[0] == ["7", "7"]


def test_words_are_typed_with_spaces_and_an_unknown_one_is_named(show) -> None:
    page = show(words())
    enter(sentence(page), "  the   apple eats ")
    assert net(page, 0)[0] == ["the", "apple", "eats"]
    expect(sentence(page)).to_have_value("the apple eats")
    enter(sentence(page), "the dog eats")
    expect(alert(page)).to_contain_text("“dog” is not a word that the model knows, which are")
    expect(alert(page)).to_contain_text("cat")


def test_a_click_on_a_bar_forces_that_word_and_another_lets_it_go(page) -> None:
    press(page, "next", 6)
    free = digits()
    order = np.argsort(-free.probabilities[0], kind="stable")
    other = next(DIGITS.tokens[i] for i in order[1:] if i > 2)
    page.locator(".attnbook-next").get_by_role("button", name=other, exact=True).click()
    forced = digits(forced={1: other})
    p = free.probabilities[0][DIGITS.encode([other])[0]]
    expect(status(page)).to_contain_text(
        f"Forced: “{other}”, of probability {p:.3f}, a loss of −ln p = {-np.log(p):.3f}."
    )
    assert net(page, 1)[3] == ["", f"[{other}]"]
    press(page, "next")
    assert net(page, 1)[1] == ["", "<bos>", f"[{other}]"]
    expect(target(page)).to_have_value(other)
    expect(status(page)).to_contain_text(
        f"the decoder reads “{other}”, forced; s₂ has the norm {forced.norms.decoder[2]:.3f}"
    )
    press(page, "previous")
    page.locator(".attnbook-next").get_by_role("button", name=other, exact=True).click()
    assert net(page, 1)[3] == ["", free.chosen[0]]
    expect(target(page)).to_have_value("")


def test_any_word_can_be_typed_in_any_place(page) -> None:
    press(page, "next", 6)
    for word in "0123456789":
        enter(target(page), word)
        assert net(page, 1)[3] == ["", f"[{word}]"]
    enter(target(page), "_ _7")
    expect(target(page)).to_have_value("__7")
    written(page, digits(forced={3: "7"}))
    enter(target(page), "<eos>")
    expect(status(page)).to_contain_text("<eos> ends the sentence: no word at all.")
    expect(status(page)).to_contain_text("Step 7 of 7")
    enter(target(page), "_")
    expect(target(page)).to_have_value("")
    written(page, digits())


def test_a_forced_target_is_teacher_forcing(page) -> None:
    enter(target(page), "51 4")
    widget = digits(forced=["5", "1", "4"])
    expect(status(page)).to_contain_text("Step 7 of")  # the first step that writes
    written(page, widget)
    expect(target(page)).to_have_value("514")
    enter(target(page), "5x")
    expect(alert(page)).to_contain_text("forced target: “x” is not a word")
    enter(target(page), "1" * 11)
    expect(alert(page)).to_contain_text("0 to 10 words are wanted, not 11.")
    enter(target(page), "")
    expect(alert(page)).to_be_empty()
    written(page, digits())


def test_another_sentence_forgets_the_forced_words(page) -> None:
    enter(target(page), "51")
    enter(sentence(page), "8")
    expect(target(page)).to_have_value("")
    press(page, "to the end")
    assert net(page, 1)[3] == ["", *digits("8").chosen]


def test_without_an_end_it_is_cut_off_and_said(show) -> None:
    page = show(digits("31", forced=["7"] * 6, step=-1))
    expect(status(page)).to_contain_text("Cut off after 6 words: 7 7 7 7 7 7.")


def test_keys_move_and_the_focus_stays_visible(page) -> None:
    tables = page.locator(".attnbook-net .attnbook-scroll")
    tables.first.focus()
    last = 6 + len(digits().chosen)
    for key, step in [("ArrowRight", 2), ("End", last), ("ArrowLeft", last - 1), ("Home", 1)]:
        page.keyboard.press(key)
        expect(status(page)).to_contain_text(f"Step {step} of {last}")
    button = page.get_by_role("button", name="next", exact=True)
    button.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(status(page)).to_contain_text("Step 3 of")
    assert page.evaluate("document.activeElement.textContent") == "next"
    outline = "getComputedStyle(document.activeElement).outlineWidth"
    assert page.evaluate(outline) == "2px"
    sentence(page).press("ArrowRight")  # moves in the text, not in the model
    expect(status(page)).to_contain_text("Step 3 of")


def test_at_either_end_there_is_no_further_step(page) -> None:
    first = page.get_by_role("button", name="previous", exact=True)
    expect(first).to_have_attribute("aria-disabled", "true")
    first.focus()
    page.keyboard.press("Enter")
    expect(status(page)).to_contain_text("Step 1 of")
    press(page, "to the end")
    before = status(page).inner_text()
    page.get_by_role("button", name="next", exact=True).focus()
    page.keyboard.press("Enter")
    assert status(page).inner_text() == before
    assert page.evaluate("document.activeElement.textContent") == "next"


def test_a_click_on_a_column_goes_to_its_step(page) -> None:
    readers = page.locator(".attnbook-net table").first
    readers.locator("tbody tr").nth(1).locator("td").nth(1).click()  # ← reads the second word
    expect(status(page)).to_contain_text("Step 4 of")
    readers.locator("thead th").nth(2).click()
    expect(status(page)).to_contain_text("Step 2 of")
    press(page, "to the end")
    page.locator(".attnbook-net table").last.locator("tbody td").nth(1).click()  # s₁ reads
    expect(status(page)).to_contain_text("Step 7 of")


def test_reset_brings_back_the_first_sentence_every_time(show) -> None:
    page = show(digits(step=6, forced={1: "9"}))
    for _ in range(2):
        enter(sentence(page), "88")
        enter(target(page), "12")
        press(page, "to the end")
        enter(sentence(page), "x")
        page.get_by_role("button", name="reset").click()
        expect(sentence(page)).to_have_value("31415")
        expect(target(page)).to_have_value("9")
        expect(alert(page)).to_be_empty()
        assert page.locator("[aria-invalid]").count() == 0
        expect(status(page)).to_contain_text("Step 7 of")
        expect(status(page)).to_contain_text("Forced: “9”")


def test_the_height_of_a_cell_is_its_norm(show) -> None:
    widget = digits(step=-1)
    page = show(widget)
    settle(page)
    most = max(part.max() for part in widget.norms)
    cells = page.locator(".attnbook-net td[style]").all()
    drawn = [float(cell.get_attribute("style").split(":")[1].strip(" %;")) for cell in cells]
    wanted = [*widget.norms.forward, *widget.norms.backward, *widget.norms.decoder]
    assert drawn == pytest.approx([100 * norm / most for norm in wanted], abs=1e-3)
