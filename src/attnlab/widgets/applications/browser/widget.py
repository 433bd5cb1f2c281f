"""Every head of a pretrained model: which of them look from one word to another."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.models.stored.script import asset_script
from attnlab.widgets.applications.browser import sentences as door
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.assets import WithAsset
from attnlab.widgets.core.checks import ruled

__all__ = ["HeadBrowser"]

MEASURES = ("key", "previous", "next", "same", "special", "spread")

_FEWEST = 1e-5  # of a row that gives less to what is not hidden, nothing is known
_LARGEST = 1_000_000  # bytes of the asset's file
_LONGEST = 300  # characters of a sentence that is typed
_LIVE = ("reads", "own", "typed", "answer")  # what only a running kernel has


class HeadBrowser(WithAsset, kind="browser"):
    """Browse the weights of all heads of a model, and ask which look from here to there.

    A measure m is taken of each head h, in row i or as the mean over all rows that have such a
    key, and its greatest values are listed:

    m_h = Σ_{j ∈ K(i)} α_h,ij   over the keys K(i) asked for, or   m_h = exp(−Σ_j α_h,ij ln α_h,ij)

    With [CLS] and [SEP] hidden as keys, what is left of each row is divided by its sum; a row
    that has less than 1e-5 left is empty. Where no query of any sentence looks at a later token,
    the model is causal: later keys are masked, and the first token, which such models use as
    others use [CLS] and [SEP], stands for these in all that follows.

    Where a kernel runs, the reader types sentences of their own, which ``read`` reads; a static
    page has no such field, and none of these sentences is in the HTML.

    Args:
        sentences: 1 to 20 of (tokens, weights). The weights have the shape (layers, heads, n, n),
            rows summing to 1, with the same layers and heads for all, at most 288 heads, and
            2 ≤ n ≤ 20. They lie outside the page, in the asset, as 16-bit logarithms: at most
            1 MB in all, exact to 1e-4; of a causal model, no more than the lower triangles.
            Tokens are shown without the blanks around them.
        read: what turns a text into (tokens, weights) of the same model; it may raise ValueError
            or TypeError, in words for the reader. There is room for 20 sentences: the oldest of
            the reader's own leaves, and of the given ones there are at most 19.
        names: a text for each sentence (default: its words, without [CLS] and [SEP]).
        asset: what the file is called: lower case, digits and hyphens; its own for each widget.
        chosen: the sentence shown at first; layer, head: the head shown large, counted from 0.
        row: the token that attends, a position in the sentence; key: the token attended to.
        measure: the weight on the "key" chosen, on the "previous" or "next" token, on the "same"
            token or on the "special" ones, [CLS] and [SEP]; or "spread", e to the row's entropy,
            over how many keys it is spread.
        at_once: a static page loads the weights when the browser comes into view, unasked.
        hide: leave out [CLS] and [SEP].

    The traits chosen, layer, head, row, key, measure and hide follow the reader's hand.

    Raises: TypeError for tokens or names that are no strings, a switch that is none, or a ``read``
    that cannot be called; ValueError for counts, shapes, weights or places that do not fit, or more
    than 1 MB.
    """

    sentences = traitlets.List().tag(sync=True)  # of each: its name and its tokens
    shape = traitlets.List(traitlets.Int()).tag(sync=True)  # layers, heads
    causal = traitlets.Bool(False).tag(sync=True)
    reads = traitlets.Bool(False).tag(sync=True)  # whether there is a ``read``
    own = traitlets.List(read_only=True).tag(sync=True)  # as sentences, and weights in base64
    # what the reader sent last, and what was said of it; they belong together by their turn
    typed = ruled(
        traitlets.Dict(default_value={"turn": 0, "text": ""}),
        lambda name, value: _message(name, value, turn=int, text=str),
    )
    answer = ruled(
        traitlets.Dict(default_value={"turn": 0, "said": ""}),
        lambda name, value: _message(name, value, turn=int, said=str),
    )
    chosen = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self._tokens))
    layer = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.shape[0])
    head = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.shape[1])
    row = ruled(
        traitlets.Int(None, allow_none=True), checks.index_of, count=lambda self: len(self.tokens)
    )
    key = ruled(
        traitlets.Int(None, allow_none=True), checks.index_of, count=lambda self: len(self.tokens)
    )
    measure = ruled(traitlets.Unicode("key"), checks.one_of, choices=MEASURES)
    hide = ruled(traitlets.Bool(False), checks.switch)
    at_once = ruled(traitlets.Bool(False), checks.switch)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        sentences: Iterable[tuple[Sequence[str], Any]],
        *,
        read: Callable[[str], tuple[Sequence[str], Any]] | None = None,
        names: Sequence[str] | None = None,
        asset: str = "heads",
        chosen: int = 0,
        layer: int = 0,
        head: int = 0,
        row: int | None = None,
        key: int | None = None,
        measure: str = "key",
        hide: bool = False,
        at_once: bool = False,
        caption: str = "",
    ) -> None:
        if read is not None and not callable(read):
            raise TypeError(f"read must be a function of a text, got {checks.one_line(read)}")
        most = door.MOST_SENTENCES - (read is not None)
        tokens, matrices = door.read_all(sentences, most=most)
        layers, heads = matrices[0].shape[:2]
        causal = all(map(door.is_causal, matrices))
        packed = [door.pack(weights, causal=causal) for weights in matrices]
        carried = b"".join(packed)
        named = _named(tokens, names)
        self._read = read
        self._tokens = [_bare(sentence) for sentence in tokens]  # the reader's own come last
        self._weights = [  # as the page has them
            door.unpack(one, weights.shape, causal=causal)
            for one, weights in zip(packed, matrices, strict=True)
        ]
        super().__init__(
            caption=caption,
            asset=asset,
            size=_size(asset, carried),
            carried=carried,
            sentences=named,
            shape=[layers, heads],
            at_once=at_once,
            causal=causal,
            reads=read is not None,
            start={
                "chosen": chosen,
                "layer": layer,
                "head": head,
                "row": row,
                "key": key,
                "measure": measure,
                "hide": hide,
            },
        )

    @property
    def tokens(self) -> list[str]:
        """The tokens of the chosen sentence."""
        return self._tokens[self.chosen]

    @property
    def weights(self) -> np.ndarray:
        """The chosen sentence's weights as they are drawn now, (layers, heads, n, n)."""
        return self._drawn(self.chosen)

    def add(self, text: str) -> None:
        """Have ``read`` read a sentence of the reader's own, and show it, last in the list.

        Query and key stay the same words, where it has them.

        Raises: TypeError for no string; ValueError without a ``read``, for a text that is empty or
        of more than 300 characters, and for tokens or weights that do not fit the others; what
        ``read`` itself raises.
        """
        if self._read is None:
            raise ValueError("there is nothing to read a sentence with: give read=…")
        if not isinstance(text, str):
            raise TypeError(f"your sentence must be a string, got {checks.one_line(text)}")
        text = text.strip()
        if not 1 <= len(text) <= _LONGEST:
            raise ValueError(f"your sentence must have 1 to {_LONGEST} characters, got {len(text)}")
        tokens, weights = door.read_one("your sentence", self._read(text))
        if list(weights.shape[:2]) != self.shape:
            raise ValueError(
                f"your sentence must have the layers and heads of the others, {self.shape}, got"
                f" {list(weights.shape[:2])}"
            )
        if self.causal and not door.is_causal(weights):
            raise ValueError("your sentence must be causal, as the others: a query looks ahead")
        self._put(text, _bare(tokens), weights)

    def _put(self, name: str, tokens: list[str], weights: np.ndarray) -> None:
        packed = door.pack(weights, causal=self.causal)
        asked = {place: getattr(self, place) for place in ("row", "key")}
        words = {place: None if at is None else self.tokens[at] for place, at in asked.items()}
        own = {"name": name, "tokens": tokens, "logs": base64.b64encode(packed).decode("ascii")}
        first = len(self.sentences)  # of the reader's own
        room = door.MOST_SENTENCES - first
        unpacked = door.unpack(packed, weights.shape, causal=self.causal)
        with self.hold_sync():  # one message: a page never has a place without its sentence
            self._tokens[first:] = [*self._tokens[first:], tokens][-room:]
            self._weights[first:] = [*self._weights[first:], unpacked][-room:]
            self.set_trait("own", [*self.own, own][-room:])
            self.chosen = len(self._tokens) - 1
            for place, word in words.items():
                setattr(self, place, tokens.index(word) if word in tokens else None)

    @traitlets.observe("typed")
    def _answer(self, _: Any) -> None:
        """Read what was typed; what is wrong with it is said beside the field."""
        said = "It could not be read: the notebook's log says why."  # unless it is told here
        with self.hold_sync():
            try:
                self.add(str(self.typed["text"]))
                said = ""
            except (TypeError, ValueError) as error:
                said = str(error)
            finally:
                self.answer = {"turn": self.typed["turn"], "said": said}

    @property
    def measured(self) -> np.ndarray:
        """The measure of every head, (layers, heads); NaN where no row has such a key."""
        n = len(self.tokens)
        found = np.stack(
            [self._row_measure(i) for i in range(n)]
            if self.row is None
            else [self._row_measure(self.row)]
        )  # (rows, layers, heads)
        there = ~np.isnan(found)
        total = np.where(there, found, 0).sum(axis=0)
        return np.divide(
            total, there.sum(axis=0), where=there.any(axis=0), out=np.full(total.shape, np.nan)
        )

    def _row_measure(self, i: int) -> np.ndarray:
        """Return the measure of row i of every head, (layers, heads), NaN where there is none."""
        row, may = self.weights[..., i, :], self._may(self.chosen)[i]
        if self.measure == "spread":
            logs = np.log(row, where=row > 0, out=np.zeros_like(row))
            found = np.exp(-(row * logs).sum(axis=-1))
        else:
            keys = [j for j in self._keys(i) if 0 <= j < len(may) and may[j]]
            found = row[..., keys].sum(axis=-1) if keys else np.full(row.shape[:-1], np.nan)
        return np.where((row > 0).any(axis=-1), found, np.nan)

    def _keys(self, i: int) -> list[int]:
        """Return the keys of query i that the measure adds up; some may lie outside."""
        if self.measure == "special":
            return door.special(self.tokens, causal=self.causal)
        if self.measure == "key":
            return [] if self.key is None else [self.key]
        return [i + {"previous": -1, "next": 1, "same": 0}[self.measure]]

    def _drawn(self, k: int) -> np.ndarray:
        """Return the weights of sentence k, what may not be looked at left out."""
        weights = np.where(self._may(k), self._weights[k], 0)
        left = weights.sum(axis=-1, keepdims=True)
        known = left >= _FEWEST
        return np.where(known, weights / np.where(known, left, 1), 0)

    def _may(self, k: int) -> np.ndarray:
        """Return which key each query of sentence k may look at, (n, n)."""
        tokens = self._tokens[k]
        may = np.ones((len(tokens), len(tokens)), dtype=bool)
        if self.hide:
            may[:, door.special(tokens, causal=self.causal)] = False
        return np.tril(may) if self.causal else may

    @traitlets.observe("chosen")
    def _keep_places(self, _: Any) -> None:
        """What a shorter sentence does not have is let go."""
        for name in ("row", "key"):
            if (getattr(self, name) or 0) >= len(self.tokens):
                setattr(self, name, None)

    def state(self) -> dict[str, Any]:
        """Return what the page's JSON holds: nothing that the reader typed, and nothing to type."""
        held = {name: value for name, value in super().state().items() if name not in _LIVE}
        return held | self._stored()

    def _stored(self) -> dict[str, Any]:
        """Return what the HTML shows in place of a sentence of the reader's own: the first one."""
        own = self.chosen >= len(self.sentences)
        return {name: self.initial[name] for name in ("chosen", "row", "key")} if own else {}

    def _summary(self) -> str:
        layers, heads = self.shape
        count = len(self.sentences)
        said = f"{count} sentence{'' if count == 1 else 's'}"
        name = self.sentences[self._stored().get("chosen", self.chosen)]["name"]
        return f"{layers} × {heads} heads, {said}, shown: {name}"

    def _fallback(self) -> str:
        stored = self._stored()
        k: int = stored.get("chosen", self.chosen)
        row: int | None = stored.get("row", self.row)
        weights = self._drawn(k)[self.layer, self.head]
        tokens = [markup.escape(token) for token in self._tokens[k]]
        left_out = "the first token" if self.causal else "[CLS] and [SEP]"
        words = (
            f"<p>Attention weights{f' without {left_out}' if self.hide else ''} of layer"
            f" {self.layer} head {self.head}, counted from 0, in:"
            f" {markup.escape(self.sentences[k]['name'])}</p>"
        )
        if row is None:
            rows = [
                [token, door.largest(tokens, found)]
                for token, found in zip(tokens, weights, strict=True)
            ]
            label = "The largest weights of each token"
            return words + markup.table(["token", "attends most to"], rows, label=label)
        seen = np.flatnonzero(self._may(k)[row])
        rows = [[tokens[j], markup.fixed(weights[row, j])] for j in seen]
        label = f"Where {self._tokens[k][row]} looks"
        shades = [[weights[row, j]] for j in seen]
        head = ["attends to", f"weight of {tokens[row]}"]
        return words + markup.table(head, rows, label=label, shades=shades)


def _bare(tokens: list[str]) -> list[str]:
    """Return the tokens without the blanks that a language model's words begin with."""
    return [token.strip() or token for token in tokens]


def _message(name: str, value: Any, **types: type) -> dict[str, Any]:
    fits = isinstance(value, dict) and value.keys() == types.keys()
    if not fits or not all(isinstance(value[key], kind) for key, kind in types.items()):
        raise ValueError(f"{name} must hold {' and '.join(types)}, got {checks.one_line(value)}")
    return value


def _named(tokens: list[list[str]], names: Sequence[str] | None) -> list[dict[str, Any]]:
    if names is None:
        names = [door.words(sentence) for sentence in tokens]
    named = checks.texts("names", names)
    if len(named) != len(tokens):
        raise ValueError(
            f"names must be {len(tokens)} strings, one for each sentence, got {len(named)}"
        )
    pairs = zip(named, tokens, strict=True)
    return [{"name": name, "tokens": _bare(sentence)} for name, sentence in pairs]


def _size(asset: str, carried: bytes) -> int:
    size = len(asset_script(asset, carried))
    if size > _LARGEST:
        raise ValueError(
            f"sentences take {size:,} bytes, more than {_LARGEST:,}: show fewer or shorter ones"
        )
    return size
