"""The keys and values of the tokens so far, kept so that each is computed once."""

from typing import Any

import torch
from torch import Tensor

from attnbook import _check


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

    def reorder(self, rows: Tensor) -> "KVCache":
        """Return a new cache that holds the chosen rows of the batch, with repetition if asked.

        Shapes: rows (m,) of whole numbers below b; the new cache has the batch size m.
        Raises: TypeError or ValueError for other rows.
        """
        _check.rows(rows, None if self._memory is None else self._memory[0])
        other = KVCache(self.max_length, capacity=self._capacity)
        if self._memory is not None:
            n = other.length = self.length
            key, value = (part[:, :, :n].index_select(0, rows) for part in self._memory)
            keys, values = other._room_for(max(n, 1), key, value)
            keys[:, :, :n], values[:, :, :n] = key, value
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


def _empty(like: Tensor, room: int) -> Tensor:
    return like.new_empty(*like.shape[:2], room, like.shape[3])
