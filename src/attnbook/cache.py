"""The keys and values of the tokens so far, kept so that each is computed once.

``KVCache`` keeps all of them, ``RollingCache`` those of a window, ``PagedCache`` all of them in
pages of a pool that many texts share. Each can be given to every layer that takes a cache.
"""

from copy import copy
from math import ceil
from typing import Any, Self

import torch
from torch import Tensor

from attnbook import _check
from attnbook.attention import part_of


class KVCache:
    """Keys and values of one attention layer, in memory that is set aside before it is needed.

    The memory doubles when it is full, up to ``max_length`` where one is given. Shapes, dtype and
    device are those of the first keys that come. A cache is for inference: it keeps no gradient.

    Raises: ValueError for a ``max_length`` or ``capacity`` below 1.
    """

    def __init__(self, max_length: int | None = None, *, capacity: int = 64) -> None:
        _check.sizes(capacity=capacity)
        if max_length is not None:
            _check.sizes(max_length=max_length)
        self.max_length = max_length
        self.length = 0
        self._capacity = capacity
        self._memory: tuple[Tensor, Tensor] | None = None  # (b, h, room, d), (b, h, room, d_v)

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add n rows; return all keys and values so far, as views of the cache's memory.

        Shapes: key (b, h, n, d), value (b, h, n, d_v); returns (b, h, length, d) and
        (b, h, length, d_v).
        Raises: ValueError where they do not fit what is there, exceed ``max_length``, or carry
        a gradient.
        """
        self._check_rows(key, value)
        start, end = self.length, self.length + key.shape[2]
        keys, values = self._room_for(end, key, value)
        keys[:, :, start:end], values[:, :, start:end] = key, value
        self.length = end
        return keys[:, :, :end], values[:, :, :end]

    def visible(
        self, key: Tensor, mask: Tensor | None, bias: Tensor | None, causal: bool
    ) -> tuple[Tensor | None, Tensor | None, bool]:
        """Return mask, bias and causal as they fit what ``append`` will return for new keys.

        Here these are all rows in order, so nothing changes.

        Shapes: key (b, h, n, d), mask and bias (…, n_k), where n_k counts every token since the
        first.
        """
        return mask, bias, causal

    def rewind(self, length: int) -> None:
        """Forget all rows but the first ``length``.

        Raises: ValueError for a negative length, and for more rows than there are.
        """
        _check.sizes(0, length=length)
        _check.must(length <= self.length, "length", f"be at most {self.length}", length)
        self.length = length

    def reorder(self, rows: Tensor) -> Self:
        """Return a new cache that holds the chosen rows of the batch, with repetition if asked.

        Shapes: rows (m,) of whole numbers below b; the new cache has the batch size m.
        Raises: TypeError or ValueError for other rows.
        """
        _check.rows(rows, None if self._memory is None else self._memory[0])
        memory = self._memory
        if memory is not None:
            key, value = (part.index_select(0, rows) for part in memory)
            memory = key, value
        other = copy(self)
        other._memory = memory
        return other

    def _room_for(self, wanted: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        old, n = self._memory, self.length
        if old is None or wanted > old[0].shape[2]:
            room = max(wanted, self._capacity, 2 * n)
            room = room if self.max_length is None else min(room, self.max_length)
            self._memory = _empty(key, room), _empty(value, room)
            if old is not None:
                for part, before in zip(self._memory, old, strict=True):
                    part[:, :, :n] = before[:, :, :n]
            return self._memory
        return old

    def _check_rows(self, key: Tensor, value: Tensor) -> None:
        if not self._meet(key, value):
            self._say_why(key, value)
        if torch.is_grad_enabled() and (key.requires_grad or value.requires_grad):
            why = "for a cache keeps none: compute under torch.no_grad()"
            raise ValueError(f"key and value must not need a gradient, {why}")

    def _meet(self, key: Any, value: Any) -> bool:
        # nearly always, and at little cost: one token at a time goes through every layer
        if self._memory is None or type(key) is not Tensor or type(value) is not Tensor:
            return False
        (keys, values), (b, h, _, d) = self._memory, self._memory[0].shape
        n = key.shape[-2] if key.dim() > 1 else 0
        return (
            key.shape == (b, h, n, d)
            and value.shape == (b, h, n, values.shape[3])
            and key.dtype == value.dtype == keys.dtype
            and key.device == value.device == keys.device
            and (self.max_length is None or self.length + n <= self.max_length)
        )

    def _say_why(self, key: Tensor, value: Tensor) -> None:
        for place, (name, new) in enumerate((("key", key), ("value", value))):
            _check.floats(name, new)
            _check.shape(name, new, "b", "h", "n", "d")
            if self._memory is not None:
                old = self._memory[place]
                wanted = (*old.shape[:2], new.shape[2], old.shape[3])
                _check.must(new.shape == wanted, name, f"fit the rows in the cache, {wanted}", new)
                _check.like(name, new, "cache", old)
        for what in ("dtype", "device", "leading dimensions", "length"):
            _check.alike(what, key=key, value=value)
        end = self.length + key.shape[2]
        if self.max_length is not None and end > self.max_length:
            came = f"{self.length} are in it, and {key.shape[2]} more came"
            raise ValueError(f"the cache holds at most max_length = {self.max_length} rows: {came}")


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
        _check.window(window, sinks)
        super().__init__(capacity=window)
        self.window, self.sinks = window, sinks

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add n rows; return those that some of them may see, at most window + n.

        Shapes: key (b, h, n, d), value (b, h, n, d_v); returns (b, h, m, d) and (b, h, m, d_v), in
        the order that ``visible`` knows.
        Raises: as ``KVCache``.
        """
        self._check_rows(key, value)
        n, start = key.shape[2], self.length
        if self._memory is None:
            self._memory = _empty(key, self.window), _empty(value, self.window)
        memory, seen = self._memory, []
        if n != 1:  # what is overwritten below is in the window of the first new rows
            kept = min(start, self.window)
            news = zip(memory, (key, value), strict=True)
            seen = [torch.cat((part[:, :, :kept], new), dim=2) for part, new in news]
        self.length = end = start + n
        first = end - (self.window - self.sinks)
        last = [i for i in range(n) if start + i < self.sinks or start + i >= first]
        slots = [self._slot(start + i) for i in last]
        for part, new in zip(memory, (key, value), strict=True):
            part[:, :, slots] = new[:, :, last]
        kept = min(end, self.window)
        keys, values = seen or [part[:, :, :kept] for part in memory]
        return keys, values

    def visible(
        self, key: Tensor, mask: Tensor | None, bias: Tensor | None, causal: bool
    ) -> tuple[Tensor | None, Tensor | None, bool]:
        """Return who may see which of the m rows that ``append`` will return for new keys.

        Mask and bias lose the columns of what is no longer kept. No row sees a later one, whether
        ``causal`` or not.

        Shapes: key (b, h, n, d), mask and bias (…, n_k), where n_k counts every token since the
        first; returns (…, m).
        Raises: ValueError for another number of columns; TypeError unless causal is a bool.
        """
        _check.flags(causal=causal)
        n = key.shape[2]
        if n == 1 and mask is None and bias is None:
            return None, None, False
        n_k, device = self.length + n, key.device
        for name, part in (("mask", mask), ("bias", bias)):
            if part is not None:
                wanted = f"have n_k = {n_k} columns, one for every token since the first"
                _check.must(part.shape[-1] in (1, n_k), name, wanted, part)
        columns = self._columns(n).to(device)
        rows = torch.arange(self.length, n_k, device=device)[:, None]
        near = columns > rows - (self.window - self.sinks)
        seen = (columns <= rows) & (near | (columns < self.sinks))  # (n, m)
        mask, bias = part_of(mask, -1, columns), part_of(bias, -1, columns)
        return seen if mask is None else seen & mask, bias, False

    def rewind(self, length: int) -> None:
        """Forget all rows but the first ``length``, as long as none has left the window.

        Raises: as ``KVCache``; ValueError where the rows before ``length`` are overwritten.
        """
        if self.length > self.window and length != self.length:
            told = f"it is {length!r}, and rows before it have left the window"
            _check.must(False, "length", f"be {self.length}", but=told)
        super().rewind(length)

    def _slot(self, position: int) -> int:
        s = self.sinks
        return position if position < s else s + (position - s) % (self.window - s)

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

    Raises: ValueError for an ``n_pages`` or ``page`` below 1.
    Source: Kwon et al. (2023), section 4.
    """

    def __init__(self, n_pages: int, *, page: int = 16) -> None:
        _check.sizes(n_pages=n_pages, page=page)
        self.n_pages, self.page = n_pages, page
        self.users = [0] * n_pages
        self.memory: tuple[Tensor, Tensor] | None = None  # (n_pages, h, page, d), and d_v

    def fit(self, key: Tensor, value: Tensor) -> None:
        """Set the memory aside, or compare it with keys and values (b, h, n, d) that come.

        Raises: ValueError where they have other heads, sizes, dtype or device.
        """
        shape = self.n_pages, key.shape[1], self.page
        if self.memory is None:
            self.memory = (
                key.new_empty(*shape, key.shape[3]),
                value.new_empty(*shape, value.shape[3]),
            )
        for name, new, part in zip(("key", "value"), (key, value), self.memory, strict=True):
            wanted = f"fit the pool's pages of (h, page, d) = {tuple(part.shape[1:])}"
            _check.must((*shape, new.shape[3]) == part.shape, name, wanted, new)
            _check.like(name, new, "pool", part)

    def take(self, old: int | None = None) -> int:
        """Give a free page to one text, with the rows of page ``old`` in it where one is named.

        Raises: ValueError where none is free.
        """
        if 0 not in self.users:
            raise ValueError(f"the pool has no free page: all {self.n_pages} are in use")
        new = self.users.index(0)
        self.users[new] = 1
        if old is not None:
            self.users[old] -= 1
            for part in self.memory or ():
                part[new] = part[old]
        return new


class PagedCache(KVCache):
    """Keys and values in pages of a pool, which are taken one by one as a text grows.

    ``table`` holds for each row of the batch its pages: position p lies in row p mod page of page
    table[b][p // page]. ``reorder`` copies nothing: texts share pages, until one of them writes
    into a page that is not full, and gets its own. ``rewind`` gives pages back, all of them with
    ``rewind(0)`` or the end of the cache. A kernel made for pages reads them where they lie; here
    ``append`` gathers them.

    Raises: TypeError for a pool that is none.
    Source: Kwon et al. (2023), section 4.
    """

    def __init__(self, pool: PagePool) -> None:
        super().__init__()
        self.table: list[list[int]] = []
        _check.is_a("pool", pool, PagePool)
        self.pool = pool

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add n rows; return a copy of all keys and values so far.

        Shapes: as ``KVCache``.
        Raises: as ``KVCache``; ValueError for what does not fit the pool, or where it is full.
        """
        self._check_rows(key, value)
        self.pool.fit(key, value)
        if self._memory is None:  # no rows: what the next ones are compared with
            self._memory = _empty(key, 0), _empty(value, 0)
            self.table = [[] for _ in key]
        end, page = self.length + key.shape[2], self.pool.page
        self._write_room(end)
        table = torch.tensor(self.table, dtype=torch.long, device=key.device)  # (b, pages)
        position = torch.arange(self.length, end, device=key.device)
        self.length = end
        found: list[Tensor] = []
        for part, new in zip(self.pool.memory or (), (key, value), strict=True):
            part[table[:, position // page], :, position % page] = new.transpose(1, 2)
            found.append(part[table].transpose(1, 2).flatten(2, 3)[:, :, :end])
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
        other.table = [list(self.table[row]) for row in rows.tolist()] if self.table else []
        for used in (one for row in other.table for one in row):
            self.pool.users[used] += 1
        return other

    def _write_room(self, end: int) -> None:
        """Let each text have pages for ``end`` rows, and the one that it writes to alone."""
        partly, page = self.length % self.pool.page > 0, self.pool.page
        try:
            for row in self.table:
                if partly and end > self.length and self.pool.users[row[-1]] > 1:
                    row[-1] = self.pool.take(row[-1])
                while len(row) < ceil(end / page):
                    row.append(self.pool.take())
        except ValueError:
            self._give_back()
            raise

    def _give_back(self) -> None:
        for row in self.table:
            while len(row) * self.pool.page >= self.length + self.pool.page:
                self.pool.users[row.pop()] -= 1

    def __del__(self) -> None:
        self.length = 0
        self._give_back()


def _empty(like: Tensor, room: int) -> Tensor:
    return like.new_empty(*like.shape[:2], room, like.shape[3])
