"""Self-attention of one query, worked out step by step from vectors the reader edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup, numbers
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled
from attnlab.widgets.core.markup import bracket

__all__ = ["AttentionSteps"]

_LAST = 4  # score, scale, mask, softmax, weighted sum
_MOST_TOKENS = 12
_MOST_COMPONENTS = 12
_LARGEST = 1e6


class AttentionSteps(Widget, kind="steps"):
    """Work out one query's self-attention: score → scale → mask → softmax → weighted sum.

    e_ij = x_i · x_j / √d,   α_i = softmax(e_i),   y_i = Σ_j α_ij x_j

    Args:
        vectors: (n, d), at most 12 × 12, each component at most 1e6 in size.
        tokens: n texts; query: the row that attends (−1 is the last).
        scaled: divide by √d; causal: hide the keys after the query.
        step: the step shown first, 0 to 4.

    The traits vectors, query, scaled, causal and step follow the reader's hand.

    Raises: ValueError for shapes, counts or numbers that do not fit.
    """

    vectors = traitlets.List().tag(
        sync=True, rule=lambda self, _, value: _vectors(value, now=self.vectors)
    )
    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.vectors))
    scaled = ruled(traitlets.Bool(True), checks.switch)
    causal = ruled(traitlets.Bool(False), checks.switch)
    step = ruled(traitlets.Int(0), checks.index_of, count=_LAST + 1)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        vectors: Any,
        tokens: Sequence[str],
        *,
        query: int = -1,
        scaled: bool = True,
        causal: bool = False,
        step: int = 0,
        caption: str = "",
    ) -> None:
        rows = _vectors(vectors)
        super().__init__(
            caption=caption,
            tokens=checks.texts("tokens", tokens, count=len(rows)),
            step=step,
            start={"vectors": rows, "query": query, "scaled": scaled, "causal": causal},
        )

    @property
    def weights(self) -> np.ndarray:
        """The query's weights as they are drawn now, of shape (n,)."""
        scores, may, d = self._scores()
        divisor = numbers.divisor_of(d, scaled=self.scaled, temperature=1.0)
        return numbers.attention_weights(scores[None], may[None], divisor=divisor)[0]

    @property
    def output(self) -> np.ndarray:
        """The query's output y = Σ α_j x_j as it is drawn now, of shape (d,)."""
        return self.weights @ np.array(self.vectors, dtype=float)

    def _scores(self) -> tuple[np.ndarray, np.ndarray, int]:
        x = np.array(self.vectors, dtype=float)
        may = numbers.allowed(len(x), len(x), causal=self.causal)[self.query]
        return x @ x[self.query], may, x.shape[1]

    def _summary(self) -> str:
        named = ", ".join(self.tokens)
        return f"query {self.tokens[self.query]}, tokens: {named}"

    def _fallback(self) -> str:
        scores, may, d = self._scores()
        ready = scores / numbers.divisor_of(d, scaled=self.scaled, temperature=1.0)
        weights = self.weights
        name = markup.escape(self.tokens[self.query])
        head = ["token", "vector", "score", *(["scaled"] if self.scaled else []), "weight"]
        rows = []
        for j, token in enumerate(self.tokens):
            cells = [markup.escape(token), bracket(self.vectors[j]), markup.plain(scores[j])]
            if self.scaled:
                cells.append(markup.plain(ready[j]))
            rows.append([*cells, markup.fixed(weights[j]) if may[j] else "masked"])
        output = bracket(self.output, markup.fixed)
        return (
            f"<p>Self-attention of the query {name}.</p>"
            + markup.table(head, rows, label="Self-attention, step by step")
            + f"<p>The output of {name} is {output}.</p>"
        )


def _vectors(value: Any, now: Sequence[Any] = ()) -> list[list[float]]:
    array = checks.finite_array("vectors", value, ranks=(2,))
    n, d = array.shape
    if n > _MOST_TOKENS or d > _MOST_COMPONENTS:
        raise ValueError(
            f"vectors must be at most {_MOST_TOKENS} × {_MOST_COMPONENTS}, got {n} × {d}"
        )
    if np.abs(array).max() > _LARGEST:
        raise ValueError(f"vectors must hold numbers up to {_LARGEST:,.0f} in size")
    if now and array.shape != np.shape(now):
        raise ValueError(f"vectors must keep their shape {np.shape(now)}, got {array.shape}")
    return markup.tidy(array)
