"""A sentence's vectors, of which the reader exchanges one; what the writer's next word is then.

Between the exchanges the reader chooses by radio buttons, which need no script.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlab.pictures import sheets

__all__ = ["Exchange"]


class Exchange:
    """Draw where a writer looks, and which word it writes, with one vector or none exchanged::

        Exchange(
            ["the", "apple"], ["the", "book"], [], ["la", "le"],
            weights=[[0.7, 0.3], [0.7, 0.3], [0.7, 0.3]],
            chances=[[1, 0], [0, 1], [1, 0]],
        )

    Row 0 of ``weights`` and ``chances`` is of ``source`` as it is, row k of its k-th word's vector
    taken from ``other``, as long a sentence. ``chances`` are the probabilities of ``words``, which
    may follow ``written``. Where they are a trained model's, ``tolerance`` says how far another
    machine's may lie off.

    Shapes: weights (n + 1, n), chances (n + 1, 2).
    Raises: ValueError for other shapes, and for numbers outside 0 to 1.
    """

    def __init__(
        self,
        source: Sequence[str],
        other: Sequence[str],
        written: Sequence[str],
        words: Sequence[str],
        *,
        weights: ArrayLike,
        chances: ArrayLike,
        tolerance: float = 0.0,
    ) -> None:
        self.source, self.other = list(source), list(other)
        self.written, self.words, self.tolerance = list(written), list(words), tolerance
        n = len(self.source)
        if len(self.other) != n:
            raise ValueError(f"other must have as many words as source, {n}: it is {other!r}")
        self.weights, self.chances = (np.asarray(x, dtype=float) for x in (weights, chances))
        given = (("weights", self.weights, n), ("chances", self.chances, len(self.words)))
        for name, x, columns in given:
            if x.shape != (n + 1, columns):
                raise ValueError(f"{name} must be {(n + 1, columns)}: they are {x.shape}")
            if not ((x >= 0) & (x <= 1)).all():
                raise ValueError(f"{name} must lie between 0 and 1: they are {x.tolist()}")

    @property
    def alt(self) -> str:
        """The picture in words."""
        most = int(self.weights[0].argmax())
        names = "nothing", *self.source
        told = "; ".join(
            f"{name}: {self.words[x.argmax()]} ({x.max():.2f})"
            for name, x in zip(names, self.chances, strict=True)
        )
        return (
            f"The source: {' '.join(self.source)}. Written: {' '.join(self.written)} …. The writer"
            f" looks most at {self.source[most]} ({self.weights[0, most]:.2f}). Its next word, by"
            f" the word whose vector is taken from: {' '.join(self.other)}. {told}."
        )

    def __repr__(self) -> str:
        return f"<Exchange: {' '.join(self.source)}>"  # no number here, either

    def _repr_html_(self) -> tuple[str, dict[str, Any]]:
        said = repr((self.source, self.other, self.written))  # no number, which may lie off
        group = "attnbook-" + hashlib.sha256(said.encode()).hexdigest()[:8]
        read = "".join(
            f"<label>{_button(group, j)}<span>{html.escape(word)}</span>{_bars(looks)}</label>"
            for j, (word, looks) in enumerate(zip(self.source, self.weights.T, strict=True), 1)
        )
        words = [html.escape(word) for word in self.words]
        next_ = "".join(_way(k, "b", words[p.argmax()]) for k, p in enumerate(self.chances))
        likely = "".join(
            f"<div><em>{word}</em>{_bars(p)}</div>"
            for word, p in zip(words, self.chances.T, strict=True)
        )
        stated = f' data-tolerance="{self.tolerance}"' if self.tolerance else ""
        return (
            f'<div class="attnbook attnbook-drawing" role="group"{stated}'
            f' aria-label="{html.escape(self.alt)}"><style>{_look(len(self.chances))}</style>'
            '<div class="attnbook-exchange"><fieldset><legend>Press a word: its vector is taken'
            f" from <em>{html.escape(' '.join(self.other))}</em></legend>"
            f'<div class="attnbook-read">{read}</div><label>{_button(group, 0)}'
            "<span>nothing exchanged</span></label></fieldset>"
            f'<div class="attnbook-written">{html.escape(" ".join(self.written))} {next_}</div>'
            f'<div class="attnbook-bars">{likely}</div></div></div>'
        ), {"alt": self.alt}


def _button(group: str, k: int) -> str:
    return f'<input type="radio" name="{group}" value="{k}"{"" if k else " checked"}>'


def _way(k: int, tag: str, inside: str) -> str:
    return f'<{tag} class="attnbook-way attnbook-way-{k}">{inside}</{tag}>'


def _bars(numbers: np.ndarray) -> str:
    """Return one number for each exchange, as a bar and in digits."""
    bar = '<i style="--w:{0:.2f}"></i><q style="--w:{0:.2f}">{0:.2f}</q>'
    return "".join(_way(k, "small", bar.format(x)) for k, x in enumerate(numbers))


def _look(ways: int) -> str:
    chosen = ",".join(
        f'.attnbook-exchange:has(input[value="{k}"]:checked) .attnbook-way-{k}' for k in range(ways)
    )
    sheet = sheets.bare((*sheets.OWN, Path(__file__).parent / "exchange.css"))
    return f"{sheet}{chosen}{{display:block}}"
