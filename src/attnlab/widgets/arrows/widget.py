"""Three words as arrows, and what one of them becomes: an average, a point in their triangle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup, numbers
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled
from attnlab.widgets.core.markup import bracket

__all__ = ["ThreeArrows"]

_EDGE = 4.0  # the plane goes no farther than from −4 to 4


class ThreeArrows(Widget, kind="arrows"):
    """Move three words' vectors in a plane, and see one of them become an average of the three.

    α = softmax(x_i · x_j / √2 over j),   y_i = Σ_j α_j x_j

    Args:
        vectors: (3, 2), each number from −4 to 4.
        tokens: 3 texts; query: the row that attends (−1 is the last).

    The traits vectors and query follow the reader's hand.

    Raises: ValueError for shapes, counts or numbers that do not fit.
    """

    vectors = traitlets.List().tag(sync=True, rule=lambda _, __, value: _vectors(value))
    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query = ruled(traitlets.Int(0), checks.index_of, count=3)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        vectors: Any,
        tokens: Sequence[str],
        *,
        query: int = -1,
        caption: str = "",
    ) -> None:
        super().__init__(
            caption=caption,
            tokens=checks.texts("tokens", tokens, count=3),
            start={"vectors": _vectors(vectors), "query": query},
        )

    @property
    def weights(self) -> np.ndarray:
        """The weights of the query as they are drawn now, (3,)."""
        x = np.array(self.vectors, dtype=float)
        return numbers.softmax(x @ x[self.query] / np.sqrt(2))

    @property
    def output(self) -> np.ndarray:
        """What the query becomes, (2,)."""
        return self.weights @ np.array(self.vectors, dtype=float)

    def _summary(self) -> str:
        return f"query {self.tokens[self.query]}, tokens: {', '.join(self.tokens)}"

    def _fallback(self) -> str:
        x, name = np.array(self.vectors, dtype=float), markup.escape(self.tokens[self.query])
        scores = x @ x[self.query]
        rows = [
            [markup.escape(token), bracket(one), markup.plain(score), markup.fixed(weight)]
            for token, one, score, weight in zip(self.tokens, x, scores, self.weights, strict=True)
        ]
        tints = [[None, None, weight] for weight in self.weights]
        return (
            f"<p>What {name} becomes, {bracket(self.output, markup.fixed)}: an average of three"
            " vectors.</p>"
            + markup.table(
                ["token", "vector", "score", "weight"], rows, label="The average", shades=tints
            )
            + "<p>The softmax of the scores, divided by √2, gives the weights.</p>"
        )


def _vectors(value: Any) -> list[Any]:
    array = checks.finite_array("vectors", value, ranks=(2,))
    if array.shape != (3, 2):
        raise ValueError(f"vectors must have the shape (3, 2), got shape {array.shape}")
    if np.abs(array).max() > _EDGE:
        raise ValueError("vectors must hold numbers from −4 to 4")
    return markup.tidy(array)
