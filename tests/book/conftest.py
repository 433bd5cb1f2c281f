"""The built book in a real browser, over http and from the file system, with no network."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.book.lectures import HTML
from tests.browser import served
from tests.patience import BROWSER

LECTURE = "notebooks/05-self-attention"
# what takes longest, first, so that two workers end together
LONGEST = ("test_pages", "test_slides_fit", "test_jupyterlab", "test_kit_copies", "test_colab")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: (*LONGEST, item.path.stem).index(item.path.stem))


class Look:
    """A page of the book as it was opened, and what it did that it must not."""

    def __init__(
        self, chromium: Browser, roots: dict[str, str], name: str, via: str, theme: str, **options
    ) -> None:
        expect.set_options(timeout=BROWSER)
        self.name, self.host = name, roots["http"]
        self.outside: list[str] = []  # addresses on other hosts
        self.logged: list[str] = []  # errors
        first = options.pop("first", "")  # a script that runs before any of the page's
        options.setdefault("viewport", {"width": 1280, "height": 900})
        self.context = chromium.new_context(color_scheme=theme, accept_downloads=True, **options)
        # to listen is cheaper than to answer each request, which turns the cache off, too
        self.context.on("request", lambda asked: self.note(asked.url))
        self.context.on("weberror", lambda error: self.logged.append(str(error.error)))
        self.context.on("console", lambda s: s.type == "error" and self.logged.append(s.text))
        self.context.set_default_timeout(BROWSER)
        if first:
            self.context.add_init_script(f"if (location.protocol !== 'about:') {{ {first} }}")
        self.page = self.context.new_page()
        self.page.goto(f"{roots[via]}/{name}.html")
        if options.get("java_script_enabled", True):
            waiting = self.page.locator("figure.attnbook:not([data-ready])")
            expect(waiting).to_have_count(0)

    def note(self, url: str) -> None:
        if not url.startswith(("file:", "blob:", "data:", self.host)):
            self.outside.append(url)

    def clean(self) -> None:
        """It asked nobody else and logged no error."""
        assert self.outside == []
        assert self.logged == []


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
    for look in looks:
        look.clean()


@pytest.fixture(scope="module")
def lecture(chromium: Browser, roots: dict[str, str]) -> Iterator[Page]:
    """Lecture 5, opened once for all tests of a file that leave it as they found it."""
    look = Look(chromium, roots, LECTURE, "file", "light")
    yield look.page
    look.context.close()
    look.clean()


FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def no_sideways_scroll(page: Page) -> bool:
    return page.evaluate(FITS)
