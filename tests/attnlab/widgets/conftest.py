"""Widgets on a page of their own, in a real browser with no network: one browser for a worker.

A page is opened once for each way of looking (its width, a finger, no script …) and then filled
anew for every test, which costs a fifth of going to a new one.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from attnlab.widgets import AttentionHeatmap, page_script, stylesheet
from attnlab.widgets.core.assets import FOLDER
from attnlab.widgets.core.chunks import kinds_on, module
from tests.attnlab.widgets import pages, tried
from tests.attnlab.widgets.examples import EXAMPLES, TOKENS, X
from tests.browser import served
from tests.patience import BROWSER

PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Widgets</title><link rel="icon" href="data:,"><link rel="stylesheet" href="{assets}.css">
<style>
body {{ margin: 0 auto; max-width: 46rem; padding: 1rem; background: #fff; color: #222;
       font: 16px/1.6 sans-serif }}
html[data-theme="dark"] body {{ background: #121212; color: #ddd }}
</style>
<script defer src="{assets}.js"></script></head>
<body><main><h1>Widgets</h1>{body}</main></body></html>
"""

# frames that come so many milliseconds late, to find a test that reads before it is drawn
LATE = """(() => { const ask = requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => setTimeout(() => ask(draw), %s); })()"""

# put another page's content in the place of the present one's, which leaves neither a name of its
# own nor a timer; the script then runs as it does where a page is complete before it comes
ANEW = """async (html) => {
  for (const name of Object.keys(window)) if (!first.has(name)) delete window[name];
  for (let id = setTimeout(() => {}); id > 0; id--) { clearTimeout(id); cancelAnimationFrame(id); }
  const { head, body, documentElement } = new DOMParser().parseFromString(html, "text/html");
  const root = document.documentElement, { theme } = documentElement.dataset;
  if (root.dataset.theme !== theme) root.dataset.theme = theme;  // all that was there would hear it
  for (const name of document.body.getAttributeNames()) document.body.removeAttribute(name);
  document.body.replaceChildren(...body.childNodes);
  window.scrollTo(0, 0);
  const script = document.createElement("script");
  script.src = head.querySelector("script").src;
  head.querySelector("script").remove();
  const came = (node) => new Promise((done) => node.addEventListener("load", () => done()));
  const styled = came(head.querySelector("[rel=stylesheet]"));
  document.head.replaceChildren(...head.childNodes);
  await styled;
  const ran = came(script);
  document.head.append(script);
  await ran;
}"""
FIRST = "window.first = new Set([...Object.keys(window), 'first', 'modules', 'axe'])"
TIMES = 20  # so often is one filled: what its views listen to, such as the theme, stays


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a browser would say of kinds that are as they were."""
    known = tried.unchanged()
    names = {id(one): kind for kind, one in EXAMPLES.items()}
    mine = [item for item in items if tried.HERE in item.path.parents]
    out = {item for item in mine if tried.kind_of(item, names) in known}
    if out and not config.option.keyword:  # what is asked for by name runs
        config.hook.pytest_deselected(items=list(out))
        items[:] = [item for item in items if item not in out]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the assets that a built page has: widgets leave theirs in it."""
    found = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(FOLDER, str(found / "assets"))
        yield found


@pytest.fixture(scope="session")
def server(folder: Path) -> Iterator[str]:
    """The same folder on a server of this machine: its address."""
    with served(folder) as address:
        yield address


class Opened:
    """Pages of one browser, by how they are looked at, and what any of them did wrong."""

    def __init__(self, chromium, folder: Path, server: str) -> None:
        self.chromium, self.folder, self.server = chromium, folder, server
        self.pages: dict[tuple, object] = {}
        self.filled: dict[object, int] = {}  # how often a page has been, since it was gone to
        self.outside: list[str] = []  # what was asked of another host
        self.logged: list[str] = []  # errors, and dialogs, which no widget opens

    def __call__(self, *widgets, theme="light", width=900, ready=True, via="", **options):
        """Show the widgets, or their HTML, on a page; wait until they are drawn.

        The page is filled anew, or gone to via "file" or "http".
        """
        page = self.page(width, **options)
        body = "".join(one if isinstance(one, str) else one.html() for one in widgets)
        path = write(self.folder, theme, body)
        fresh = via or options.keys() & {"clock", "java_script_enabled"}
        if page.url != path.as_uri():  # a test has left it, or it is new
            self.filled[page] = 0
        if not fresh and self.filled[page] % TIMES:
            page.evaluate(ANEW, path.read_text(encoding="utf-8"))
        else:
            page.goto(f"{self.server}/page.html" if via == "http" else path.as_uri())
        self.filled[page] = 0 if via == "http" else self.filled.get(page, 0) + 1
        if ready and widgets:
            page.locator("figure.attnbook[data-ready]").nth(len(widgets) - 1).wait_for()
            pages.settle(page)
        return page

    def page(self, width: int, clock: bool = False, **options):
        expect.set_options(timeout=BROWSER)
        key = (width, clock, *sorted(options.items()))
        if key not in self.pages:
            self.pages[key] = self.new(width, clock, options)
        page = self.pages[key]
        if clock:
            page.clock.resume()
        page.set_default_timeout(BROWSER)
        motion = options.get("reduced_motion", "no-preference")
        page.emulate_media(media="screen", color_scheme="light", reduced_motion=motion)
        page.set_viewport_size({"width": width, "height": 900})
        page.mouse.move(0, 0)
        return page

    def new(self, width: int, clock: bool, options: dict):
        """A page with timers that stand still, if `clock`, until a test moves them on."""
        context = self.chromium.new_context(viewport={"width": width, "height": 900}, **options)
        inside = f"^(?!file:|blob:|data:|{re.escape(self.server)}/)"
        context.route(re.compile(inside), self.refuse)
        if clock:
            context.clock.install()
        elif late := os.environ.get("LATE_FRAMES"):
            context.add_init_script(LATE % float(late))
        context.add_init_script(FIRST)
        page = context.new_page()
        page.on("pageerror", lambda error: self.logged.append(str(error)))
        page.on("console", lambda line: line.type == "error" and self.logged.append(line.text))
        page.on("dialog", self.dismiss)
        return page

    def refuse(self, route) -> None:
        self.outside.append(route.request.url)
        route.abort()

    def dismiss(self, dialog) -> None:
        self.logged.append(dialog.message)
        dialog.dismiss()


@pytest.fixture(scope="session")
def opened(chromium, folder: Path, server: str) -> Iterator[Opened]:
    """The worker's pages."""
    found = Opened(chromium, folder, server)
    yield found
    for page in found.pages.values():
        page.context.close()


@pytest.fixture
def show(opened: Opened) -> Iterator[Callable]:
    """Open a page with the given widgets; afterwards, it asked nobody and logged nothing."""
    opened.outside.clear()
    opened.logged.clear()
    yield opened
    assert opened.outside == []
    assert opened.logged == []


@pytest.fixture
def host(show) -> Callable:
    """Show a widget as anywidget does in JupyterLab and in Colab, in two views of one model."""
    return lambda widget, views=2, **options: pages.host(show(**options), widget, views)


@pytest.fixture(scope="session")
def maths(opened: Opened):
    """Ask the widgets' own mathematics: `maths("(x) => maths.gelu(x)", 2.0, "block")`."""
    page, known = opened.new(900, False, {}), set()
    page.goto("data:text/html,<title>maths</title>")

    def evaluate(script: str, argument=None, which: str = ""):
        if which not in known:
            page.evaluate(pages.MATHS, [which, module(*filter(None, [which]))])
            known.add(which)
        asked = "([which, argument]) => { window.maths = modules[which]; return (%s)(argument); }"
        return page.evaluate(asked % script, [which, argument])

    yield evaluate
    page.context.close()


@pytest.fixture
def started(show) -> Callable:
    """Open a page with a translator, whose words do not wait."""
    return lambda widget, **options: show(widget, **{"reduced_motion": "reduce"} | options)


@pytest.fixture
def nuts() -> AttentionHeatmap:
    """The book's smallest heat map."""
    return AttentionHeatmap(X, tokens=TOKENS)


def write(folder: Path, theme: str, body: str) -> Path:
    """Write a page beside the assets that it needs."""
    names = kinds_on(body)
    assets = f"of-{'-'.join(names)}"  # a name of their own, as a browser keeps what it has
    if not (folder / f"{assets}.js").exists():
        (folder / f"{assets}.js").write_text(page_script(*names), encoding="utf-8")
        (folder / f"{assets}.css").write_text(stylesheet(*names), encoding="utf-8")
    path = folder / "page.html"
    path.write_text(PAGE.format(theme=theme, assets=assets, body=body), encoding="utf-8")
    return path
