"""Every page of the built book, opened once: alive, accessible in both themes, narrow, offline.

By day as a file, where a browser allows least; over http, too, in `make test-all`.
"""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.book.conftest import FITS, LECTURE, Look
from tests.book.lectures import NOTEBOOKS, PAGES, ROOT, code, load, stored

planner = load(ROOT / "book" / "tools" / "plan.py")
EDITED = {f"notebooks/{path.stem}" for path in NOTEBOOKS}
PHONE = {"width": 390, "height": 844}
# a page enlarged to 200 % has half the width and two dots for one
SMALL = [(390, 844, 1), (320, 640, 1), (640, 450, 2)]

# the theme's own faults, outside the article: (rule, selector), each with its reason
AXE_LISTED = {
    ("label-content-name-mismatch", ".search-button-field"): "named Search, shows its keys too"
}
# less than serious to axe, and yet none is left: what lies in no landmark, a heading without words
MINOR = {"region", "empty-table-header"}
# what fades in has another contrast on the way
STILL = "*, ::before, ::after { animation: none !important; transition: none !important }"
# in these two axe looks at all; elsewhere at the article, and not again at what looks the same
# everywhere and is most of a page: code, formulae, entries of the package but the first of a list,
# and a kind of live picture that was looked at before (its own tests do so in all its states).
# These are taken out, as axe weighs every element of a page, also those that it shall not judge
WHOLE = {LECTURE, "book/index"}
ALIKE = ["div.highlight pre", "math", "dl.py ~ dl.py"]
EMPTY = """(selectors) => { window.taken = [...document.querySelectorAll(selectors)].map(
  (node) => [node, [...node.childNodes]]); for (const [node] of taken) node.replaceChildren(); }"""
FILL = "() => { for (const [node, inside] of taken.reverse()) node.replaceChildren(...inside); }"
KIND = """() => [...document.querySelectorAll('figure.attnbook')].map((figure) =>
  [...figure.classList].find((name) => name.startsWith('attnbook-')))"""
# in the dark only colours differ
RULES = {"light": {}, "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}}}
SQUEEZED = """all => all.filter(i => i.clientWidth && Math.abs(
  i.clientWidth / i.clientHeight / (i.naturalWidth / i.naturalHeight) - 1) > 0.03).length"""
TOPS = """names => names.map((name) => scrollY +
  document.querySelector(`article.bd-article ${name}`).getBoundingClientRect().top)"""
# numbers beside sliders that are not seen in whole
CUT = """() => [...document.querySelectorAll('figure.attnbook [aria-label$="as a number"]')]
  .filter((box) => box.checkVisibility()).filter((box) => {
    const { left, right } = box.getBoundingClientRect();
    return left < 0 || right > innerWidth + 0.5 || box.scrollWidth > box.clientWidth + 1;
  }).map((box) => box.ariaLabel)"""
# pictures taller than the screen whose controls are out of sight where the picture ends
LOST = """() => [...document.querySelectorAll('figure.attnbook')].filter((figure) => {
  const all = [...figure.querySelectorAll('.attnbook-controls')].filter((one) =>
    one.checkVisibility());
  if (!all.length || figure.offsetHeight < 850) return false;
  const end = scrollY + figure.getBoundingClientRect().bottom;
  scrollTo({ top: end - innerHeight, behavior: 'instant' });
  return !all.some((controls) => {
    const { left, top } = controls.getBoundingClientRect();
    return controls.contains(document.elementFromPoint(left + 5, top + 2));
  });
}).map((figure) => figure.className)"""
# a plot far below is fetched late: here at once
BROKEN = """async (all) => {
  for (const one of all) one.loading = "eager";
  const failed = await Promise.all(all.map((one) => one.decode().then(() => !one.alt, () => true)));
  return all.filter((_, at) => failed[at]).map((one) => one.src);
}"""
# what is scrolled sideways by itself and does not say so
SILENT = """() => [...document.querySelectorAll('article.bd-article :not(pre)')].filter((box) =>
  /auto|scroll/.test(getComputedStyle(box).overflowX) && box.clientWidth > 60
    && box.scrollWidth > box.clientWidth + 2 && box.checkVisibility()
    && getComputedStyle(box, '::before').content === 'none'
    && getComputedStyle(box).backgroundImage === 'none').map((box) => box.outerHTML.slice(0, 99))"""
# a picture, live or not, a drawing, plot or formula that hides more than a quarter at its side
HIDDEN = """() => [...document.querySelectorAll(
  'article.bd-article :not(pre, .pst-scrollable-table-container)')].filter((box) =>
  /auto|scroll/.test(getComputedStyle(box).overflowX) && box.clientWidth > 60
    && box.clientWidth < 0.75 * box.scrollWidth && box.checkVisibility()
    && box.querySelector('img, svg, canvas, table, math'))
  .map((box) => `${box.className}: ${box.clientWidth} of ${box.scrollWidth} px`)"""
# a width is new before the page's scripts are told of it, which is at the next frame
FRAMES = "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
WAYS = [pytest.param((name, "file"), id=name) for name in PAGES]
WAYS += [pytest.param((name, "http"), id=f"{name}-http", marks=pytest.mark.heavy) for name in PAGES]


@pytest.fixture(scope="module")
def seen() -> dict[str, set[str]]:
    """The kinds of live picture that axe has looked at, by theme."""
    return {theme: set() for theme in RULES}


@pytest.fixture(scope="module", params=WAYS)
def look(chromium, roots, request) -> Iterator[Look]:
    look = Look(chromium, roots, *request.param, "light")
    yield look
    look.context.close()


def hangs_on(item: pytest.Function) -> tuple[str, tuple[str, ...]]:
    """A page by itself, for tests/again.py: its text, what is built of it, what all pages load."""
    name, via = item.callspec.params["look"]
    built = (f"_build/html/{one}" for one in (f"{name}.html", "_static", "_images"))
    sources = (f"{name}.{kind}" for kind in ("md", "ipynb"))
    return f"{name}-{via}", (*built, *sources, "tests/book", "book/tools/plan.py")


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
        expect(look.page.locator(".math > math").first).to_be_attached()
    assert "$" not in article.evaluate(
        "a => [...a.querySelectorAll('p, li, td')].map(e => e.innerText).join()"
    )
    assert article.locator("img").evaluate_all(BROKEN) == []


def test_every_widget_of_the_notebook_is_live_in_the_page(look: Look) -> None:
    if not look.name.startswith("notebooks/"):
        return
    cells = code(stored(ROOT / f"{look.name}.ipynb"))
    # a drawing is no widget: it is a <div>, there at once
    shown = [
        o for c in cells for o in c.outputs if "<figure" in o.get("data", {}).get("text/html", "")
    ]
    assert look.page.locator("figure.attnbook[data-ready]").count() == len(shown)
    # what has its data in a file of its own shows its table until the reader asks for more,
    # except the picture that opens a lecture; a reader's own sentence has stored ones to show
    told = (output["data"]["text/html"] for output in shown)
    waiting = sum(
        '"asset":' in one and '"at_once":true' not in one and "attnbook-own" not in one
        for one in told
    )
    assert look.page.locator(".attnbook-fallback:visible").count() == waiting


def test_a_lecture_opens_with_its_question_and_a_live_picture(look: Look) -> None:
    """Of the picture at least its upper half stands on the first screen, or 300 px of it."""
    if look.name not in EDITED:
        return
    page, asked = look.page, "".join(f":not(.attnbook-{kind})" for kind in planner.ASKED)
    picture = f":is(figure.attnbook{asked}, .lecture-opening .attnbook-drawing)"
    opening = [".lecture-question", picture]
    for size in (PHONE, page.viewport_size):  # the second as it was
        page.set_viewport_size(size)
        tops = page.evaluate(TOPS, opening)
        assert tops == sorted(tops), size
        tall = page.locator(opening[1]).first.bounding_box()["height"]
        assert size == PHONE or tall <= 800, f"the picture is {tall:.0f} px tall"
        begins = f"at {size['width']} px the picture begins {tops[-1]:.0f} px below the top"
        assert tops[-1] + min(300, tall / 2) <= size["height"], begins
    code = page.locator("article > section > .cell, .lecture-first .cell:not(.lecture-opening)")
    assert code.count() == 0, "code that shows nothing is in the fold"
    fold = page.locator(".lecture-data > details")
    assert not fold.evaluate("(fold) => fold.open")
    assert fold.locator(".cell").count() >= 2
    for held in ("Plan, ", "Builds on"):
        told = page.locator("article.bd-article p > strong").filter(has_text=held)
        assert told.count() == 1, f"{held} stands in the fold alone"


def test_a_tall_picture_keeps_its_controls_in_sight(look: Look) -> None:
    assert look.page.evaluate(LOST) == []


@pytest.mark.parametrize("theme", RULES)
def test_axe_finds_nothing_serious(look: Look, theme: str, seen: dict[str, set[str]]) -> None:
    page = look.page
    page.emulate_media(color_scheme=theme)
    expect(page.locator("html")).to_have_attribute("data-theme", theme)
    page.add_style_tag(content=STILL)
    page.locator("article.bd-article details").evaluate_all(
        "all => all.forEach(d => { d.dataset.first = d.open })"
    )
    unfold(look)
    options = {"preload": False, "resultTypes": ["violations"], **RULES[theme]}
    kinds = set(page.evaluate(KIND))
    if look.name in WHOLE:
        found = Axe().run(page, None, options)
    else:
        page.evaluate(EMPTY, ", ".join((*ALIKE, *(f"figure.{kind}" for kind in seen[theme]))))
        found = Axe().run(page, "article.bd-article", options)
        page.evaluate(FILL)
    seen[theme] |= kinds
    unfold(look, "d.dataset.first === 'true'")
    serious = [
        (rule["id"], " ".join(node["target"]), node["html"][:120])
        for rule in found.response["violations"]
        if rule["impact"] in {"serious", "critical"} or rule["id"] in MINOR
        for node in rule["nodes"]
    ]
    assert [s for s in serious if (s[0], s[1]) not in AXE_LISTED] == []
    for _, selector in AXE_LISTED:
        assert page.locator(f"article.bd-article {selector}").count() == 0


@pytest.mark.parametrize("folded", [True, False], ids=["folded", "unfolded"])
def test_page_fits_a_phone_and_can_be_enlarged(look: Look, folded: bool) -> None:
    page, hand = look.page, look.context.new_cdp_session(look.page)
    hand.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    if not folded:
        unfold(look)
    for width, height, dots in SMALL:
        size = {"width": width, "height": height, "deviceScaleFactor": dots, "mobile": False}
        hand.send("Emulation.setDeviceMetricsOverride", size)
        page.wait_for_function(f"innerWidth === {width} && devicePixelRatio === {dots}")
        page.wait_for_function(FITS)  # once the figures have met the new width
        page.evaluate(FRAMES)
        assert page.evaluate(CUT) == [], width
        if width == SMALL[0][0] and folded:
            assert page.evaluate(SILENT) == []
            assert page.evaluate(HIDDEN) == []
        assert page.locator("article.bd-article img").evaluate_all(SQUEEZED) == 0, width


def test_page_asked_nobody_else_and_logged_no_error(look: Look) -> None:
    look.clean()
