"""A heat map of attention weights that the reader can scale, mask, heat up and pin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup, numbers
from attnlab.widgets.core import scores as shared
from attnlab.widgets.core.checks import ruled

__all__ = ["AttentionHeatmap"]

_TABLE_LIMIT = 400  # cells of the table that is seen without a script


class AttentionHeatmap(shared.HeadsWidget, kind="heatmap"):
    """Draw α = softmax(q kᵀ / (√d T)): rows attend, columns are attended to.

    Either ``query`` (n_q, d) or (h, n_q, d), and ``key`` (n_k, d) or (h, n_k, d), which is
    ``query`` itself in self-attention; or ready-made raw ``scores`` (n_q, n_k) or (h, n_q, n_k),
    with ``d`` where they are to be divided by √d.

    Args:
        tokens: one text for each query row; ``key_tokens`` one for each key (default: ``tokens``).
        scaled: divide by √d; causal: hide later keys (aligned at the bottom right).
        temperature: T > 0; ``mask``: (n_q, n_k), True = may attend.
        pinned: the row pinned at first; head: the head shown at first.

    The traits temperature, scaled, causal, pinned and head follow the reader's hand.

    Raises: ValueError for shapes, counts or numbers that do not fit, or more than 50 KB of data.
    """

    pinned = ruled(
        traitlets.Int(None, allow_none=True), checks.index_of, count=lambda self: self.shape[1]
    )

    def __init__(
        self,
        query: Any = None,
        key: Any = None,
        *,
        tokens: Sequence[str],
        key_tokens: Sequence[str] | None = None,
        scores: Any = None,
        d: int | None = None,
        scaled: bool = True,
        causal: bool = False,
        temperature: float = 1.0,
        mask: Any = None,
        pinned: int | None = None,
        head: int = 0,
        caption: str = "",
    ) -> None:
        raw, width = shared.raw_scores(query, key, scores, d)
        h, n_q, n_k = raw.shape
        self._raw = raw
        super().__init__(
            caption=caption,
            shape=[h, n_q, n_k],
            d=width,
            mask=shared.flat_mask(mask, n_q, n_k),
            tokens=checks.texts("tokens", tokens, count=n_q),
            key_tokens=shared.key_texts(tokens, key_tokens, n_k),
            **shared.packed_where_many(raw, width),
            scaled=scaled,
            causal=causal,
            temperature=temperature,
            pinned=pinned,
            head=head,
        )

    @property
    def weights(self) -> np.ndarray:
        """The weights as they are drawn now, of shape (n_q, n_k), or (h, n_q, n_k) if h > 1."""
        divisor = numbers.divisor_of(self.d, scaled=self.scaled, temperature=self.temperature)
        found = numbers.attention_weights(self._raw, self._may(), divisor=divisor)
        return found[0] if self.shape[0] == 1 else found

    def _summary(self) -> str:
        h, n_q, n_k = self.shape
        heads = f"{h} heads, " if h > 1 else ""
        shown = ", ".join(self.tokens[:6]) + (", …" if n_q > 6 else "")
        return f"{heads}{n_q} × {n_k}, tokens: {shown}"

    def _fallback(self) -> str:
        h, n_q, n_k = self.shape
        weights = self.weights[self.head] if h > 1 else self.weights
        which = f" of head {self.head}" if h > 1 else ""
        words = (
            f"<p>Attention weights{which}. Each row is a query, the token that attends;"
            " each column a key, the token attended to.</p>"
        )
        draw = _full_table if n_q * n_k <= _TABLE_LIMIT else _short_table
        return words + draw(weights, self._may(), self.tokens, self.key_tokens)


def _full_table(
    weights: np.ndarray, may: np.ndarray, tokens: list[str], key_tokens: list[str]
) -> str:
    rows = [
        [markup.escape(token)]
        + [markup.fixed(w) if ok else "masked" for w, ok in zip(row, seen, strict=True)]
        for token, row, seen in zip(tokens, weights, may, strict=True)
    ]
    head = ["query", *map(markup.escape, key_tokens)]
    return markup.table(head, rows, label="Attention weights", shades=weights.tolist())


def _short_table(
    weights: np.ndarray, may: np.ndarray, tokens: list[str], key_tokens: list[str]
) -> str:
    rows = []
    for token, row, seen in zip(tokens, weights, may, strict=True):
        # the sort is stable and on rounded weights, so ties fall the same way everywhere
        best = [int(j) for j in np.argsort(-row.round(6), kind="stable")[:3] if seen[j]]
        named = ", ".join(f"{markup.escape(key_tokens[j])} {markup.fixed(row[j])}" for j in best)
        rows.append([markup.escape(token), named or "nothing: all keys are masked"])
    return markup.table(["query", "attends most to"], rows, label="Attention weights, the largest")
