"""A token's vector in its three roles, by matrices that the reader edits: query, key and value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup, numbers
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled
from attnlab.widgets.core.markup import bracket

__all__ = ["RoleProjection"]

_MOST_TOKENS = 6
_MOST_NUMBERS = 4  # of a vector, and columns of a matrix
_LARGEST = 1e3
_SAME = 1e-9  # two scores this near, of the largest one, are the same


def _numbers(name: str, value: Any) -> list[list[float]]:
    array = checks.finite_array(name, value, ranks=(2,))
    most = (_MOST_TOKENS if name == "vectors" else _MOST_NUMBERS, _MOST_NUMBERS)
    if array.shape[0] > most[0] or array.shape[1] > most[1]:
        raise ValueError(f"{name} must be at most {most[0]} × {most[1]}, got shape {array.shape}")
    if np.abs(array).max() > _LARGEST:
        raise ValueError(f"{name} must hold numbers up to {_LARGEST:,.0f} in size")
    return markup.tidy(array)


def _new_numbers(widget: Any, name: str, value: Any) -> list[list[float]]:
    return checks.of_the_shape(name, _numbers(name, value), now=getattr(widget, name))


class RoleProjection(Widget, kind="roles"):
    """Project each token into a query, a key and a value, and attend with them.

    q_i = x_i W^Q,   k_i = x_i W^K,   v_i = x_i W^V,
    e_ij = q_i · k_j / √d_k,   α_i = softmax(e_i),   y_i = Σ_j α_ij v_j

    Args:
        vectors: (n, d_model), at most 6 × 4, each number at most 1000 in size.
        tokens: n texts.
        w_q, w_k: (d_model, d_k); w_v: (d_model, d_v); at most 4 columns each.
        token: the row worked out at first (−1 is the last).
        scaled: divide by √d_k; causal: hide the keys after the token that asks.
        step: by how much the up and down arrows change a number.

    The traits vectors, w_q, w_k, w_v, token, scaled and causal follow the reader's hand.

    Raises: ValueError for shapes, counts or numbers that do not fit.
    """

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    vectors = traitlets.List().tag(sync=True, rule=_new_numbers)
    w_q = traitlets.List().tag(sync=True, rule=_new_numbers)
    w_k = traitlets.List().tag(sync=True, rule=_new_numbers)
    w_v = traitlets.List().tag(sync=True, rule=_new_numbers)
    token = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.vectors))
    scaled = ruled(traitlets.Bool(True), checks.switch)
    causal = ruled(traitlets.Bool(False), checks.switch)
    step = ruled(traitlets.Float(1.0), checks.number_above_zero)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        vectors: Any,
        tokens: Sequence[str],
        w_q: Any,
        w_k: Any,
        w_v: Any,
        *,
        token: int = 0,
        scaled: bool = True,
        causal: bool = False,
        step: float = 1.0,
        caption: str = "",
    ) -> None:
        rows = _numbers("vectors", vectors)
        matrices = _matrices(len(rows[0]), w_q=w_q, w_k=w_k, w_v=w_v)
        super().__init__(
            caption=caption,
            tokens=checks.texts("tokens", tokens, count=len(rows)),
            step=step,
            start={
                "vectors": rows,
                **matrices,
                "token": token,
                "scaled": scaled,
                "causal": causal,
            },
        )

    @property
    def weights(self) -> np.ndarray:
        """The weights of every token as they are drawn now, of shape (n, n)."""
        n, d_k = len(self.vectors), len(self.w_q[0])
        divisor = numbers.divisor_of(d_k, scaled=self.scaled, temperature=1.0)
        may = numbers.allowed(n, n, causal=self.causal)
        return numbers.attention_weights(self._scores(), may, divisor=divisor)

    @property
    def output(self) -> np.ndarray:
        """The outputs y_i = Σ_j α_ij v_j as they are drawn now, of shape (n, d_v)."""
        return self.weights @ self._project("w_v")

    def _project(self, name: str) -> np.ndarray:
        return np.array(self.vectors, dtype=float) @ np.array(getattr(self, name), dtype=float)

    def _scores(self) -> np.ndarray:
        """The raw scores q_i · k_j, not yet divided, of shape (n, n)."""
        return self._project("w_q") @ self._project("w_k").T

    def _summary(self) -> str:
        d_model, d_k, d_v = len(self.w_q), len(self.w_q[0]), len(self.w_v[0])
        sizes = f"d_model {d_model}, d_k {d_k}, d_v {d_v}"
        return f"token {self.tokens[self.token]}, {sizes}, tokens: {', '.join(self.tokens)}"

    def _fallback(self) -> str:
        name = markup.escape(self.tokens[self.token])
        matrices = "; ".join(
            f"W<sup>{role}</sup> with the rows {', '.join(map(bracket, getattr(self, trait)))}"
            for role, trait in (("Q", "w_q"), ("K", "w_k"), ("V", "w_v"))
        )
        output = bracket(self.output[self.token], markup.fixed)
        return (
            f"<p>Each token in its three roles, by {matrices}.</p>"
            f"{self._role_table()}<p>{self._symmetry()}</p>{self._weight_table()}"
            f"<p>The output of {name} is {output}.</p>"
        )

    def _role_table(self) -> str:
        roles = (self.vectors, *(self._project(name) for name in ("w_q", "w_k", "w_v")))
        rows = [
            [markup.escape(token), *map(bracket, parts)]
            for token, *parts in zip(self.tokens, *roles, strict=True)
        ]
        head = ["token", "vector x", "query q", "key k", "value v"]
        return markup.table(head, rows, label="Each token in its three roles")

    def _weight_table(self) -> str:
        weights = self.weights
        may = numbers.allowed(*weights.shape, causal=self.causal)
        rows = [
            [markup.escape(token)]
            + [markup.fixed(w) if ok else "masked" for w, ok in zip(row, seen, strict=True)]
            for token, row, seen in zip(self.tokens, weights, may, strict=True)
        ]
        head = ["weights", *map(markup.escape, self.tokens)]
        return markup.table(head, rows, label="Attention weights", shades=weights.tolist())

    def _symmetry(self) -> str:
        """Say whether the scores are the same in both directions, with the plainest exception."""
        scores = self._scores()
        gaps = np.triu(np.abs(scores - scores.T))
        if gaps.max() <= _SAME * np.abs(scores).max():
            return "The scores are symmetric: yes."
        # of pairs as lopsided as each other, the first: the last digits must not choose
        i, j = divmod(int((gaps >= (1 - _SAME) * gaps.max()).argmax()), len(gaps))
        one, other = (markup.escape(self.tokens[k]) for k in (i, j))
        there, back = markup.plain(scores[i, j]), markup.plain(scores[j, i])
        return f"The scores are symmetric: no ({one} → {other} {there}, {other} → {one} {back})."


def _matrices(d_model: int, **given: Any) -> dict[str, list[list[float]]]:
    """Return w_q, w_k and w_v as nested lists, checked against the vectors and each other."""
    found = {name: _numbers(name, value) for name, value in given.items()}
    for name, rows in found.items():
        if len(rows) != d_model:
            raise ValueError(
                f"{name} must have {d_model} rows, one for each number of a vector,"
                f" got shape {np.shape(rows)}"
            )
    q, k = np.shape(found["w_q"]), np.shape(found["w_k"])
    if q != k:
        raise ValueError(
            "w_q and w_k must have the same number of columns, or no query could meet a key:"
            f" got shapes {q} and {k}"
        )
    return found
