"""What a window, kept first tokens and a top-k leave of real scores, and what was measured."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.models.recorded import ScoredHead, Visible
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled
from attnlab.widgets.core.numbers import masked_softmax

__all__ = ["Visibility"]

# all that is measured but "first 1, last 63", which lecture 14 has its readers predict
_MEASURED = (
    "all",
    *(f"last {n}" for n in (64, 128, 256, 512)),
    *(f"first 1, last {n}" for n in (127, 255, 511)),
    "first 4, last 252",
    *(f"top {n}" for n in (16, 64, 256)),
)
_NAME = re.compile(r"all|(?:first (?P<first>\d+), )?last (?P<last>\d+)|top (?P<top>\d+)")
_LENGTH = 1_536  # tokens of the text on which `Visible` was measured
_FIRST = (0, 1, 2, 4)
_MOST_TOKENS = 32
_MOST_HEADS = 8


class Visibility(Widget, kind="visibility"):
    """Choose what a token may see of the past; see what its weights become, and what it costs.

    α′ = softmax over the visible keys of e,   kept = Σ α_j over the visible keys

    Token i sees the last ``window`` tokens, itself among them, and the ``first`` tokens of the
    text; of these, the ``top`` with the largest scores, the earlier ones where scores are equal.
    Beside the scores of one sentence stand the perplexities that were measured, with the whole
    model, on 1,536 tokens. One is lit: of those with the same first tokens, or of the top-k, the
    one whose window, or k, is nearest as a share of the text, on a logarithmic scale; none where
    nothing of that kind was measured.

    Args:
        found: what ``smollm_visible`` returns: at most 32 tokens and 1 to 8 heads.
        measured: names of what is shown of its perplexities, of the forms "all", "last 64",
            "first 1, last 255" and "top 64".
        window: from 1 to n, which is all and the default; top: likewise.
        first: 0, 1, 2 or 4.
        head: the place of the head whose scores are seen; row: of the token whose weights stand
            below, None for none. −1 is the last.

    The traits window, first, top, head and row follow the reader's hand.

    Raises: TypeError for anything but a ``Visible``; ValueError for counts, scores, names or
    numbers that do not fit.
    Source: Xiao et al. (2024) for the first tokens.
    """

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    heads = traitlets.List().tag(sync=True)  # name, and scores up to the diagonal, row after row
    measured = traitlets.List().tag(sync=True)
    length = traitlets.Int(_LENGTH).tag(sync=True)
    window = ruled(traitlets.Int(1), checks.whole, least=1, most=lambda self: len(self.tokens))
    first = ruled(traitlets.Int(0), lambda name, value: _first(name, value))
    top = ruled(traitlets.Int(1), checks.whole, least=1, most=lambda self: len(self.tokens))
    head = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.heads))
    row = ruled(
        traitlets.Int(None, allow_none=True), checks.index_of, count=lambda self: len(self.tokens)
    )
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        found: Visible,
        *,
        measured: Sequence[str] = _MEASURED,
        window: int | None = None,
        first: int = 0,
        top: int | None = None,
        head: int = 0,
        row: int | None = -1,
        caption: str = "",
    ) -> None:
        if not isinstance(found, Visible):
            raise TypeError(f"found must be a Visible, got {checks.one_line(found)}")
        n = _count("tokens", found.tokens, _MOST_TOKENS)
        _count("heads", found.heads, _MOST_HEADS)
        self._scores = np.stack([_scores(head, n) for head in found.heads])
        start = {"window": n if window is None else window, "first": first}
        start |= {"top": n if top is None else top, "head": head, "row": row}
        super().__init__(
            caption=caption,
            tokens=checks.texts("tokens", found.tokens),
            heads=[
                {"name": _named(head), "scores": markup.tidy(scores[np.tril_indices(n)])}
                for head, scores in zip(found.heads, self._scores, strict=True)
            ],
            measured=[_measured(name, found) for name in checks.texts("measured", measured)],
            start=start,
        )

    @property
    def visible(self) -> np.ndarray:
        """What each token sees, True = may attend, of shape (n, n)."""
        n = len(self.tokens)
        i, j = np.arange(n)[:, None], np.arange(n)
        may = (j <= i) & ((j > i - self.window) | (j < self.first))
        scores = np.where(may, self._scores[self.head], -np.inf)
        order = np.argsort(-scores, axis=-1, kind="stable")
        best = np.zeros_like(may)
        np.put_along_axis(best, order[:, : self.top], True, axis=-1)
        return may & best

    @property
    def weights(self) -> np.ndarray:
        """The weights of the head over what is visible, of shape (n, n)."""
        return masked_softmax(self._scores[self.head], self.visible)

    @property
    def kept(self) -> np.ndarray:
        """The share of full attention's weight that is visible to each token, of shape (n,)."""
        return (self._full() * self.visible).sum(axis=-1)

    @property
    def nearest(self) -> str | None:
        """The name of the measurement that is lit."""
        n, seen = len(self.tokens), min(self.window + self.first, len(self.tokens))
        window, top = seen < n, self.top < seen
        if window and top:
            return None
        if not (window or top):
            places = [one for one in self.measured if one["keys"] == self.length]
            return places[0]["name"] if places else None
        of, share = ("top", self.top / n) if top else ("last", self.window / n)
        first = 0 if top else self.first
        places = [one for one in self.measured if one[of] and one["first"] == first]
        far = {one["name"]: abs(math.log(one[of] / self.length / share)) for one in places}
        return min(far, key=far.__getitem__) if far else None

    def _full(self) -> np.ndarray:
        scores = self._scores[self.head]
        return masked_softmax(scores, np.tri(len(scores), dtype=bool))

    def _summary(self) -> str:
        n = len(self.tokens)
        top = "" if self.top == n else f", top {self.top}"
        return f"{n} tokens, window {self.window}, first {self.first}{top}"

    def _fallback(self) -> str:
        rows = []
        for token, seen, kept in zip(self.tokens, self.visible, self.kept, strict=True):
            rows.append([markup.escape(token), str(int(seen.sum())), markup.fixed(kept)])
        found = [
            [one["name"], markup.fixed(one["perplexity"], 1), markup.fixed(one["mass"], 2)]
            for one in self.measured
        ]
        heads = ["visible", "perplexity", "weight kept"]
        return (
            f"<p>{markup.escape(self.heads[self.head]['name'])}: of full attention’s weight"
            f" {markup.fixed(self.kept.mean())} is kept, in the mean over the rows.</p>"
            + markup.table(["token", "keys seen", "weight kept"], rows, label="Each token")
            + f"<p>Measured on {_LENGTH:,} tokens, with the whole model:</p>"
            + markup.table(heads, found, label="Measured")
        )


def _first(name: str, value: int) -> int:
    if isinstance(value, bool) or value not in _FIRST:
        raise ValueError(f"{name} must be 0, 1, 2 or 4, got {checks.one_line(value)}")
    return int(value)


def _count(name: str, value: Sequence[Any], most: int) -> int:
    if not 1 <= len(value) <= most:
        raise ValueError(f"{name} must be 1 to {most}, got {len(value)}")
    return len(value)


def _scores(head: ScoredHead, n: int) -> np.ndarray:
    """Return the scores (n, n) with 0 where no token may look."""
    scores = np.asarray(head.scores, dtype=float)
    if scores.shape != (n, n):
        raise ValueError(f"scores must have shape {(n, n)}, got {scores.shape}")
    return checks.finite_array("scores", np.where(np.tri(n, dtype=bool), scores, 0), ranks=(2,))


def _named(head: ScoredHead) -> str:
    return f"layer {head.layer} head {head.head} (most: {head.most})"


def _measured(name: str, found: Visible) -> dict[str, Any]:
    """Return what the page knows of a measurement; what a name does not speak of is 0."""
    form = _NAME.fullmatch(name)
    if form is None or name not in found.perplexity:
        raise ValueError(
            f"measured must hold names like 'all', 'first 1, last 255' or 'top 64' that found has,"
            f" got {name!r}"
        )
    counts = {part: int(count or 0) for part, count in form.groupdict().items()}
    numbers = {"perplexity": found.perplexity[name], "mass": found.mass[name]}
    return {"name": name, "keys": sum(counts.values()) or _LENGTH, **counts, **numbers}
