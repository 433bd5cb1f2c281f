"""The book in Firefox and WebKit: every page opens, three live pictures are worked, one is asked.

A smaller set than Chromium's, for what differs between engines: whether code runs at all, events
of hands and keys, storage, `file://`. The numbers are those that Chromium shows in test_reading.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import pytest

from tests.book.conftest import LECTURE
from tests.book.engines.drive import ENGINES, RIGHT, Engine, lacking, listening
from tests.book.lectures import HTML, PAGES
from tests.browser import served

pytestmark = pytest.mark.heavy

ALIVE = "document.querySelectorAll('figure.attnbook:not([data-ready])').length"
ARROWS = "document.querySelector('figure.attnbook-arrows')"
HEATMAP = "document.querySelector('figure.attnbook-heatmap')"
SLIDER = f"{HEATMAP}.querySelector('input[type=range]')"
NUMBER = f"{HEATMAP}.querySelector('[aria-label=\"temperature as a number\"]')"
SET = "document.fonts.status === 'loaded'"  # before it, what stands below a formula may move
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"


@pytest.fixture(scope="module", params=ENGINES)
def running(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if missing := lacking(request.param):
        pytest.skip(missing)
    with ENGINES[request.param]() as engine:
        yield engine


@pytest.fixture(scope="module")
def roots(running: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Where the built book is found: WebKit's driver tells nothing of the console, its pages do."""
    folder = HTML
    if running.name == "webkit":
        folder = tmp_path_factory.mktemp("webkit") / "html"
        listening(HTML, folder)
    with served(folder) as address:
        yield {"http": address, "file": folder.as_uri()}


@pytest.fixture
def engine(running: Engine) -> Iterator[Engine]:
    """A browser; afterwards, it asked nobody else and logged no error."""
    logged, outside = len(running.logged), len(running.outside)
    yield running
    assert running.outside[outside:] == []
    assert running.logged[logged:] == []


def shown(figure: str, selector: str) -> str:
    """Give JavaScript that lists the texts of what a figure shows."""
    return f"[...{figure}.querySelectorAll('{selector}')].map((one) => one.innerText)"


def visit(engine: Engine, root: str, name: str = LECTURE) -> None:
    engine.open(f"{root}/{name}.html")
    engine.wait(ALIVE, 0)
    engine.wait(SET, True)  # who leaves a page before is told of fonts that were not loaded


@pytest.mark.parametrize("via", ["http", "file"])
def test_every_page_is_alive(engine: Engine, roots: dict[str, str], via: str) -> None:
    faults = {}
    for name in PAGES:
        before = len(engine.logged)
        visit(engine, roots[via], name)
        live = (HTML / f"{name}.html").read_text(encoding="utf-8").count('<figure class="attnbook ')
        found = engine.js("document.querySelectorAll('figure.attnbook[data-ready]').length")
        if found != live or engine.logged[before:]:
            faults[name] = (found, live, engine.logged[before:])
    assert faults == {}


def test_console_and_network_are_heard(running: Engine, roots: dict[str, str]) -> None:
    """What the other tests find empty is filled where a page does what it must not."""
    visit(running, roots["http"], "book/cite")
    running.js("(setTimeout(() => { throw new Error('a lost number') }), 1)")
    running.js("fetch('http://example.invalid/', { mode: 'no-cors' }).catch(() => 1).then(() => 1)")
    running.wait("new Promise((done) => setTimeout(() => done(1), 300))", 1)
    assert [line for line in running.logged if "a lost number" in line]
    assert [url for url in running.outside if "example.invalid" in url]


def test_a_number_typed_moves_the_weights(engine: Engine, roots: dict[str, str]) -> None:
    visit(engine, roots["file"])
    shares = f"{shown(ARROWS, '.attnbook-share')}.map((one) => one.trim())"
    engine.wait(shares, ["8.8 %", "17.8 %", "73.4 %"])
    engine.js(f"{ARROWS}.querySelector('details').open = true")
    box = f"{ARROWS}.querySelector('[aria-label=\"nuts, number 3\"]')"
    engine.click(box)
    engine.js(f"{box}.select()")
    engine.press("3")
    engine.wait(shares, ["0.3 %", "1.4 %", "98.2 %"])


def test_keys_move_the_slider(engine: Engine, roots: dict[str, str]) -> None:
    visit(engine, roots["file"])
    engine.click(f"{HEATMAP}.querySelector('input[type=checkbox]')")
    row = shown(HEATMAP, ".attnbook-side .attnbook-value")
    engine.wait(row, ["0.000", "0.018", "0.982"])
    engine.js(f"{SLIDER}.focus()")
    engine.press(RIGHT * 24)
    engine.wait(f"{NUMBER}.value", "1.74")


def test_a_hand_drags_the_slider(engine: Engine, roots: dict[str, str]) -> None:
    """Where it lands depends on the engine's own slider; the weights follow the number shown."""
    visit(engine, roots["http"])
    engine.click(f"{HEATMAP}.querySelector('input[type=checkbox]')")
    engine.drag(SLIDER, 40)
    engine.wait(f"{NUMBER}.value !== '1' && {NUMBER}.value.length > 0")
    temperature = float(engine.js(f"{NUMBER}.value"))
    # the scores of *nuts* with the three words, less the greatest
    powers = [math.exp(score / temperature) for score in (-9, -4, 0)]
    wanted = [power / sum(powers) for power in powers]
    found = engine.js(shown(HEATMAP, ".attnbook-side .attnbook-value"))
    # the slider is finer than the number beside it, which has three digits
    assert [float(text) for text in found] == pytest.approx(wanted, abs=0.003)


def test_the_theme_is_kept_from_page_to_page(engine: Engine, roots: dict[str, str]) -> None:
    visit(engine, roots["http"])
    theme = "document.documentElement.dataset.theme"
    switch = "[...document.querySelectorAll('.theme-switch-button')].find(b => b.checkVisibility())"
    ground = "getComputedStyle(document.body).backgroundColor"
    light = engine.js(ground)
    for _ in range(3):
        engine.click(switch)
        if engine.js(theme) == "dark":
            break
    assert engine.js(ground) != light
    visit(engine, roots["http"], "book/notation")
    assert engine.js(theme) == "dark"
    engine.js("localStorage.clear()")


@pytest.mark.parametrize("via", ["http", "file"])
def test_search_finds_a_word(engine: Engine, roots: dict[str, str], via: str) -> None:
    engine.open(f"{roots[via]}/search.html?q=equivariant")
    results = "[...document.querySelectorAll('.search-sections a')].map((a) => a.href).join()"
    engine.wait(f"({results}).includes('05-self-attention.html#')")


def test_a_checkpoint_judges_a_right_and_a_wrong_answer(engine, roots) -> None:
    visit(engine, roots["http"])
    asked = "document.querySelector('figure.attnbook-checkpoint')"
    state = json.loads(engine.js(f"{asked}.querySelector('script').textContent"))
    right = [correct for _, correct, _ in state["options"]].index(True)
    assert not state["multiple"]
    for which, said in ((1 - min(right, 1), "Not right."), (right, "Right.")):
        engine.click(f"{asked}.querySelectorAll('input')[{which}]")
        engine.wait(f"{asked}.querySelector('[role=status]').innerText.includes('{said}')")
        if said == "Not right.":
            again = f"[...{asked}.querySelectorAll('button')].find(b => b.checkVisibility())"
            if engine.js(f"!!({again})"):
                engine.click(again)


@pytest.mark.parametrize("name", ["book/index", LECTURE, "notebooks/11-transformer"])
def test_axe_finds_nothing_serious(engine: Engine, roots: dict[str, str], name: str) -> None:
    visit(engine, roots["http"], name)
    engine.js(f"(0, eval)({json.dumps(AXE.read_text(encoding='utf-8'))}) && 1")
    options = "{ preload: false, resultTypes: ['violations'] }"
    serious = engine.js(
        f"axe.run('article.bd-article', {options}).then((found) => found.violations"
        ".filter((rule) => ['serious', 'critical'].includes(rule.impact))"
        ".flatMap((rule) => rule.nodes.map((node) => [rule.id, node.html.slice(0, 120)])))"
    )
    assert serious == []
