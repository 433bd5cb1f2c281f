"""Every page of the built book, opened once in each theme: alive, accessible, narrow, offline."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.book.conftest import LECTURE, Look, no_sideways_scroll
from tests.book.lectures import EDITED, PAGES, ROOT, code, load, read

planner = load(ROOT / "book" / "tools" / "plan.py")
PHONE = {"width": 390, "height": 844}

# the theme's own faults, outside the article: (rule, selector), each with its reason
AXE_LISTED = {
    ("label-content-name-mismatch", ".search-button-field"): "named Search, shows its keys too",
}
# what fades in has another contrast on the way
STILL = "*, ::before, ::after { animation: none !important; transition: none !important }"
# code, formulae and entries of the package look the same everywhere, and their many pieces take
# most of the time: they are looked at in one lecture, and entries where a list of them begins
ALIKE = {"exclude": [["div.highlight pre"], ["mjx-container"], ["dl.py ~ dl.py"]]}
# in the dark only colours differ
RULES = {"light": {}, "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}}}


@pytest.fixture(
    scope="module", params=[(name, theme) for name in PAGES for theme in RULES], ids="-".join
)
def look(
    chromium: Browser, roots: dict[str, str], request: pytest.FixtureRequest
) -> Iterator[Look]:
    """One page in one theme: in the light from a server, in the dark from the file system."""
    name, theme = request.param
    look = Look(chromium, roots, name, "http" if theme == "light" else "file", theme)
    yield look
    look.context.close()


def unfold(look: Look, script: str = "true") -> None:
    """Open all that is folded in the article, or close it again."""
    all_details = look.page.locator("article.bd-article details")
    all_details.evaluate_all(f"all => all.forEach(d => {{ d.open = {script} }})")


def test_page_is_alive_without_a_network(look: Look) -> None:
    """Formulae set, pictures shown; that nothing was asked for is seen at the end."""
    article = look.page.locator("article.bd-article")
    assert article.locator("h1").count() == 1
    source = ROOT / f"{look.name}.md"
    if not source.exists() or "$" in source.read_text(encoding="utf-8"):
        expect(look.page.locator("mjx-container").first).to_be_attached()
    assert "$" not in article.evaluate(
        "a => [...a.querySelectorAll('p, li, td')].map(e => e.innerText).join()"
    )
    broken = "i => !i.complete || !i.naturalWidth || !i.alt"
    assert article.locator("img").evaluate_all(f"all => all.filter({broken}).length") == 0


def test_every_widget_of_the_notebook_is_live_in_the_page(look: Look) -> None:
    if not look.name.startswith("notebooks/"):
        return
    cells = code(read(ROOT / f"{look.name}.ipynb"))
    # a drawing is no widget: it is a <div>, there at once
    shown = [
        o for c in cells for o in c.outputs if "<figure" in o.get("data", {}).get("text/html", "")
    ]
    assert look.page.locator("figure.attnbook[data-ready]").count() == len(shown)
    # what has its data in a file of its own shows its table until the reader asks for more,
    # except the picture that opens a lecture
    stored = (output["data"]["text/html"] for output in shown)
    waiting = sum('"asset":' in one and '"at_once":true' not in one for one in stored)
    assert look.page.locator(".attnbook-fallback:visible").count() == waiting


def test_an_edited_lecture_opens_with_something_alive(look: Look) -> None:
    """A live picture, and no question, within the first two screens of 1280 × 900."""
    if look.name.removeprefix("notebooks/") not in EDITED or look.theme == "dark":
        return
    asked = "".join(f":not(.attnbook-{kind})" for kind in planner.ASKED)
    first = look.page.locator(f"figure.attnbook{asked}").first
    look.page.set_viewport_size({"width": 1280, "height": 900})
    assert first.evaluate("f => f.getBoundingClientRect().top + scrollY") <= 1800


def test_axe_finds_nothing_serious(look: Look) -> None:
    page = look.page
    page.add_style_tag(content=STILL)
    page.locator("article.bd-article details").evaluate_all(
        "all => all.forEach(d => { d.dataset.first = d.open })"
    )
    unfold(look)
    options = {"preload": False, "resultTypes": ["violations"], **RULES[look.theme]}
    found = Axe().run(page, None if look.name == LECTURE else ALIKE, options)
    unfold(look, "d.dataset.first === 'true'")
    serious = [
        (rule["id"], " ".join(node["target"]), node["html"][:120])
        for rule in found.response["violations"]
        if rule["impact"] in {"serious", "critical"}
        for node in rule["nodes"]
    ]
    assert [s for s in serious if (s[0], s[1]) not in AXE_LISTED] == []
    for _, selector in AXE_LISTED:
        assert page.locator(f"article.bd-article {selector}").count() == 0


def test_page_fits_a_phone(look: Look) -> None:
    touch = look.context.new_cdp_session(look.page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    look.page.set_viewport_size(PHONE)
    assert no_sideways_scroll(look.page)
    unfold(look)
    assert no_sideways_scroll(look.page)
    squeezed = """all => all.filter(i => i.clientWidth && Math.abs(
      i.clientWidth / i.clientHeight / (i.naturalWidth / i.naturalHeight) - 1) > 0.03).length"""
    assert look.page.locator("article.bd-article img").evaluate_all(squeezed) == 0


def test_page_asked_nobody_else_and_logged_no_error(look: Look) -> None:
    assert look.outside == []
    assert look.logged == []
