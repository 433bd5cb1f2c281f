"""The built book in a real browser, over http and from the file system, with no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.book.lectures import HTML
from tests.browser import served
from tests.patience import BROWSER

LECTURE = "notebooks/05-self-attention"


class Look:
    """A page of the book as it was opened, and what it did that it must not."""

    def __init__(
        self, chromium: Browser, roots: dict[str, str], name: str, via: str, theme: str, **options
    ) -> None:
        expect.set_options(timeout=BROWSER)
        self.name, self.theme, self.host = name, theme, roots["http"]
        self.outside: list[str] = []  # addresses on other hosts
        self.logged: list[str] = []  # errors
        options.setdefault("viewport", {"width": 1280, "height": 900})
        self.context = chromium.new_context(color_scheme=theme, accept_downloads=True, **options)
        self.context.route("**/*", self.answer)
        self.page = self.context.new_page()
        self.page.set_default_timeout(BROWSER)
        self.page.on("pageerror", lambda error: self.logged.append(str(error)))
        self.page.on("console", lambda line: line.type == "error" and self.logged.append(line.text))
        self.page.goto(f"{roots[via]}/{name}.html")
        if options.get("java_script_enabled", True):
            waiting = self.page.locator("figure.attnbook:not([data-ready])")
            expect(waiting).to_have_count(0)

    def answer(self, route) -> None:
        url = route.request.url
        if url.startswith(("file:", "blob:", "data:", self.host)):
            return route.continue_()
        self.outside.append(url)
        return route.abort()


@pytest.fixture(scope="session")
def roots() -> Iterator[dict[str, str]]:
    """Where the built book is found: on a server of this machine, and as files."""
    assert (HTML / "index.html").exists(), "no built book: run `make book` first"
    with served(HTML) as address:
        yield {"http": address, "file": HTML.as_uri()}


@pytest.fixture
def visit(chromium: Browser, roots: dict[str, str]) -> Iterator[Callable[..., Page]]:
    """Open a page of the book; afterwards, it asked nobody else and logged no error."""
    looks: list[Look] = []

    def opened(name: str = LECTURE, via: str = "file", theme: str = "light", **options) -> Page:
        looks.append(Look(chromium, roots, name, via, theme, **options))
        return looks[-1].page

    yield opened
    for look in looks:
        look.context.close()
    assert [url for look in looks for url in look.outside] == []
    assert [line for look in looks for line in look.logged] == []


def no_sideways_scroll(page: Page) -> bool:
    return page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
