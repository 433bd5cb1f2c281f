"""Beam search as a tree that the reader steps through: what is kept, what is pruned, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import traitlets

from attnbook.decoding import Hypothesis
from attnlab.widgets.beam import table as beam_table
from attnlab.widgets.beam.table import prefix_table
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["BeamTree", "prefix_table"]

_MOST_BEAMS = 5
_LONGEST = 20  # words
_MOST_EDITED = 30  # numbers
_MOST_DATA = 50_000  # bytes


class BeamTree(Widget, kind="beam"):
    """Search a table of next words with a beam of k, and see every candidate's fate.

    All continuations of the living hypotheses compete by log p(y) = Σ_t log p(y_t | y_<t), and
    the k best stay; those that end are put aside. At the end they are ranked by

        score(y) = log p(y) / n^α,   n words, the end of the sentence counted

    as ``attnbook.decoding.beam_search`` does it.

    Args:
        table: a dict from a prefix, a tuple of words, () first, to a dict from the next word to
            its probability. What a row lacks to 1 belongs to other words, which are never chosen.
            ``prefix_table`` makes one from a model.
        beam: k at first; penalty: α at first, from 0 to 2; step: how many words are written at
            first (−1: all).
        beams: the greatest k that is offered, at most 5.
        max_length: how many words are written at most, eos counted (default: one more than the
            longest prefix), at most 20.
        editable: let the reader edit the probabilities (at most 30, and every prefix shorter
            than ``max_length`` must be in the table, because any of them may become probable).
        eos: the word that ends a sentence.

    The traits beam, penalty, step and logs, the table's log-probabilities, follow the reader's
    hand.

    Raises: ValueError for a table that a search would leave, or that is no table of probabilities;
    numbers out of range; TypeError for a table that is no dict of dicts.
    """

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    prefixes = traitlets.List().tag(sync=True)
    words_of = traitlets.List().tag(sync=True)
    logs = traitlets.List().tag(
        sync=True, rule=lambda self, name, value: self._check_logs(name, value)
    )
    beam = ruled(traitlets.Int(2), checks.whole, least=1, most=lambda self: self.beams)
    penalty = ruled(traitlets.Float(0.0), checks.between, least=0, most=beam_table.STEEPEST)
    step = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.max_length + 1)
    beams = traitlets.Int(5).tag(sync=True)
    max_length = traitlets.Int(1).tag(sync=True)
    editable = traitlets.Bool(False).tag(sync=True)
    eos = traitlets.Unicode("</s>").tag(sync=True)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        table: Mapping[tuple[str, ...], Mapping[str, float]],
        *,
        beam: int = 2,
        penalty: float = 0.0,
        step: int = 0,
        beams: int = 5,
        max_length: int | None = None,
        editable: bool = False,
        eos: str = "</s>",
        caption: str = "",
    ) -> None:
        choices = beam_table.read(table, checks.texts("eos", [eos])[0])
        longest = max(map(len, table)) + 1 if max_length is None else max_length
        length = checks.whole("max_length", longest, least=1, most=_LONGEST)
        most = checks.whole("beams", beams, least=1, most=_MOST_BEAMS)
        start: dict[str, Any] = {"beam": beam, "penalty": penalty, "step": step}
        if checks.switch("editable", editable):
            _check_complete(table, eos, length)
            start["logs"] = choices.logs
        for k in range(1, most + 1):  # the steepest penalty searches longest
            options = {"penalty": beam_table.STEEPEST, "max_length": length}
            beam_table.search(choices, eos, beam=k, **options)
        super().__init__(
            caption=caption,
            beams=most,
            max_length=length,
            editable=bool(editable),
            eos=eos,
            **choices._asdict(),
            start=start,
        )
        _check_size(self)

    @property
    def table(self) -> dict[tuple[str, ...], dict[str, float]]:
        """The table as it is now, with the reader's changes."""
        names: list[tuple[str, ...]] = []
        for row, (parent, word) in enumerate(self.prefixes):
            names.append((*names[parent], self.words[word]) if row else ())
        rows = zip(names, self.words_of, self.logs, strict=True)
        return {
            name: {self.words[i]: _share(log) for i, log in zip(words, logs, strict=True)}
            for name, words, logs in rows
        }

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """The best k at the end of the search, best first; their tokens are words."""
        return self._searched().hypotheses

    def _searched(self) -> beam_table.Searched:
        choices = beam_table.Choices(self.words, self.prefixes, self.words_of, self.logs)
        return beam_table.search(
            choices, self.eos, beam=self.beam, penalty=self.penalty, max_length=self.max_length
        )

    def _check_logs(self, _: str, rows: list[Any]) -> list[list[float | None]]:
        if not self.editable and self.logs and rows != self.logs:
            raise ValueError("logs cannot be changed: the widget was made with editable=False")
        sizes = [len(words) for words in self.words_of]
        if not (_rows_of_logs(rows) and [len(row) for row in rows] == sizes):
            raise ValueError(
                "logs must be rows of log-probabilities, at most 0 or None for −∞, with "
                f"{', '.join(map(str, sizes[:6]))}{', …' if sizes[6:] else ''} numbers, "
                f"got {checks.one_line(rows)}"
            )
        for place, row in enumerate(rows):
            beam_table.check_row(f"row {place} of logs, as probabilities,", [*map(_share, row)])
        return rows

    def _summary(self) -> str:
        found = self.hypotheses
        words = " ".join(self._written(found[0])) if found else "nothing"
        return (
            f"{len(self.prefixes)} prefixes, k = {self.beam}, α = {self.penalty:g}, best: {words}"
        )

    def _fallback(self) -> str:
        found = self._searched()
        kept = [
            [str(n), markup.escape("; ".join(_line(words, log_p) for words, log_p in row))]
            for n, row in enumerate(found.kept, start=1)
        ]
        ranked = [
            [str(place), markup.escape(" ".join(self._written(one))), *self._numbers(one)]
            for place, one in enumerate(found.hypotheses, start=1)
        ]
        alpha = markup.plain(self.penalty)
        return (
            f"<p>Beam search with k = {self.beam}: after each word, the hypotheses that are kept,"
            " each with the logarithm of its probability.</p>"
            + markup.table(["word", "kept"], kept, label="What the beam keeps")
            + f"<p>The ranking by log p / n<sup>α</sup> with α = {alpha}, where n counts the"
            " words and the end of the sentence.</p>"
            + markup.table(
                ["place", "hypothesis", "log p", "n", "score"], ranked, label="The ranking"
            )
        )

    def _written(self, one: Hypothesis) -> list[str]:
        return [*map(str, one.tokens), self.eos if one.finished else "(unfinished)"]

    def _numbers(self, one: Hypothesis) -> list[str]:
        n = len(one.tokens) + one.finished
        return [markup.fixed(one.log_probability), str(n), markup.fixed(one.score)]


def _line(words: list[str], log_p: float) -> str:
    return f"{' '.join(words)} ({markup.fixed(log_p)})"


def _share(log: float | None) -> float:
    """Return the probability; 7 digits are what the logarithm's 8 decimals leave of it."""
    return 0.0 if log is None else float(f"{math.exp(log):.7g}")


def _rows_of_logs(rows: Any) -> bool:
    def is_log(one: Any) -> bool:
        real = isinstance(one, (int, float)) and not isinstance(one, bool)
        return one is None or (real and -math.inf < one <= 1e-6)

    return all(isinstance(row, list) and all(map(is_log, row)) for row in rows)


def _check_complete(table: beam_table.Table, eos: str, max_length: int) -> None:
    count = sum(map(len, table.values()))
    if count > _MOST_EDITED:
        raise ValueError(
            f"table must hold at most {_MOST_EDITED} numbers where they can be edited, got {count}"
        )
    for prefix, row in table.items():
        for word in row:
            grown = (*prefix, word)
            if word != eos and len(grown) < max_length and grown not in table:
                raise ValueError(
                    f"table must say what follows {grown!r}: with editable=True any prefix "
                    f"shorter than max_length = {max_length} may have to be extended"
                )


def _check_size(widget: BeamTree) -> None:
    size = len(markup.to_json(widget.state()).encode())
    if size > _MOST_DATA:
        raise ValueError(
            f"table must take at most {_MOST_DATA:,} bytes, got {size:,}: "
            "lower beams or max_length in prefix_table"
        )
