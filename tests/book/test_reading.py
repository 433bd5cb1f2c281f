"""What a reader does in the built book: edits, searches, turns it dark, prints, asks a model."""

from __future__ import annotations

import pytest
import yaml
from playwright.sync_api import expect

from attnlab.translation import captions
from tests.book.conftest import LECTURE, no_sideways_scroll
from tests.book.lectures import HTML, ROOT
from tests.book.test_pages import PHONE

LANDING = "book/index"


@pytest.mark.parametrize("via", ["http", "file"])
def test_the_page_translates_what_the_reader_types(visit, via):
    page = visit("notebooks/11-transformer", via)
    widget = page.locator("figure.attnbook-translator").first
    widget.get_by_role("textbox").first.fill("the small black cat does not eat the red apple")
    widget.get_by_role("button", name="translate").click()
    said = "le petit chat noir ne mange pas la pomme rouge"
    expect(widget.get_by_text(said, exact=True)).to_be_visible(timeout=30_000)
    expect(widget.locator(".attnbook-fallback")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "via"),
    [("notebooks/11-transformer", "http"), ("notebooks/11-transformer", "file"), (LANDING, "http")],
)
def test_a_caption_comes_out_in_german_and_a_piece_says_where_it_looked(visit, name, via):
    page = visit(name, via)
    widget = page.locator("figure.attnbook-translator").last
    caption = "a man in a red hat is standing in front of a house"
    widget.get_by_role("textbox").first.fill(caption)
    widget.get_by_role("button", name="translate").click()
    (german,) = captions.translate([caption], beam=1)
    assert "roten" in german
    expect(widget.locator(".attnbook-written")).to_have_text(german, timeout=30_000)
    pieces = widget.locator(".attnbook-words button")
    expect(pieces.last).to_contain_text("<eos>")
    pieces.nth(1).click()
    name = pieces.nth(1).locator("> span").inner_text()
    expect(widget.get_by_text(f"while it wrote “{name}”")).to_be_visible()
    shares = "all => all.map((one) => Number(one.style.getPropertyValue('--share')))"
    found = widget.locator(".attnbook-source li").evaluate_all(shares)
    assert sum(found) == pytest.approx(1, abs=0.02)
    assert max(found) > 0


@pytest.mark.parametrize("via", ["http", "file"])
def test_the_page_finds_the_head_that_looks_from_it_to_animal(visit, via):
    page = visit("notebooks/12-pretrained-models", via)
    widget = page.locator("figure.attnbook-browser").first
    widget.scroll_into_view_if_needed()  # its heads load as it comes into view
    best = widget.get_by_text("layer 3 head 1: 0.67")
    expect(best).to_be_visible(timeout=30_000)
    widget.get_by_role("combobox").first.select_option(index=1)  # one word changed: wide
    expect(best).to_have_count(0)
    expect(widget.locator(".attnbook-fallback:visible")).to_have_count(0)


def test_editing_nuts_moves_its_weights(visit):
    """The promise of the book: no kernel, no network, and the numbers move."""
    page = visit()
    steps = page.locator("figure.attnbook-steps").first
    shown = steps.locator(".attnbook-weight .attnbook-value")
    assert shown.all_inner_texts() == ["0.005", "0.090", "0.905"]
    steps.get_by_label("nuts, component 2").fill("3")
    # nuts = (1, 3, 2): scores −1, 6, 14
    assert shown.all_inner_texts() == ["0.000", "0.010", "0.990"]
    steps.get_by_role("button", name="reset").click()
    assert shown.all_inner_texts() == ["0.005", "0.090", "0.905"]


def test_the_task_of_the_step_through_has_the_answer_given(visit):
    page = visit()
    steps = page.locator("figure.attnbook-steps").first
    steps.get_by_label("bowl, component 2").fill("3")
    shown = steps.locator(".attnbook-weight .attnbook-value").all_inner_texts()
    assert shown[1] == shown[2]


def test_the_task_of_the_heatmap_has_the_answer_given(visit):
    """Unscaled scores at the temperature √3 give the scaled weights; the slider gets near."""
    page = visit()
    heatmap = page.locator("figure.attnbook-heatmap").first
    row = heatmap.locator(".attnbook-side .attnbook-value")
    heatmap.get_by_label("divide by").uncheck()
    expect(row).to_have_text(["0.000", "0.018", "0.982"])
    heatmap.get_by_role("slider").focus()
    for _ in range(24):
        page.keyboard.press("ArrowRight")
    expect(heatmap.get_by_label("temperature as a number")).to_have_value("1.74")
    heatmap.get_by_label("temperature as a number").fill("1.732")
    expect(row).to_have_text(["0.005", "0.090", "0.905"])


def test_search_finds_a_word_of_the_lecture(visit):
    for via in ("http", "file"):
        page = visit("search", via)
        page.goto(page.url.split("?")[0] + "?q=equivariant")
        expect(page.locator(".search-sections a", has_text="permutation").first).to_be_visible()


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


def test_solutions_and_answers_are_closed_until_asked_for(visit):
    page = visit()
    solution = page.get_by_text("inside.all().item()")
    assert solution.count() == 1
    assert not solution.is_visible()
    page.locator("details summary", has_text="Solution 2").first.click()
    assert solution.is_visible()
    answer = page.get_by_text("At 3. The score of nuts with bowl")
    assert answer.count() == 1
    assert not answer.is_visible()
    # the source of a checkpoint would give its answers away
    assert page.get_by_text("Checkpoint(", exact=False).locator("visible=true").count() <= 1


def test_edit_leads_to_the_text_once_the_book_has_an_address():
    """Where Colab's buttons lead: test_colab.py."""
    address = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    html = (HTML / f"{LECTURE}.html").read_text(encoding="utf-8")
    edit = f"{address['url']}/edit/{address['branch']}/"
    wanted = "/OWNER/" not in edit
    assert (f"{edit}book/lectures/05-self-attention.md" in html) == wanted
    assert f"{edit}notebooks" not in html


def test_page_reads_without_javascript(visit):
    page = visit(java_script_enabled=False)
    tables = page.locator(".attnbook-fallback table:visible")
    assert tables.count() >= 2  # a table for each live picture
    assert "0.905" in tables.first.inner_text()


def test_print_shows_every_widget_as_text(visit):
    page = visit()
    page.emulate_media(media="print")
    for widget in page.locator("figure.attnbook-heatmap, figure.attnbook-steps").all():
        expect(widget.locator("table:visible").first).to_be_attached()
    assert page.locator("figure.attnbook input[type=range]:visible").count() == 0


def test_a_dark_page_is_printed_in_the_light(visit):
    page = visit(theme="dark")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "dark"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(theme) == "light"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(theme) == "dark"


HEADS_LECTURE = "notebooks/08-multi-head-attention"


def test_the_task_of_the_heads_has_the_answer_given(visit):
    """One row gives two relations at most a half each, where two rows come near to 1."""
    heads = visit(HEADS_LECTURE).locator("figure.attnbook-heads").first
    heads.get_by_label("temperature as a number").fill("0.1")
    expect(heads.get_by_role("status")).to_contain_text("“gave”, “my” 0.500 each in both")
    assert "most to gave 1.000" in heads.inner_text()
    assert "most to my 1.000" in heads.inner_text()


def test_the_task_of_the_live_layer_has_the_answer_given(visit):
    """The number of heads costs nothing, and has to divide the model's size."""
    layer = visit(HEADS_LECTURE).locator("figure.attnbook-dataflow")
    cost = "1,050,624 parameters and 21,381,120 multiplications"
    for n_heads in ("1", "64"):
        layer.get_by_label("h as a number").fill(n_heads)
        expect(layer).to_contain_text(f"h = {n_heads}: {cost}")
    layer.get_by_label("h as a number").fill("5")
    expect(layer).to_contain_text("512 / 5 is not a whole number")


BLOCK_LECTURE = "notebooks/10-transformer-block"


def test_the_task_of_the_stacked_blocks_has_the_answer_given(visit):
    """Of six combinations one keeps a word apart from the others, without growing beyond bounds."""
    block = visit(BLOCK_LECTURE).locator("figure.attnbook-block")
    said = block.get_by_role("status")
    expect(said).to_contain_text("1.000 with the other tokens")
    block.get_by_role("checkbox", name="residual sum").check()
    expect(said).to_contain_text("length 2.5e4")
    norm = block.get_by_label("norm")
    norm.select_option(label="pre: before each part")
    expect(said).to_contain_text("length 11.903")
    expect(said).to_contain_text("0.951 with the other tokens")
    norm.select_option(label="post: after each sum")
    expect(said).to_contain_text("length 2.000")
    expect(said).to_contain_text("1.000 with the other tokens")


def test_the_task_of_the_live_block_has_the_answer_given(visit):
    """Beyond twice the model's size, attention multiplies more than the network."""
    block = visit(BLOCK_LECTURE).locator("figure.attnbook-dataflow")
    for size, number in (("d_model", "768"), ("d_ff", "3072"), ("n", "1536")):
        block.get_by_label(f"{size} as a number", exact=True).fill(number)
    expect(block).to_contain_text("7,087,872 parameters")
    block.get_by_text("the same as a table").click()
    half = f"{2 * 1536 * 768 * 3072:,}"  # of the block: attention, or W_1 and W_2
    expect(block.locator("table tr", has_text="attention")).to_contain_text(half)


def test_arcs_of_a_long_sentence_scroll_in_their_own_box_on_a_phone(visit):
    page = visit("notebooks/errata", viewport=PHONE)
    box = page.locator(".cell_output:has(> img[src$='.svg'])").first
    assert box.evaluate("b => b.scrollWidth > b.clientWidth + 300")
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("b => b.scrollLeft > 0", arg=box.element_handle())
    assert no_sideways_scroll(page)
