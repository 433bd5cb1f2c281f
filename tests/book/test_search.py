"""The search: sections as one types, in students' words, over http and from the file system."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.book.conftest import LECTURE, Look, no_sideways_scroll
from tests.book.lectures import HTML, ROOT
from tests.book.search_questions import REVIEWED, TYPED, USERS

WANTED = REVIEWED | USERS
DATA = tomllib.loads((ROOT / "book/extensions/search.toml").read_text(encoding="utf-8"))
ASKED = tomllib.loads((ROOT / "book/extensions/asked.toml").read_text(encoding="utf-8"))
MANY = tomllib.loads((ROOT / "tests/book/search_questions.toml").read_text(encoding="utf-8"))
SAID = ".search-said"


@pytest.fixture(scope="module")
def looks(chromium, roots) -> Iterator[dict[str, Look]]:
    """The page of the search, opened once each way for all questions of this file."""
    still = {"reduced_motion": "reduce"}  # it jumps where it would glide
    opened = {via: Look(chromium, roots, "search", via, "light", **still) for via in roots}
    yield opened
    for look in opened.values():
        look.context.close()
        look.clean()


@pytest.fixture
def asked(looks, roots) -> Callable[..., Page]:
    """Open the page of the search with a question, as a link does."""

    def ask(question: str, via: str = "http") -> Page:
        page = looks[via].page
        page.goto(f"{roots[via]}/search.html?q={quote(question)}")
        expect(page.locator(SAID)).not_to_be_empty()
        return page

    return ask


def opened(page: Page, question: str = "") -> Page:
    """Open the field over a page by its keys, and type."""
    page.wait_for_function("document.readyState === 'complete'")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search this book")).to_be_focused()
    page.keyboard.type(question)
    return page


def places(page: Page) -> list[list[tuple[str, str]]]:
    """Return each place of the list: a section's address and title, and those under it."""
    shown = page.locator(".search-sections > li").evaluate_all(
        "all => all.map(one => [...one.querySelectorAll('a')].map(l => [l.href, l.textContent]))"
    )
    return [[tuple(one) for one in links] for links in shown]


def results(page: Page) -> list[tuple[str, str]]:
    """Return address and title of the section that each place leads to."""
    return [first for first, *_ in places(page)]


def is_wanted(address: str, title: str, wanted: str) -> bool:
    lecture, _, word = wanted.strip().partition(" ")
    if lecture == "api":
        return title == word
    if lecture == "page":
        return word.lower() in title.lower()
    return f"/notebooks/{int(lecture):02}-" in address and word.lower() in title.lower()


def sections() -> dict:
    text = (HTML / "_static" / "sections.js").read_text(encoding="utf-8")
    return json.loads(text.partition(" = ")[2].rstrip(";\n"))


def found(page: Page, question: str) -> list[list[tuple[str, str]]]:
    """Type a question, and return the places that are shown for it."""
    page.locator(".bd-search-container input").fill(question)
    page.wait_for_function(
        "q => document.querySelector('#search-results').dataset.for === q", arg=question
    )
    return places(page)


def unanswered(page: Page, questions: dict[str, str]) -> dict[str, list]:
    """Return the questions whose answer is at none of the first three places, and what is there."""
    wrong = {}
    for question, wanted in questions.items():
        first = found(page, question)[:3]
        sections = [one for place in first for one in place]
        if not any(is_wanted(*one, fair) for one in sections for fair in wanted.split("|")):
            wrong[question] = [[title for _, title in place] for place in first]
    return wrong


def test_a_question_as_people_type_it_has_its_answer_among_the_first_three(asked) -> None:
    assert unanswered(asked("attention", "file"), TYPED) == {}


@pytest.mark.parametrize("kind", MANY)
def test_nearly_every_question_has_its_answer_among_the_first_three(asked, kind: str) -> None:
    wrong = unanswered(asked("attention", "file"), MANY[kind])
    # one in twenty may fail, and of twenty whole questions, half of them kept back, two
    assert len(wrong) <= max(2, 0.05 * len(MANY[kind])), wrong


def test_what_readers_call_a_section_leads_to_a_section_that_is_there() -> None:
    there = {name: {row[0] for row in rows} for name, rows in sections()["pages"]}
    lost = {}
    for name, phrases in ASKED.items():
        alike = re.compile(name.replace("NN", r"\d\d-.*") + r"\.html")
        for page in [page for page in there if alike.fullmatch(page)] or [f"{name}.html"]:
            lost[page] = phrases.keys() - there.get(page, set())
    assert {page: gone for page, gone in lost.items() if gone} == {}


def test_every_section_of_every_page_has_what_readers_call_it() -> None:
    """Five phrases; terms, names of code, and what only names a lecture do without."""
    few = {}
    for name, rows in sections()["pages"]:
        for place, title, *_, asked in rows:
            known = re.fullmatch(
                r"term-.*|attn(book|lab)\..*|id\d+|week-\d+-.*|teaching-lecture-.*", place
            )
            count = len([one for one in asked.split(";") if one.strip()])
            if not known and count < 5:
                few[f"{name}#{place}"] = (title, count)
    assert few == {}


def test_a_section_and_those_within_it_share_a_place(asked) -> None:
    found(page := asked("attention"), "does a mask leak, test the past")
    shared = next(place for place in places(page) if len(place) > 1)
    assert "The future" in [title for _, title in shared], shared
    assert {address.partition("#")[0] for address, _ in shared} == {shared[0][0].partition("#")[0]}
    every = [address for place in places(page) for address, _ in place]
    assert len(every) == len(set(every))
    last = page.locator(".search-under").last
    address = last.get_attribute("href").partition("#")[2]
    last.click()
    page.wait_for_url(f"**#{address}")


@pytest.mark.parametrize(
    ("typed", "known", "wanted"),
    [
        ("Aufmerksamkeitsmaske", "aufmerksamkeits maske", "7 same zero | 11 masks"),
        ("beamsearch", "beam search", "2 Beam"),
        ("speculativ decodng", "decodng”: decoding", "13 Guess"),
    ],
)
def test_words_written_as_one_and_a_slip_in_each_are_mended(
    asked, typed: str, known: str, wanted: str
) -> None:
    page = asked(typed)
    expect(page.locator(SAID)).to_contain_text(known)
    assert any(is_wanted(*results(page)[0], one) for one in wanted.split(" | "))


@pytest.mark.parametrize("via", ["http", "file"])
def test_forty_questions_find_the_section_that_teaches_it(asked, via: str) -> None:
    """At the first place, or where two sections are fair at one of the first two."""
    assert len(REVIEWED) == len(USERS) == 20
    page = asked("attention", via)
    wrong = []
    for question, wanted in WANTED.items():
        shown = found(page, question)
        if wanted.startswith("none "):
            right = wanted.removeprefix("none ") in page.locator(SAID).inner_text()
            right = right and page.locator(".search-read a").count() > 0
        else:
            fair = wanted.split("|")
            first = [one for place in shown[: len(fair)] for one in place]
            right = any(is_wanted(*one, w) for one in first for w in fair)
        if not right:
            wrong.append((question, wanted, shown[:2]))
    assert wrong == []


def test_a_result_lands_on_its_section(asked) -> None:
    page = asked("causal mask", "file")
    first = page.locator(".search-sections a").first
    address, place = first.get_attribute("href").split("#")
    first.click()
    page.wait_for_url(f"**/{address.removeprefix('./')}#*")
    section = page.locator(f"[id='{place}']")
    expect(section).to_be_in_viewport()
    assert section.evaluate("s => Math.abs(s.getBoundingClientRect().top)") < 200


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("atention", "Instead of “atention”: attention."),  # codespell:ignore
        ("transfromer", "Instead of “transfromer”: transformer."),  # codespell:ignore
        ("halucination", "Instead of “halucination”: hallucination."),
        ("RoPE", "Searched as: rotary positions."),
    ],
)
def test_what_was_understood_is_said(asked, typed: str, said: str) -> None:
    expect(asked(typed).locator(SAID)).to_contain_text(said)


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [("hot -> cold", "12 examples"), ("the red apple", "2 question"), ("red apple", "2 question")],
)
def test_the_words_of_an_example_lead_to_it(asked, typed: str, wanted: str) -> None:
    page = asked(typed)
    assert is_wanted(*results(page)[0], wanted)
    expect(page.locator(SAID)).not_to_contain_text("network")


@pytest.mark.parametrize("known", ["heads", "scaling", "masked", "queries", "kv", "attent"])
def test_a_known_word_or_its_beginning_is_left_alone(asked, known: str) -> None:
    page = asked(known)
    expect(page.locator(SAID)).to_contain_text("section")
    expect(page.locator(SAID)).not_to_contain_text("Instead")


def test_lectures_come_before_the_package_unless_a_name_is_asked_for(asked) -> None:
    for question, wanted in {"perplexity": False, "cache": False, "masked_softmax": True}.items():
        page = asked(question)
        assert ("/api.html" in results(page)[0][0]) is wanted, question
    assert results(page)[0][1].endswith(".masked_softmax")


NOTHING = {
    "": "Type a word",
    "   ": "Type a word",
    "!?": "Type a word",
    "xyzzyplugh": "Nothing in the book holds “xyzzyplugh”",
    "7" * 400: "Nothing in the book holds “7777",
    "x" * 500: "Nothing in the book holds “xxxx",
    "🙂 → ∑ …": "Type a word",
    "注意力機制": "Nothing in the book holds “注意力機制”",
    "<img src=x onerror=alert(1)>": "section",
    "constructor __proto__": "section",
    "mask " + "qqqq " * 100: "Only the first 20 words were looked for.",
    "| query | key |\n|---|---|\n| 0.12 | 0.88 |\t" * 9: "section",
}


@pytest.mark.parametrize("question", NOTHING, ids=lambda question: question[:12])
def test_a_bad_question_is_answered_by_a_sentence_and_kept(asked, question: str) -> None:
    page = asked(question)
    expect(page.locator(SAID)).to_contain_text(NOTHING[question])
    assert page.locator("#search-results img").count() == 0
    assert len(page.locator(SAID).inner_text()) < 250
    kept = page.locator(".bd-search-container input").input_value()
    assert re.sub(r"\s", "", kept) == re.sub(r"\s", "", question)  # a field has one line


def test_a_list_that_cannot_be_loaded_is_said(visit) -> None:
    page = visit("book/cite", "http")
    page.route(
        "**/sections.js", lambda route: route.fulfill(body="", content_type="text/javascript")
    )
    opened(page, "mask")
    expect(page.locator(SAID)).to_contain_text("could not be loaded")


@pytest.mark.parametrize("via", ["http", "file"])
def test_results_appear_as_one_types_and_only_then_is_the_list_loaded(visit, via: str) -> None:
    page = visit(LECTURE, via)
    page.wait_for_function("document.readyState === 'complete'")
    assert page.locator("script[src*='sections.js']").count() == 0
    before = page.url
    opened(page, "positional enc")
    options = page.locator(".search-options").get_by_role("option")
    expect(options.first).to_contain_text("9. Positions")
    expect(page.locator(".search-panel").get_by_role("status")).to_contain_text("sections")
    assert page.locator(".search-line mark").count() > 0
    field = page.get_by_role("combobox", name="Search this book")
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(field).to_have_attribute("aria-activedescendant", options.first.get_attribute("id"))
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    assert page.url == before
    page.keyboard.press("Enter")
    page.wait_for_url("**/notebooks/09-positions.html#*")


def test_escape_or_a_section_of_the_same_page_closes_the_field(visit) -> None:
    page = visit("book/how-to-use")
    page.wait_for_function("document.readyState === 'complete'")
    link = page.locator("article p a[href]").first
    link.focus()
    expect(link).to_be_focused()
    opened(page, "mask")
    expect(page.locator(".search-options").get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(link).to_be_focused()
    page = opened(visit(LECTURE), "word order is invisible")
    expect(page.locator(".search-options").get_by_role("option").first).to_contain_text("5.5")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.url.endswith("#word-order-is-invisible")


@pytest.mark.parametrize("name", [LECTURE, "search"])
def test_letters_typed_before_the_page_is_ready_are_kept(visit, name: str) -> None:
    page = visit(name, via="http")
    held = []
    page.route("**/_static/search.js*", lambda route: held.append(route))
    page.goto(page.url, wait_until="commit")
    if name == "search":
        field = page.locator(".bd-search-container input[type=search]")
        field.focus()
    else:
        field = page.get_by_role("combobox", name="Search this book")
        page.locator("article h1").wait_for()
        page.keyboard.press("Control+k")
    page.keyboard.type("softmaxx")
    page.keyboard.press("Backspace")
    page.wait_for_function("document.readyState === 'interactive'")
    held[0].continue_()
    expect(field).to_have_value("softmax")
    expect(page.locator(SAID)).to_contain_text("sections")
    field.press_sequentially("x")
    expect(field).to_have_value("softmaxx")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_field_fits_a_phone_and_axe_finds_nothing(visit, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit(LECTURE, theme=theme, viewport={"width": 390, "height": 844})
    opened(page, "kv cache")
    expect(page.locator(".search-options").get_by_role("option").nth(3)).to_be_visible()
    assert no_sideways_scroll(page)
    panel = page.locator(".search-panel").bounding_box()
    assert panel["x"] >= 0
    assert panel["x"] + panel["width"] <= 390
    assert panel["y"] + panel["height"] <= 844
    scope = {"include": [[".search-button__wrapper"]]}
    found = Axe().run(page, scope, {"preload": False, "resultTypes": ["violations"]})
    assert found.response["violations"] == []


def test_the_list_of_sections_leads_to_places_that_exist_and_needs_a_script() -> None:
    text = (HTML / "search.html").read_text(encoding="utf-8")
    assert "searchtools" not in text, "one search is enough"
    said = text.partition("<noscript>")[2]
    assert "activate JavaScript" in said.partition("</noscript>")[0]
    data = sections()
    assert sum(len(rows) for _, rows in data["pages"]) > 300
    for name, rows in data["pages"]:
        page = (HTML / name).read_text(encoding="utf-8")
        for place, title, _, text, *_ in rows:
            assert f'id="{place}"' in page, f"{name}: {title}"
            assert not re.search(r"<(a|span|img) |</|\\[a-z]+\{", text), title
    for _, address in [link for one in data["absent"] for link in one["read"]]:
        place = address.partition("#")[0]
        assert address.startswith("https://") or (HTML / place).exists(), address


def test_what_is_left_out_has_no_section_and_a_students_word_leads_to_the_books() -> None:
    """An entry goes when a lecture on its subject comes."""
    titles = " ".join(
        f"{title}. {[term for term, _ in terms]}".lower()
        for name, rows in sections()["pages"]
        if re.match(r"notebooks/\d", name)
        for _, title, _, _, _, terms, _ in rows
    )
    for one in DATA["absent"]:
        assert [n for n in one["names"] if re.search(rf"\b{n}s?\b", titles)] == [], one["says"]
        assert one["says"].endswith(".")
    text = " ".join(
        f"{title} {body} {named} {asked}"
        for _, rows in sections()["pages"]
        for _, title, _, body, _, named, asked in rows
    ).lower()
    for theirs, ours in (sections()["words"] | sections()["alike"]).items():
        words = re.findall(r"\w+", ours.lower())
        assert all(word in text for word in words), f"{theirs} = {ours}"
