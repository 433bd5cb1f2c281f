"""The built page on paper, by keyboard, on a phone, in the reader's colours and the book's."""

import re

import pytest
from playwright.sync_api import expect

from tests.book.conftest import LECTURE, no_sideways_scroll
from tests.book.lectures import HTML, NOTEBOOKS
from tests.book.test_pages import PHONE

A4 = {"width": 680, "height": 1000}  # the text's width on A4 with margins of 15 mm
CUT = """() => [...document.querySelectorAll("article pre")].filter((one) => one.checkVisibility())
  .filter((one) => one.scrollWidth > one.clientWidth + 1).length"""
# a control without border, ground or letters of another colour than the page's cannot be seen
UNSEEN = """all => all.filter((one) => one.checkVisibility()).filter((one) => {
  const style = getComputedStyle(one);
  const page = getComputedStyle(document.body).backgroundColor;
  const edge = parseFloat(style.borderTopWidth) > 0 && style.borderTopColor !== page;
  const letters = one.innerText?.trim() && style.color !== page;
  const own = ["range", "checkbox", "radio"].includes(one.type) && style.appearance !== "none";
  return !(edge || letters || own || style.backgroundColor !== page);
}).map((one) => one.outerHTML.slice(0, 120))"""
# how many colours a drawing has: one is a blank sheet
COLOURS = """c => new Set(new Uint32Array(
  c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"""


def test_paper_cuts_off_no_line_of_code(visit) -> None:
    page = visit("notebooks/09-positions", viewport=A4)
    assert page.evaluate(CUT) > 0
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == 0


# a sheet holds 257 mm of 297; what is drawn wider than it makes all of the page smaller
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
HEADS = """() => ["#jb-print-toc h2", "article h2", "article h1"].map((name) =>
  parseFloat(getComputedStyle(document.querySelector(name)).fontSize))"""
# what only a screen can do, as far as it is seen
PRESSED = """() => [...document.querySelectorAll("#pst-back-to-top, .copybtn, .book-foot, .tooltip,"
  + ".bd-header-article, .lecture-byline .d-print-none")].filter((one) => one.checkVisibility())
  .map((one) => one.outerHTML.slice(0, 99))"""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_lecture_is_wider_than_a_sheet_or_prints_what_is_pressed(visit, notebook) -> None:
    page = visit(f"notebooks/{notebook.stem}", viewport=A4)
    page.evaluate("scrollTo(0, 5000)")
    page.evaluate("scrollTo(0, 4000)")  # going up: now the theme offers the way back to the top
    page.locator("button.search-button:visible").first.hover()
    expect(page.locator(".tooltip")).to_be_visible()
    page.emulate_media(media="print")
    assert page.evaluate(WIDER) <= 0
    assert page.evaluate(PRESSED) == []
    contents, head, title = page.evaluate(HEADS)
    assert contents < head <= title


def test_the_first_sheet_has_the_opening_picture(visit) -> None:
    for notebook in NOTEBOOKS:
        page = visit(f"notebooks/{notebook.stem}", viewport=A4)
        page.emulate_media(media="print")
        figure = page.locator(".lecture-opening :is(figure, .attnbook-drawing)").bounding_box()
        assert figure["y"] < 430, notebook.stem
        flows = figure["height"] > 970 - figure["y"]
        rule = page.locator(".lecture-opening :is(figure, .attnbook-drawing)").evaluate(
            "f => getComputedStyle(f).breakInside"
        )
        assert not flows or rule == "auto", notebook.stem


def test_paper_names_no_fold_that_is_closed_and_says_what_it_is_of(lecture) -> None:
    lecture.emulate_media(media="print")
    closed = lecture.locator("article details:not([open]) > summary")
    assert closed.count() > 5
    expect(closed.filter(visible=True)).to_have_count(0)
    lecture.emulate_media(media="screen")
    over = (
        "all => all.map((one) => one.textContent).filter((text) => text.includes('@page')).join()"
    )
    styles = lecture.locator("head style")
    assert "5. Self-attention · Attention, Worked Out" in styles.evaluate_all(over)


def test_a_picture_that_is_folded_up_stands_over_its_caption_on_paper(visit) -> None:
    page = visit("notebooks/evidence/14-longer-contexts")
    fold = page.locator(".figure-cell.tag_hide-cell > details").first
    expect(fold.locator("img")).to_be_hidden()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(fold.locator("img")).to_be_visible()
    expect(fold.locator("summary, .cell_input").filter(visible=True)).to_have_count(0)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(fold.locator("img")).to_be_hidden()


def test_a_question_that_was_answered_is_printed_with_its_answer(visit) -> None:
    page = visit()
    guess = page.locator("figure.attnbook-prediction").first
    choice, other = (page.locator("figure.attnbook-checkpoint").nth(at) for at in (0, 1))
    guess.locator("input").first.fill("0.25")
    guess.get_by_role("button", name="reveal").click()
    choice.locator("input").first.check()
    if choice.get_by_role("button", name="check").is_visible():
        choice.get_by_role("button", name="check").click()
    page.emulate_media(media="print")
    expect(guess.get_by_role("status")).to_contain_text("0.25")
    for shown in (guess.get_by_role("status"), choice.locator(".attnbook-reason > *").first):
        expect(shown).to_be_visible()
    for one in (guess, choice):
        expect(one.locator(".attnbook-fallback")).to_be_hidden()
    expect(other.locator(".attnbook-live")).to_be_hidden()
    expect(other.locator(".attnbook-fallback")).to_be_visible()


def test_a_formula_that_scrolls_is_within_reach_of_the_keys(visit) -> None:
    page = visit("notebooks/12-pretrained-models", viewport={"width": 320, "height": 640})
    wide = page.locator("div.math[tabindex='0']")
    expect(wide.first).to_be_attached()
    scrolls = "all => all.every((one) => one.scrollWidth > one.clientWidth)"
    assert wide.evaluate_all(scrolls)


def test_a_canvas_is_white_on_paper_at_once(visit) -> None:
    """The theme's change and the drawing come before the browser takes its picture for paper."""
    page = visit(theme="dark")
    canvas = page.locator("figure.attnbook-heatmap .attnbook-plot canvas").first
    canvas.scroll_into_view_if_needed()
    red = "c.getContext('2d').getImageData(0, 0, 1, 1).data[0]"
    assert canvas.evaluate(f"c => {red}") < 64
    told = "window.dispatchEvent(new Event('beforeprint'))"
    assert canvas.evaluate(f"c => {{ {told}; return {red}; }}") == 255


def test_the_tab_key_passes_formulas_by_and_a_fold_is_called_what_it_holds(lecture) -> None:
    assert lecture.locator(".math > math").count() > 0
    assert lecture.locator(".math[tabindex='0']").count() == 0
    expect(lecture.locator(".cell_input .copybtn").nth(10)).to_be_attached()
    assert lecture.locator(".output .copybtn").count() == 0
    for name in ("Solution 2", "Solution 3"):
        fold = lecture.locator("details.hide > summary", has_text=name)
        assert name in fold.aria_snapshot()
    named = lecture.locator("summary[aria-label]")
    assert named.count() == named.filter(has=lecture.locator(".toctree-toggle")).count()
    assert set(named.all_inner_texts()) <= {""}, "a fold with a text of its own needs no other"


@pytest.mark.parametrize("name", ["notebooks/12-pretrained-models", "genindex"])
def test_a_picture_scrolls_on_a_phone_and_the_page_does_not(visit, name: str) -> None:
    page = visit(name, viewport=PHONE)
    assert no_sideways_scroll(page)
    for picture in page.locator("article .cell_output img").all():
        drawn, own = picture.evaluate("i => [i.clientWidth, Number(i.getAttribute('width')) || 0]")
        assert drawn >= 0.75 * own - 1  # its numbers stay as large as three quarters of those drawn
        box = picture.locator("xpath=ancestor::div[contains(@class, 'cell_output')]")
        if box.evaluate("b => b.scrollWidth > b.clientWidth"):
            assert 0.75 * own > box.evaluate("b => b.clientWidth") - 2, "it could be narrower"
            assert box.get_attribute("tabindex") == "0"


# where the lines that are seen begin, in letters; a text's own at 0, for its blanks are letters too
BEGIN = """(all) => all.flatMap((pre) => {
  const [range, lines] = [document.createRange(), new Map()];
  range.selectNodeContents(pre);
  const from = pre.getBoundingClientRect().left + parseFloat(getComputedStyle(pre).paddingLeft);
  for (const { top, left } of range.getClientRects())
    lines.set(Math.round(top), Math.min(left - from, lines.get(Math.round(top)) ?? Infinity));
  return [...lines.values()].map((left) => Math.round(left / 7.9));
})"""


def test_code_is_wrapped_on_a_phone_further_in(lecture) -> None:
    size, shown = lecture.viewport_size, lecture.locator(".cell_input pre:visible")
    lecture.set_viewport_size(PHONE)
    cut_off = "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert shown.evaluate_all(cut_off) == 0
    begin = shown.evaluate_all(BEGIN)
    assert set(begin) == {0, 10}
    assert begin.count(10) > 20
    lecture.set_viewport_size(size)


ACCENT = {"light": "rgb(31, 78, 140)", "dark": "rgb(138, 180, 240)"}


def test_focus_and_helps_have_the_books_accent(visit) -> None:
    page = visit()
    page.add_style_tag(content="* { transition: none !important }")
    page.keyboard.press("Tab")
    ring = """(node) => { node.focus({ focusVisible: true }); const s = getComputedStyle(node);
      return [s.outlineStyle, s.outlineColor, parseFloat(s.outlineWidth) >= 2]; }"""
    for theme, accent in ACCENT.items():
        page.emulate_media(color_scheme=theme)
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        for place in (".skip-link", "#pst-back-to-top"):
            expect(page.locator(place)).to_have_css("background-color", accent)
        for button in page.locator(".bd-header-article .btn:visible").all():
            assert button.evaluate(ring) == ["solid", accent, True]


@pytest.mark.parametrize("via", ["http", "file"])
def test_page_and_figures_have_one_typeface(visit, lecture, via: str) -> None:
    page = lecture if via == "file" else visit(LECTURE, via)
    assert page.evaluate("document.fonts.load('16px \"Attnbook Serif\"').then((all) => all.length)")
    assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith(
        '"Attnbook Serif"'
    )
    css = (HTML / "_static/fonts.css").read_text(encoding="utf-8")
    assert len(re.findall(r"@font-face[^}]*url\(", css)) == 3
    assert len(re.findall(r"@font-face[^}]*src: local\(", css)) == 3  # what stands in until then
    assert "http" not in css


def test_in_the_readers_own_colours_controls_and_pictures_are_seen(visit) -> None:
    page = visit(forced_colors="active")
    assert page.evaluate("matchMedia('(forced-colors: active)').matches")
    link = page.locator(".bd-toc-nav a:visible").first
    link.focus()  # a shadow would be gone
    assert link.evaluate("(one) => getComputedStyle(one).outlineStyle") != "none"
    controls = page.locator("figure.attnbook :is(button, input, select, textarea)")
    assert controls.count() > 10
    assert controls.evaluate_all(UNSEEN) == []
    canvases = page.locator("figure.attnbook canvas:visible")
    assert canvases.count() > 0
    for canvas in canvases.all():
        canvas.scroll_into_view_if_needed()
        assert canvas.evaluate(COLOURS) > 2
