"""Numbers as few bytes: what is packed here, ``core/maths/packing.js`` unpacks in the page.

scores    heads of raw scores   16 bits between its head's lowest and highest
logs      weights from 0 to 1   16 bits of its logarithm, from −20 to 0
tensors   a small model         24 bits between its tensor's lowest and highest

A large model's rows of 8 bits are in ``attnlab.models.stored``.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence

import numpy as np

__all__ = [
    "pack_logs",
    "pack_scores",
    "pack_tensors",
    "unpack_logs",
    "unpack_scores",
    "unpack_tensors",
]

_16, _24 = 2**16 - 1, 2**24 - 1  # steps from the lowest number to the highest
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


def _range(numbers: np.ndarray) -> list[float]:
    """Return lowest and highest, outwards to 4 decimals: short to write, and all lie inside."""
    return [float(np.floor(numbers.min() * 1e4) / 1e4), float(np.ceil(numbers.max() * 1e4) / 1e4)]


def _whole(numbers: np.ndarray, low: float, high: float, steps: int) -> np.ndarray:
    return np.rint((numbers - low) / (((high - low) or 1.0) / steps)).clip(0, steps)


def _base64(whole: np.ndarray) -> str:
    return base64.b64encode(whole.tobytes()).decode("ascii")
