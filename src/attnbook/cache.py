"""The keys and values of the tokens so far, kept so that each is computed once."""

from copy import copy
from typing import Self

import torch
from torch import Tensor

from attnbook import _check

__all__ = ["KVCache"]


class KVCache:
    """Keys and values of one attention layer, in memory that is set aside before it is needed.

    The memory doubles when it is full, up to ``max_length`` where one is given. Shapes, dtype and
    device are those of the first keys that come. A cache is for inference: it keeps no gradient,
    and one that was begun under ``torch.inference_mode()`` goes on there alone.

    Raises: ValueError for a ``max_length`` or ``capacity`` below 1.
    """

    def __init__(self, max_length: int | None = None, *, capacity: int = 64) -> None:
        _check.sizes(
            capacity=capacity, **({} if max_length is None else {"max_length": max_length})
        )
        self.max_length = max_length
        self.length = 0
        self._capacity = capacity
        self._memory: tuple[Tensor, Tensor] | None = None  # (b, h, room, d), (b, h, room, d_v)

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add n rows; return all keys and values so far, as views of the cache's memory.

        Shapes: key (b, h, n, d), value (b, h, n, d_v); returns (b, h, length, d) and
        (b, h, length, d_v).
        Raises: ValueError where they do not fit what is there, exceed ``max_length``, or carry
        a gradient; TypeError for anything but tensors.
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

        For layers, which have checked them. Here these are all rows in order: nothing changes.

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
        other, memory = copy(self), self._memory
        if memory is not None:
            check_rows(rows, memory[0])
            other._memory = memory[0].index_select(0, rows), memory[1].index_select(0, rows)
        return other

    def _room_for(self, wanted: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        old, n = self._memory, self.length
        if old is not None and wanted <= old[0].shape[2]:
            return old
        room = max(wanted, self._capacity, 2 * n)
        room = room if self.max_length is None else min(room, self.max_length)
        self._memory = empty(key, room), empty(value, room)
        for part, before in zip(self._memory, old or (), strict=False):
            part[:, :, :n] = before[:, :, :n]
        return self._memory

    def _check_rows(self, key: Tensor, value: Tensor) -> None:
        _check.fit(key=(key, "b h n d"), value=(value, "b h n d_v"))
        for place, (name, new) in enumerate((("key", key), ("value", value))):
            _check.must(
                not (new.requires_grad and torch.is_grad_enabled()),
                name, "need no gradient, for a cache keeps none", but="compute under no_grad()",
            )  # fmt: skip
            if self._memory is not None:
                old = self._memory[place]
                b, h, _, d = old.shape
                _check.fit(old, **{name: (new, f"{b} {h} n {d}")})
                inside = not old.is_inference() or torch.is_inference_mode_enabled()
                why = "go on under torch.inference_mode(), where it was begun"
                _check.must(inside, "the cache", why, but="it is outside now")
        end, most = self.length + key.shape[2], self.max_length
        came = f"{self.length} are in it, and {key.shape[2]} more came"
        _check.must(most is None or end <= most, "rows", f"fit max_length = {most}", but=came)


def check_rows(rows: Tensor, of: Tensor | None) -> None:
    """Check rows (m,) that are chosen from the first axis of a state's tensor."""
    _check.rows("rows", rows, of, "m")


def empty(like: Tensor, room: int) -> Tensor:
    """Return memory for ``room`` rows of what is like (b, h, n, d)."""
    return like.new_empty(*like.shape[:2], room, like.shape[3])
