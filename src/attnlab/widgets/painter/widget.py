"""A mask that the reader paints, the weights that follow, and the gradient that flows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup, numbers
from attnlab.widgets.core import scores as shared
from attnlab.widgets.core.checks import ruled
from attnlab.widgets.core.numbers import softmax

__all__ = ["MaskPainter"]

_MOST = 16  # tokens on either side
_LARGEST = 1e6
_FILLS = {"none": -np.inf, "nan": -np.inf, "-1e10": -1e10, "zero": 0.0}
_FILLED = {
    "none": "−∞, and a row with nothing to attend to gets zeros",
    "nan": "−∞, and a row with nothing to attend to is NaN",
    "-1e10": "−10¹⁰, and a row with nothing to attend to is uniform",
    "zero": "0, which is a bug: exp 0 = 1",
}
_SHOWN = {
    "weights": "Attention weights under a mask",
    "gradient": "The gradient α (1 − α) of each attention weight under a mask",
}
_STEEPEST = 0.25  # α (1 − α) is never more


class MaskPainter(shared.ScoresWidget, kind="painter"):
    """Paint who may attend to whom, and see α = softmax(e), e = q kᵀ / (√d T), and its gradient.

    Either ``query`` (n_q, d), and ``key`` (n_k, d), which is ``query`` itself in self-attention; or
    ready-made raw ``scores`` (n_q, n_k), with ``d`` where they are to be divided by √d. At most
    16 queries and 16 keys.

    Args:
        tokens: one text for each query; ``key_tokens`` one for each key (default: ``tokens``).
        mask: (n_q, n_k), True = may attend; without it, everything may.
        lengths: how many keys are real, for the padding presets (default: all but the last).
        scaled: divide by √d; temperature: T > 0; pinned: the row pinned at first.
        fill: what a masked score becomes: "none" (−∞, an empty row gets zeros, as in this
            book), "nan" (−∞ alone, an empty row is NaN), "-1e10" (−10¹⁰, an empty row is
            uniform), "zero" (0, a bug: exp 0 = 1).
        show: "weights" or "gradient", whichever is drawn beside the mask at first.

    The traits mask (n_q·n_k zeros and ones), fill, scaled, temperature, pinned and show follow
    the reader's hand.

    Raises: ValueError for shapes, counts, names or numbers that do not fit.
    """

    shape = traitlets.List(traitlets.Int()).tag(sync=True)  # n_q, n_k
    scores = traitlets.List().tag(sync=True)  # n_q·n_k raw scores
    length = traitlets.Int(1).tag(sync=True)  # how many keys are no padding
    # n_q·n_k zeros and ones
    mask = traitlets.List().tag(
        sync=True, rule=lambda self, _, value: _zeros_and_ones(value, self.shape[0] * self.shape[1])
    )
    fill = ruled(
        traitlets.Unicode("none"),
        checks.one_of,
        choices=tuple(_FILLS),
        said=f"one of {', '.join(_FILLS)}",
    )
    pinned = ruled(
        traitlets.Int(None, allow_none=True), checks.index_of, count=lambda self: self.shape[0]
    )
    show = ruled(
        traitlets.Unicode("weights"),
        checks.one_of,
        choices=tuple(_SHOWN),
        said=f"one of {', '.join(_SHOWN)}",
    )
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

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
        lengths: int | Sequence[int] | None = None,
        scaled: bool = True,
        temperature: float = 1.0,
        fill: str = "none",
        pinned: int | None = None,
        show: str = "weights",
        caption: str = "",
    ) -> None:
        self._raw, width = _one_matrix(query, key, scores, d)
        n_q, n_k = self._raw.shape
        super().__init__(
            caption=caption,
            shape=[n_q, n_k],
            scores=markup.tidy(self._raw.ravel()),
            d=width,
            length=_length(lengths, n_k),
            tokens=checks.texts("tokens", tokens, count=n_q),
            key_tokens=shared.key_texts(tokens, key_tokens, n_k),
            start={
                "mask": shared.flat_mask(mask, n_q, n_k) or [1] * (n_q * n_k),
                "fill": fill,
                "scaled": scaled,
                "temperature": temperature,
                "pinned": pinned,
                "show": show,
            },
        )

    @property
    def may(self) -> np.ndarray:
        """The mask as it is painted now: (n_q, n_k), True = may attend."""
        return np.array(self.mask, dtype=bool).reshape(self.shape)

    @property
    def weights(self) -> np.ndarray:
        """The weights that follow from the mask and the fill, of shape (n_q, n_k)."""
        divisor = numbers.divisor_of(self.d, scaled=self.scaled, temperature=self.temperature)
        if self.fill == "none":
            return numbers.attention_weights(self._raw, self.may, divisor=divisor)
        with np.errstate(invalid="ignore"):  # −∞ − (−∞) is what makes an empty row NaN
            return softmax(np.where(self.may, self._raw / divisor, _FILLS[self.fill]))

    @property
    def gradient(self) -> np.ndarray:
        """The derivative ∂α_ij/∂e_ij = α_ij (1 − α_ij) of each weight, of shape (n_q, n_k).

        Taken with respect to the score before it is masked: what the mask puts in its place is
        a constant, so that a masked score gets 0, whatever the fill.
        """
        weights = self.weights
        return np.where(self.may, weights * (1 - weights), 0.0)

    def _summary(self) -> str:
        n_q, n_k = self.shape
        shown = ", ".join(self.tokens[:6]) + (", …" if n_q > 6 else "")
        return f"{n_q} × {n_k}, {sum(self.mask)} may attend, tokens: {shown}"

    def _fallback(self) -> str:
        values = getattr(self, self.show)
        what = _SHOWN[self.show]
        words = (
            f"<p>{what}. Each row is a query, the token that attends; each column a key, the"
            " token attended to; the last column is the sum of the row. A masked score becomes"
            f" {_FILLED[self.fill]}.</p>"
        )
        rows = [
            [markup.escape(token), *map(_cell, row, seen), _fixed(row.sum())]
            for token, row, seen in zip(self.tokens, values, self.may, strict=True)
        ]
        head = ["query", *map(markup.escape, self.key_tokens), "sum"]
        full = _STEEPEST if self.show == "gradient" else 1
        shades = [[*np.nan_to_num(row / full), None] for row in values]
        return words + markup.table(head, rows, label=what, shades=shades)


def _one_matrix(query: Any, key: Any, scores: Any, d: int | None) -> tuple[np.ndarray, int]:
    """Return the raw scores (n_q, n_k) and the d whose root scales them."""
    for name, value in (("query", query), ("key", key), ("scores", scores)):
        if value is not None:
            checks.finite_array(name, value, ranks=(2,))  # no heads here
    raw, width = shared.raw_scores(query, key, scores, d)
    n_q, n_k = raw.shape[1:]
    if max(n_q, n_k) > _MOST:
        raise ValueError(f"at most {_MOST} queries and {_MOST} keys can be painted: {n_q} × {n_k}")
    if np.abs(raw).max() > _LARGEST:
        raise ValueError(f"scores must be at most {_LARGEST:,.0f} in size")
    return raw[0], width


def _zeros_and_ones(value: list[Any], count: int) -> list[int]:
    if len(value) != count or any(one not in (0, 1) for one in value):
        raise ValueError(
            f"mask must be {count} zeros and ones, row after row, got {checks.one_line(value)}"
        )
    return [int(one) for one in value]


def _length(lengths: int | Sequence[int] | None, n_k: int) -> int:
    """Return how many keys are real, from a whole number or, as for a batch, a list of one."""
    if lengths is None:
        return max(1, n_k - 1)
    found = np.asarray(lengths)
    if found.size != 1 or found.dtype.kind not in "iu" or not 0 <= found.item() <= n_k:
        raise ValueError(
            f"lengths must be one whole number from 0 to {n_k}, got {checks.one_line(lengths)}"
        )
    return int(found.item())


def _cell(value: float, may: bool) -> str:
    """One number of the table, in the same words as the live one."""
    if may:
        return _fixed(value)
    return "masked" if value == 0 else f"masked, yet {_fixed(value)}"


def _fixed(value: float) -> str:
    return "NaN" if np.isnan(value) else markup.fixed(value)
