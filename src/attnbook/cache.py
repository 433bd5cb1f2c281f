"""The keys and values of the tokens so far, kept so that each is computed once."""

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor

from attnbook import _check

__all__ = ["KVCache"]


class KVCache:
    """Keys and values of one attention layer, in memory that is set aside before it is needed.

    The memory doubles when it is full, up to ``max_length`` where one is given. Shapes, dtype and
    device are those of the first keys that come. A cache is for inference: it keeps no gradient,
    and one that was begun under ``torch.inference_mode()`` goes on there alone. ``copy.copy`` gives
    a cache of its own: neither sees what the other adds.
    """

    ragged = True  # its texts may begin at different rows; those before them are padding

    def __init__(self, max_length: int | None = None, *, capacity: int = 64) -> None:
        self.max_length = max_length
        self.length = 0
        self._capacity = capacity
        self._memory: tuple[Tensor, Tensor] | None = None  # (b, h, room, d), (b, h, room, d_v)

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add n rows; return all keys and values so far, as views of the cache's memory.

        Shapes: key (b, h, n, d), value (b, h, n, d_v); returns (b, h, length, d) and
        (b, h, length, d_v).
        Raises: ValueError where they do not fit what is there, exceed ``max_length``, or carry
        a gradient; TypeError for anything but tensors. Nothing is added then.
        """
        self._check_rows(key, value, self._memory)
        start, end = self.length, self.length + key.shape[2]
        keys, values = self._room_for(end, key, value)
        keys[:, :, start:end], values[:, :, start:end] = key, value
        self.length = end
        return keys[:, :, :end], values[:, :, :end]

    def visible(
        self, key: Tensor, mask: Tensor | None, bias: Tensor | None, causal: bool
    ) -> tuple[Tensor | None, Tensor | None, bool]:
        """Return mask, bias and causal as they fit what ``append`` will return for new keys.

        For layers, which have checked them. Here these are all rows in order: nothing changes.

        Shapes: key (b, h, n, d), mask and bias (…, n_k), where n_k counts every token since the
        first.
        """
        return mask, bias, causal

    def rewind(self, length: int) -> None:
        """Forget all rows but the first ``length``.

        Raises: ValueError for a negative length, and for more rows than there are.
        """
        _check.must(0 <= length <= self.length, "length", f"be from 0 to {self.length}", length)
        self.length = length

    def reorder(self, rows: Tensor) -> Self:
        """Return a new cache that holds the chosen rows of the batch, with repetition if asked.

        Shapes: rows (m,) of whole numbers below b; the new cache has the batch size m.
        Raises: IndexError or RuntimeError for other rows.
        """
        return self._with(lambda part: part.index_select(0, rows))

    def __copy__(self) -> Self:
        return self._with(lambda part: part.clone())

    def _with(self, choose: Callable[[Tensor], Tensor]) -> Self:
        """Return a new cache with what is chosen of the keys and of the values."""
        other, memory = object.__new__(type(self)), self._memory
        memory = None if memory is None else (choose(memory[0]), choose(memory[1]))
        other.__dict__.update(self.__dict__, _memory=memory)
        return other

    def _room_for(self, wanted: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        old, n = self._memory, self.length
        if old is not None and wanted <= old[0].shape[2]:
            return old
        room = max(wanted, self._capacity, 2 * n)
        room = room if self.max_length is None else min(room, self.max_length)
        keys, values = (x.new_empty(*x.shape[:2], room, x.shape[3]) for x in (key, value))
        self._memory = keys, values
        for part, before in zip(self._memory, old or (), strict=False):
            part[:, :, :n] = before[:, :, :n]
        return self._memory

    def _check_rows(
        self, key: Tensor, value: Tensor, there: tuple[Tensor, Tensor] | None, b: str = "b"
    ) -> None:
        old = zip(("keys", "values"), there or (), (f"{b} h _ d", f"{b} h _ d_v"), strict=False)
        given = {"key": (key, "b h n d"), "value": (value, "b h n d_v")}
        _check.fit(**{name: (part, form) for name, part, form in old}, **given)
        if torch.is_grad_enabled() and (key.requires_grad or value.requires_grad):
            raise _check.wrong("key and value", "need no gradient", but="compute under no_grad()")
        end, most = self.length + key.shape[2], self.max_length
        _check.must(most is None or end <= most, "rows", f"fit max_length = {most}", end)
