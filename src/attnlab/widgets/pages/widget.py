"""Texts that are written into the pages of one pool: tables, shared pages, and what is idle."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any, NamedTuple

import torch
import traitlets

from attnbook.further.caches import PagedCache, PagePool
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["PageTable"]

_MOST_PAGES = 16
_MOST_ROWS = 8  # of a page
_LONGEST = 64
_TEXTS = 4  # at once
_MOST_ACTIONS = 400
_VERBS = ("write", "fork", "end")


class _Rows(NamedTuple):
    """Rows that hold a token, and rows that nobody else can have."""

    used: int
    reserved: int


class PageTable(Widget, kind="pages"):
    """Start, write, fork and end texts whose keys and values lie in the pages of one pool.

    Each text is a ``PagedCache`` of a ``PagePool``. A fork shares the pages of its text; whoever
    writes into a shared page that is not full has it copied first.

    Args:
        n_pages: pages of the pool, from 1 to 16; page: rows of a page, from 1 to 8.
        actions: what has been done so far, at most 400 of "start", "write 1", "fork 1" and "end 1".
            A new text, started or forked, has the lowest free number; there are 1 to 4.
        longest: rows of the longest text, from 1 to 64: what a text in one piece has to reserve.

    The traits n_pages, page and actions follow the reader's hand. In another pool the same actions
    are done again. A token that finds no page, or whose text is as long as the longest, is not
    written.

    Raises: TypeError for actions that are no list of strings; ValueError for a number out of its
    range, and for an action that cannot be done.
    Source: Kwon et al. (2023), section 4.
    """

    longest = ruled(traitlets.Int(16), checks.whole, least=1, most=_LONGEST)
    n_pages = ruled(traitlets.Int(8), checks.whole, least=1, most=_MOST_PAGES)
    page = ruled(traitlets.Int(4), checks.whole, least=1, most=_MOST_ROWS)
    actions = ruled(traitlets.List(traitlets.Unicode()), lambda name, value: _doable(name, value))
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        n_pages: int = 8,
        page: int = 4,
        *,
        actions: list[str] | tuple[str, ...] = ("start",),
        longest: int = 16,
        caption: str = "",
    ) -> None:
        start = {"n_pages": n_pages, "page": page, "actions": actions}
        super().__init__(caption=caption, longest=longest, start=start)

    @property
    def tables(self) -> dict[int, list[int]]:
        """The pages of each text, in the order of its tokens."""
        return {text: _pages(cache) for text, cache in self._texts()[1].items()}

    @property
    def lengths(self) -> dict[int, int]:
        """How many tokens each text has."""
        return {text: cache.length for text, cache in self._texts()[1].items()}

    @property
    def paged(self) -> tuple[int, int]:
        """Rows of the pool that hold a token, and rows of the pages in use."""
        return _Rows(sum(rows for _, rows, _ in self._held()), self.page * len(self._held()))

    @property
    def in_one_piece(self) -> tuple[int, int]:
        """The same where each text reserves the longest length for itself."""
        lengths = self.lengths
        return _Rows(sum(lengths.values()), self.longest * len(lengths))

    def _texts(self) -> tuple[PagePool, dict[int, PagedCache]]:
        """Do all that has been done, in the package's own pool."""
        pool = PagePool(self.n_pages, page=self.page)
        caches: dict[int, PagedCache] = {}
        row = torch.zeros(1, 1, 1, 1)
        for action in self.actions:
            verb, text = _parsed(action)
            if verb == "start":
                caches[_free(caches)] = PagedCache(pool)
            elif verb == "fork":
                caches[_free(caches)] = caches[text].reorder(torch.tensor([0]))
            elif verb == "end":
                caches.pop(text).rewind(0)
            elif caches[text].length < self.longest:
                _try_to_write(caches[text], row)
        return pool, dict(sorted(caches.items()))

    def _held(self) -> list[tuple[int, int, list[int]]]:
        """Each page in use: its number, its rows that hold a token, its texts."""
        tables, lengths = self.tables, self.lengths
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for text, table in tables.items():
            for place, page in enumerate(table):
                rows = min(self.page, lengths[text] - place * self.page)
                found[page].append((text, rows))
        return [
            (page, max(rows for _, rows in users), [text for text, _ in users])
            for page, users in sorted(found.items())
        ]

    def _summary(self) -> str:
        texts, used = len(self.lengths), len(self._held())
        return f"{self.n_pages} pages of {self.page} rows, {used} in use, texts: {texts}"

    def _fallback(self) -> str:
        lengths = self.lengths
        texts = [
            [f"text {text}", str(lengths[text]), _arrows(table)]
            for text, table in self.tables.items()
        ]
        held = {page: (rows, users) for page, rows, users in self._held()}
        pages = [
            [f"page {page}", str(rows), ", ".join(map(str, users)) or "free"]
            for page in range(self.n_pages)
            for rows, users in [held.get(page, (0, []))]
        ]
        kept = [
            ["in pages", *_counted(*self.paged)],
            [f"each text in one piece of {self.longest} rows", *_counted(*self.in_one_piece)],
        ]
        return (
            f"<p>A pool of {self.n_pages} pages of {self.page} rows, and the texts in it.</p>"
            + markup.table(["text", "tokens", "its page → the pool’s"], texts, label="The texts")
            + markup.table(["page", "rows in use", "texts"], pages, label="The pool")
            + markup.table(
                ["kept", "rows in use", "rows reserved", "unused"], kept, label="What is reserved"
            )
        )


def _try_to_write(cache: PagedCache, row: torch.Tensor) -> None:
    try:
        cache.append(row, row)
    except ValueError:  # the pool is full: the text stays as it is
        return


def _pages(cache: PagedCache) -> list[int]:
    return list(cache.table[0]) if cache.table else []


def _arrows(table: list[int]) -> str:
    return ", ".join(f"{place} → {page}" for place, page in enumerate(table)) or "none"


def _counted(used: int, reserved: int) -> list[str]:
    share = f"{math.floor(100 * (reserved - used) / reserved + 0.5)} %" if reserved else "–"
    return [str(used), str(reserved), share]


def _free(texts: Any) -> int:
    """Return the lowest number that no text has, 5 where all four are there."""
    return next(number for number in range(1, _TEXTS + 2) if number not in texts)


def _parsed(action: str) -> tuple[str, int]:
    """Return the verb of an action and its text, 0 for a new one; else ("", 0)."""
    verb, _, text = action.partition(" ")
    if action == "start":
        return "start", 0
    known = verb in _VERBS and text in tuple(map(str, range(1, _TEXTS + 1)))
    return (verb, int(text)) if known else ("", 0)


def _doable(name: str, value: Any) -> list[str]:
    """Return the actions, each of which can be done when its turn comes; else ValueError."""
    actions = checks.texts(name, value)
    if len(actions) > _MOST_ACTIONS:
        raise ValueError(f"{name} must be at most {_MOST_ACTIONS} actions, got {len(actions)}")
    texts: set[int] = set()
    for action in actions:
        verb, text = _parsed(action)
        if not verb:
            wanted = 'hold "start", and "write", "fork" or "end" with a text from 1 to 4'
            raise ValueError(f"{name} must {wanted}, got {checks.one_line(action)}")
        if text and text not in texts:
            raise ValueError(f'{name} holds "{action}", when there is no text {text}')
        if verb in ("start", "fork") and len(texts) == _TEXTS:
            raise ValueError(f'{name} holds "{action}", when there are {_TEXTS} texts already')
        if verb == "end":
            texts.remove(text)
        elif verb != "write":
            texts.add(_free(texts))
    return actions
