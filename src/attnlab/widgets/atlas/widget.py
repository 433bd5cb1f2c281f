"""An atlas of a model's heads: each a point by where it looks, and the sentences that show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.models.recorded import LOOKS, HeadScores
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["Atlas"]

NAMES = {
    "previous": "previous token",
    "first": "first token",
    "same": "same token earlier",
    "next": "what came next",
}
_ON = {"sentences": "sentences", "random": "random tokens said twice"}
_MOST_HEADS = 1_024
_MOST_TEXTS = 4_096
_LARGEST = 10  # heads in a table


class Atlas(Widget, kind="atlas"):
    """See all heads of a model as points, by two scores; press one to see where it looks.

    A score is the mean weight that a head gives to the previous token, to the first one, to the
    same token earlier, or to what came next after it. Beside the points stands a cross: a head that
    looks at all its tokens alike. Of the pressed head are shown all its scores, and of the two that
    are drawn, and of whatever they are not, the sentences with the largest single weights: best
    cases, not usual ones.

    Args:
        found: what ``smollm_atlas`` returns: at most 1,024 heads.
        across, upwards: the scores of the two axes: "previous", "first", "same" or "next".
        on: what they were measured on, "sentences" or "random" tokens said twice.
        layer, head: the pressed one, counted from 0, −1 being the last; the one that is furthest
            across where neither is given.

    The traits across, upwards, on, layer and head follow the reader's hand.

    Raises: TypeError for anything but a ``HeadScores``; ValueError for scores, sentences, names or
    numbers that do not fit.
    Source: Olsson et al. (2022) for the last of the scores.
    """

    scores = traitlets.Dict().tag(sync=True)  # of each text, four numbers for each head
    even = traitlets.Dict().tag(sync=True)
    counted = traitlets.Dict().tag(sync=True)
    sizes = traitlets.Dict().tag(sync=True)  # layers, heads, sentences that were read
    best = traitlets.List().tag(sync=True)  # of each head (sentence, from, to, percent), all flat
    sentences = traitlets.List().tag(sync=True)  # their tokens
    across = ruled(traitlets.Unicode("next"), checks.one_of, choices=tuple(NAMES))
    upwards = ruled(traitlets.Unicode("previous"), checks.one_of, choices=tuple(NAMES))
    on = ruled(traitlets.Unicode("random"), checks.one_of, choices=tuple(_ON))
    layer = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.sizes["layers"])
    head = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.sizes["heads"])
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        found: HeadScores,
        *,
        across: str = "next",
        upwards: str = "previous",
        on: str = "random",
        layer: int | None = None,
        head: int | None = None,
        caption: str = "",
    ) -> None:
        if not isinstance(found, HeadScores):
            raise TypeError(f"found must be a HeadScores, got {checks.one_line(found)}")
        scores = {name: _scores(name, found.scores.get(name)) for name in _ON}
        layers, heads, _ = scores["sentences"].shape
        if scores["random"].shape != scores["sentences"].shape:
            raise ValueError(
                f"scores must be of the same heads on both, got {scores['sentences'].shape} and"
                f" {scores['random'].shape}"
            )
        sentences = _sentences(found.texts)
        best = _best(found.best, (layers, heads), sentences)
        if layer is None and head is None:
            asked = [checks.one_of("across", across, choices=tuple(NAMES))]
            chosen = scores[checks.one_of("on", on, choices=tuple(_ON))]
            place = int(chosen[..., list(NAMES).index(asked[0])].argmax())
            layer, head = divmod(place, heads)
        start = {
            "across": across,
            "upwards": upwards,
            "on": on,
            "layer": layer or 0,
            "head": head or 0,
        }
        super().__init__(
            caption=caption,
            scores={name: markup.tidy(one.reshape(-1, 4)) for name, one in scores.items()},
            even={name: _four("even", found.even.get(name)) for name in _ON},
            counted={name: _four("counted", found.counted.get(name)) for name in _ON},
            sizes={"layers": layers, "heads": heads, "read": found.read},
            best=best.reshape(layers * heads, -1).tolist(),
            sentences=sentences,
            start=start,
        )

    @property
    def points(self) -> np.ndarray:
        """The two scores of each head, (heads, 2)."""
        axes = [list(NAMES).index(name) for name in (self.across, self.upwards)]
        return np.array(self.scores[self.on])[:, axes]

    @property
    def largest(self) -> list[tuple[int, int]]:
        """The ten heads with the largest ``x``, as (layer, head); of equal ones the first."""
        order = np.argsort(-self.points[:, 0], kind="stable")[:_LARGEST]
        return [divmod(int(place), self.sizes["heads"]) for place in order]

    @property
    def shown(self) -> list[tuple[str, list[tuple[str, str, str, int]]]]:
        """What is said of the pressed head: looks, and of each sentence, from, to and percent."""
        flat = self.best[self.layer * self.sizes["heads"] + self.head]
        found = np.reshape(flat, (len(LOOKS), -1, 4)).tolist()
        groups = []
        for look in dict.fromkeys((self.across, self.upwards, "elsewhere")):
            rows = []
            for place, i, j, percent in found[LOOKS.index(look)]:
                tokens = self.sentences[place]
                rows.append(("".join(tokens), tokens[i].strip(), tokens[j].strip(), percent))
            groups.append((look, rows))
        return groups

    def _summary(self) -> str:
        return (
            f"{self.sizes['layers']} × {self.sizes['heads']} heads on {self.on}: {self.across} and"
            f" {self.upwards}, layer {self.layer} head {self.head}"
        )

    def _fallback(self) -> str:
        x, y = NAMES[self.across], NAMES[self.upwards]
        heads = self.sizes["heads"]
        rows = [
            [f"layer {layer} head {head}", *map(markup.fixed, self.points[layer * heads + head])]
            for layer, head in self.largest
        ]
        cases = [
            [markup.escape(sentence), markup.escape(f"{i} → {j}"), markup.fixed(percent / 100, 2)]
            for _, groups in self.shown
            for sentence, i, j, percent in groups
        ]
        return (
            f"<p>Mean weights on {_ON[self.on]}, the largest of {len(self.points)} heads:</p>"
            + markup.table(["head", x, y], rows, label="The largest")
            + f"<p>Where layer {self.layer} head {self.head} looks in its best sentences:</p>"
            + markup.table(["sentence", "from → to", "weight"], cases, label="Best sentences")
        )


def _scores(name: str, value: Any) -> np.ndarray:
    scores = checks.finite_array(f"scores of {name}", value, ranks=(3,))
    count = scores.shape[0] * scores.shape[1]
    if scores.shape[2] != len(NAMES) or count > _MOST_HEADS:
        raise ValueError(
            f"scores of {name} must be four of each of at most {_MOST_HEADS:,} heads, got shape"
            f" {scores.shape}"
        )
    if scores.min() < 0 or scores.max() > 1:
        raise ValueError(f"scores of {name} must be from 0 to 1")
    return scores


def _four(name: str, value: Any) -> list[float]:
    found = checks.finite_array(name, value, ranks=(1,))
    if len(found) != len(NAMES):
        raise ValueError(f"{name} must be 4 numbers, got {len(found)}")
    return markup.tidy(found)


def _sentences(value: Sequence[Sequence[str]]) -> list[list[str]]:
    found = [checks.texts(f"texts[{place}]", tokens) for place, tokens in enumerate(value)]
    if not 1 <= len(found) <= _MOST_TEXTS:
        raise ValueError(f"texts must be 1 to {_MOST_TEXTS:,} sentences, got {len(found)}")
    return found


def _best(value: Any, size: tuple[int, int], sentences: list[list[str]]) -> np.ndarray:
    found = checks.finite_array("best", value, ranks=(5,)).astype(int)
    wanted = (*size, len(LOOKS))
    if found.shape[:3] != wanted or found.shape[4] != 4:
        raise ValueError(
            f"best must have shape ({', '.join(map(str, wanted))}, k, 4), got {found.shape}"
        )
    place, i, j, percent = np.moveaxis(found, -1, 0)
    lengths = np.array([len(tokens) for tokens in sentences])
    there = (place >= 0) & (place < len(sentences))
    ends = np.where(there, lengths[np.where(there, place, 0)], 0)
    if not (there & (j >= 0) & (j <= i) & (i < ends) & (percent >= 0) & (percent <= 100)).all():
        raise ValueError("best must name sentences of texts, two of their tokens, and a percent")
    return found
