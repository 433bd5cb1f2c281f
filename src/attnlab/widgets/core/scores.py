"""What the widgets that draw scores share: their traits, and scores checked and packed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup, numbers, packing
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = [
    "HeadsWidget",
    "ScoresWidget",
    "flat_mask",
    "key_texts",
    "packed_where_many",
    "raw_scores",
]

_PLAIN_LIMIT = 400  # more scores than this travel packed, as uint16
_PACKED_LIMIT = 50_000  # bytes of base64 in one widget
_PACKED_ERROR = 1e-4  # of a weight, when scores are packed


class ScoresWidget(Widget):
    """A widget of queries and keys, whose scores are divided by √d and a temperature."""

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    key_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    d = traitlets.Int(1).tag(sync=True)
    temperature = ruled(traitlets.Float(1.0), checks.number_above_zero)
    scaled = ruled(traitlets.Bool(True), checks.switch)


class HeadsWidget(ScoresWidget):
    """One whose scores belong to h heads and come plain or packed, under one mask."""

    shape = traitlets.List(traitlets.Int()).tag(sync=True)  # h, n_q, n_k
    scores = traitlets.List(None, allow_none=True).tag(sync=True)  # h heads, each n_q·n_k numbers
    packed = traitlets.Unicode("").tag(sync=True)
    ranges = traitlets.List().tag(sync=True)  # of each packed head: lowest and highest score
    mask = traitlets.List(None, allow_none=True).tag(sync=True)  # n_q·n_k zeros and ones
    causal = ruled(traitlets.Bool(False), checks.switch)
    head = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.shape[0])

    def _may(self) -> np.ndarray:
        _, n_q, n_k = self.shape
        mask = None if self.mask is None else np.array(self.mask).reshape(n_q, n_k)
        return numbers.allowed(n_q, n_k, causal=self.causal, mask=mask)


def raw_scores(query: Any, key: Any, scores: Any, d: int | None) -> tuple[np.ndarray, int]:
    """Return the raw scores (h, n_q, n_k) and the d whose root scales them."""
    if (query is None) == (scores is None):
        raise ValueError("give either query (and key), or scores: one of the two")
    if scores is not None:
        if key is not None:
            raise ValueError("key belongs to query; with scores there is none")
        raw = checks.finite_array("scores", scores, ranks=(2, 3))
        width = 1 if d is None else checks.number_above_zero("d", d)
        if width != int(width):
            raise ValueError(f"d must be a whole number, got {d!r}")
        return raw.reshape(-1, *raw.shape[-2:]), int(width)
    if d is not None:
        raise ValueError("d is the width of query; give it only with scores")
    queries = checks.finite_array("query", query, ranks=(2, 3))
    keys = queries if key is None else checks.finite_array("key", key, ranks=(2, 3))
    if queries.shape[-1] != keys.shape[-1] or queries.shape[:-2] != keys.shape[:-2]:
        raise ValueError(
            "query and key must have the same d and the same number of heads,"
            f" got shapes {queries.shape} and {keys.shape}"
        )
    raw = queries @ np.swapaxes(keys, -1, -2)  # (…, n_q, d) (…, d, n_k) → (…, n_q, n_k)
    return raw.reshape(-1, *raw.shape[-2:]), queries.shape[-1]


def key_texts(tokens: Sequence[str], key_tokens: Sequence[str] | None, n_k: int) -> list[str]:
    """Return a text for each key; in self-attention those of the queries."""
    if key_tokens is not None:
        return checks.texts("key_tokens", key_tokens, count=n_k)
    if len(tokens) != n_k:
        raise ValueError(f"there are {n_k} keys but {len(tokens)} tokens: give key_tokens")
    return checks.texts("tokens", tokens, count=n_k)


def flat_mask(mask: Any, n_q: int, n_k: int) -> list[int] | None:
    """Return a mask of bool, True = may attend, as n_q·n_k zeros and ones; None stays None."""
    if mask is None:
        return None
    if hasattr(mask, "detach"):
        mask = mask.detach().cpu().numpy()
    may = np.asarray(mask)
    if may.dtype != bool:
        raise ValueError(f"mask must be of bool, True = may attend, got {may.dtype}")
    if may.shape != (n_q, n_k):
        raise ValueError(f"mask must have shape {(n_q, n_k)}, got {may.shape}")
    return may.astype(int).ravel().tolist()


def packed_where_many(raw: np.ndarray, d: int) -> dict[str, Any]:
    """Return the traits that carry the scores: numbers when few, packed when many."""
    if raw.size <= _PLAIN_LIMIT:
        return {"scores": markup.tidy(raw.reshape(len(raw), -1)), "packed": "", "ranges": []}
    packed, ranges = packing.pack_scores(raw)
    if len(packed) > _PACKED_LIMIT:
        raise ValueError(
            f"scores of shape {raw.shape} take {len(packed):,} bytes, more than {_PACKED_LIMIT:,}:"
            " show fewer heads or fewer tokens"
        )
    may = np.ones(raw.shape[1:], dtype=bool)
    kept = packing.unpack_scores(packed, ranges, raw.shape)
    both = [numbers.attention_weights(e, may, divisor=np.sqrt(d)) for e in (raw, kept)]
    error = float(np.abs(both[0] - both[1]).max())
    if error > _PACKED_ERROR:
        raise ValueError(
            f"scores range from {raw.min():.3g} to {raw.max():.3g}: packed into 16 bits a weight"
            f" would be wrong by {error:.1g}; show fewer tokens"
        )
    return {"scores": None, "packed": packed, "ranges": ranges}
