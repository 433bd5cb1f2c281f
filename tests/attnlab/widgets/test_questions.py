"""Checkpoints and predictions, answered in a page."""

from playwright.sync_api import expect

from attnlab.widgets import Checkpoint
from tests.attnlab.widgets.examples import QUESTION, guess, question, several
from tests.attnlab.widgets.pages import button, keys, listen, says, settle, tells
from tests.attnlab.widgets.test_numbers import PASTE


def test_a_choice_is_answered_with_its_reason(show) -> None:
    page = show(question())
    expect(page.locator("legend code")).to_have_text("α")
    assert "A score comes before" not in page.locator("main").inner_text()
    page.get_by_label("A score").check()
    # a screen reader hears the reason with the verdict
    says(page, "Not right. A score comes before the softmax.")
    expect(page.locator(".attnbook-wrong")).to_contain_text("A score comes before the softmax.")
    assert "sums to 1" not in page.locator("main").inner_text()
    page.get_by_label("A weight").check()
    says(page, "Right. It is positive, and a row of them sums to 1.")
    expect(page.locator(".attnbook-right")).to_contain_text("sums to 1")
    assert page.locator(".attnbook-wrong").count() == 0
    page.get_by_role("button", name="try again").click()
    assert page.locator("input:checked").count() == 0
    expect(page.get_by_role("status")).to_have_text("")
    assert "sums to 1" not in page.locator("main").inner_text()


def test_arrow_keys_move_a_choice_and_a_press_judges_it(show) -> None:
    options = [(name, name == "c", f"the reason of {name}") for name in "abcd"]
    for judge in ("Enter", "Space", "check"):
        page = show(Checkpoint("Which?", options, shuffle=False))
        page.get_by_label("a", exact=True).focus()
        keys(page, "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")
        settle(page)
        expect(page.get_by_label("c", exact=True)).to_be_checked()
        says(page, "")
        assert "the reason of" not in page.locator("main").inner_text()
        if judge == "check":
            keys(page, "Tab", "Enter")
            expect(button(page, "try again")).to_be_focused()
        else:
            keys(page, judge)
        says(page, "Right. the reason of c")
        keys(page, "Shift+Tab" if judge == "check" else "ArrowDown")
        if judge != "check":  # the next choice is not judged yet
            says(page, "")
            assert "the reason of" not in page.locator("main").inner_text()


def test_the_order_of_options_follows_from_the_texts_alone_and_is_that_of_the_places() -> None:
    def order(question: str, options: list, **how) -> list[str]:
        return [text for text, _, _ in Checkpoint(question, options, **how).options]

    options = [(name, name == "a", "x") for name in "abcd"]
    shown = order("Which?", options)
    assert sorted(shown) == list("abcd") == order("Which?", options, shuffle=False)
    assert order("Which?", options[::-1]) == shown == ["c", "b", "d", "a"]
    places = [order(f"Which, {number}?", options).index("a") for number in range(400)]
    assert all(80 < places.count(place) < 120 for place in range(4))
    widget = question()
    assert [tuple(option) for option in widget.options] != QUESTION
    assert sorted(map(tuple, widget.options)) == sorted(QUESTION)


def test_a_reason_may_cite_its_source_and_a_page_is_told_of_what_is_done(show) -> None:
    reason = "See [the `paper`](https://example.org/a?b=c&d), not [this](javascript:alert(1))."
    page = show(Checkpoint("Which?", [("a", True, reason), ("b", False, "no")]))
    page.get_by_label("a").check()
    link = page.locator(".attnbook-reason a")
    expect(link).to_have_count(1)
    expect(link).to_have_text("the paper")
    expect(link).to_have_attribute("href", "https://example.org/a?b=c&d")
    told = "Right. See the paper, not [this](javascript:alert(1))."
    says(page, told)
    assert page.locator(".attnbook-fallback a").count() == 1
    page = show(question(), guess())
    listen(page)
    page.get_by_label("A score").check()
    settle(page)
    assert page.evaluate("heard") == []
    page.get_by_label("A weight").check()
    settle(page)
    assert page.evaluate("heard") == ["attnbook attnbook-checkpoint"]
    page.get_by_label("your prediction for had").fill("1")
    button(page, "reveal").click()
    settle(page)
    assert page.evaluate("heard[1]") == "attnbook attnbook-prediction"


def test_one_press_reveals_also_where_a_number_is_told_back_in_another_form(show) -> None:
    for text in ("0,25", "1/4"):
        page = show(guess())
        page.get_by_label("your prediction for bowl").press_sequentially(text)
        place = button(page, "reveal").bounding_box()
        page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
        page.mouse.down()  # the box is left, and its number told back, before the button is let go
        expect(page.locator(".attnbook-calm")).to_have_text(f"“{text}” is read as 0.25.")
        page.mouse.up()
        expect(page.locator(".attnbook-live tbody tr").nth(1)).to_contain_text("0.160 too high")


def test_several_choices_are_checked_together(show) -> None:
    page = show(several())
    check = page.get_by_role("button", name="check")
    check.click()
    expect(page.get_by_role("status")).to_have_text("Choose at least one answer.")
    page.get_by_label("one").check()
    assert "yes, one" not in page.locator("main").inner_text()
    check.click()
    expect(page.get_by_role("status")).to_contain_text("one answer is missing")
    expect(page.locator(".attnbook-right")).to_contain_text("yes, one")
    page.get_by_label("three").check()
    check.click()
    tells(page, "Not right: 1 of your choices.")
    tells(page, "three: not right. no, three")
    page.get_by_label("three").uncheck()
    page.get_by_label("two").check()
    check.click()
    tells(page, "Right. ")


def test_predictions_are_compared_in_words_near_exact_half_written_and_huge(show) -> None:
    page = show(guess())
    assert "0.090" not in page.locator("main").inner_text()
    page.get_by_role("button", name="reveal").click()
    expect(page.get_by_role("alert")).to_contain_text("at least one")
    page.get_by_label("your prediction for bowl").fill("0.3")
    page.get_by_role("button", name="reveal").click()
    rows = page.locator(".attnbook-live tbody tr")
    expect(rows.nth(0)).to_have_text("hadnone0.005–")
    expect(rows.nth(1)).to_have_text("bowl0.3000.0900.210 too high")
    expect(page.locator("main")).to_contain_text("Scaled by √3.")
    expect(page.get_by_role("button", name="start again")).to_be_focused()
    kept = page.get_by_label("your prediction for bowl")
    kept.evaluate(PASTE, "1\n2")
    expect(kept).to_have_value("0.3")  # what was compared stays
    page.get_by_role("button", name="start again").click()
    assert page.get_by_label("your prediction for bowl").input_value() == ""
    assert page.locator(".attnbook-live tbody").count() == 0
    page.get_by_label("your prediction for had").press_sequentially("-")
    button(page, "reveal").click()
    expect(page.get_by_role("alert")).to_contain_text("not a number")
    page.get_by_label("your prediction for had").fill("0.005")
    page.get_by_label("your prediction for bowl").fill("0.07")
    page.keyboard.press("Enter")
    expect(page.locator(".attnbook-live tbody tr").nth(0)).to_contain_text("exactly right")
    expect(page.locator(".attnbook-live tbody tr").nth(1)).to_contain_text("close: 0.020 too low")
    button(page, "start again").click()
    page.get_by_label("your prediction for had").fill("9" * 30)
    page.get_by_role("button", name="reveal").click()
    expect(page.locator(".attnbook-live tbody tr").first).to_contain_text("too high")
    assert "Infinity" not in page.locator("main").inner_text()
