"""Heads side by side: a small map of each, and those that the reader chooses in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup, numbers
from attnlab.widgets.core import scores as shared
from attnlab.widgets.core.checks import ruled

__all__ = ["HeadGrid"]

_MOST_HEADS = 16
_MOST_CHOSEN = 6  # more colours nobody tells apart
_TABLE_LIMIT = 400  # cells of the table that is seen without a script
_LARGE = ("one", "chosen", "average")


class HeadGrid(shared.HeadsWidget, kind="heads"):
    """Draw the weights of h heads side by side: α_h = softmax(q_h k_hᵀ / (√d T)).

    Either ``query`` (h, n_q, d) and ``key`` (h, n_k, d), which is ``query`` itself in
    self-attention; or ready-made raw ``scores`` (h, n_q, n_k), with ``d`` where they are to be
    divided by √d.

    Args:
        tokens: one text for each query row; ``key_tokens`` one for each key (default: ``tokens``).
        mask: (n_q, n_k), True = may attend, the same for all heads; causal: hide later keys.
        scaled: divide by √d; temperature: T > 0.
        names: a text for each head (default: head 0, head 1, …).
        chosen: the heads compared, at most 6 (default: the first two); row: the query pinned.
        large: what the large map shows: "one" head, the "chosen" ones, or their "average".
        folded: the large map and the bars open at a press; the small maps bear the tokens.

    The traits chosen, row, head (the one shown alone), large, temperature, scaled and causal
    follow the reader's hand.

    Raises: ValueError for shapes, counts or numbers that do not fit, more than 16 heads or 50 KB.
    """

    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    chosen = traitlets.List().tag(
        sync=True, rule=lambda self, _, value: _chosen(value, self.shape[0])
    )
    row = ruled(
        traitlets.Int(None, allow_none=True), checks.index_of, count=lambda self: self.shape[1]
    )
    large = ruled(traitlets.Unicode("chosen"), checks.one_of, choices=_LARGE)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to
    folded = ruled(traitlets.Bool(False), checks.switch)

    def __init__(
        self,
        query: Any = None,
        key: Any = None,
        *,
        tokens: Sequence[str],
        key_tokens: Sequence[str] | None = None,
        scores: Any = None,
        d: int | None = None,
        mask: Any = None,
        causal: bool = False,
        scaled: bool = True,
        temperature: float = 1.0,
        names: Sequence[str] | None = None,
        chosen: Sequence[int] | None = None,
        row: int | None = None,
        large: str = "chosen",
        folded: bool = False,
        caption: str = "",
    ) -> None:
        raw, width = shared.raw_scores(query, key, scores, d)
        h, n_q, n_k = raw.shape
        self._raw = raw
        compared = _chosen(range(min(h, 2)) if chosen is None else chosen, h)
        super().__init__(
            caption=caption,
            shape=[h, n_q, n_k],
            d=width,
            mask=shared.flat_mask(mask, n_q, n_k),
            tokens=checks.texts("tokens", tokens, count=n_q),
            key_tokens=shared.key_texts(tokens, key_tokens, n_k),
            names=_names(names, h),
            folded=folded,
            **shared.packed_where_many(raw, width),
            start={
                "chosen": compared,
                "row": row,
                "head": compared[0] if compared else 0,
                "large": large,
                "temperature": temperature,
                "scaled": scaled,
                "causal": causal,
            },
        )

    @property
    def weights(self) -> np.ndarray:
        """The weights of every head as they are drawn now, of shape (h, n_q, n_k)."""
        divisor = numbers.divisor_of(self.d, scaled=self.scaled, temperature=self.temperature)
        return numbers.attention_weights(self._raw, self._may(), divisor=divisor)

    def _summary(self) -> str:
        h, n_q, n_k = self.shape
        heads = "1 head" if h == 1 else f"{h} heads"
        shown = ", ".join(self.tokens[:6]) + (", …" if n_q > 6 else "")
        return f"{heads}, {n_q} × {n_k}, tokens: {shown}"

    def _fallback(self) -> str:
        which = "" if self.row is None else f" of the query {markup.escape(self.tokens[self.row])}"
        words = (
            f"<p>Attention weights{which}, head by head. The query is the token that attends;"
            " each of the other columns is a key, a token attended to.</p>"
        )
        h, n_q, n_k = self.shape
        rows = n_q if self.row is None else 1
        draw = self._full_table if h * rows * n_k <= _TABLE_LIMIT else self._short_table
        return words + draw()

    def _full_table(self) -> str:
        weights, may = self.weights, self._may()
        rows, shades = [], []
        for h, i in self._shown():
            cells = zip(weights[h, i], may[i], strict=True)
            texts = [markup.fixed(w) if ok else "masked" for w, ok in cells]
            name = f"{markup.escape(self.names[h])}: {markup.escape(self.tokens[i])}"
            rows.append([name, *texts])
            shades.append(weights[h, i].tolist())
        head = ["head: query", *map(markup.escape, self.key_tokens)]
        return markup.table(head, rows, label="Attention weights, head by head", shades=shades)

    def _short_table(self) -> str:
        rows = [[markup.escape(self.names[h]), self._largest(h)] for h in range(self.shape[0])]
        label = "Attention weights, the largest of each head"
        return markup.table(["head", "attends most to"], rows, label=label)

    def _shown(self) -> list[tuple[int, int]]:
        """Return the (head, query) pairs of the table: all, or those of the pinned row."""
        h, n_q, _ = self.shape
        queries = range(n_q) if self.row is None else [self.row]
        return [(head, i) for head in range(h) for i in queries]

    def _largest(self, head: int) -> str:
        """Return the three largest weights of a head, or of its pinned row, in words."""
        may = self._may()
        queries = range(self.shape[1]) if self.row is None else [self.row]
        cells = [(i, int(j)) for i in queries for j in np.flatnonzero(may[i])]
        weights = self.weights[head].round(6)  # so that ties fall the same way everywhere
        best = sorted(cells, key=lambda cell: -weights[cell])[:3]
        named = [
            ("" if self.row is not None else f"{markup.escape(self.tokens[i])} → ")
            + f"{markup.escape(self.key_tokens[j])} {markup.fixed(weights[i, j])}"
            for i, j in best
        ]
        return ", ".join(named) or "nothing: all keys are masked"


def _names(names: Sequence[str] | None, h: int) -> list[str]:
    if h > _MOST_HEADS:
        raise ValueError(f"at most {_MOST_HEADS} heads are drawn side by side, got {h}")
    if names is None:
        return [f"head {place}" for place in range(h)]
    found = checks.texts("names", names)
    if len(found) != h:
        raise ValueError(f"names must be {h} strings, one for each head, got {len(found)}")
    return found


def _chosen(value: Any, h: int) -> list[int]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise ValueError(f"chosen must be a list of heads, got {checks.one_line(value)}")
    found = sorted({checks.index_of("chosen", item, count=h) for item in value})
    if len(found) > _MOST_CHOSEN:
        raise ValueError(f"chosen must be at most {_MOST_CHOSEN} heads, got {len(found)}")
    return found
