"""The built book in a real browser, over http and from the file system, with no network."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from attnbook.widgets import page_script, stylesheet
from attnbook.widgets.core.chunks import kinds_on
from tests.book.lectures import NOTEBOOKS, ROOT, code, read

HTML = ROOT / "_build" / "html"
PAGES = ["book/index", "book/how-to-use", "book/notation", "book/bibliography", "book/credits"]
PAGES += [
    "book/api",
    "book/benchmarks",
    "book/cite",
    *(f"notebooks/{path.stem}" for path in NOTEBOOKS),
]
LECTURE = "notebooks/05-self-attention"
PHONE = {"width": 390, "height": 844}

# the theme's own faults, outside the article: (rule, selector), each with its reason
AXE_LISTED = {
    ("label-content-name-mismatch", ".search-button-field"): "named Search, shows its keys too",
}
CONSOLE_LISTED: dict[str, str] = {}


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def roots() -> Iterator[dict[str, str]]:
    """Where the built book is found: on a server of this machine, and as files."""
    assert (HTML / "index.html").exists(), "no built book: run `make book` first"
    handler = functools.partial(Silent, directory=str(HTML))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"http": f"http://127.0.0.1:{server.server_port}", "file": HTML.as_uri()}
    server.shutdown()


@pytest.fixture
def visit(chromium, roots) -> Iterator[Callable[..., Page]]:
    """Open a page of the book; afterwards, it asked nobody else and logged no error."""
    contexts, outside, logged = [], [], []

    def route(request) -> None:
        url = request.request.url
        if url.startswith(("file:", "blob:", "data:", roots["http"])):
            return request.continue_()
        outside.append(url)
        return request.abort()

    def opened(name: str = LECTURE, via: str = "file", theme: str = "light", **options) -> Page:
        options.setdefault("viewport", {"width": 1280, "height": 900})
        context = chromium.new_context(color_scheme=theme, accept_downloads=True, **options)
        contexts.append(context)
        context.route("**/*", route)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("console", lambda line: line.type == "error" and logged.append(line.text))
        page.goto(f"{roots[via]}/{name}.html")
        if options.get("java_script_enabled", True):
            for widget in page.locator("figure.attnbook").all():
                expect(widget).to_have_attribute("data-ready", re.compile(".*"))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert outside == []
    assert [line for line in logged if not any(known in line for known in CONSOLE_LISTED)] == []


def no_sideways_scroll(page: Page) -> bool:
    return page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_the_list_of_pages_is_the_table_of_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = [toc["root"], *(c["file"] for part in toc["parts"] for c in part["chapters"])]
    assert sorted(found) == sorted(PAGES)


@pytest.mark.parametrize("via", ["http", "file"])
@pytest.mark.parametrize("name", PAGES)
def test_page_is_alive_without_a_network(visit, name, via):
    """Widgets ready, formulae set, pictures shown; the fixture counts requests and errors."""
    page = visit(name, via)
    article = page.locator("article.bd-article")
    assert article.locator("h1").count() == 1
    if "$" in (ROOT / f"{name}.md").read_text() if name.startswith("book/") else True:
        expect(page.locator("mjx-container").first).to_be_attached()
    assert "$" not in article.evaluate(
        "a => [...a.querySelectorAll('p, li, td')].map(e => e.innerText).join()"
    )
    broken = "i => !i.complete || !i.naturalWidth || !i.alt"
    assert article.locator("img").evaluate_all(f"all => all.filter({broken}).length") == 0


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_widget_of_the_notebook_is_live_in_the_page(visit, path):
    shown = [o for c in code(read(path)) for o in c.outputs if "text/html" in o.get("data", {})]
    page = visit(f"notebooks/{path.stem}")
    assert page.locator("figure.attnbook[data-ready]").count() == len(shown) >= 1
    # what has its data in a file of its own shows its table until the reader asks for more
    waiting = sum('"asset":' in output["data"]["text/html"] for output in shown)
    assert page.locator(".attnbook-fallback:visible").count() == waiting


@pytest.mark.parametrize("via", ["http", "file"])
def test_the_page_translates_what_the_reader_types(visit, via):
    page = visit("notebooks/11-transformer", via)
    widget = page.locator("figure.attnbook-translator")
    widget.get_by_role("textbox").first.fill("the small black cat does not eat the red apple")
    widget.get_by_role("button", name="translate").click()
    said = "le petit chat noir ne mange pas la pomme rouge"
    expect(widget.get_by_text(said, exact=True)).to_be_visible(timeout=30_000)
    expect(widget.locator(".attnbook-fallback")).to_have_count(0)


@pytest.mark.parametrize("via", ["http", "file"])
def test_the_page_finds_the_head_that_looks_from_it_to_animal(visit, via):
    page = visit("notebooks/12-pretrained-models", via)
    widget = page.locator("figure.attnbook-browser")
    widget.get_by_role("button", name="load all 72 heads").click()
    best = widget.get_by_text("layer 3 head 1: 0.67")
    expect(best).to_be_visible(timeout=30_000)
    widget.get_by_role("combobox").first.select_option(index=1)  # one word changed: wide
    expect(best).to_have_count(0)
    expect(widget.locator(".attnbook-fallback:visible")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_page_fits_a_phone(visit, name, theme):
    page = visit(name, theme=theme, viewport=PHONE, has_touch=True)
    assert no_sideways_scroll(page)
    page.locator("article.bd-article details").evaluate_all(
        "all => all.forEach(d => d.open = true)"
    )
    assert no_sideways_scroll(page)
    squeezed = """all => all.filter(i => i.clientWidth && Math.abs(
      i.clientWidth / i.clientHeight / (i.naturalWidth / i.naturalHeight) - 1) > 0.03).length"""
    assert page.locator("article.bd-article img").evaluate_all(squeezed) == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(visit, name, theme):
    page = visit(name, theme=theme)
    page.locator("article.bd-article details").evaluate_all(
        "all => all.forEach(d => d.open = true)"
    )
    page.wait_for_timeout(300)  # colours fade in
    found = Axe().run(page, options={"preload": False, "resultTypes": ["violations"]})
    serious = [
        (rule["id"], " ".join(node["target"]), node["html"][:120])
        for rule in found.response["violations"]
        if rule["impact"] in {"serious", "critical"}
        for node in rule["nodes"]
    ]
    assert [s for s in serious if (s[0], s[1]) not in AXE_LISTED] == []


def test_listed_findings_lie_outside_the_article(visit):
    page = visit()
    for _, selector in AXE_LISTED:
        assert page.locator(f"article.bd-article {selector}").count() == 0


def test_editing_nuts_moves_its_weights(visit):
    """The promise of the book: no kernel, no network, and the numbers move."""
    page = visit()
    steps = page.locator("figure.attnbook-steps").first
    shown = steps.locator(".attnbook-weight .attnbook-value")
    assert shown.all_inner_texts() == ["0.005", "0.090", "0.905"]
    steps.get_by_label("nuts, component 2").fill("3")
    # nuts = (1, 3, 2): scores −1, 6, 14
    assert shown.all_inner_texts() == ["0.000", "0.010", "0.990"]
    steps.get_by_role("button", name="reset").click()
    assert shown.all_inner_texts() == ["0.005", "0.090", "0.905"]


def test_the_task_of_the_step_through_has_the_answer_given(visit):
    page = visit()
    steps = page.locator("figure.attnbook-steps").first
    steps.get_by_label("bowl, component 2").fill("3")
    shown = steps.locator(".attnbook-weight .attnbook-value").all_inner_texts()
    assert shown[1] == shown[2]


def test_the_task_of_the_heatmap_has_the_answer_given(visit):
    """Unscaled scores at the temperature √3 give the scaled weights; the slider gets near."""
    page = visit()
    heatmap = page.locator("figure.attnbook-heatmap").first
    row = heatmap.locator(".attnbook-side .attnbook-value")
    heatmap.get_by_label("divide by").uncheck()
    expect(row).to_have_text(["0.000", "0.018", "0.982"])
    heatmap.get_by_role("slider").focus()
    for _ in range(24):
        page.keyboard.press("ArrowRight")
    expect(heatmap.get_by_label("temperature as a number")).to_have_value("1.74")
    heatmap.get_by_label("temperature as a number").fill("1.732")
    expect(row).to_have_text(["0.005", "0.090", "0.905"])


def test_search_finds_a_word_of_the_lecture(visit):
    for via in ("http", "file"):
        page = visit("search", via)
        page.goto(page.url.split("?")[0] + "?q=equivariant")
        expect(page.locator("#search-results a", has_text="Self-attention").first).to_be_visible()


def test_theme_button_turns_the_page_dark_and_keeps_it_so(visit):
    page = visit(via="http")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    button = page.locator("button.theme-switch-button").first
    for _ in range(3):
        button.click()
        if page.evaluate("document.documentElement.dataset.theme") == "dark":
            break
    assert page.evaluate(ground) != light
    page.goto(page.url.replace(LECTURE, "book/notation"))
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_solutions_and_answers_are_closed_until_asked_for(visit):
    page = visit()
    solution = page.get_by_text("torch.softmax(scores.masked_fill(~may")
    assert solution.count() == 1
    assert not solution.is_visible()
    page.locator("details summary", has_text="Solution 2").first.click()
    assert solution.is_visible()
    answer = page.get_by_text("the score of nuts with itself grows with the square")
    assert not answer.is_visible()
    # the source of a checkpoint would give its answers away
    assert page.get_by_text("Checkpoint(", exact=False).locator("visible=true").count() <= 1


def test_edit_leads_to_the_text_and_colab_to_the_notebook(visit):
    address = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    html = (HTML / f"{LECTURE}.html").read_text(encoding="utf-8")
    assert f"{address['url']}/edit/{address['branch']}/book/lectures/05-self-attention.md" in html
    assert "edit/main/notebooks" not in html
    here = address["url"].removeprefix("https://github.com/")
    colab = (
        f"https://colab.research.google.com/github/{here}/blob/{address['branch']}/{LECTURE}.ipynb"
    )
    assert colab in html


def test_page_reads_without_javascript(visit):
    page = visit(java_script_enabled=False)
    tables = page.locator(".attnbook-fallback table:visible")
    assert tables.count() >= 3
    assert "0.905" in tables.first.inner_text()


def test_print_shows_every_widget_as_text(visit):
    page = visit()
    page.emulate_media(media="print")
    for widget in page.locator("figure.attnbook-heatmap, figure.attnbook-steps").all():
        expect(widget.locator("table:visible").first).to_be_attached()
    assert page.locator("figure.attnbook input[type=range]:visible").count() == 0


def test_a_dark_page_is_printed_in_the_light(visit):
    page = visit(theme="dark")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "dark"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(theme) == "light"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(theme) == "dark"


def test_every_link_inside_the_book_leads_somewhere():
    built = [path for path in HTML.rglob("*.html") if "_static" not in path.parts]
    pages = {path: path.read_text(encoding="utf-8") for path in built}
    assert len(pages) >= len(PAGES)
    for path, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            target = (path.parent / unquote(parts.path)).resolve()
            assert target.exists(), f"{path.relative_to(HTML)}: {link}"
            if parts.fragment and target.suffix == ".html":
                assert f'id="{unquote(parts.fragment)}"' in pages[target], f"{path}: {link}"


def test_no_page_holds_what_it_does_not_use():
    for path in HTML.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "thebe" not in text, path
        assert "fontawesome/6.5.2/css" not in text, path
        scripts = re.findall(r'<(?:script|img|iframe)[^>]* src="(https?:[^"]*)', text)
        scripts += re.findall(
            r'<link[^>]*rel="(?:stylesheet|preload)"[^>]*href="(https?:[^"]*)', text
        )
        assert scripts == [], path


def test_widget_script_is_loaded_only_where_there_is_a_widget():
    for name in PAGES:
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        wanted = [page_script(*names)] if (names := kinds_on(text)) else []
        loaded = re.findall(r'src="[./]*_static/(attnbook[\w-]*\.js)', text)
        assert [(HTML / "_static" / js).read_text(encoding="utf-8") for js in loaded] == wanted, (
            name
        )


def test_theme_and_widgets_use_the_same_bytes_as_jupyter():
    for name in PAGES:
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        for sheet in re.findall(r'href="[./]*_static/(attnbook-[\w-]*\.css)', text):
            written = (HTML / "_static" / sheet).read_text(encoding="utf-8")
            assert written == stylesheet(*kinds_on(text)), name
    assert Path(HTML / "_static" / "mathjax").is_dir()


HEADS_LECTURE = "notebooks/08-multi-head-attention"


def test_the_task_of_the_heads_has_the_answer_given(visit):
    """Two certain heads, whose average looks like one that cannot decide."""
    heads = visit(HEADS_LECTURE).locator("figure.attnbook-heads").first
    heads.get_by_role("button", name="their average").click()
    heads.get_by_label("temperature as a number").fill("0.25")
    expect(heads.get_by_role("status")).to_contain_text("had, nuts 0.500 each in the average")
    assert "most to nuts 1.000" in heads.inner_text()
    assert "most to had 1.000" in heads.inner_text()


def test_arcs_of_a_long_sentence_scroll_in_their_own_box_on_a_phone(visit):
    page = visit(HEADS_LECTURE, viewport=PHONE)
    box = page.locator(".cell_output:has(> img[src$='.svg'])").nth(1)
    assert box.evaluate("b => b.scrollWidth > b.clientWidth + 300")
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("b => b.scrollLeft > 0", arg=box.element_handle())
    assert no_sideways_scroll(page)
