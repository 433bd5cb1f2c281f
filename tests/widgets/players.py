"""Two short translations with weights that are easy to check, and the player's parts in a page."""

from __future__ import annotations

from attnbook.widgets import AlignmentPlayer
from tests.widgets.conftest import settle

CAT = (
    ["the", "black", "cat"],
    ["le", "chat", "noir"],
    [[0.7, 0.1, 0.2], [0.25, 0.25, 0.5], [0.05, 0.9, 0.05]],
    [(0, 0), (2, 1), (1, 2)],
)
DAY = (
    ["how", "was", "your", "day"],
    ["comment", "s'", "est", "passée", "ta", "journée"],
    [
        [0.97, 0.01, 0.01, 0.01],
        [0.1, 0.4, 0.1, 0.4],
        [0.05, 0.85, 0.05, 0.05],
        [0.0, 0.35, 0.05, 0.6],
        [0.0, 0.0, 1.0, 0.0],
        [0.01, 0.01, 0.4, 0.58],
    ],
    [(0, 0), (1, 1), (1, 2), (1, 3), (2, 4), (3, 5)],
)
UNKNOWN = (["yes"], ["oui", "!"], [[1.0], [1.0]], None)


def player(**options) -> AlignmentPlayer:
    return AlignmentPlayer([CAT, DAY, UNKNOWN], **options)


def status(page):
    return page.locator(".attnbook-status")


def button(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def source(page) -> list[str]:
    """The source words with the current word's weights: "black 0.900 ✓"."""
    settle(page)
    items = page.locator(".attnbook-stage ol").first.locator("li").all()
    return [" ".join(item.locator("span").all_inner_texts()) for item in items]


def scores(page) -> dict[str, list[str]]:
    """The table of error rate, precision and recall, by the heading of its rows."""
    settle(page)
    rows = page.locator(".attnbook-live > .attnbook-scroll tbody tr").all()
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}


def current(page) -> str:
    """The word of the translation that is current, and the only one that Tab reaches."""
    settle(page)
    found = page.locator(".attnbook-stage button[aria-current=step]").all_inner_texts()
    assert found == page.locator(".attnbook-stage button[tabindex='0']").all_inner_texts()
    assert len(found) == 1
    return found[0]
