"""Numbers as few bytes: what is packed here, ``core/maths/packing.js`` unpacks in the page.

scores    heads of raw scores   16 bits between its head's lowest and highest
logs      weights from 0 to 1   16 bits of its logarithm, from −20 to 0
tensors   a small model         24 bits between its tensor's lowest and highest
rows      a large model         8 bits between its row's lowest and highest
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence

import numpy as np

__all__ = [
    "pack_logs",
    "pack_rows",
    "pack_scores",
    "pack_tensors",
    "unpack_logs",
    "unpack_rows",
    "unpack_scores",
    "unpack_tensors",
]

_8, _16, _24 = 2**8 - 1, 2**16 - 1, 2**24 - 1  # steps from the lowest number to the highest
_LEAST = -20.0  # the logarithm of a weight that counts as 0, some 2e-9

Ranges = list[list[float]]


def pack_scores(scores: np.ndarray, ranges: Ranges | None = None) -> tuple[str, Ranges]:
    """Return scores (h, n_q, n_k) as base64 of little-endian uint16, and each head's range.

    Scores are packed, not weights, so that temperature acts on them exactly. Without ``ranges``,
    each head's own is taken.
    """
    ranges = [_range(head) for head in scores] if ranges is None else ranges
    pairs = zip(scores, ranges, strict=True)
    whole = np.stack([_whole(head, low, high, _16) for head, (low, high) in pairs])
    return _base64(whole.astype("<u2")), ranges


def unpack_scores(packed: str, ranges: Ranges, shape: Sequence[int]) -> np.ndarray:
    """Return the scores (h, n_q, n_k) that ``pack_scores`` wrote, each within half a step."""
    whole = np.frombuffer(base64.b64decode(packed), dtype="<u2").reshape(shape)
    low, high = np.array(ranges).T[:, :, None, None]
    return low + whole * (high - low) / _16


def pack_logs(weights: np.ndarray) -> np.ndarray:
    """Return weights as uint16: 0 for those that count as 0, 65535 for 1, their logs between.

    A logarithm is within half a step of 3e-4, so a weight errs by at most 8e-5 however few keys
    are left: what is left is divided by its sum.
    """
    logs = np.log(weights.clip(math.exp(_LEAST), 1))
    return np.rint((1 - logs / _LEAST) * _16).astype("<u2")


def unpack_logs(whole: np.ndarray) -> np.ndarray:
    """Return the log-weights that ``pack_logs`` wrote."""
    return _LEAST * (1 - whole / _16)


def pack_tensors(tensors: Sequence[np.ndarray]) -> tuple[str, str, Ranges]:
    """Return the tensors one after another in base64, and their ranges.

    The upper 16 of a number's 24 bits and the lower 8 are kept apart: a tolerance that a widget
    states is about the upper ones.
    """
    ranges = [_range(tensor) for tensor in tensors]
    pairs = zip(tensors, ranges, strict=True)
    parts = [_whole(tensor.ravel(), low, high, _24) for tensor, (low, high) in pairs]
    whole = np.concatenate(parts).astype(np.uint32)
    return _base64((whole >> 8).astype("<u2")), _base64((whole & 255).astype(np.uint8)), ranges


def unpack_tensors(
    packed: str, fine: str, ranges: Ranges, shapes: Sequence[Sequence[int]]
) -> list[np.ndarray]:
    """Return the tensors that ``pack_tensors`` wrote, each number within half a step."""
    upper = np.frombuffer(base64.b64decode(packed), dtype="<u2").astype(float)
    whole = 256 * upper + np.frombuffer(base64.b64decode(fine), dtype=np.uint8)
    ends = np.cumsum([np.prod(shape) for shape in shapes])
    return [
        (low + part * (high - low) / _24).reshape(shape)
        for part, (low, high), shape in zip(np.split(whole, ends[:-1]), ranges, shapes, strict=True)
    ]


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
    return whole.clip(0, _8)


def _row_steps(tensor: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Return each row's step: of the float32 next to range / 255, one that loses nothing, if any.

    Rows that were packed before have one; for all others it is range / 255 itself.
    """
    first = ((tensor.max(axis=1) - low) / _8).astype("<f4")
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


def _range(numbers: np.ndarray) -> list[float]:
    """Return lowest and highest, outwards to 4 decimals: short to write, and all lie inside."""
    return [float(np.floor(numbers.min() * 1e4) / 1e4), float(np.ceil(numbers.max() * 1e4) / 1e4)]


def _whole(numbers: np.ndarray, low: float, high: float, steps: int) -> np.ndarray:
    return np.rint((numbers - low) / (((high - low) or 1.0) / steps)).clip(0, steps)


def _base64(whole: np.ndarray) -> str:
    return base64.b64encode(whole.tobytes()).decode("ascii")
