"""Previews of citations, figures and sections; notes in the margin; how wide things are."""

import html
import re
import sys

import pytest
from playwright.sync_api import Page, expect
from pybtex.database import parse_string

from tests.book.conftest import no_sideways_scroll
from tests.book.lectures import HTML, ROOT

sys.path.insert(0, str(ROOT / "book" / "extensions"))  # as the build finds them
import attnbook_previews as previews

PAGES = sorted((HTML / "notebooks").glob("[0-9]*.html"))
LINK = re.compile(r'<a [^>]*class="attnbook-ref (\w+)-([\d.]+) [^>]*href="([^"#]*)#([^"]+)"[^>]*>')
CITED = re.compile(
    r'<a aria-describedby="([^"]+)" [^>]*href="(http[^"]*)".*?</a>'
    r'<span role="tooltip" id="\1">(.*?)</span></span>',
    re.S,
)
BIB = """@misc{a,
  author={van Merri{\\"e}nboer, Bart and {DeepSeek-AI} and L{\\'o}pez, Ann B. and X, Y},
  title={The {GRU} <b>}, year={2014}, url={https://arxiv.org/abs/1}}"""
# boxes that a note may lie on: neither another note, nor what stands in the page's column
MEET = """() => {
  const shown = (box) => box.checkVisibility() && box.getBoundingClientRect().width > 0;
  const all = (names) => [...document.querySelectorAll(names)].filter(shown);
  const notes = all('.book-note > [role=tooltip]')
    .filter((note) => getComputedStyle(note).float !== 'none');
  const others = all(`.bd-article :is(p, li, pre, img, svg, table, figure, details, h2, h3),
    div.math > *, .bd-sidebar-primary, .bd-sidebar-secondary`);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const found = notes.flatMap((note, i) => [...notes.slice(i + 1), ...others].filter((box) =>
    !box.contains(note) && meet(note.getBoundingClientRect(), box.getBoundingClientRect()))
    .map((box) => note.textContent + ' | ' + box.textContent.slice(0, 40)));
  return [notes.length, found];
}"""
INSIDE = """(tip) => { const r = tip.getBoundingClientRect();
  return r.width > 50 && r.left >= 0 && r.top >= 0
    && r.right <= innerWidth && r.bottom <= innerHeight; }"""


def test_a_source_is_said_in_plain_letters() -> None:
    (entry,) = parse_string(BIB, "bibtex").entries.values()
    said = previews.source(entry)
    assert said == (
        "Bart van Merriënboer, DeepSeek-AI, Ann B. López et al., 2014. "
        "<cite>The GRU &lt;b&gt;</cite>. arXiv."
    )


def test_every_citation_says_what_the_bibliography_holds() -> None:
    bib = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    said = {}
    for page in [*PAGES, *(HTML / "notebooks" / "evidence").glob("*.html")]:
        text = page.read_text(encoding="utf-8")
        said |= {html.unescape(url): html.unescape(tip) for _, url, tip in CITED.findall(text)}
    assert len(said) > 100
    for url, tip in said.items():
        forms = (f"{{{url}}}", f"{{{url.removeprefix('https://doi.org/')}}}")
        entry = next(one for one in bib.split("\n@") if any(form in one for form in forms))
        year, title = (
            re.search(rf"^ *{key} *= \{{(.*)\}},", entry, re.M)[1] for key in ("year", "title")
        )
        assert f", {year}. <cite>" in tip, url
        if not re.search(r"[\\$]", title):
            assert f"<cite>{re.sub('[{}]', '', title)}</cite>".replace("--", "–") in tip, url


def test_every_section_and_figure_of_the_text_leads_to_it() -> None:
    ids = {
        page.name: set(re.findall(r' id="([^"]+)"', page.read_text(encoding="utf-8")))
        for page in PAGES
    }
    found = [(page.name, *link) for page in PAGES for link in LINK.findall(page.read_text("utf-8"))]
    assert {kind for _, kind, *_ in found} == {"section", "figure"}
    for name, kind, number, leads, place in found:
        other = leads or name
        assert place in ids[other], (name, number)
        assert int(other[:2]) == int(number.split(".")[0]), (name, number, kind)


@pytest.mark.parametrize(
    ("said", "linked"),
    [
        ("see section 5.4, then", ["section 5.4"]),
        ("sections 5.4 and 5.5.", ["sections 5.4", "5.5"]),
        ("Figure 7.1 or section 3.2.1 or section 99.1", ["Figure 7.1"]),
    ],
)
def test_a_mention_is_linked_where_the_book_has_it(said: str, linked: list[str]) -> None:
    from docutils import nodes

    text = nodes.Text(said)
    paragraph = nodes.paragraph("", "", text)
    parts = previews.linked(text, "05-self-attention")
    assert [part.astext() for part in parts if isinstance(part, nodes.reference)] == linked
    assert "".join(part.astext() for part in parts) == said
    cited = nodes.paragraph("", "", nodes.reference("", "Vaswani"), nodes.Text(", section 5.4"))
    assert previews.linked(cited[1], "05-self-attention") == [cited[1]]
    assert previews.in_prose(paragraph[0])


def wide(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(
        "document.readyState === 'complete' && document.fonts.status === 'loaded'"
    )
    page.evaluate("new Promise((done) => setTimeout(done, 300))")


@pytest.mark.parametrize("name", ["01-sequence-to-sequence", "14-longer-contexts"])
def test_notes_in_the_margin_lie_on_nothing(visit, name: str) -> None:
    page = visit(f"notebooks/{name}", viewport={"width": 1500, "height": 900})
    for width in (1500, 1920):
        wide(page, width)
        notes, met = page.evaluate(MEET)
        assert notes > 10
        assert met == []
        assert no_sideways_scroll(page)
        cut = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
        assert page.locator(".bd-article pre:visible").evaluate_all(cut) == 0
    wide(page, 1400)
    assert page.evaluate(MEET)[0] == 0


def test_a_preview_is_seen_whole_on_a_phone_and_goes_with_escape(visit) -> None:
    page = visit(viewport={"width": 390, "height": 800})
    for link in page.locator("article .attnbook-preview > a:visible, .attnbook-term:visible").all():
        link.focus()
        tip = page.locator(f"#{link.get_attribute('aria-describedby')}")
        expect(tip).to_be_visible()
        page.wait_for_function(INSIDE, arg=tip.element_handle())  # it follows the scrolling
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert no_sideways_scroll(page)


def test_a_preview_goes_once_its_link_is_followed(visit) -> None:
    page = visit("notebooks/15-what-a-head-shows", viewport={"width": 390, "height": 844})
    link = page.locator(".attnbook-preview a[href^='#picture-']").first
    link.click()
    tip = page.locator(".attnbook-preview", has=link).first.get_by_role("tooltip")
    expect(tip).to_be_hidden()


def test_a_still_drawing_is_shown_small_and_no_id_stands_twice(visit) -> None:
    page = visit("notebooks/03-attention")
    link = page.locator("a.attnbook-ref[href='#picture-3-2']").first
    link.focus()
    tip = page.locator(f"#{link.get_attribute('aria-describedby')}")
    expect(tip).to_contain_text("Figure 3.2.")
    expect(tip.locator("svg")).to_be_visible()
    page.wait_for_function(INSIDE, arg=tip.element_handle())
    ids = page.locator("[id]").evaluate_all("all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_links_and_terms_share_the_stop_of_their_section(visit) -> None:
    """Where a section has code they cost the Tab key nothing."""
    page = visit("notebooks/08-multi-head-attention")
    page.wait_for_function("document.readyState === 'complete'")
    part = page.locator("section:has(> h2:has-text('8.3'))")
    code = ".cell:not(.tag_solution) :is(details.above-input > summary, .copybtn)"
    links = part.locator(f"{code}, .attnbook-term, a.reference").filter(visible=True)
    kinds = links.evaluate_all("all => all.map((one) => one.tagName)")
    assert {"A", "DFN"} < set(kinds)
    assert part.locator("a.reference:not([tabindex='-1']):not([data-stop])").count() == 0
    assert part.locator("[data-stop]").count() == 1
    links.first.focus()
    for place in range(1, links.count()):
        page.keyboard.press("ArrowRight")
        expect(links.nth(place)).to_be_focused()


@pytest.mark.parametrize(("name", "column"), [("notebooks/other-texts", 4), ("book/benchmarks", 4)])
def test_a_table_shows_all_its_columns(visit, name: str, column: int) -> None:
    page = visit(name)
    cells = page.locator(f"article table tr:first-child > :nth-child({column})")
    assert cells.count() > 0
    seen = """all => { const right = (box) => box.getBoundingClientRect().right;
      return all.every((cell) => right(cell) <= right(cell.closest('div')) + 1); }"""
    assert cells.evaluate_all(seen)


def test_a_table_that_must_scroll_says_so(visit) -> None:
    page = visit("notebooks/other-texts", viewport={"width": 390, "height": 800})
    box = page.locator(".pst-scrollable-table-container[tabindex='0']").first
    assert "sideways" in box.evaluate("box => getComputedStyle(box, '::before').content")
