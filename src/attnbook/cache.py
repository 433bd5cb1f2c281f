"""The keys and values of the tokens so far, kept so that each is computed once."""

from typing import Self

import torch
from torch import Tensor

from attnbook import _check


class KVCache:
    """Keys and values of one attention layer, in memory that is set aside before it is needed.

    New rows are written behind the old ones. The memory doubles when it is full, up to
    ``max_length`` where one is given, so that 1,000 tokens are copied a handful of times and not
    1,000 times. Shapes, dtype and device are those of the first keys that come.

    A cache is for inference: what it holds has no gradient. ``append`` changes it.

    Raises: ValueError for a ``max_length`` or ``capacity`` below 1.
    """

    def __init__(self, max_length: int | None = None, *, capacity: int = 64) -> None:
        _check.sizes(capacity=capacity)
        if max_length is not None:
            _check.sizes(max_length=max_length)
        self.max_length = max_length
        self.length = 0
        self._capacity = capacity
        self._key: Tensor | None = None
        self._value: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add n rows; return all keys and values so far, as views of the cache's memory.

        Shapes: key (b, h, n, d), value (b, h, n, d_v); returns (b, h, length, d) and
        (b, h, length, d_v).
        Raises: ValueError where they do not fit what is there, exceed ``max_length``, or carry
        a gradient.
        """
        self._check_rows(key, value)
        start, end = self.length, self.length + key.shape[2]
        self._make_room(key, value, end)
        self._key[:, :, start:end] = key
        self._value[:, :, start:end] = value
        self.length = end
        return self._key[:, :, :end], self._value[:, :, :end]

    def reorder(self, rows: Tensor) -> Self:
        """Return a new cache that holds the chosen rows of the batch, with repetition if asked.

        Shapes: rows (m,) of whole numbers below b; the new cache has the batch size m.
        Raises: TypeError or ValueError for other rows.
        """
        _check.rows(rows, self._key)
        other = type(self)(self.max_length, capacity=self._capacity)
        if self._key is not None:
            chosen = [part[:, :, : self.length].index_select(0, rows) for part in self._parts()]
            other._make_room(*chosen, max(self.length, 1))
            other._key[:, :, : self.length], other._value[:, :, : self.length] = chosen
            other.length = self.length
        return other

    def _parts(self) -> tuple[Tensor, Tensor]:
        return self._key, self._value

    def _make_room(self, key: Tensor, value: Tensor, wanted: int) -> None:
        if self._key is not None and wanted <= self._key.shape[2]:
            return
        room = max(wanted, self._capacity, 2 * self.length)
        room = room if self.max_length is None else min(room, self.max_length)
        old, self._key, self._value = self._parts(), _empty(key, room), _empty(value, room)
        if self.length:
            self._key[:, :, : self.length] = old[0][:, :, : self.length]
            self._value[:, :, : self.length] = old[1][:, :, : self.length]

    def _check_rows(self, key: Tensor, value: Tensor) -> None:
        for name, new, old in (("key", key, self._key), ("value", value, self._value)):
            _check.floats(name, new)
            _check.shape(name, new, "b", "h", "n", "d")
            if old is not None:
                _check_like(name, new, old)
        for what in ("dtype", "device", "leading dimensions", "length"):
            _check.alike(what, key=key, value=value)
        end = self.length + key.shape[2]
        if self.max_length is not None and end > self.max_length:
            came = f"{self.length} are in it, and {key.shape[2]} more came"
            raise ValueError(f"the cache holds at most max_length = {self.max_length} rows: {came}")
        if torch.is_grad_enabled() and (key.requires_grad or value.requires_grad):
            why = "for a cache keeps none: compute under torch.no_grad()"
            raise ValueError(f"key and value must not need a gradient, {why}")


def _check_like(name: str, new: Tensor, old: Tensor) -> None:
    wanted, came = (*old.shape[:2], new.shape[2], old.shape[3]), tuple(new.shape)
    if came != wanted:
        raise ValueError(f"{name} must fit the rows in the cache, {wanted}: its shape is {came}")
    for what in ("dtype", "device"):
        mine, ours = getattr(new, what), getattr(old, what)
        if mine != ours:
            raise ValueError(f"{name} must have the cache's {what}, {ours}: it has {mine}")


def _empty(like: Tensor, room: int) -> Tensor:
    return like.new_empty(*like.shape[:2], room, like.shape[3])
