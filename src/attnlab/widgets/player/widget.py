"""Translations played word by word: where each word looked, and how well that aligns them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.training.metrics import alignment_error_rate
from attnlab.widgets.core import checks, markup, numbers, packing
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["AlignmentPlayer"]

Link = tuple[int, int]

_MOST_EXAMPLES = 10
_MOST_TOKENS = 24  # on either side
_NOTHING = -22.0  # the logarithm of a weight that counts as 0, some 3e-10
_NEAR = 1e-4  # how exactly the weights are carried
_SUM_NEAR = 1e-3  # how near to 1 a row must sum
_MANY = 6  # of a longer sentence only so many words are in the repr


class AlignmentPlayer(Widget, kind="player"):
    """Play a translation word by word, and read its attention as an alignment.

    The weights after a temperature T are α^(1/T), each row divided by its sum. Every α ≥ θ is a
    predicted link; predicted links A are compared with the gold links S:

    precision = |A ∩ S| / |A|,   recall = |A ∩ S| / |S|,   error rate = 1 − 2 |A ∩ S| / (|A| + |S|)

    Args:
        examples: 1 to 10 of (source tokens, target tokens, weights, gold). The weights have the
            shape (n_t, n_s), rows summing to 1, with at most 24 tokens on either side; gold
            holds the links (source position, target position), or is None where they are not
            known.
        chosen: the example shown at first; word: its target word (−1 is the last).
        threshold: θ, from 0 to 1; temperature: T > 0.
        scored: whether the links are shown and compared with the gold ones. Without it the picture
            is of the looks alone, whose temperature is 1; the reader may ask for the rest.

    The traits chosen, word, threshold, temperature and scored follow the reader's hand. Weights are
    carried as 16-bit logarithms and hold to 1e-4; a link may lie so far below the threshold.

    Raises: ValueError for counts, shapes, weights or links that do not fit.
    """

    sentences = traitlets.List().tag(sync=True)  # of each example: source, target, gold
    shape = traitlets.List(traitlets.Int()).tag(sync=True)  # examples, the most n_t, the most n_s
    packed = traitlets.Unicode("").tag(sync=True)  # log-weights, all matrices of that one size
    ranges = traitlets.List().tag(sync=True)  # of each example: lowest and highest log-weight
    chosen = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.sentences))
    word = ruled(
        traitlets.Int(0),
        checks.index_of,
        count=lambda self: len(self.sentences[self.chosen]["target"]),
    )
    threshold = ruled(traitlets.Float(0.5), checks.between, least=0, most=1)
    temperature = ruled(traitlets.Float(1.0), checks.number_above_zero)
    scored = ruled(traitlets.Bool(True), checks.switch)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        examples: Iterable[tuple[Sequence[str], Sequence[str], Any, Iterable[Link] | None]],
        *,
        chosen: int = 0,
        word: int = 0,
        threshold: float = 0.5,
        temperature: float = 1.0,
        scored: bool = True,
        caption: str = "",
    ) -> None:
        sentences, matrices = _checked(examples)
        logs = _padded_logs(matrices)
        # one range for all, which is the same on every machine
        packed, ranges = packing.pack_scores(logs, [[_NOTHING, 0.0]] * len(logs))
        # what the page draws, so that both say the same
        self._logs = packing.unpack_scores(packed, ranges, logs.shape)
        super().__init__(
            caption=caption,
            sentences=sentences,
            shape=list(logs.shape),
            packed=packed,
            ranges=ranges,
            start={
                "chosen": chosen,
                "word": word,
                "threshold": threshold,
                "temperature": temperature,
                "scored": scored,
            },
        )

    @property
    def weights(self) -> np.ndarray:
        """The weights of the chosen example after the temperature, of shape (n_t, n_s)."""
        return self._weights(self.chosen)

    @property
    def links(self) -> set[Link]:
        """The predicted links of the chosen example, as (source position, target position)."""
        return self._links(self.chosen)

    @property
    def error_rate(self) -> float | None:
        """The alignment error rate of the predicted links, over all examples that have gold.

        None where no example has gold, or where there is no link at all.
        """
        return self._error_rate(range(len(self.sentences)))

    def _weights(self, k: int) -> np.ndarray:
        n_s, n_t = (len(self.sentences[k][side]) for side in ("source", "target"))
        logs = self._logs[k, :n_t, :n_s]
        divisor = self.temperature if self.scored else 1.0
        return numbers.attention_weights(logs, logs > _NOTHING, divisor=divisor)

    def _links(self, k: int) -> set[Link]:
        found = np.argwhere(self._weights(k) >= self.threshold - _NEAR)
        return {(int(s), int(t)) for t, s in found}

    def _error_rate(self, which: Iterable[int]) -> float | None:
        known = [k for k in which if self.sentences[k]["gold"] is not None]
        predicted = [self._links(k) for k in known]
        gold = [{(s, t) for s, t in self.sentences[k]["gold"]} for k in known]
        if not any(predicted) and not any(gold):
            return None
        return alignment_error_rate(predicted, gold)

    @traitlets.observe("chosen")
    def _keep_word(self, change: dict[str, Any]) -> None:
        if self.word >= len(self.sentences[self.chosen]["target"]):
            self.word = 0

    def _summary(self) -> str:
        count = len(self.sentences)
        source = self.sentences[self.chosen]["source"]
        shown = " ".join(source[:_MANY]) + (" …" if len(source) > _MANY else "")
        return f"{count} sentence{'' if count == 1 else 's'}, shown: {shown}"

    def _fallback(self) -> str:
        sentence, weights = self.sentences[self.chosen], self.weights.tolist()
        gold = {(s, t) for s, t in (self.scored and sentence["gold"]) or ()}
        rows = [
            [markup.escape(token), *(_cell(w, (s, t) in gold) for s, w in enumerate(row))]
            for t, (token, row) in enumerate(zip(sentence["target"], weights, strict=True))
        ]
        head = ["translation", *map(markup.escape, sentence["source"])]
        words = (
            "<p>Where each word of the translation looked. A row is a word of the translation,"
            " a column a word of the source; a row sums to 1.</p>"
        )
        label = "Weights of each word of the translation over the source"
        return words + markup.table(head, rows, label=label, shades=weights) + self._scored()

    def _scored(self) -> str:
        """Return the error rates in words, where gold links are known."""
        if not self.scored:
            return ""
        one, every = self._error_rate([self.chosen]), self.error_rate
        known = sum(sentence["gold"] is not None for sentence in self.sentences)
        said = [f" It is {markup.fixed(one)} in this sentence."] if one is not None else []
        if every is not None and known > 1:
            said.append(f" Over the {known} sentences with gold links it is {markup.fixed(every)}.")
        if not said:
            return ""
        theta = markup.plain(self.threshold)
        return (
            "<p>A star marks a gold link. Every weight of at least"
            f" {theta} is a predicted link, and the alignment error rate compares the two."
            f"{''.join(said)}</p>"
        )


def _checked(examples: Any) -> tuple[list[dict[str, Any]], list[np.ndarray]]:
    """Return the sentences as the page has them, and each one's weights."""
    found = list(examples) if hasattr(examples, "__iter__") else []
    if not 1 <= len(found) <= _MOST_EXAMPLES or isinstance(examples, str):
        raise ValueError(
            f"examples must be 1 to {_MOST_EXAMPLES} of (source tokens, target tokens, weights,"
            f" gold), got {checks.one_line(examples)}"
        )
    pairs = [_example(f"examples[{k}]", example) for k, example in enumerate(found)]
    return [sentence for sentence, _ in pairs], [weights for _, weights in pairs]


def _example(name: str, example: Any) -> tuple[dict[str, Any], np.ndarray]:
    if not isinstance(example, (tuple, list)) or len(example) != 4:
        raise ValueError(
            f"{name} must be (source tokens, target tokens, weights, gold),"
            f" got {checks.one_line(example)}"
        )
    source = checks.texts(f"the source of {name}", example[0])
    target = checks.texts(f"the target of {name}", example[1])
    weights = _rows(f"the weights of {name}", example[2], len(target), len(source))
    gold = None if example[3] is None else _gold(f"the gold of {name}", example[3], weights.shape)
    return {"source": source, "target": target, "gold": gold}, weights


def _rows(name: str, value: Any, n_t: int, n_s: int) -> np.ndarray:
    weights = checks.finite_array(name, value, ranks=(2,))
    if weights.shape != (n_t, n_s):
        raise ValueError(
            f"{name} must have shape {(n_t, n_s)}, a row for each target and a column for each"
            f" source token, got {weights.shape}"
        )
    if max(n_t, n_s) > _MOST_TOKENS:
        raise ValueError(f"{name}: at most {_MOST_TOKENS} tokens a side are shown: {n_t} × {n_s}")
    if weights.min() < 0:
        raise ValueError(f"{name} must be at least 0, but {weights.min():.3g} is among them")
    furthest = weights.sum(axis=1)[np.abs(weights.sum(axis=1) - 1).argmax()]
    if abs(furthest - 1) > _SUM_NEAR:
        raise ValueError(f"{name} must sum to 1 in each row, but one sums to {furthest:.4g}")
    return weights


def _gold(name: str, value: Any, shape: tuple[int, ...]) -> list[list[int]]:
    """Return links (source, target) as sorted pairs, each once."""
    n_t, n_s = shape
    try:
        pairs = {(_place(s, n_s), _place(t, n_t)) for s, t in value}
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be pairs (source position from 0 to {n_s - 1}, target position from 0"
            f" to {n_t - 1}) or None, got {checks.one_line(value)}"
        ) from error
    return [list(pair) for pair in sorted(pairs)]


def _place(value: Any, count: int) -> int:
    """Return a whole number from 0 to count − 1; a negative one is no position in a sentence."""
    if isinstance(value, (bool, np.bool_)) or value != int(value) or not 0 <= value < count:
        raise ValueError
    return int(value)


def _padded_logs(matrices: list[np.ndarray]) -> np.ndarray:
    """Return log-weights (examples, most n_t, most n_s), padded with that of a weight of 0."""
    rows, columns = (max(m.shape[axis] for m in matrices) for axis in (0, 1))
    logs = np.full((len(matrices), rows, columns), _NOTHING)
    for k, weights in enumerate(matrices):
        n_t, n_s = weights.shape
        with np.errstate(divide="ignore"):  # log 0 = −∞
            logs[k, :n_t, :n_s] = np.log(weights).clip(_NOTHING, 0)
    return logs


def _cell(weight: float, gold: bool) -> str:
    return markup.fixed(weight) + ("*" if gold else "")
