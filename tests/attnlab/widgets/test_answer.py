"""Numbers from paper: read in several spellings, judged one by one, tried again."""

from playwright.sync_api import expect

from tests.attnlab.widgets.examples import paper
from tests.attnlab.widgets.pages import alert, button, listen, says, status, tells, texts


def enter(page, **numbers: str) -> None:
    for label, text in numbers.items():
        page.get_by_label(f"your number for {label}", exact=True).fill(text)
    button(page, "check").click()


def said(page) -> list[str]:
    return texts(page.locator(".attnbook-said"))


def test_right_numbers_are_told_with_the_reason_and_not_before_they_are_checked(show) -> None:
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
    enter(page, had="1", bowl="0.09")
    page.get_by_label("your number for had").fill("0.005")
    assert said(page) == ["", ""]
    says(page, "")
    expect(button(page, "show the answer")).to_be_visible()
    page.keyboard.press("Enter")
    assert said(page) == ["right", "right"]


VERDICTS = {
    "0.1": "right so far: give 3 decimals, or a fraction",
    "0.092": "close, but rounded on the way: keep more decimals",
    "-0.09": "not right: look at the sign",
    "0.9": "not right",
    "a tenth": "“a tenth” is not a number",
    "<img src=x onerror=alert(1)>": "“<img src=x onerror=a…” is not a number",
    "": "still empty",
}


def test_each_number_has_its_verdict(show) -> None:
    page = show(paper())
    for text, words in VERDICTS.items():
        enter(page, had="5e-3", bowl=text)
        assert said(page) == ["right", words]
        assert page.locator("[aria-invalid=true]").count() == words.startswith("“")
        # beside the boxes for the eye, in one line for a screen reader
        says(page, f"1 of 2 right. had: “5e-3” is read as 0.005. right. bowl: {words}. ")
    enter(page, bowl="0.0902")
    assert said(page) == ["right", "right"]
    tells(page, "Right.")


def test_a_mistake_with_a_name_is_named_where_all_its_numbers_stand_and_not_close(show) -> None:
    page = show(paper())
    enter(page, had="0.002", bowl="0.09")
    assert "Divide" not in page.locator("main").inner_text()
    enter(page, bowl="0.0473")
    tells(page, "Divide by √3 too.")
    expect(status(page).locator("code")).to_have_text("√3")
    enter(page, had="1/2")
    tells(page, "Half?")
    page = show(paper(mistakes=[({"bowl": 0.092}, "One too many.")]))
    enter(page, bowl="0.092")
    assert said(page) == ["still empty", "not right"]
    tells(page, "One too many.")


def test_the_answer_is_shown_on_request_and_what_is_accepted_beside_the_boxes(show) -> None:
    page = show(paper())
    button(page, "check").click()
    expect(alert(page)).to_have_text("Write a number first.")
    expect(button(page, "show the answer")).to_be_hidden()
    enter(page, had="1")
    expect(alert(page)).to_be_empty()
    listen(page)
    button(page, "show the answer").click()
    assert said(page) == ["not right; the answer: 0.005", "still empty; the answer: 0.090"]
    expect(status(page).locator("p").last).to_have_text("Scaled by √3.")
    tells(page, "The answer: had: 0.005, bowl: 0.090.")
    expect(button(page, "start again")).to_be_focused()
    expect(page.get_by_label("your number for had")).to_have_attribute("readonly", "")
    assert len(page.evaluate("heard")) == 1
    page = show(paper(), paper(tolerance=0.02), paper(decimals=0, mistakes=()))
    notes = page.locator(".attnbook-note").all_inner_texts()
    assert notes[0].startswith("Right to 3 decimals. A point or a comma marks the decimals")
    assert notes[1].startswith("Right within 0.02.")
    assert notes[2].startswith("Right to the nearest whole number.")
    assert all("1/2" in one for one in notes)


def test_a_comma_marks_thousands_in_a_whole_number_and_decimals_elsewhere(show) -> None:
    page = show(paper(answers={"weights": 2048}, mistakes=(), decimals=0, tolerance=0))
    expect(page.locator(".attnbook-note")).to_contain_text("A whole number")
    for text in ("2049", "2048.5", "2,049", "20,48"):
        enter(page, weights=text)
        assert said(page) == ["not right"]
    tells(page, "Not there yet.")
    enter(page, weights="2,048")
    assert said(page) == ["right"]
    page = show(paper(answers={"scores": 2048.5}, mistakes=(), decimals=1))
    enter(page, scores="2,048")
    assert said(page) == ["“2,048” may be 2048 or 2.048: write the one that you mean"]
    enter(page, scores="2048,5")
    assert said(page) == ["right"]
