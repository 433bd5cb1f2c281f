"""The book as one PDF: what Chromium printed is read, and the whole book is printed once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from book.tools.pdf import __main__ as pdf
from book.tools.pdf.read import Printed
from tests.book.lectures import HTML

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


def test_without_a_built_book_nothing_is_printed(tmp_path: Path) -> None:
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
    pdf.make(HTML, target)
    assert target.stat().st_size < 30e6
    return Printed(target.read_bytes())


@pytest.mark.heavy
def test_every_chapter_stands_in_the_outline(printed: Printed) -> None:
    lines = titles(printed)
    for part in pdf.contents()["parts"]:
        for name in part["pages"]:
            html = (HTML / f"{name}.html").read_text(encoding="utf-8")
            assert re.search(r"<h1>(.*?)<a", html)[1] in lines, name


@pytest.mark.heavy
def test_every_link_within_the_pdf_leads_to_a_page(printed: Printed) -> None:
    led = [re.search(rb"/Dest /(\S+)", text) for text in printed.objects() if b"/Link" in text]
    named = {one[1].decode() for one in led if one}
    assert len(named) > 500
    assert named <= set(printed.places)


@pytest.mark.heavy
def test_no_page_is_blank(printed: Printed) -> None:
    """What is not the head or the foot of a page is marked with its place in the structure."""
    blank = [
        number
        for number, page in enumerate(printed.pages, 1)
        if b"/MCID" not in printed.stream(int(re.search(rb"/Contents (\d+)", printed[page])[1]))
    ]
    assert blank == []


@pytest.mark.heavy
def test_every_font_is_embedded(printed: Printed) -> None:
    fonts = [text for text in printed.objects() if b"/FontDescriptor\n" in text]
    assert len(fonts) > 3
    assert all(re.search(rb"/FontFile[23]? ", text) for text in fonts)
