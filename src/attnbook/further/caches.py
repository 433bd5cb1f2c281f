"""Caches for long texts and many of them: one that rolls, and one in pages of a shared pool.

Each can be given to every layer that takes a ``KVCache``.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from math import ceil
from typing import Self

import torch
from torch import Tensor

from attnbook import _check, _core
from attnbook.cache import KVCache


class RollingCache(KVCache):
    """Keys and values of the last ``window`` tokens, the first ``sinks`` of the text among them.

    Memory has ``window`` rows, however long the text: with s sinks, position p ≥ s lies in row
    s + (p − s) mod (window − s), in place of the one that has left the window. A layer computes
    what it computes from all keys under ``window_mask(…, window, sinks=s)``, for many tokens at
    once too. ``length`` and positions count every token since the first.

    Raises: ValueError for a window below 1, and for sinks that leave no place in it.
    Source: Beltagy, Peters and Cohan (2020), section 3.1; Xiao et al. (2024) for the sinks.
    """

    def __init__(self, window: int, *, sinks: int = 0) -> None:
        _check.must(0 <= sinks < window, "sinks", f"be from 0 on, below window = {window}", sinks)
        super().__init__(capacity=window)
        self.window, self.sinks = window, sinks
        self.ragged = sinks == 0  # the first rows, which stay, would be padding

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add n rows; return those that some of them may see, at most window + n.

        Shapes: key (b, h, n, d), value (b, h, n, d_v); returns (b, h, m, d) and (b, h, m, d_v), in
        the order that ``visible`` knows.
        Raises: as ``KVCache``.
        """
        self._check_rows(key, value, self._memory)
        n, start, news = key.shape[2], self.length, (key, value)
        if self._memory is None:
            keys, values = (x.new_empty(*x.shape[:2], self.window, x.shape[3]) for x in news)
            self._memory = keys, values
        memory, seen = self._memory, []
        if n != 1:  # what is overwritten below is in the window of the first new rows
            kept, pairs = min(start, self.window), zip(memory, news, strict=True)
            seen = [torch.cat((part[:, :, :kept], new), dim=2) for part, new in pairs]
        end = start + n
        s, ring = self.sinks, self.window - self.sinks
        last = [i for i in range(n) if start + i < s or start + i >= end - ring]
        slots = [p if p < s else s + (p - s) % ring for p in (start + i for i in last)]
        for part, new in zip(memory, news, strict=True):
            part[:, :, slots] = new[:, :, last]
        self.length = end
        keys, values = seen or [part[:, :, : min(end, self.window)] for part in memory]
        return keys, values

    def visible(
        self, key: Tensor, mask: Tensor | None, bias: Tensor | None, causal: bool
    ) -> tuple[Tensor | None, Tensor | None, bool]:
        """Return who may see which of the m rows that ``append`` will return for new keys.

        Mask and bias lose the columns of what is no longer kept. No row sees a later one, whether
        ``causal`` or not.

        Shapes: key (b, h, n, d), mask and bias (…, n_k), where n_k counts every token since the
        first; returns (…, m).
        """
        _check.untraced("RollingCache")
        n = key.shape[2]
        if n == 1 and mask is None and bias is None:
            return None, None, False
        columns = self._columns(n).to(key.device)
        rows = torch.arange(self.length, self.length + n, device=key.device)[:, None]
        near = columns > rows - (self.window - self.sinks)
        seen = (columns <= rows) & (near | (columns < self.sinks))  # (n, m)
        mask, bias = (_core.part_of(part, -1, columns) for part in (mask, bias))
        return seen if mask is None else seen & mask, bias, False

    def rewind(self, length: int) -> None:
        """Forget all rows but the first ``length``, as long as none has left the window.

        Raises: as ``KVCache``; ValueError where the rows before ``length`` are overwritten.
        """
        there = self.length <= self.window or length == self.length
        wanted = f"be {self.length}, for rows before it have left the window"
        _check.must(there, "length", wanted, length)
        super().rewind(length)

    def _columns(self, n: int) -> Tensor:
        """Return the positions (m,) of the rows that ``append`` will return."""
        end = self.length + (n == 1)
        slots, r = torch.arange(min(end, self.window)), self.window - self.sinks
        latest = slots + (end - 1 - slots) // r * r  # of those that share a slot
        kept = torch.where(slots < self.sinks, slots, latest)
        return kept if n == 1 else torch.cat((kept, torch.arange(self.length, self.length + n)))


class PagePool:
    """Memory for keys and values in ``n_pages`` pages of ``page`` rows, for many ``PagedCache``.

    ``users`` counts for each page the texts that it belongs to. Shapes, dtype and device are those
    of the first keys that come.

    Source: Kwon et al. (2023), section 4.
    """

    def __init__(self, n_pages: int, *, page: int = 16) -> None:
        self.n_pages, self.page = n_pages, page
        self.users = [0] * n_pages
        self.memory: tuple[Tensor, Tensor] | None = None  # (n_pages, h, page, d), and d_v


class PagedCache(KVCache):
    """Keys and values in pages of a pool, which are taken one by one as a text grows.

    ``table`` holds for each row of the batch its pages: position p lies in row p mod page of page
    table[b][p // page]. ``reorder`` copies nothing, nor does ``copy.copy``: texts share pages,
    until one of them writes into a page that is not full, and gets its own. ``rewind`` gives pages
    back, all of them with ``rewind(0)`` or the end of the cache. A kernel made for pages reads them
    where they lie; here ``append`` gathers them.

    Source: Kwon et al. (2023), section 4.
    """

    def __init__(self, pool: PagePool) -> None:
        super().__init__()
        self.table: list[list[int]] = []
        self.pool = pool

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add n rows; return a copy of all keys and values so far.

        Shapes, Raises: as ``KVCache``; ValueError for what the pool does not fit, or has no room.
        """
        _check.untraced("PagedCache")
        there = (self._memory, "b") if self._memory else (self.pool.memory, "pages")
        self._check_rows(key, value, *there)
        page, end = self.pool.page, self.length + key.shape[2]
        if self._memory is None:  # no rows: what the next ones are compared with
            self._memory = key[:, :, :0].clone(), value[:, :, :0].clone()
            self.table = [[] for _ in key]
        found: list[Tensor] = []
        try:
            memory = self._write_room(end, key, value)
            table = torch.tensor(self.table, dtype=torch.long, device=key.device)
            table = table.view(len(self.table), ceil(end / page))  # of no texts, too
            position = torch.arange(self.length, end, device=key.device)
            for part, new in zip(memory, (key, value), strict=True):
                part[table[:, position // page], :, position % page] = new.transpose(1, 2)
                found.append(part[table].transpose(1, 2).flatten(2, 3)[:, :, :end])
        except (ValueError, RuntimeError):  # the pool is full, or of another inference mode
            self._give_back()
            raise
        self.length = end
        return found[0], found[1]

    def rewind(self, length: int) -> None:
        """Forget all rows but the first ``length``, and give the pages behind them back.

        Raises: as ``KVCache``.
        """
        super().rewind(length)
        self._give_back()

    def reorder(self, rows: Tensor) -> Self:
        """Return a new cache of the chosen rows (m,), which shares their pages.

        Raises: as ``KVCache``.
        """
        other = super().reorder(rows)
        if self.table:
            other._hold(self.table[row] for row in rows.tolist())
        return other

    def __copy__(self) -> Self:
        other = super().__copy__()
        other._hold(self.table)
        return other

    def _with(self, choose: Callable[[Tensor], Tensor]) -> Self:
        other = super()._with(choose)
        other.table = []
        return other

    def __del__(self) -> None:
        if hasattr(self, "table"):  # a compiler makes caches that are never begun
            self._hold(())

    def _hold(self, table: Iterable[list[int]]) -> None:
        """Become a user of the pages of this table, and of those of the last no more."""
        before, self.table = self.table, [list(row) for row in table]
        for one, pages in ((1, chain(*self.table)), (-1, chain(*before))):
            for used in pages:
                self.pool.users[used] += one

    def _write_room(self, end: int, *news: Tensor) -> tuple[Tensor, Tensor]:
        """Let each text have pages for ``end`` rows, and the one that it writes to alone.

        Returns the pool's memory, set aside for the first keys and values that come.
        """
        pool, page = self.pool, self.pool.page
        if pool.memory is None:
            keys, values = (
                new.new_empty(pool.n_pages, new.shape[1], page, new.shape[3]) for new in news
            )
            pool.memory = keys, values
        partly = self.length % page > 0
        for row in self.table:
            if partly and end > self.length and pool.users[row[-1]] > 1:
                row[-1] = self._free_page(row[-1])
            while len(row) < ceil(end / page):
                row.append(self._free_page())
        return pool.memory

    def _free_page(self, old: int | None = None) -> int:
        """Take a page, with the rows of page ``old`` in it where it comes in place of that."""
        pool = self.pool
        if 0 not in pool.users:
            raise ValueError(f"the pool has no free page: all {pool.n_pages} are in use")
        new = pool.users.index(0)
        pool.users[new] = 1
        if old is not None:
            pool.users[old] -= 1
            for part in pool.memory or ():
                part[new] = part[old]
        return new

    def _give_back(self) -> None:
        for row in self.table:
            while len(row) * self.pool.page >= self.length + self.pool.page:
                self.pool.users[row.pop()] -= 1
