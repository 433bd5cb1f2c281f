"""A recurrent encoder–decoder, unrolled: read and written word by word, in the reader's browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import traitlets

from attnbook.rnn import RNNSeq2Seq
from attnlab.language import Vocabulary
from attnlab.widgets.core import checks, markup, packing
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled
from attnlab.widgets.unrolled.run import EOS, TENSORS, Run, run, with_weights

__all__ = ["UnrolledModel"]

_MOST_TOKENS = 12
_MOST_WORDS = 40  # of a vocabulary, without its special tokens
_WIDEST = 32
_MOST_WEIGHTS = 12_000  # as many as 50 KB carry
_LARGEST = 1e3
_RIGHT = ("", "reversed")
_SPECIAL = 3  # <pad>, <bos> and <eos>


class UnrolledModel(Widget, kind="unrolled"):
    """Send words through the one vector of a small trained translator without attention.

    Steps 0 to n − 1 read: at step i the forward reader takes word i + 1 and the backward reader
    word n − i. Step n makes the summary s_0; step n + t is the decoder's step t, which reads the
    word before and gives each next word its probability. It writes the most probable word, until
    eos or 1.5 n + 3 words. Each word has a colour, pale where it is improbable; s_0, the throat of
    the funnel, has a cell for each of its numbers, as many for a long sentence as for a short one.

    Args:
        model: ``RNNSeq2Seq(order="none")`` with d_model ≤ 32 and at most 12,000 weights. They go
            into the page, to within some 1e-7, and the page runs the model itself.
        source: the model's vocabulary, at most 40 words beside the special ones; ``target`` alike.
        sentence: 1 to 12 tokens of ``source``.
        step: the step shown first (−1 is the last).
        right: "reversed" where the sentence should come out with its words the other way round: a
            row then says so, and each written word is marked ✓ or ×. Without it, nothing is judged.
        forced: words of ``target`` that take the place of the model's own: {1: "7"} makes y_1
            "7", whatever the model chooses, and the decoder reads it at its step 2. A list gives
            y_1, y_2, … in order: teacher forcing.

    The traits sentence, step and forced follow the reader's hand.

    Raises: TypeError for a model or a vocabulary that is none, or a sentence that is one string;
    ValueError for another order, a model that is too large or not that of the vocabularies, and
    words that they do not hold.
    """

    source_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    target_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    packed = traitlets.Unicode().tag(sync=True)  # the weights: see core/packing.py
    fine = traitlets.Unicode().tag(sync=True)
    ranges = traitlets.List().tag(sync=True)
    shapes = traitlets.List().tag(sync=True)
    right = ruled(traitlets.Unicode(""), checks.one_of, choices=_RIGHT)
    sentence = traitlets.List(traitlets.Unicode()).tag(
        sync=True, rule=lambda self, _, value: _sentence(value, self.source_words)
    )
    # step t of the decoder → the word in its place
    forced = traitlets.Dict().tag(
        sync=True,
        rule=lambda self, _, value: _forced(value, self.target_words, _longest(self.sentence)),
    )
    step = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self._count())
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        model: RNNSeq2Seq,
        source: Vocabulary,
        target: Vocabulary,
        sentence: Sequence[str],
        *,
        step: int = 0,
        forced: Mapping[int, str] | Sequence[str] | None = None,
        right: str = "",
        caption: str = "",
    ) -> None:
        tensors = _weights(model, source, target)
        packed, fine, ranges = packing.pack_tensors(tensors)
        shapes = [list(tensor.shape) for tensor in tensors]
        tensors = packing.unpack_tensors(packed, fine, ranges, shapes)  # the page's own numbers
        self._model = with_weights(model, tensors)
        super().__init__(
            caption=caption,
            source_words=list(source.tokens),
            target_words=list(target.tokens),
            packed=packed,
            fine=fine,
            ranges=ranges,
            shapes=shapes,
            right=right,
            start={"sentence": sentence, "forced": forced, "step": step},
        )

    @property
    def written(self) -> list[str]:
        """The sentence as it stands now, forced words included, without eos."""
        words = self._words(self._run().written)
        return words[:-1] if words[-1] == self.target_words[EOS] else words

    @property
    def chosen(self) -> list[str]:
        """The word that the model finds most probable at each step of the decoder (m of them)."""
        return self._words(self._run().chosen)

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each next word at each step of the decoder, of shape (m, V)."""
        return self._run().probabilities

    def _run(self) -> Run:
        source = [self.source_words.index(word) for word in self.sentence]
        forced = {int(t): self.target_words.index(word) for t, word in self.forced.items()}
        return run(self._model, source, forced, _longest(self.sentence))

    def _words(self, ids: Sequence[int]) -> list[str]:
        return [self.target_words[number] for number in ids]

    def _count(self) -> int:
        """How many steps there are: n of reading, the summary, and m of writing."""
        return len(self.sentence) + 1 + len(self._run().written)

    @traitlets.observe("sentence", "forced")
    def _keep_step(self, _: Any) -> None:
        """A shorter run has no step so late: then the last one is shown."""
        if self.initial:
            self.step = min(self.step, self._count() - 1)

    def _summary(self) -> str:
        d = self.shapes[0][1]
        return f"d_model {d}, reads {' '.join(self.sentence)}, writes {' '.join(self.written)}"

    def _fallback(self) -> str:
        read, wrote = (markup.escape(" ".join(words)) for words in (self.sentence, self.written))
        return (
            "<p>A recurrent translator, unrolled. Two readers take the sentence word by word, →"
            " from the left and ← from the right; their last states make the summary s<sub>0</sub>,"
            f" and from it the decoder writes. It reads: {read}. It writes: {wrote}."
            f"{self._judged()}{' A forced word stands in brackets.' if self.forced else ''}</p>"
            + _vector(self._run().states[0])
            + markup.table(
                ["step", "reads", "most probable next word", "probability"],
                [*self._reading(), *self._writing()],
                label="Every step of the model",
            )
        )

    def _judged(self) -> str:
        """What should be written, where that is known."""
        wanted = self.sentence[::-1]
        said = "right" if self.written == wanted else "wrong"
        words = markup.escape(" ".join(wanted))
        return f" It should write: {words}; it is {said}." if self.right else ""

    def _reading(self) -> list[list[str]]:
        """The steps of the two readers, and the summary."""
        words = [markup.escape(word) for word in self.sentence]
        pairs = zip(words, reversed(words), strict=True)
        rows = [[f"reading {i}", f"→ {a}, ← {b}", "–", "–"] for i, (a, b) in enumerate(pairs, 1)]
        return [*rows, ["summary", "–", "–", "–"]]

    def _writing(self) -> list[list[str]]:
        """The steps of the decoder; a forced word stands in brackets."""
        done = self._run()
        read = [
            f"[{word}]" if t in self.forced else word
            for t, word in enumerate(self._words(done.reads))
        ]
        steps = zip(read, self._words(done.chosen), done.probabilities, strict=True)
        return [
            [f"writing {t}", markup.escape(reads), markup.escape(word), markup.fixed(row.max())]
            for t, (reads, word, row) in enumerate(steps, 1)
        ]


def _vector(values: np.ndarray) -> str:
    """Return s_0 as cells, which the style sheet colours, and as numbers."""
    d = len(values)
    sign = ("", ' class="attnbook-minus"')
    cells = "".join(f'<span{sign[x < 0]} style="--w:{abs(x):.3f}"></span>' for x in values.tolist())
    label = f"s₀: {d} numbers"
    numbers = ", ".join(markup.fixed(value, 2) for value in values)
    return (
        f'<div class="attnbook-vector" role="img" aria-label="{label}"'
        f' style="--n:{d}">{cells}</div>'
        f"<p>s<sub>0</sub>, all that the decoder gets of the sentence, in {d} numbers:"
        f" {numbers}.</p>"
    )


def _longest(sentence: Sequence[str]) -> int:
    """How many words may be written, eos among them: 1.5 n + 3."""
    return len(sentence) * 3 // 2 + 3


def _weights(model: Any, source: Any, target: Any) -> list[np.ndarray]:
    """Return the model's tensors as float64, checked against the limits and the vocabularies."""
    if not isinstance(model, RNNSeq2Seq):
        raise TypeError(f"model must be an RNNSeq2Seq, got a {type(model).__name__}")
    for name, value in (("source", source), ("target", target)):
        if not isinstance(value, Vocabulary):
            raise TypeError(f"{name} must be a Vocabulary, got a {type(value).__name__}")
        if len(value) - _SPECIAL > _MOST_WORDS:
            words = len(value) - _SPECIAL
            raise ValueError(f"{name} must hold at most {_MOST_WORDS} words, got {words}")
    if model.decoder.order != "none":
        raise ValueError(f"model must have order='none', got order={model.decoder.order!r}")
    state = model.state_dict()
    tensors = [checks.finite_array(name, state[name], ranks=(1, 2)) for name in TENSORS]
    _check_sizes(dict(zip(TENSORS, tensors, strict=True)), source, target)
    return tensors


def _check_sizes(tensors: dict[str, np.ndarray], source: Vocabulary, target: Vocabulary) -> None:
    for side, vocabulary in (("source", source), ("target", target)):
        part = "encoder" if side == "source" else "decoder"
        rows, d = tensors[f"{part}.embedding.weight"].shape
        if rows != len(vocabulary):
            raise ValueError(
                f"{side} must be the model's vocabulary: it has {len(vocabulary)} tokens, and the"
                f" model's {part} knows {rows}"
            )
    count = sum(tensor.size for tensor in tensors.values())
    if d > _WIDEST:
        raise ValueError(f"model must have d_model of at most {_WIDEST}, got {d}")
    if count > _MOST_WEIGHTS:
        raise ValueError(
            f"model must have at most {_MOST_WEIGHTS:,} weights, which go into the page, got"
            f" {count:,}: a smaller d_model or vocabulary makes them fewer"
        )
    if max(np.abs(tensor).max() for tensor in tensors.values()) > _LARGEST:
        raise ValueError(f"model must have weights of at most {_LARGEST:,.0f} in size")


def _sentence(value: Sequence[str], known: Sequence[str]) -> list[str]:
    words = checks.texts("sentence", value)
    if not 1 <= len(words) <= _MOST_TOKENS:
        raise ValueError(f"sentence must hold 1 to {_MOST_TOKENS} tokens, got {len(words)}")
    for word in words:
        _must_be_known("sentence", word, known[_SPECIAL:])
    return words


def _forced(value: Any, known: Sequence[str], longest: int) -> dict[int, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        value = dict(enumerate(checks.texts("forced", value), 1))
    found = {}
    for key, word in value.items():
        t = int(key) if isinstance(key, str) and key.isdecimal() else key  # JSON's keys are texts
        if not isinstance(t, (int, np.integer)) or isinstance(t, bool) or not 1 <= t <= longest:
            raise ValueError(
                f"forced must name steps of the decoder from 1 to {longest}, 1.5 n + 3 for this"
                f" sentence, got {key!r}"
            )
        _must_be_known("forced", word, known[_SPECIAL - 1 :])  # eos among them
        found[int(t)] = word
    return dict(sorted(found.items()))


def _must_be_known(name: str, word: Any, known: Sequence[str]) -> None:
    if word not in known:
        raise ValueError(
            f"{name} holds {checks.one_line(word)}, which the model does not know; it knows"
            f" {', '.join(known)}"
        )
