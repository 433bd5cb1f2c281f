"""The page around the text: the Tab key's stops, an old link, no storage, no script."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.book.conftest import LECTURE, Look
from tests.book.lectures import HTML
from tests.book.test_pages import PHONE
from tests.book.test_progress import answer
from tests.browser import FLAGS, STOPS, find_chromium

# all that a page may keep anything in; a browser refuses it as a whole, where cookies are blocked
REFUSED = """const refuse = () => { throw new DOMException('refused', 'SecurityError'); };
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches', 'cookieStore'])
    Object.defineProperty(window, name, { configurable: true, get: refuse });
  Object.defineProperty(document, 'cookie', { configurable: true, get: refuse, set: refuse });"""
BLOCKED = {"profile": {"default_content_setting_values": {"cookies": 2}}}  # Chromium's own setting
BARE = """() => {  // a frame within the page, without the page's stand-ins
  const frame = document.body.appendChild(document.createElement('iframe'));
  try { return [frame.contentWindow.localStorage.length]; } catch ({ name }) { return name; }
}"""


@pytest.mark.parametrize("via", ["http", "file"])
def test_a_link_to_a_section_that_is_gone_says_so_and_helps(visit, via: str) -> None:
    page = visit(LECTURE, via)
    said = page.locator(".book-lost")
    page.goto(f"{page.url}#the-%3Cb%3Emasked-softmax")
    expect(said).to_contain_text("no section of the name")
    assert said.locator("b").count() == 0
    page.goto(f"{page.url.partition('#')[0]}#%")
    expect(said).to_contain_text("“%”")
    page.goto(f"{page.url.partition('#')[0]}#summary")
    expect(said).to_have_count(0)
    page.goto(f"{page.url.partition('#')[0]}#masked-softmax")
    said.get_by_role("link").click()
    expect(page.locator(".search-sections a").first).to_be_visible()


GLIDES = """() => { globalThis.seen = new Set();
  const note = () => { seen.add(Math.round(scrollY)); requestAnimationFrame(note); };
  requestAnimationFrame(note); }"""


def test_a_place_in_another_page_is_gone_to_at_once_and_within_the_page_one_glides(visit) -> None:
    page = visit(LECTURE, "http", first=f"({GLIDES})()")
    page.goto(f"{page.url.replace('05-self-attention', '06-queries-keys-values')}#summary")
    page.wait_for_function("document.documentElement.classList.contains('is-loaded')")
    expect(page.locator("#summary > h2")).to_be_in_viewport()
    assert page.evaluate("[...seen].filter((at) => at > 0 && at < scrollY - 900).length") <= 1
    glides = "getComputedStyle(document.documentElement).scrollBehavior"
    assert page.evaluate(glides) == "smooth"


def test_what_is_saved_names_its_licence_and_what_is_printed_is_said(visit) -> None:
    page = visit(LECTURE)
    bars = page.locator("figure [role=toolbar]:has(button[aria-label^=save])")
    assert bars.count() > 1
    for bar in bars.all():
        expect(bar.get_by_role("link", name="licence: CC BY 4.0")).to_have_count(1)
        assert bar.locator("[tabindex='0']").count() == 1  # all of it one stop of the Tab key
    bars.first.get_by_role("link").click()
    page.wait_for_url("**/credits.html#licence")
    expect(page.locator("#licence > h2")).to_be_in_viewport()
    page.go_back()
    page.locator(".dropdown-download-buttons > button").click()
    expect(page.get_by_role("button", name="Print or save as PDF, opened answers")).to_be_visible()


CUT = """() => [...document.querySelectorAll("article .cell_output pre")].filter((one) =>
  one.checkVisibility() && one.scrollWidth > one.clientWidth + 1).map((one) =>
    getComputedStyle(one).backgroundImage.startsWith("linear-gradient") && one.tabIndex === 0)"""


def test_what_code_printed_shows_on_a_phone_that_it_is_cut(visit) -> None:
    page = visit(LECTURE, viewport=PHONE)
    page.wait_for_function("document.readyState === 'complete'")
    before = page.evaluate(CUT)
    assert before
    assert all(before)
    page.evaluate(
        "document.querySelectorAll('article details').forEach((one) => (one.open = true))"
    )
    page.wait_for_function(f"({CUT})().length > {len(before)} && ({CUT})().every(Boolean)")
    page.emulate_media(media="print")
    assert not any(page.evaluate(CUT))


class Blocking:
    """A browser whose user has blocked cookies, which takes all storage from a page."""

    def __init__(self, chromium: Browser, folder: Path) -> None:
        self.kind, self.folder = chromium.browser_type, folder
        (folder / "Default").mkdir(parents=True)
        (folder / "Default" / "Preferences").write_text(json.dumps(BLOCKED))

    def new_context(self, **options) -> BrowserContext:
        given = {"executable_path": find_chromium(), "args": list(FLAGS), **options}
        return self.kind.launch_persistent_context(self.folder, **given)


@pytest.fixture
def refused(chromium, roots, tmp_path) -> Iterator[Callable[[str, str], Page]]:
    """Open lecture 5 where all storage is refused; afterwards, it logged no error."""
    looks: list[Look] = []

    def opened(how: str, via: str) -> Page:
        blocked = how == "blocked"
        browser = Blocking(chromium, tmp_path / "profile") if blocked else chromium
        first = "" if blocked else REFUSED
        looks.append(Look(browser, roots, LECTURE, via, "light", first=first))
        assert not blocked or looks[-1].page.evaluate(BARE) == "SecurityError"
        return looks[-1].page

    yield opened
    for look in looks:
        look.context.close()
        look.clean()


WAYS = [("imitated", "file"), ("blocked", "http")]
WAYS += [
    pytest.param(*way, marks=pytest.mark.heavy)
    for way in (("imitated", "http"), ("blocked", "file"))
]


@pytest.mark.parametrize(("how", "via"), WAYS)
def test_a_book_works_where_nothing_may_be_kept(refused, roots, how: str, via: str) -> None:
    page = refused(how, via)
    expect(page.locator("math").first).to_be_attached()
    # the list of pages folds and opens
    pages, toggle = page.locator(".bd-docs-nav"), page.locator("button.primary-toggle")
    for folded in (True, False):
        toggle.click()
        expect(pages).to_be_visible(visible=not folded)
    # the theme, a live picture, a question that is counted
    theme, seen = page.locator("html"), set()
    for _ in range(3):
        page.get_by_role("button", name="light/dark").first.click()
        seen.add(theme.get_attribute("data-theme"))
    assert seen == {"light", "dark"}
    arrows = page.locator("figure.attnbook-arrows").first
    arrows.get_by_label("what becomes of").select_option("bowl")
    expect(arrows).to_contain_text("new bowl = ")
    answer(page)
    expect(page.locator(".plan-done", has_text="(1 of")).to_have_count(1)
    # the search, over the page and as a page of its own, whose words the next page is told
    page.keyboard.press("Control+k")
    page.keyboard.type("causal mask")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    page.goto(f"{roots[via]}/search.html?q=causal+mask")
    page.locator(".search-sections a").first.click()
    expect(page.locator("article h1")).to_be_visible()
    # the list lies over the page on a phone
    page.set_viewport_size(PHONE)
    page.reload()
    expect(pages).to_be_hidden()
    toggle.click()
    expect(pages).to_be_visible()
    expect(page.locator(".bd-sidebar-primary :focus")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(pages).to_be_hidden()


EMPTIED = """for (const name of ['getItem', 'setItem', 'removeItem', 'clear', 'key'])
    Storage.prototype[name] = () => { throw new DOMException('refused', 'SecurityError'); };"""


@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("name", [LECTURE, "book/index"])
@pytest.mark.parametrize("how", [REFUSED, EMPTIED], ids=["no-storage", "no-methods"])
def test_at_no_width_a_refused_storage_ends_a_script(
    visit, how: str, name: str, width: int
) -> None:
    page = visit(name, viewport={"width": width, "height": 900}, first=how)
    page.wait_for_function(LOADED)
    before = page.locator("html").get_attribute("data-theme")
    page.get_by_role("button", name="light/dark").first.click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", before)
    page.keyboard.press("Control+k")
    page.keyboard.type("causal mask")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    page.evaluate("scrollTo(0, 4000)")
    page.reload()  # what is kept when a page is left
    expect(page.locator("figure.attnbook:not([data-ready])")).to_have_count(0)


def test_without_scripts_a_lecture_can_be_read(visit) -> None:
    page = visit(java_script_enabled=False)
    tables = page.locator(".attnbook-fallback table:visible")
    assert tables.count() >= 2  # a table for each live picture
    assert "0.734" in tables.first.inner_text()
    assert page.locator("article h2").count() > 5
    assert page.locator(".bd-docs-nav [tabindex]").count() == 0, "each page is a stop"


def test_a_button_that_copies_says_which_code_and_that_it_did(lecture) -> None:
    buttons = lecture.locator(".copybtn")
    expect(buttons.last).to_have_attribute("aria-label", re.compile("^Copy code"))
    names = buttons.evaluate_all("all => all.map((one) => one.ariaLabel)")
    assert len(set(names)) == len(names) > 10
    assert names[0].startswith("Copy code 1: Set-up")
    copied = lecture.locator("pre:has(+ .copybtn)")
    code = copied.evaluate_all("all => all.map((one) => one.textContent.trim().split('\\n')[0])")
    said = [name.partition(": ")[2] for name in names]
    assert [line for line, name in zip(code, said, strict=True) if name not in line] == []
    assert all(len(name) > 2 for name in said)
    button = lecture.locator(".copybtn:visible").first
    name = button.get_attribute("aria-label")
    button.click()
    expect(lecture.locator("[role=status].book-copied")).to_have_text("Copied!")
    expect(button).to_have_attribute("aria-label", name)


FOCUSED = "document.activeElement.textContent.trim()"
LOADED = "document.readyState === 'complete'"


def keys(page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)


@pytest.mark.parametrize("name", ["13-faster-decoding", "14-longer-contexts"])  # with most of them
def test_the_tab_key_stops_seldom(visit, name: str) -> None:
    page = visit(f"notebooks/{name}")
    page.wait_for_function(LOADED)
    assert page.evaluate(STOPS) <= 120


def test_the_list_of_pages_is_one_stop_and_arrow_keys_reach_all(lecture) -> None:
    lecture.wait_for_function(LOADED)
    links = lecture.locator(".bd-docs-nav").get_by_role("link")
    stops = lecture.locator(".bd-docs-nav [tabindex='0']")
    expect(stops).to_have_text(["5. Self-attention"])
    stops.focus()
    keys(lecture, "ArrowDown", "ArrowDown")  # over the fold of its evidence
    assert lecture.evaluate(FOCUSED) == "How we know"
    expect(lecture.locator(".book-keys")).to_contain_text("the other pages")
    assert stops.count() == 1
    keys(lecture, "Home")
    seen = {lecture.evaluate(FOCUSED)}
    folds = lecture.locator(".bd-docs-nav summary").count()  # they stand between the links
    for _ in range(links.count() + folds):
        keys(lecture, "ArrowDown")
        seen.add(lecture.evaluate(FOCUSED))
    assert {text.strip() for text in links.all_inner_texts()} <= seen
    keys(lecture, "Tab")
    assert not lecture.evaluate("document.activeElement.matches('.bd-docs-nav *')")
    expect(lecture.locator(".book-keys")).to_be_hidden()
    keys(lecture, "Shift+Tab")
    assert lecture.evaluate(FOCUSED) in seen


def test_the_contents_of_a_page_are_one_stop(lecture) -> None:
    lecture.wait_for_function(LOADED)
    contents = lecture.locator(".bd-toc-nav")
    expect(contents.locator("[tabindex='0']")).to_have_count(1)
    contents.locator("[tabindex='0']").focus()
    keys(lecture, "End", "ArrowUp", "Enter")
    assert lecture.evaluate("location.hash") != ""


def test_the_code_of_a_section_is_one_stop(lecture) -> None:
    """A fold that opens joins what the arrow keys reach, and takes no stop away when it closes."""
    lecture.wait_for_function(LOADED)
    part = lecture.locator("#all-tokens-at-once")
    cells = ".cell:not(.tag_solution) :is(details.above-input > summary, .copybtn)"
    code = part.locator(f"{cells}, .attnbook-term, a.reference").or_(
        part.locator("summary", has_text=re.compile("^(Hint|Answer)"))
    )
    reached = code.filter(visible=True)
    assert reached.count() > 2
    assert code.locator("xpath=self::*[@tabindex='0']").count() == 1
    reached.first.focus()
    for place in range(1, reached.count()):
        keys(lecture, "ArrowRight")
        expect(reached.nth(place)).to_be_focused()
    keys(lecture, "ArrowLeft")
    expect(reached.nth(reached.count() - 2)).to_be_focused()
    keys(lecture, "ArrowDown")  # scrolls the page
    expect(reached.nth(reached.count() - 2)).to_be_focused()
    lecture.locator(".lecture-data > details > summary").click()
    fold = lecture.locator(".cell:not(.tag_solution) details.above-input").first
    fold.locator("summary").click()
    keys(lecture, "ArrowRight")
    expect(fold.locator(".copybtn")).to_be_focused()
    fold.locator("summary").click()
    expect(fold.locator(".copybtn")).to_be_hidden()
    expect(fold.locator("summary")).to_have_attribute("tabindex", "0")


def test_no_link_leads_to_an_address_that_is_not_set() -> None:
    dead = re.compile(r'href="[^"]*/OWNER[/.]')
    pages = {path.name: path.read_text(encoding="utf-8") for path in HTML.rglob("*.html")}
    assert "open an issue" in pages["cite.html"]
    assert [name for name, text in pages.items() if dead.search(text)] == []
