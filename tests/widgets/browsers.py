"""The head browser's parts in a page, and what Python expects to read there."""

from __future__ import annotations

import re

import numpy as np

from attnbook.widgets import HeadBrowser
from attnbook.widgets.core import markup
from tests.widgets.conftest import settle


def load(page):
    page.get_by_role("button", name="load all").click()
    page.locator(".attnbook-every").wait_for()
    settle(page)
    return page


def small(page, layer: int, head: int):
    return page.get_by_role("button", name=re.compile(f"^layer {layer} head {head}:")).and_(
        page.locator("canvas")
    )


def status(page):
    return page.locator(".attnbook-status")


def title(page):
    return page.locator(".attnbook-title")


def best(page) -> list[str]:
    settle(page)
    return page.locator(".attnbook-best button").all_inner_texts()


def values(page) -> list[str]:
    """What each small map is called, without its layer and head."""
    settle(page)
    labels = [
        map_.get_attribute("aria-label") for map_ in page.locator(".attnbook-every canvas").all()
    ]
    return [label.split(": ")[1] for label in labels]


def expected(widget: HeadBrowser) -> list[str]:
    decimals = 1 if widget.measure == "spread" else 3
    found = widget.measured.ravel()
    return ["–" if np.isnan(value) else markup.fixed(value, decimals) for value in found]


def ranking(widget: HeadBrowser) -> list[str]:
    heads = widget.shape[1]
    order = np.argsort(-widget.measured.ravel(), kind="stable")[:5]
    texts = expected(widget)
    return [f"layer {h // heads} head {h % heads}: {texts[h]}" for h in order]


def box(page, label: str):
    return page.get_by_role("combobox", name=label, exact=True)


def choose(page, label: str, option: str) -> None:
    box(page, label).select_option(option)
    settle(page)
