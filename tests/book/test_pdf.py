"""The book as one PDF: what Chromium printed is read, and the whole book is printed once."""

import html
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from book.tools.pdf import __main__ as pdf
from book.tools.pdf.read import Printed
from tests.book.lectures import HTML
from tests.browser import served

TWO = """<h1 id="a.b">One</h1><p><a href="#c-2">on</a> <a href="#a.b">back</a></p>
<h1 id="c-2" style="break-before: page">Two</h1>"""
TITLE = re.compile(rb"/Title (?:\((.*?)(?<!\\)\)|<([0-9A-F]*)>)\n", re.S)


def test_a_print_is_read_back_pages_and_places(chromium) -> None:
    page = chromium.new_page()
    page.set_content(TWO)
    printed = Printed(page.pdf(outline=True, tagged=True))
    page.close()
    assert len(printed.pages) == 2
    assert printed.places == {"a.b": 1, "c-2": 2}
    assert titles(printed) == ["One", "Two"]


def test_what_is_sent_is_taken_for_what_it_is(chromium) -> None:
    page = chromium.new_page()
    page.route("https://sent.test/*", pdf.answer("text/css", "p { color: rgb(1, 2, 3) }"))
    page.set_content('<!doctype html><link rel=stylesheet href="https://sent.test/a.css"><p>a')
    colour = page.locator("p").evaluate("(one) => getComputedStyle(one).color")
    page.close()
    assert colour == "rgb(1, 2, 3)"


PAGE = """<article><section id="same"><h1>{title}</h1><div class="cell"><details class="hide">
<summary>Set-up</summary>import</details></div><p id="id1">{text}</p></section></article>"""
FOLD = "<details><summary>Answer</summary><p>forty-two</p></details>"


@pytest.fixture
def joined(chromium, tmp_path: Path):
    """A book of three pages, not joined yet, and what joins it; and the address it is served at."""
    texts = {
        "root": '<a href="a.html">on</a> <a href="a.html#id1">further</a>'
        '<svg><a href="a.html"><text>drawn</text></a></svg>',
        "a": f'{FOLD} <a href="search.html">search</a> <a href="https://example.org/">away</a>',
        "b": '<a href="root.html#none">nowhere</a>',
    }
    for name, text in texts.items():
        page = PAGE.format(title=f"Page {name}", text=text)
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
    with served(tmp_path) as address:
        page = chromium.new_page()
        page.route(
            f"{address}/_static/*",
            lambda route: route.fulfill(body=pdf.title_page(), content_type="text/html"),
        )
        page.goto(f"{address}/_static/book.html")

        def join(*names: str) -> list[str]:
            parts = [{"caption": "I. First", "pages": names}, {"caption": "Rest", "pages": []}]
            given = {"root": "root", "parts": parts, "about": "About", "answers": pdf.ANSWERS}
            return page.evaluate((pdf.HERE / "join.js").read_text(encoding="utf-8"), given)

        yield page, join
        page.close()


def test_joined_pages_keep_their_links_ids_and_folds_stand_at_the_end(joined) -> None:
    page, join = joined
    assert join("a") == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    assert {"root", "root--id1", "a", "a--id1", "answers"} <= set(ids)
    assert page.get_by_role("link", name="further").get_attribute("href") == "#a--id1"
    assert page.locator("svg a").get_attribute("href") == "#a"
    assert page.get_by_role("link", name="away").get_attribute("href") == "https://example.org/"
    assert page.get_by_role("link", name="search").count() == 0
    assert "forty-two" not in page.locator("#a").inner_text()
    assert "forty-two" in page.locator("#answers").inner_text()
    for place, to in {"#a .answered a": "#answer-1", "#answers a": "#question-1"}.items():
        assert page.locator(place).get_attribute("href") == to
    assert "import" not in page.locator("#a").inner_text()


def test_a_link_that_leads_nowhere_is_named(joined) -> None:
    _, join = joined
    assert join("a", "b") == ["root--none"]


WIDE = """<article><div class="attnbook-live" style="width: 500px"><p>words</p>
<div class="attnbook-scroll"><div style="width: 1000px">wide</div></div></div></article>"""


def test_what_is_wide_shrinks_alone_and_a_book_must_be_there(chromium, tmp_path) -> None:
    """The words around a wide table keep their size."""
    page = chromium.new_page()
    page.set_content(WIDE)
    page.evaluate((pdf.HERE / "fit.js").read_text(encoding="utf-8"), pdf.SIZES)
    zoom = "(one) => one.style.zoom"
    assert page.locator("p").evaluate(zoom) == ""
    assert page.locator(".attnbook-scroll > div").evaluate(zoom) == "0.5"
    page.close()
    with pytest.raises(pdf.PrintError, match="run `make book` first"):
        pdf.make(tmp_path, tmp_path / "book.pdf")


def titles(printed: Printed) -> list[str]:
    """The lines of the outline."""
    found = (TITLE.search(text) for text in printed.objects() if b"/Parent" in text)
    return [title(one) for one in found if one]


def title(found: re.Match) -> str:
    if found[2] is not None:
        return bytes.fromhex(found[2].decode()).decode("utf-16")
    plain = re.sub(rb"\\(.)", rb"\1", found[1])
    return plain.decode("utf-16" if plain.startswith(b"\xfe\xff") else "latin-1")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    target = tmp_path_factory.mktemp("pdf") / "book.pdf"
    with ThreadPoolExecutor() as pool:  # a thread of its own: this one may run a browser already
        pool.submit(pdf.make, HTML, target).result()
    assert target.stat().st_size < 30e6
    return Printed(target.read_bytes())


@pytest.mark.heavy
def test_every_chapter_stands_in_the_outline(printed: Printed) -> None:
    lines = titles(printed)
    pages = [name for part in pdf.contents()["parts"] for name in part["pages"]]
    assert len(pages) > 40
    for name in pages:
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        heading = re.search(r"<h1>(.*?)<a class=\"headerlink", text)[1]
        assert html.unescape(re.sub(r"<[^>]+>", "", heading)) in lines, name


@pytest.mark.heavy
def test_every_link_leads_to_a_page_or_away_and_none_to_this_machine(printed: Printed) -> None:
    led = [re.search(rb"/Dest /(\S+)", text) for text in printed.objects() if b"/Link" in text]
    named = {one[1].decode() for one in led if one}
    assert len(named) > 500
    assert named <= set(printed.places)
    led = [re.search(rb"/URI \((.*?)(?<!\\)\)", text) for text in printed.objects()]
    found = {one[1].decode("latin-1") for one in led if one}
    assert len(found) > 100
    assert [url for url in found if not url.startswith("https://")] == []


@pytest.mark.heavy
def test_no_page_is_blank_and_every_font_is_embedded(printed: Printed) -> None:
    """What is not the head or the foot of a page is marked with its place in the structure."""
    blank = [
        number
        for number, page in enumerate(printed.pages, 1)
        if b"/MCID" not in printed.stream(int(re.search(rb"/Contents (\d+)", printed[page])[1]))
    ]
    assert blank == []
    # Chromium draws each glyph of a font of type 3; all others point to their file.
    fonts = [text for text in printed.objects() if b"/Type /Font\n" in text]
    own = [text for text in fonts if b"/Subtype /Type3" in text or b"/DescendantFonts" in text]
    pointed = [re.search(rb"/FontDescriptor (\d+)", text) for text in fonts if text not in own]
    assert len(pointed) > 3
    assert all(re.search(rb"/FontFile[23]? ", printed[int(one[1])]) for one in pointed)
