"""A query and a few keys in four planes, moved by hand, and what four scores make of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled
from attnlab.widgets.core.markup import bracket
from attnlab.widgets.core.numbers import softmax

__all__ = ["ScoreExplorer"]

NAMES = ("dot", "scaled dot", "bilinear", "additive")

# the smallest shape, the largest, and both in words; a query and a key are drawn in the plane
_KEYS = ((2, 2), (5, 2), "(n, 2) with n from 2 to 5")
_HIDDEN = ((2, 1), (2, 4), "(2, h) with h from 1 to 4")
_SHAPES = {
    "query": ((2,), (2,), "(2,)"),
    "keys": _KEYS,  # the argument
    "key": _KEYS,  # the trait: every widget in Jupyter has a `keys` of its own
    "w": ((2, 2), (2, 2), "(2, 2)"),
    "w_q": _HIDDEN,
    "w_k": _HIDDEN,
    "v": ((1,), (4,), "(h,) with h from 1 to 4"),
}
_EDGE = 4.0  # the plane goes from −4 to 4
_LARGEST = 10.0  # of a number in a matrix
_EYE = ((1, 0), (0, 1))
_ALONE = slice(1, 2)  # of the scores


def _numbers(name: str, value: Any) -> list[Any]:
    """Return the vector or matrix ``name`` as nested lists, checked for shape and size."""
    least, most, wanted = _SHAPES[name]
    array = checks.finite_array(name, value, ranks=(len(most),))
    sides = zip(least, array.shape, most, strict=True)
    if not all(low <= side <= high for low, side, high in sides):
        raise ValueError(f"{name} must have the shape {wanted}, got shape {array.shape}")
    largest = _EDGE if name in ("query", "keys", "key") else _LARGEST
    if np.abs(array).max() > largest:
        raise ValueError(f"{name} must hold numbers from −{largest:g} to {largest:g}")
    return markup.tidy(array)


def _new_numbers(widget: Any, name: str, value: Any) -> list[Any]:
    return checks.of_the_shape(name, _numbers(name, value), now=getattr(widget, name))


class ScoreExplorer(Widget, kind="scores"):
    """Move a query and its keys, and compare four scores and the weights that follow from each.

    dot e_j = q · k_j,   scaled dot e_j = q · k_j / √2,   bilinear e_j = q W k_jᵀ,
    additive e_j = v · tanh(q W_q + k_j W_k),   α = softmax(e)

    Args:
        query: (2,); keys: (n, 2), from 2 to 5; each number from −4 to 4.
        tokens: n texts, one for each key.
        alone: draw the scaled dot product only, and no matrix.
        w: (2, 2); w_q, w_k: (2, h); v: (h,), h at most 4; each number from −10 to 10.
        tanh: False leaves the tanh out of the additive score.

    The traits query, key (the keys), w, w_q, w_k, v and tanh follow the reader's hand.

    Raises: ValueError for shapes, counts or numbers that do not fit.
    """

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query = traitlets.List().tag(sync=True, rule=_new_numbers)
    key = traitlets.List().tag(sync=True, rule=_new_numbers)
    w = traitlets.List().tag(sync=True, rule=_new_numbers)
    w_q = traitlets.List().tag(sync=True, rule=_new_numbers)
    w_k = traitlets.List().tag(sync=True, rule=_new_numbers)
    v = traitlets.List().tag(sync=True, rule=_new_numbers)
    tanh = ruled(traitlets.Bool(True), checks.switch)
    alone = traitlets.Bool(False).tag(sync=True)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        query: Any,
        keys: Any,
        tokens: Sequence[str],
        *,
        w: Any = _EYE,
        w_q: Any = _EYE,
        w_k: Any = _EYE,
        v: Any = (1, 1),
        tanh: bool = True,
        alone: bool = False,
        caption: str = "",
    ) -> None:
        given = {"query": query, "keys": keys, "w": w, "w_q": w_q, "w_k": w_k, "v": v}
        start = {name: _numbers(name, value) for name, value in given.items()}
        start["key"] = start.pop("keys")
        _same_hidden(start)
        super().__init__(
            caption=caption,
            tokens=checks.texts("tokens", tokens, count=len(start["key"])),
            alone=checks.switch("alone", alone),
            start=start | {"tanh": tanh},
        )

    @property
    def scores(self) -> np.ndarray:
        """The scores as they are drawn now, (4, n): dot, scaled dot, bilinear, additive.

        Alone, the scaled dot product is (1, n).
        """
        names = ("query", "key", "w", "w_q", "w_k", "v")
        q, k, w, w_q, w_k, v = (np.array(getattr(self, name), dtype=float) for name in names)
        dot = k @ q
        hidden = q @ w_q + k @ w_k  # (n, h)
        additive = (np.tanh(hidden) if self.tanh else hidden) @ v
        scores = np.stack([dot, dot / math.sqrt(len(q)), k @ (q @ w), additive])
        return scores[_ALONE] if self.alone else scores

    @property
    def weights(self) -> np.ndarray:
        """The weights that follow from each score, (4, n) or (1, n): each row sums to 1."""
        return softmax(self.scores)

    def _summary(self) -> str:
        hidden = "alone" if self.alone else f"h {len(self.v)}"
        return f"query {bracket(self.query)}, {hidden}, keys: {', '.join(self.tokens)}"

    def _fallback(self) -> str:
        matrices = "; ".join(
            f"{letter} with the rows {', '.join(map(bracket, getattr(self, name)))}"
            for letter, name in (("W", "w"), ("W<sub>q</sub>", "w_q"), ("W<sub>k</sub>", "w_k"))
        )
        bent = "v · tanh(q W<sub>q</sub> + k W<sub>k</sub>)"
        if not self.tanh:
            bent = "v · (q W<sub>q</sub> + k W<sub>k</sub>), the tanh left out"
        told = (
            "Four scores of each key k: dot, q · k; scaled dot, q · k / √2; bilinear,"
            f" q W k<sup>T</sup>; additive, {bent}. Here {matrices}; v is {bracket(self.v)}."
        )
        if self.alone:
            told = "The score of each key k is q · k / √2."
        return (
            f"<p>The query q is {bracket(self.query)}. {told}</p>"
            + self._table("score", self.scores, markup.plain)
            + "<p>The softmax of each column of scores gives weights that sum to 1.</p>"
            + self._table("weight", self.weights, markup.fixed, shaded=True)
        )

    def _table(self, what: str, values: np.ndarray, show: Any, *, shaded: bool = False) -> str:
        rows = [
            [markup.escape(token), bracket(key), *map(show, column)]
            for token, key, column in zip(self.tokens, self.key, values.T, strict=True)
        ]
        tints = [[None, *column] for column in values.T] if shaded else None
        names = NAMES[_ALONE] if self.alone else NAMES
        label = f"The {what} of each key by {len(names)} scoring function{'s'[: len(names) - 1]}"
        return markup.table([what, "key k", *names], rows, label=label, shades=tints)


def _same_hidden(given: dict[str, list[Any]]) -> None:
    """Refuse W_q, W_k and v that disagree on h."""
    shapes = {name: np.shape(given[name]) for name in ("w_q", "w_k", "v")}
    if len({shape[-1] for shape in shapes.values()}) > 1:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(
            "w_q and w_k must have the same number of columns, and v as many numbers:"
            f" got the shapes {listed}"
        )
