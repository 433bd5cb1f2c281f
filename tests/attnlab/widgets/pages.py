"""What the tests do with a page: wait for its next frame, read it, and show a widget in it."""

import base64
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from attnlab.widgets.core import markup
from tests.patience import BROWSER

MATHS = """async ([name, source]) => {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  (window.modules ??= {})[name] = (await import(url)).maths;
}"""

# a stand-in for anywidget's model: what `render` gets in JupyterLab and in Colab
RENDER = """async ([source, state, views]) => {
  window.modules ??= {};  // kept while the page is filled anew
  const url = () => URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { render } = (modules[state.kind] ??= await import(url())).default;
  if (state.carried !== undefined) {  // anywidget hands bytes over as a DataView
    const bytes = Uint8Array.from(atob(state.carried), (letter) => letter.charCodeAt(0));
    state.carried = new DataView(bytes.buffer);
  }
  const heard = {};
  window.saves = 0;
  window.model = {
    get: (name) => state[name],
    set(name, value) {
      if (JSON.stringify(state[name]) === JSON.stringify(value)) return;
      state[name] = value;
      (heard[`change:${name}`] ?? []).forEach((listener) => listener());
    },
    save_changes: () => { window.saves += 1; },
    on: (event, listener) => { (heard[event] ??= []).push(listener); },
    off: (event, listener) => {
      heard[event] = (heard[event] ?? []).filter((other) => other !== listener);
    },
  };
  window.left = () => Object.values(heard).flat().length;
  window.stops = Array.from({ length: views }, () => {
    const place = document.createElement("div");
    document.querySelector("main").append(place);
    return render({ model: window.model, el: place });
  });
}"""

# the greatest share of its width that a box which is seen hides at its side
HIDDEN = """(root) => Math.max(0, ...Array.from(root.querySelectorAll("*"), (box) =>
  /auto|scroll/.test(getComputedStyle(box).overflowX) && box.checkVisibility()
    && box.scrollWidth > box.clientWidth + 1 ? 1 - box.clientWidth / box.scrollWidth : 0))"""

# every word, number and line of views, but what their status says of the last hand: what is folded
# is opened, which a view hears of, and two frames are waited for
SEEN = """async (figures) => {
  const folds = figures.flatMap((one) => [...one.querySelectorAll("details:not([open])")]);
  await Promise.all(folds.map((fold) => new Promise((go) => {
    fold.addEventListener("toggle", go, { once: true });
    fold.open = true;
  })));
  await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  const pixels = ({ width, height }, pen) => width * height && new Uint32Array(
    pen.getImageData(0, 0, width, height).data.buffer
  ).reduce((sum, one) => (Math.imul(sum, 31) + one) | 0, width);
  const said = (node) => {
    if (!node.checkVisibility()) return null;
    if (node.matches("input, select")) return [node.value, node.checked];
    if (node.matches("path, line")) return node.outerHTML;
    if (node.matches("canvas")) return pixels(node, node.getContext("2d"));
    return [node.textContent, node.getAttribute("aria-pressed"), node.getAttribute("style")];
  };
  const parts = ":is(td, th, li, figcaption, code, input, select, button, path, line, canvas)";
  return figures.map((figure) => JSON.stringify(
    Array.from(figure.querySelectorAll(parts), said).filter((one) => one !== null)));
}"""


def settle(page) -> None:
    """Wait until two frames have been drawn; of a view, those of its page."""
    page = getattr(page, "page", page)
    page.evaluate(
        "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
    )


def stop_clock(page) -> None:
    """Let the time of a page that was opened with `clock=True` pass by `wait` alone."""
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 1)


def wait(page, milliseconds: int = 50) -> None:
    """Let timers and frames of so many milliseconds come, at once."""
    page.clock.run_for(milliseconds)


def render(page, widget, views: int = 1) -> None:
    """Put so many views of one model, `model`, into the page; no frame has drawn them yet."""
    state = markup.tidy(widget.state())
    if hasattr(widget, "carried"):
        state["carried"] = base64.b64encode(widget.carried).decode()
    page.evaluate(RENDER, [widget._esm, state, views])


def host(page, widget, views: int = 2):
    """Show a widget in so many views of one model, which is then `model` in the page."""
    render(page, widget, views)
    settle(page)
    return page


def trait(page, *names: str):
    """What Python hears of a trait; of several, a list."""
    found = page.evaluate("(names) => names.map((name) => model.get(name) ?? null)", list(names))
    return found if names[1:] else found[0]


def move(page, /, **traits) -> None:
    """Set traits as Python does, one by one."""
    page.evaluate(
        "(traits) => Object.entries(traits).forEach(([name, value]) => model.set(name, value))",
        traits,
    )
    settle(page)


def seen(view) -> str:
    """All that a view shows, its folded tables opened."""
    return view.evaluate_all(SEEN)[0]


def seen_of_each(page) -> list[str]:
    """The same of each view on a page."""
    return page.locator("figure").evaluate_all(SEEN)


def unfold(view) -> None:
    """Open all that is folded."""
    folds = view.locator("details")
    folds.evaluate_all("(all) => all.forEach((fold) => { fold.open = true; })")


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something holds in the end; what is computed in pieces takes its time."""
    end = time.monotonic() + BROWSER / 1000
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def texts(found) -> list[str]:
    """The texts of what is found, once the next frame is drawn."""
    settle(found)
    return found.all_inner_texts()


def rows(found, cells: str = "td") -> list[list[str]]:
    """The texts of the cells of table rows, once the next frame is drawn."""
    settle(found)
    return found.evaluate_all(
        "(rows, cells) => rows.map((row) =>"
        " Array.from(row.querySelectorAll(cells), (cell) => cell.innerText))",
        cells,
    )


def twin(page, which: int = 0) -> list[list[str]]:
    """The rows of a view's folded table, without their headings."""
    fold = page.locator("details.attnbook-twin").nth(which)
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    return rows(fold.locator("tbody tr"))


def status(page):
    return page.get_by_role("status").first


def alert(page):
    return page.get_by_role("alert").first


def says(page, words: str) -> None:
    """A view's status is these words."""
    expect(status(page)).to_have_text(words)


def tells(page, words: str) -> None:
    """These words are among those of a view's status."""
    expect(status(page)).to_contain_text(words)


def button(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def plot(page):
    return page.get_by_role("application")


def keys(page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)


def press(page, name: str, times: int = 1) -> None:
    # at either end a button says that it is disabled, and may be pressed all the same
    for _ in range(times):
        button(page, name).click(force=True)


def cell(page, i: int, j: int, *, n_k: int = 3, n_q: int = 3, which: int = 0) -> dict[str, float]:
    """The middle of a cell in a picture of a small matrix, whose cells are 56 pixels wide."""
    first = page.locator(".attnbook-plot canvas").first.bounding_box()
    left, top = first["width"] - 2 - n_k * 56, first["height"] - 2 - n_q * 56
    return {"x": left + (j + 0.5) * 56, "y": top + (i + 0.5) * 56}


def pixel(page, x: float, y: float) -> list[int]:
    """The colour of the first large map at a place that is counted from its upper left corner."""
    return page.locator(".attnbook-plot canvas").first.evaluate(
        """(canvas, at) => { const dense = canvas.width / canvas.getBoundingClientRect().width;
          const [x, y] = at.map((value) => Math.round(value * dense));
          return [...canvas.getContext('2d').getImageData(x, y, 1, 1).data.slice(0, 3)]; }""",
        [x, y],
    )


def save(page, name: str) -> Path:
    """What a button saves: its file."""
    with page.expect_download() as caught:
        button(page, f"save as {name}").click()
    assert caught.value.suggested_filename.endswith(name.lower())
    return Path(caught.value.path())


def violations(page, *rules: str) -> list[str]:
    """What axe finds wrong, by all of its rules or by some."""
    if not page.evaluate("() => 'axe' in window"):  # it stays while the page is filled anew
        page.evaluate(Axe().axe_script)
    options = {"preload": False, "resultTypes": ["violations"]}
    options |= {"runOnly": list(rules)} if rules else {}
    return page.evaluate(
        """(options) => axe.run(document, options).then(({ violations }) => violations.flatMap(
          ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 150)}`)))""",
        options,
    )


def listen(page) -> None:
    """Have a page keep, as `heard`, the classes of the figures whose questions are done."""
    page.evaluate("""() => { window.heard = [];
      document.querySelector("main").addEventListener("attnbook:done",
        (event) => heard.push(event.target.closest("figure").className)); }""")


def fixed(values: Iterable[float], decimals: int = 3) -> list[str]:
    return [markup.fixed(value, decimals) for value in values]


def table_of(matrix) -> list[list[str]]:
    return [fixed(row) for row in np.asarray(matrix)]
