"""Numbers from paper: read in several spellings, judged one by one, tried again."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.attnlab.widgets.examples import paper
from tests.attnlab.widgets.pages import alert, button, settle, status


def enter(page, **numbers: str) -> None:
    for label, text in numbers.items():
        page.get_by_label(f"your number for {label}", exact=True).fill(text)
    button(page, "check").click()


def said(page) -> list[str]:
    settle(page)
    return page.locator(".attnbook-said").all_inner_texts()


def test_right_numbers_are_told_with_the_reason_and_not_before(show) -> None:
    page = show(paper())
    assert "Scaled" not in page.locator("main").inner_text()
    expect(button(page, "show the answer")).to_be_hidden()
    enter(page, had="0,005", bowl="9/100")
    assert said(page) == ["right", "right"]
    expect(status(page).locator("p")).to_have_text(["Right. ", "Scaled by √3."])
    expect(button(page, "check")).to_be_hidden()
    expect(button(page, "show the answer")).to_be_hidden()
    expect(button(page, "start again")).to_be_focused()
    button(page, "start again").click()
    expect(page.get_by_label("your number for had")).to_be_focused()
    assert said(page) == ["", ""]
    assert page.get_by_label("your number for bowl").input_value() == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0.0902", "right"),
        ("0.1", "right as far as it goes: give 3 decimals, or a fraction"),
        ("0.092", "close, but rounded on the way: keep more decimals until the end"),
        ("-0.09", "not right: look at the sign"),
        ("0.9", "not right"),
        ("a tenth", "“a tenth” is not a number"),
        ("1/0", "“1/0” has no value"),
        ("1e999", "“1e999” is too large"),
        ("<img src=x onerror=alert(1)>", "“<img src=x onerror=a…” is not a number"),
        ("", "still empty"),
    ],
)
def test_each_number_has_its_verdict(show, text: str, words: str) -> None:
    page = show(paper())
    enter(page, had="5e-3", bowl=text)
    assert said(page) == ["right", words]
    unread = page.locator("[aria-invalid=true]").count()
    assert unread == words.startswith("“")
    assert ("Right." in status(page).inner_text()) == (words == "right")
    if words != "right":  # beside the boxes for the eye, in one line for a screen reader
        read = "had: “5e-3” is read as 0.005. right."
        expect(status(page)).to_have_text(f"1 of 2 right. {read} bowl: {words}. ")


def test_a_mistake_with_a_name_is_named_where_all_its_numbers_stand(show) -> None:
    page = show(paper())
    enter(page, had="0.002", bowl="0.09")
    assert "Divide" not in page.locator("main").inner_text()
    enter(page, bowl="0.0473")
    expect(status(page)).to_contain_text("Divide by √3 too.")
    expect(status(page).locator("code")).to_have_text("√3")
    enter(page, had="1/2")
    expect(status(page)).to_contain_text("Half?")


def test_what_has_a_name_is_not_called_close(show) -> None:
    page = show(paper(mistakes=[({"bowl": 0.092}, "One too many.")]))
    enter(page, bowl="0.092")
    assert said(page) == ["still empty", "not right"]
    expect(status(page)).to_contain_text("One too many.")


def test_a_changed_number_is_not_judged_until_it_is_checked(show) -> None:
    page = show(paper())
    enter(page, had="1", bowl="0.09")
    page.get_by_label("your number for had").fill("0.005")
    assert said(page) == ["", ""]
    expect(status(page)).to_have_text("")
    expect(button(page, "show the answer")).to_be_visible()
    page.keyboard.press("Enter")
    assert said(page) == ["right", "right"]


def test_the_answer_is_shown_on_request_after_an_attempt(show) -> None:
    page = show(paper())
    button(page, "check").click()
    expect(alert(page)).to_have_text("Write a number first.")
    expect(button(page, "show the answer")).to_be_hidden()
    enter(page, had="1")
    expect(alert(page)).to_be_empty()
    page.evaluate(
        "() => { window.heard = 0; addEventListener('attnbook:done', () => { heard += 1; }); }"
    )
    button(page, "show the answer").click()
    assert said(page) == ["not right; the answer: 0.005", "still empty; the answer: 0.090"]
    expect(status(page).locator("p").last).to_have_text("Scaled by √3.")
    expect(status(page)).to_contain_text("The answer: had: 0.005, bowl: 0.090.")
    expect(button(page, "start again")).to_be_focused()
    expect(page.get_by_label("your number for had")).to_have_attribute("readonly", "")
    assert page.evaluate("heard") == 1


def test_one_number_of_thousands_is_asked_for_exactly(show) -> None:
    page = show(paper(answers={"weights": 2048}, mistakes=(), decimals=0, tolerance=0))
    expect(page.locator(".attnbook-note")).to_contain_text("A whole number")
    for text in ("2049", "2048.5", "2,049", "20,48"):
        enter(page, weights=text)
        assert said(page) == ["not right"]
    expect(status(page)).to_contain_text("Not there yet.")
    enter(page, weights="2,048")
    assert said(page) == ["right"]


def test_a_comma_among_decimals_is_a_decimal_point(show) -> None:
    page = show(paper(answers={"scores": 2048.5}, mistakes=(), decimals=1))
    enter(page, scores="2,048")
    assert said(page) == ["“2,048” may be 2048 or 2.048: write the one that you mean"]
    enter(page, scores="2048,5")
    assert said(page) == ["right"]


def test_what_is_accepted_and_how_near_stands_beside_the_boxes(show) -> None:
    page = show(paper(), paper(tolerance=0.02), paper(decimals=0, mistakes=()))
    notes = page.locator(".attnbook-note").all_inner_texts()
    assert notes[0].startswith("Right to 3 decimals. A point or a comma marks the decimals")
    assert notes[1].startswith("Right within 0.02.")
    assert notes[2].startswith("Right to the nearest whole number.")
    assert all("1/2" in one for one in notes)


def test_on_paper_the_answers_are_folded_away(show) -> None:
    before, after = paper().html().split("</script>")[1].split("<details>")
    assert "0.090" not in before
    assert "0.090" in after
    assert "Scaled" in after
    page = show(paper())
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-live")).to_be_hidden()
    expect(page.locator(".attnbook-fallback")).to_contain_text("Work out on paper: had, bowl.")
