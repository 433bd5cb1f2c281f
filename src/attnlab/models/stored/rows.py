"""A large model's numbers as bytes: 8 bits each, between the lowest and the highest of its row.

What is packed here, ``core/maths/packing.js`` unpacks in the page.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["pack_rows", "unpack_rows"]

_STEPS = 2**8 - 1  # from the lowest number of a row to the highest


def pack_rows(tensors: Sequence[np.ndarray]) -> bytes:
    """Return matrices and vectors as bytes.

    First, as little-endian float32, of each matrix the lowest number of each row and then the step
    of each row, of each vector the numbers; after them, a byte for each number of the matrices.
    What ``unpack_rows`` returned is packed without a further loss.
    """
    exact, codes = [], []
    for tensor in tensors:
        if tensor.ndim == 1:
            exact.append(tensor)
            continue
        low = tensor.min(axis=1).astype("<f4").astype(float)
        step = _row_steps(tensor, low)
        exact += [low, step]
        codes.append(_row_codes(tensor, low, step).astype(np.uint8))
    floats = np.concatenate(exact).astype("<f4").tobytes()
    return floats + b"".join(code.tobytes() for code in codes)


def _row_codes(tensor: np.ndarray, low: np.ndarray, step: np.ndarray) -> np.ndarray:
    whole = np.rint((tensor - low[:, None]) / np.where(step > 0, step, 1)[:, None])
    return whole.clip(0, _STEPS)


def _row_steps(tensor: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Return each row's step: of the float32 next to range / 255, one that loses nothing, if any.

    Rows that were packed before have one; for all others it is range / 255 itself.
    """
    first = ((tensor.max(axis=1) - low) / _STEPS).astype("<f4")
    step, wanted = first.astype(float), tensor.astype(np.float32)
    lost = np.ones(len(step), dtype=bool)
    for away in (0, 1, -1, 2, -2):
        near = (first.view("<i4") + away).view("<f4").astype(float)  # so many floats further on
        whole = _row_codes(tensor, low, near)
        same = ((low[:, None] + near[:, None] * whole).astype(np.float32) == wanted).all(axis=1)
        step = np.where(lost & same, near, step)
        lost &= ~same
    return step


def unpack_rows(data: bytes, shapes: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Return the tensors that ``pack_rows`` wrote, in float32, as the page has them."""
    counts = [shape[0] * len(shape) for shape in shapes]  # a matrix has two for each row
    exact = np.frombuffer(data, dtype="<f4", count=sum(counts)).astype(float)
    codes = np.frombuffer(data, dtype=np.uint8, offset=4 * sum(counts))
    found, at, byte = [], 0, 0
    for shape, count in zip(shapes, counts, strict=True):
        numbers = exact[at : at + count]
        at += count
        if len(shape) == 2:
            low, step = numbers.reshape(2, -1, 1)
            whole = codes[byte : byte + shape[0] * shape[1]].reshape(shape)
            byte += whole.size
            numbers = low + step * whole
        found.append(numbers.astype(np.float32))
    return found
