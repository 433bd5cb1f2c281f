"""Print the built book as one PDF, by Chromium, into _build/pdf.

    python -m book.tools.pdf           # after `make book`; `make pdf` does both

All pages are joined into one, in the order of the table of contents, so that formulae, live
pictures and links are made once and by the pages' own code. It is printed twice: first to see on
which page each chapter and answer falls, then with those numbers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from string import Template

import yaml
from playwright.sync_api import Page, Route, sync_playwright

from attnlab._console import any_letter
from attnlab.widgets.core.chunks import page_script, stylesheet
from book.tools.pdf.read import Printed
from tests.browser import launch, served

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
HTML = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "pdf" / "attention-worked-out.pdf"
MEASURE = 590  # px, the width of the text: A4 less the margins of book.css
# px, of a page's 938: from where code may be cut, and what is drawn smaller
SIZES = {"long": 380, "high": 700}
PATIENCE = 300_000  # ms: the whole book, on a busy machine
NUMBERS = """(at) => {
  for (const one of document.querySelectorAll(".page")) one.textContent = at[one.dataset.of]; }"""
ABOUT = "About this book"
ANSWERS = {
    "title": "Answers and solutions",
    "text": "What the lectures fold up, in their order: the answers to tasks, predictions, "
    "checkpoints, hunts and exercises. Each says on which page it was asked.",
}


class PrintError(Exception):
    """The book cannot be printed as it stands."""


def main() -> int:
    began = time.perf_counter()
    try:
        pages = make(HTML, TARGET)
    except PrintError as error:
        print(f"\npdf: {error}", file=sys.stderr)
        return 1
    size = TARGET.stat().st_size / 1e6
    print(f"pdf: {TARGET} ({pages} pages, {size:.1f} MB) in {time.perf_counter() - began:.0f} s")
    return 0


def make(html: Path, target: Path) -> int:
    """Print the book that was built into ``html``; return how many pages it has.

    Raises: PrintError where there is no book, where a link leads nowhere, or where the numbers of
    the pages do not settle.
    """
    if not (html / "index.html").exists():
        raise PrintError("there is no book yet: run `make book` first")
    with sync_playwright() as playwright, served(html) as address:
        browser = launch(playwright)
        # two pixels to each of the page's, for what is drawn on a canvas
        paper = {"viewport": {"width": MEASURE, "height": 900}, "device_scale_factor": 2}
        page = browser.new_page(color_scheme="light", reduced_motion="reduce", **paper)
        page.set_default_timeout(PATIENCE)
        try:
            join(page, address)
            printed = settle(page)
        finally:
            browser.close()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(printed.data)
    return len(printed.pages)


def contents() -> dict:
    """The book's first page and its parts, each with its pages in order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = []
    for part in toc["parts"]:
        listed = [(chapter, *chapter.get("sections", [])) for chapter in part["chapters"]]
        pages = [page["file"] for chapter in listed for page in chapter]
        parts.append({"caption": part["caption"], "pages": pages})
    return {"root": toc["root"], "parts": parts}


def join(page: Page, address: str) -> None:
    """Open a page that holds the whole book, as it goes to paper."""
    made = {
        "book.html": ("text/html", title_page()),
        "attnbook.css": ("text/css", stylesheet()),
        "attnbook.js": ("text/javascript", page_script()),
        "print.css": ("text/css", (HERE / "book.css").read_text(encoding="utf-8")),
    }
    for name, (kind, text) in made.items():
        page.route(f"{address}/_static/pdf-{name}", answer(kind, text))
    page.goto(f"{address}/_static/pdf-book.html")
    given = {**contents(), "about": ABOUT, "answers": ANSWERS}
    if dead := page.evaluate((HERE / "join.js").read_text(encoding="utf-8"), given):
        raise PrintError(f"links lead nowhere: {', '.join(dead)}")
    page.add_script_tag(url=f"{address}/_static/pdf-attnbook.js")
    page.wait_for_function("!document.querySelector('figure.attnbook:not([data-ready])')")
    page.emulate_media(media="print")  # what live pictures fold up opens
    page.evaluate((HERE / "fit.js").read_text(encoding="utf-8"), SIZES)


def answer(kind: str, text: str) -> Callable[[Route], None]:
    """What is sent where a file is asked for; Playwright gives a second argument its request."""
    return lambda route: route.fulfill(body=text, content_type=kind)


def title_page() -> str:
    """The page that all others are joined into; it holds what stands before them."""
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return Template((HERE / "title.html").read_text(encoding="utf-8")).substitute(
        title=cff["title"],
        authors=", ".join(author["name"] for author in cff["authors"]),
        version=cff["version"],
        date=cff["date-released"],
        address=cff["url"],
        code=cff["repository-code"],
    )


def settle(page: Page) -> Printed:
    """Print until the numbers of pages that the book names are those on which things stand."""
    named: dict[str, int] = {}
    for _ in range(4):
        options = {"outline": True, "tagged": True, "prefer_css_page_size": True}
        printed = Printed(page.pdf(print_background=True, **options))
        if printed.places == named:
            return printed
        named = printed.places
        page.evaluate(NUMBERS, named)
    raise PrintError("the numbers of the pages do not settle: they move what they count")


if __name__ == "__main__":
    any_letter()
    sys.exit(main())
