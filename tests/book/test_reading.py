"""What a reader does in the built book: edits, turns it dark, prints, asks a model."""

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from attnlab.models import captions
from tests.book.conftest import LECTURE, no_sideways_scroll
from tests.book.lectures import HTML, ROOT
from tests.book.test_pages import PHONE


def ask(page: Page, which: int, sentence: str) -> Locator:
    """Have a translator of the page translate."""
    widget = page.locator("figure.attnbook-translator").nth(which)
    widget.get_by_role("textbox").first.fill(sentence)
    widget.get_by_role("button", name="translate").click()
    return widget


@pytest.mark.parametrize("via", ["http", "file"])
def test_the_page_translates_what_the_reader_types(visit, via):
    page = visit("notebooks/11-transformer", via)
    widget = ask(page, 0, "the small black cat does not eat the red apple")
    said = "le petit chat noir ne mange pas la pomme rouge"
    expect(widget.get_by_text(said, exact=True)).to_be_visible()
    expect(widget.locator(".attnbook-fallback")).to_have_count(0)
    a_caption_comes_out_in_german(page)


def test_the_landing_page_translates_too(visit):
    a_caption_comes_out_in_german(visit("book/index", "http"))


def a_caption_comes_out_in_german(page: Page) -> None:
    """And a piece of it says where the model looked."""
    caption = "a man in a red hat is standing in front of a house"
    widget = ask(page, -1, caption)
    (german,) = captions.translate([caption], beam=1)
    assert "roten" in german
    expect(widget.locator(".attnbook-written")).to_have_text(german)
    pieces = widget.locator(".attnbook-words button")
    expect(pieces.last).to_contain_text("<eos>")
    pieces.nth(1).click()
    name = pieces.nth(1).locator("> span").inner_text()
    expect(widget.get_by_text(f"while it wrote “{name}”")).to_be_visible()
    shares = "all => all.map((one) => Number(one.style.getPropertyValue('--share')))"
    found = widget.locator(".attnbook-source li").evaluate_all(shares)
    assert sum(found) == pytest.approx(1, abs=0.02)
    assert max(found) > 0


def test_another_word_that_asks_gets_weights_of_its_own(lecture):
    """The promise of the book: no kernel, no network, and the numbers move."""
    arrows = lecture.locator("figure.attnbook-arrows").first
    expect(arrows).to_contain_text("0.088 had + 0.178 bowl + 0.734 nuts")
    arrows.get_by_role("combobox", name="what becomes of").select_option(label="bowl")
    expect(arrows).to_contain_text("0.248 had + 0.248 bowl + 0.503 nuts")
    arrows.get_by_role("button", name="reset").click()
    expect(arrows).to_contain_text("0.088 had + 0.178 bowl + 0.734 nuts")


def test_theme_button_turns_the_page_dark_and_keeps_it_so(visit):
    page = visit(via="http")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    button = page.locator("button.theme-switch-button").first
    for _ in range(3):
        button.click()
        if page.evaluate("document.documentElement.dataset.theme") == "dark":
            break
    assert page.evaluate(ground) != light
    page.goto(page.url.replace(LECTURE, "book/notation"))
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_solutions_and_answers_are_closed_until_asked_for(lecture):
    solution = lecture.locator("pre", has_text="for the first p keys")
    assert solution.count() == 1
    assert not solution.is_visible()
    lecture.locator("details summary", has_text="Solution 2").first.click()
    assert solution.is_visible()
    answer = lecture.get_by_text("You cannot pull it out")
    assert answer.count() == 1
    assert not answer.is_visible()
    # the source of a checkpoint would give its answers away
    assert lecture.get_by_text("Checkpoint(", exact=False).locator("visible=true").count() <= 1


def test_edit_leads_to_the_text_once_the_book_has_an_address():
    """Where Colab's buttons lead: test_colab.py."""
    address = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    html = (HTML / f"{LECTURE}.html").read_text(encoding="utf-8")
    edit = f"{address['url']}/edit/{address['branch']}/"
    wanted = "/OWNER/" not in edit
    assert (f"{edit}book/lectures/05-self-attention.md" in html) == wanted
    assert f"{edit}notebooks" not in html


def test_print_shows_every_widget_as_text_and_a_dark_page_in_the_light(lecture):
    lecture.emulate_media(media="print", color_scheme="dark")
    for widget in lecture.locator("figure.attnbook-heatmap, figure.attnbook-steps").all():
        expect(widget.locator("table:visible").first).to_be_attached()
    assert lecture.locator("figure.attnbook input[type=range]:visible").count() == 0
    page = lecture.locator("html")
    for event, theme in ((None, "dark"), ("beforeprint", "light"), ("afterprint", "dark")):
        if event:
            lecture.evaluate(f"window.dispatchEvent(new Event('{event}'))")
        expect(page).to_have_attribute("data-theme", theme)
    lecture.emulate_media(media="screen", color_scheme="light")


def test_arcs_of_a_long_sentence_scroll_in_their_own_box_on_a_phone(visit):
    page = visit("notebooks/other-texts", viewport=PHONE)
    box = page.locator(".cell_output:has(> img[src$='.svg'])").first
    assert box.evaluate("b => b.scrollWidth > b.clientWidth + 50")
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("b => b.scrollLeft > 0", arg=box.element_handle())
    assert no_sideways_scroll(page)
