"""A bug hunt: lines that answer, by hand and by keyboard, and what is said of them."""

from playwright.sync_api import expect

from tests.attnlab.widgets.examples import EVIL, HUNTED, hunt, longest_hunt
from tests.attnlab.widgets.pages import button, keys, listen, says, settle, status, tells


def line(page, number: int):
    return page.locator(".attnbook-code > li").nth(number - 1)


def test_the_wrong_output_stands_above_the_code_whose_spaces_are_kept_everywhere(show) -> None:
    page = show(hunt())
    code, evidence = page.locator("ol.attnbook-code"), page.locator(".attnbook-live pre")
    assert evidence.bounding_box()["y"] < code.bounding_box()["y"]
    assert code.locator("code").all_text_contents() == [x for x in HUNTED.split("\n") if x]
    assert code.locator("button").count() == 3  # a blank line keeps its number and is not pressed
    assert line(page, 2).inner_text().strip() == "2"
    indent = "(code) => getComputedStyle(code).whiteSpace"
    assert code.locator("code").last.evaluate(indent) == "pre-wrap"
    code = hunt(code="\r\n\tif x:\r\n\t\ty\r\n\r\n", lines={1: "a", 2: "b"}).code
    assert code == ["if x:", "    y"]
    assert hunt(code="    f(\n        x\n    )\n", lines={1: "a", 2: "b"}).answers == ["a", "b", ""]
    assert hunt(lines=dict.fromkeys((1, 3, 4), EVIL)).code == hunt().code


def test_a_line_answers_when_it_is_pressed_by_hand_or_by_key_and_not_before(show) -> None:
    page = show(hunt())
    assert "keeps j < i" not in page.locator("main").inner_text()
    expect(button(page, "start again")).to_be_hidden()
    for _ in range(2):  # pressing it twice does no harm
        line(page, 3).locator("button").click()
        expect(line(page, 3)).to_contain_text("Not this line. The mask is the wrong one")
        says(page, "Not line 3. The mask is the wrong one, its use is right.")
    line(page, 1).locator("button").click()
    expect(line(page, 1)).to_contain_text("Found. tril(-1) keeps j < i: see the slides.")
    expect(line(page, 1).locator("a")).to_have_attribute("href", "https://example.org/slides")
    expect(line(page, 3)).to_contain_text("The mask is the wrong one")
    says(page, "Found, in line 1. tril(-1) keeps j < i: see the slides.")
    assert "A row of" not in page.locator("main").inner_text()
    line(page, 3).locator("button").click()
    tells(page, "Not line 3.")
    button(page, "start again").click()
    expect(line(page, 1).locator("button")).to_be_focused()
    says(page, "")
    assert page.locator(".attnbook-reason:not(:empty)").count() == 0
    assert page.locator(".attnbook-code [tabindex='0']").count() == 1
    line(page, 1).locator("button").focus()
    keys(page, "ArrowDown")
    expect(line(page, 3).locator("button")).to_be_focused()  # over the blank line
    keys(page, "ArrowDown", "ArrowDown")
    expect(line(page, 4).locator("button")).to_be_focused()
    assert page.locator(".attnbook-code [tabindex='0']").count() == 1
    assert "A row of" not in page.locator("main").inner_text()  # moving judges nothing
    keys(page, "Enter")
    expect(line(page, 4)).to_contain_text("A row of -inf")
    keys(page, "Home", "Space")
    expect(line(page, 1)).to_contain_text("Found.")
    expect(line(page, 1).locator("button")).to_be_focused()
    keys(page, "End", "Tab")
    expect(button(page, "start again")).to_be_focused()
    keys(page, "Shift+Tab")
    expect(line(page, 4).locator("button")).to_be_focused()


def test_several_bugs_are_counted_and_heard_of_and_long_lines_wrap(show) -> None:
    page = show(longest_hunt())
    expect(page.locator(".attnbook-note")).to_contain_text("Press the 2 lines that are wrong")
    listen(page)
    line(page, 30).locator("button").click()
    tells(page, "1 more to find.")
    line(page, 2).locator("button").click()
    assert "more to find" not in status(page).text_content()
    assert page.evaluate("heard") == []
    line(page, 29).locator("button").click()
    settle(page)
    assert len(page.evaluate("heard")) == 1
    for width in (390, 900):
        page = show(longest_hunt(), width=width)
        room = page.locator(".attnbook-code").bounding_box()["width"]
        codes = "(all) => Math.max(...all.map((one) => one.getBoundingClientRect().width))"
        assert page.locator(".attnbook-code code").evaluate_all(codes) < room
        box = page.locator(".attnbook-live .attnbook-scroll")
        assert box.evaluate("(box) => box.scrollWidth > box.clientWidth")


def test_paper_has_the_code_and_which_line_is_the_mistake_and_nothing_that_was_pressed(
    show,
) -> None:
    after = hunt().html().split("<details>")[1]
    assert '<li value="1"><b>the mistake</b>.' in after
    assert '<li value="3"><b>right</b>.' in after
    page = show(hunt())
    page.locator(".attnbook-code button").first.click()
    page.emulate_media(media="print")
    assert "Found" not in page.locator(".attnbook-fallback").inner_text()
