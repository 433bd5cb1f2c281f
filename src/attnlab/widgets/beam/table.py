"""Tables of next words: what a model would write after each prefix, checked and searched.

A table is a dict from a prefix, a tuple of words, to a dict from the next word to its
probability. ``Choices`` holds it as numbers, for the page and for beam search alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.decoding import Hypothesis, Stepper, beam_search, begin, extend, put_aside, settled
from attnlab import _check
from attnlab.language import Vocabulary
from attnlab.widgets.core import checks

__all__ = ["STEEPEST", "Choices", "Searched", "check_row", "prefix_table", "read", "search"]

STEEPEST = 2  # the greatest length penalty that is offered
_SPARE = 1e-6  # by how much the rounding of a model's numbers may lift a sum over 1
_DECIMALS = 8  # of a log-probability, as a page's data has them

Table = Mapping[tuple[str, ...], Mapping[str, float]]


class Choices(NamedTuple):
    """A table as numbers. Words are places in ``words``, where eos is one of them.

    Row r belongs to the prefix that ``prefixes[r]`` = [row of the prefix without its last word,
    last word] tells, [-1, -1] for the empty one in row 0. ``words_of[r]`` may follow it, with the
    log-probabilities ``logs[r]``; None stands for −∞.
    """

    words: list[str]
    prefixes: list[list[int]]
    words_of: list[list[int]]
    logs: list[list[float | None]]


class Searched(NamedTuple):
    """What beam search found, best first, and what it kept after each word, best first."""

    hypotheses: list[Hypothesis]
    kept: list[list[tuple[list[str], float]]]


def read(table: Table, eos: str) -> Choices:
    """Return a table as numbers, parents before children.

    Raises: TypeError, ValueError for what is no table, or one with a prefix that no search can
    reach.
    """
    if not isinstance(table, Mapping):
        raise TypeError(
            "table must be a dict from prefixes, tuples of words, to dicts of next words: "
            f"got {checks.one_line(table)}"
        )
    for prefix, row in table.items():
        _check_entry(table, prefix, row, eos)
    if () not in table:
        raise ValueError("table must begin with the empty prefix (): it has no entry for it")
    order = sorted(table, key=len)
    words = list(dict.fromkeys([word for prefix in order for word in table[prefix]] + [eos]))
    place = {word: number for number, word in enumerate(words)}
    row_of = {prefix: row for row, prefix in enumerate(order)}
    rows = [sorted(table[prefix], key=place.__getitem__) for prefix in order]
    return Choices(
        words,
        [[row_of[prefix[:-1]], place[prefix[-1]]] if prefix else [-1, -1] for prefix in order],
        [[place[word] for word in row] for row in rows],
        [
            [_log(table[prefix][word]) for word in row]
            for prefix, row in zip(order, rows, strict=True)
        ],
    )


def check_row(where: str, probabilities: list[float]) -> None:
    """Raise ValueError unless these are probabilities whose sum is at most 1."""
    for number in probabilities:
        if not (_check.is_number(number) and 0 <= number <= 1 + _SPARE):
            raise ValueError(f"{where} must hold probabilities from 0 to 1, got {number!r}")
    if sum(probabilities) > 1 + _SPARE:
        raise ValueError(f"{where} must sum to at most 1, got a sum of {sum(probabilities):.6g}")


def search(choices: Choices, eos: str, *, beam: int, penalty: float, max_length: int) -> Searched:
    """Search a table as ``attnbook.decoding.beam_search`` searches a model, and by its own parts.

    What a row lacks to 1 belongs to words that are never chosen, which no softmax could tell.

    Raises: ValueError where a prefix would have to be extended that has no entry in the table.
    """
    ends, rows, kept = choices.words.index(eos), _rows(choices), []
    living, ended = begin(1, beam, max_length, torch.device("cpu"))
    for n in range(1, max_length + 1):
        places = zip(living.words[0].tolist(), living.log_p[0].tolist(), strict=True)
        following = [_following(choices, rows, words, log_p, beam) for words, log_p in places]
        living = extend(living, torch.stack(following))
        kept.append(
            [one for one in _named(choices, living.words, living.log_p) if one[1] > -math.inf]
        )
        living, ended = put_aside(living, ended, n**penalty, ends)
        if n == max_length or settled(living, ended, max_length**penalty):
            break
    _, ended = put_aside(living, ended, len(kept) ** penalty, ends, everything=True)
    found = zip(_named(choices, ended.words, ended.log_p), ended.scores[0].tolist(), strict=True)
    return Searched(
        [_hypothesis(words, p, score, eos) for (words, p), score in found if score > -math.inf],
        kept,
    )


def prefix_table(
    stepper: Stepper[Any],
    source: Tensor,
    source_lengths: Tensor,
    vocabulary: Vocabulary,
    *,
    max_length: int,
    beams: int = 5,
    eos: str = "</s>",
) -> dict[tuple[str, ...], dict[str, float]]:
    """Return what a model would write after every prefix that a beam of up to ``beams`` extends.

    Each row holds the 2 · beams + 2 most probable words, so that ``BeamTree(table)`` searches as
    the model is searched, for every beam up to ``beams`` and every length penalty up to 2.

    Args:
        stepper: as for ``attnbook.decoding.beam_search``; call ``model.eval()`` first.
        source: one sentence, (1, n_s), and ``source_lengths`` its length, (1,).
        vocabulary: of the words that are written; eos: how its end of sentence is to be called.

    Raises: ValueError for more than one sentence, beams below 1, and whatever ``beam_search``
    refuses.
    """
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"vocabulary must be a Vocabulary, got {checks.one_line(vocabulary)}")
    if isinstance(source, torch.Tensor) and source.dim() == 2 and len(source) != 1:
        raise ValueError(
            f"source must hold one sentence, (1, n_s): its shape is {tuple(source.shape)}"
        )
    _check.whole_number("beams", beams, at_least=1)
    if eos in vocabulary.tokens and eos != vocabulary.tokens[vocabulary.eos]:
        raise ValueError(f"eos must not be one of the vocabulary's words: {eos!r} is")
    recorder = _Recorder(stepper, vocabulary, eos, 2 * beams + 2)
    for beam in range(1, beams + 1):  # the steepest penalty searches longest
        options = {"max_length": max_length, "length_penalty": STEEPEST}
        ids = {"bos": vocabulary.bos, "eos": vocabulary.eos}
        beam_search(recorder, source, source_lengths, beam=beam, **options, **ids)
    return recorder.table()


class _Recorder:
    """A stepper that notes what follows each prefix; its state is (the stepper's, prefixes)."""

    def __init__(self, stepper: Stepper[Any], vocabulary: Vocabulary, eos: str, most: int) -> None:
        self._stepper, self._most = stepper, most
        self._names = list(vocabulary.tokens)
        self._names[vocabulary.eos] = self._eos = eos
        self._seen: dict[tuple[str, ...], dict[str, float]] = {}

    def start(self, source: Tensor, source_lengths: Tensor) -> Any:
        return self._stepper.start(source, source_lengths), [None] * len(source)

    def reorder(self, state: Any, rows: torch.Tensor) -> Any:
        inner, prefixes = state
        return self._stepper.reorder(inner, rows), [prefixes[row] for row in rows.tolist()]

    def step(self, tokens: torch.Tensor, state: Any) -> Any:
        inner, before = state
        words = [self._names[token] for token in tokens.tolist()]
        prefixes = [
            () if prefix is None else (*prefix, word)
            for prefix, word in zip(before, words, strict=True)
        ]
        logits, inner = self._stepper.step(tokens, inner)
        if logits.shape[-1] != len(self._names):
            raise ValueError(
                f"vocabulary must have a token for each of the stepper's {logits.shape[-1]} "
                f"logits: it has {len(self._names)}"
            )
        shares = logits.double().softmax(dim=-1)
        values, ids = shares.topk(min(self._most, shares.shape[-1]))
        for prefix, *row in zip(prefixes, values.tolist(), ids.tolist(), strict=True):
            if self._eos not in prefix:
                pairs = zip(*row, strict=True)
                self._seen[prefix] = {self._names[i]: share for share, i in pairs if share > 0}
        return logits, (inner, prefixes)

    def table(self) -> dict[tuple[str, ...], dict[str, float]]:
        """Return what was noted, without what only filled an empty place of the beam."""
        table: dict[tuple[str, ...], dict[str, float]] = {}
        for prefix in sorted(self._seen, key=len):
            if not prefix or prefix[-1] in table.get(prefix[:-1], {}):
                table[prefix] = self._seen[prefix]
        return table


def _check_entry(table: Table, prefix: Any, row: Any, eos: str) -> None:
    if not (isinstance(prefix, tuple) and all(isinstance(word, str) for word in prefix)):
        raise TypeError(
            f"table must have tuples of words as its keys, got {checks.one_line(prefix)}"
        )
    if not isinstance(row, Mapping) or not all(isinstance(word, str) for word in row):
        raise TypeError(
            f"table[{prefix!r}] must be a dict from words to probabilities, "
            f"got {checks.one_line(row)}"
        )
    if not row:
        raise ValueError(f"table[{prefix!r}] must hold at least one word: it is empty")
    check_row(f"table[{prefix!r}]", list(row.values()))
    if eos in prefix:
        raise ValueError(f"table must not go on after {eos!r}: {prefix!r} does")
    if prefix and prefix[-1] not in table.get(prefix[:-1], {}):
        raise ValueError(
            f"table has an entry for {prefix!r}, but {prefix[-1]!r} is not among the words "
            f"after {prefix[:-1]!r}"
        )


def _log(probability: float) -> float | None:
    return round(min(math.log(probability), 0.0), _DECIMALS) if probability > 0 else None


def _rows(choices: Choices) -> dict[tuple[int, ...], int]:
    """Return the row of each prefix, a tuple of words' places."""
    found: dict[tuple[int, ...], int] = {}
    names: list[tuple[int, ...]] = []
    for row, (parent, word) in enumerate(choices.prefixes):
        names.append((*names[parent], word) if row else ())
        found[names[row]] = row
    return found


def _following(
    choices: Choices, rows: dict[tuple[int, ...], int], words: list[int], log_p: float, beam: int
) -> torch.Tensor:
    """Return log p (vocabulary,) of the word after these; −∞ after an empty place."""
    out = torch.full((len(choices.words),), -torch.inf, dtype=torch.float64)
    if log_p == -math.inf:
        return out
    if tuple(words) not in rows:
        prefix = tuple(choices.words[word] for word in words)
        raise ValueError(
            f"table must say what follows {prefix!r}: a beam of {beam} has to extend it"
        )
    row = rows[tuple(words)]
    for word, log in zip(choices.words_of[row], choices.logs[row], strict=True):
        if log is not None:
            out[word] = log
    return out


def _named(choices: Choices, words: Tensor, log_p: Tensor) -> list[tuple[list[str], float]]:
    """Return the words and log p of each place of the only sentence."""
    names = [[choices.words[word] for word in row] for row in words[0].tolist()]
    return list(zip(names, log_p[0].tolist(), strict=True))


def _hypothesis(words: list[Any], log_p: float, score: float, eos: str) -> Hypothesis:
    finished = eos in words  # the search of a model has ids in their place
    return Hypothesis(words[: words.index(eos)] if finished else words, log_p, score, finished)
