"""Every head of a pretrained model: which of them look from one word to another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import traitlets

from attnbook.widgets.browser.sentences import SPECIAL, read, words
from attnbook.widgets.core import checks, markup, numbers, packing
from attnbook.widgets.core.assets import WithAsset, asset_script
from attnbook.widgets.core.checks import or_none, rule

__all__ = ["HeadBrowser"]

MEASURES = ("key", "previous", "next", "same", "special", "spread")

_FEWEST = 1e-5  # of a row that gives less to what is not hidden, nothing is known
_LARGEST = 1_000_000  # bytes of the asset's file


class HeadBrowser(WithAsset, kind="browser"):
    """Browse the weights of all heads of a model, and ask which look from here to there.

    A measure m is taken of each head h, in row i or as the mean over all rows that have such a
    key, and its greatest values are listed:

    m_h = Σ_{j ∈ K(i)} α_h,ij   over the keys K(i) asked for, or   m_h = exp(−Σ_j α_h,ij ln α_h,ij)

    With [CLS] and [SEP] hidden as keys, what is left of each row is divided by its sum; a row
    that has less than 1e-5 left is empty.

    Args:
        sentences: 1 to 20 of (tokens, weights). The weights have the shape (layers, heads, n, n),
            rows summing to 1, with the same layers and heads for all, at most 144 heads, and
            2 ≤ n ≤ 20. They lie outside the page, in the asset, as 16-bit logarithms: at most
            1 MB in all, exact to 1e-4.
        names: a text for each sentence (default: its words, without [CLS] and [SEP]).
        asset: what the file is called: lower case, digits and hyphens; its own for each widget.
        chosen: the sentence shown at first; layer, head: the head shown large, counted from 0.
        row: the token that attends, a position in the sentence; key: the token attended to.
        measure: the weight on the "key" chosen, on the "previous" or "next" token, on the "same"
            token or on the "special" ones, [CLS] and [SEP]; or "spread", e to the row's entropy,
            over how many keys it is spread.
        hide: leave out [CLS] and [SEP].

    The traits chosen, layer, head, row, key, measure and hide follow the reader's hand.

    Raises: TypeError for tokens or names that are no strings, or a switch that is none; ValueError
    for counts, shapes, weights or places that do not fit, or more than 1 MB.
    """

    sentences = traitlets.List().tag(sync=True)  # of each: its name and its tokens
    shape = traitlets.List(traitlets.Int()).tag(sync=True)  # layers, heads
    chosen = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    row = traitlets.Int(None, allow_none=True).tag(sync=True)
    key = traitlets.Int(None, allow_none=True).tag(sync=True)
    measure = traitlets.Unicode("key").tag(sync=True)
    hide = traitlets.Bool(False).tag(sync=True)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    rules = checks.rules(
        chosen=rule(checks.index_of, count=lambda self: len(self.sentences)),
        layer=rule(checks.index_of, count=lambda self: self.shape[0]),
        head=rule(checks.index_of, count=lambda self: self.shape[1]),
        **dict.fromkeys(
            ("row", "key"), or_none(rule(checks.index_of, count=lambda self: len(self.tokens)))
        ),
        measure=rule(checks.one_of, choices=MEASURES),
        hide=rule(checks.switch),
    )

    def __init__(
        self,
        sentences: Iterable[tuple[Sequence[str], Any]],
        *,
        names: Sequence[str] | None = None,
        asset: str = "heads",
        chosen: int = 0,
        layer: int = 0,
        head: int = 0,
        row: int | None = None,
        key: int | None = None,
        measure: str = "key",
        hide: bool = False,
        caption: str = "",
    ) -> None:
        tokens, matrices = read(sentences)
        layers, heads = matrices[0].shape[:2]
        packed = [packing.pack_logs(weights) for weights in matrices]
        self._logs = [packing.unpack_logs(whole) for whole in packed]  # as the page has them
        carried = b"".join(whole.tobytes() for whole in packed)
        super().__init__(
            caption=caption,
            asset=asset,
            size=_size(asset, carried),
            carried=carried,
            sentences=_named(tokens, names),
            shape=[layers, heads],
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
        return self.sentences[self.chosen]["tokens"]

    @property
    def weights(self) -> np.ndarray:
        """The chosen sentence's weights as they are drawn now, (layers, heads, n, n)."""
        logs, may = self._logs[self.chosen], self._may()
        left = np.where(may, np.exp(logs), 0).sum(axis=-1, keepdims=True)
        weights = numbers.attention_weights(logs, may, divisor=1.0)
        return np.where(left < _FEWEST, 0, weights)

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
        row, may = self.weights[..., i, :], self._may()[i]
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
            return [j for j, token in enumerate(self.tokens) if token in SPECIAL]
        if self.measure == "key":
            return [] if self.key is None else [self.key]
        return [i + {"previous": -1, "next": 1, "same": 0}[self.measure]]

    def _may(self) -> np.ndarray:
        seen = [not (self.hide and token in SPECIAL) for token in self.tokens]
        return np.tile(seen, (len(seen), 1))

    @traitlets.observe("chosen")
    def _keep_places(self, _: Any) -> None:
        """What a shorter sentence does not have is let go."""
        for name in ("row", "key"):
            if (getattr(self, name) or 0) >= len(self.tokens):
                setattr(self, name, None)

    def _summary(self) -> str:
        layers, heads = self.shape
        count = len(self.sentences)
        said = f"{count} sentence{'' if count == 1 else 's'}"
        name = self.sentences[self.chosen]["name"]
        return f"{layers} × {heads} heads, {said}, shown: {name}"

    def _fallback(self) -> str:
        weights = self.weights[self.layer, self.head]
        tokens = [markup.escape(token) for token in self.tokens]
        left_out = " without [CLS] and [SEP]" if self.hide else ""
        words = (
            f"<p>Attention weights{left_out} of layer {self.layer} head {self.head}, counted from"
            f" 0, in: {markup.escape(self.sentences[self.chosen]['name'])}</p>"
        )
        if self.row is None:
            rows = [[token, self._largest(row)] for token, row in zip(tokens, weights, strict=True)]
            label = "The largest weights of each token"
            return words + markup.table(["token", "attends most to"], rows, label=label)
        seen = np.flatnonzero(self._may()[self.row])
        rows = [[tokens[j], markup.fixed(weights[self.row, j])] for j in seen]
        label = f"Where {self.tokens[self.row]} looks"
        shades = [[weights[self.row, j]] for j in seen]
        head = ["attends to", f"weight of {tokens[self.row]}"]
        return words + markup.table(head, rows, label=label, shades=shades)

    def _largest(self, row: np.ndarray) -> str:
        """Return the three largest weights of a row in words."""
        best = np.argsort(-row.round(6), kind="stable")[:3]
        named = [
            f"{markup.escape(self.tokens[j])} {markup.fixed(float(row[j]))}" for j in best if row[j]
        ]
        return ", ".join(named) or "nothing that is not hidden"


def _named(tokens: list[list[str]], names: Sequence[str] | None) -> list[dict[str, Any]]:
    if names is None:
        names = [words(sentence) for sentence in tokens]
    named = checks.texts("names", names)
    if len(named) != len(tokens):
        raise ValueError(
            f"names must be {len(tokens)} strings, one for each sentence, got {len(named)}"
        )
    pairs = zip(named, tokens, strict=True)
    return [{"name": name, "tokens": sentence} for name, sentence in pairs]


def _size(asset: str, carried: bytes) -> int:
    size = len(asset_script(asset, carried))
    if size > _LARGEST:
        raise ValueError(
            f"sentences take {size:,} bytes, more than {_LARGEST:,}: show fewer or shorter ones"
        )
    return size
