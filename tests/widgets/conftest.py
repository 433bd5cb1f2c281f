"""Widgets on a page of their own, opened from a file in a real browser with no network."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attnbook.widgets import AttentionHeatmap, page_script, stylesheet
from attnbook.widgets.core.chunks import kinds_on
from tests.browser import MISSING, find_chromium, launch

X = [[2, -1, 0], [1, 1, 1], [1, 2, 2]]
TOKENS = ["had", "bowl", "nuts"]

PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Widgets</title><link rel="icon" href="data:,"><link rel="stylesheet" href="widgets.css">
<style>
body {{ margin: 0 auto; max-width: 46rem; padding: 1rem; background: #fff; color: #222;
       font: 16px/1.6 sans-serif }}
html[data-theme="dark"] body {{ background: #121212; color: #ddd }}
</style>
<script defer src="widgets.js"></script></head>
<body><main><h1>Widgets</h1>{body}</main></body></html>
"""


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    """A headless browser; the test fails, and is not skipped, where there is none."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        pytest.fail(MISSING, pytrace=False)
    with sync_playwright() as playwright:
        browser = launch(playwright, path)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the assets that a built page has."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def server(folder: Path) -> Iterator[str]:
    """The same folder on a server of this machine: its address."""
    handler = functools.partial(Silent, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def show(chromium, folder: Path, server: str) -> Iterator[Callable]:
    """Open a page with the given widgets; afterwards, it asked nobody and logged nothing."""
    contexts, outside, logged = [], [], []

    def opened(
        *widgets, theme: str = "light", width: int = 900, ready: bool = True, via="file", **options
    ):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, accept_downloads=True, **options
        )
        contexts.append(context)
        inside = f"^(?!file:|blob:|data:|{re.escape(server)}/)"
        context.route(re.compile(inside), lambda route: refuse(route, outside))
        page = context.new_page()
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("console", lambda line: line.type == "error" and logged.append(line.text))
        body = "".join(w if isinstance(w, str) else w.html() for w in widgets)
        address = write(folder, theme, body)
        page.goto(address if via == "file" else f"{server}/page.html")
        if ready and widgets:
            page.locator("figure.attnbook[data-ready]").nth(len(widgets) - 1).wait_for()
            settle(page)
        return page

    opened.logged = logged
    yield opened
    for context in contexts:
        context.close()
    assert outside == []
    assert logged == []


@pytest.fixture
def nuts() -> AttentionHeatmap:
    """The book's smallest heat map."""
    return AttentionHeatmap(X, tokens=TOKENS)


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serve files, and say nothing about it."""

    def log_message(self, *_: object) -> None:
        pass


def refuse(route, outside: list[str]) -> None:
    """Note that a page asked another host for something, and refuse it."""
    outside.append(route.request.url)
    route.abort()


def write(folder: Path, theme: str, body: str) -> str:
    """Write a page beside the assets that it needs and return its address."""
    names = kinds_on(body)
    (folder / "widgets.js").write_text(page_script(*names), encoding="utf-8")
    (folder / "widgets.css").write_text(stylesheet(*names), encoding="utf-8")
    path = folder / "page.html"
    path.write_text(PAGE.format(theme=theme, body=body), encoding="utf-8")
    return path.as_uri()


def settle(page) -> None:
    """Wait until two frames have been drawn."""
    page.evaluate(
        "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
    )
