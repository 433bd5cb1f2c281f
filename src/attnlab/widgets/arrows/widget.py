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
_SHAPES = ((3, 2), (3, 3))


class ThreeArrows(Widget, kind="arrows"):
    """Move three words' vectors in a plane, and see one of them become an average of the three.

    α = softmax(x_i · x_j / √d over j),   y_i = Σ_j α_j x_j

    Args:
        vectors: (3, d), d 2 or 3, each number from −4 to 4.
        tokens: 3 texts; query: the row that attends (−1 is the last).
        drawn: of three numbers the two that are drawn.
        whole: count the one that is not drawn, too.

    The traits vectors, query and whole follow the reader's hand.

    Raises: ValueError for shapes, counts or numbers that do not fit.
    """

    vectors = traitlets.List().tag(
        sync=True, rule=lambda self, _, value: _vectors(value, now=self.vectors)
    )
    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    drawn = traitlets.List().tag(sync=True)
    query = ruled(traitlets.Int(0), checks.index_of, count=3)
    whole = ruled(traitlets.Bool(False), checks.switch)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        vectors: Any,
        tokens: Sequence[str],
        *,
        query: int = -1,
        drawn: Sequence[int] = (0, 1),
        whole: bool = False,
        caption: str = "",
    ) -> None:
        rows = _vectors(vectors)
        super().__init__(
            caption=caption,
            tokens=checks.texts("tokens", tokens, count=3),
            drawn=_pair(drawn, len(rows[0])),
            start={"vectors": rows, "query": query, "whole": whole},
        )

    def _counted(self) -> np.ndarray:
        x = np.array(self.vectors, dtype=float)
        return x if self.whole else x[:, self.drawn]

    @property
    def weights(self) -> np.ndarray:
        """The weights of the query as they are drawn now, (3,)."""
        x = self._counted()
        return numbers.softmax(x @ x[self.query] / np.sqrt(x.shape[1]))

    @property
    def output(self) -> np.ndarray:
        """What the query becomes, of the numbers that count."""
        return self.weights @ self._counted()

    def _summary(self) -> str:
        return f"query {self.tokens[self.query]}, tokens: {', '.join(self.tokens)}"

    def _fallback(self) -> str:
        x, name = self._counted(), markup.escape(self.tokens[self.query])
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
            + f"<p>The softmax of the scores, divided by √{x.shape[1]}, gives the weights.</p>"
        )


def _vectors(value: Any, now: Sequence[Any] = ()) -> list[Any]:
    array = checks.finite_array("vectors", value, ranks=(2,))
    if array.shape not in _SHAPES:
        raise ValueError(f"vectors must have the shape (3, 2) or (3, 3), got shape {array.shape}")
    if np.abs(array).max() > _EDGE:
        raise ValueError("vectors must hold numbers from −4 to 4")
    return checks.of_the_shape("vectors", markup.tidy(array), now=list(now))


def _pair(drawn: Sequence[int], d: int) -> list[int]:
    pair = [checks.index_of("drawn", place, count=d) for place in drawn]
    if len(pair) != 2 or pair[0] == pair[1]:
        raise ValueError(f"drawn must be two places, got {drawn!r}")
    return pair
