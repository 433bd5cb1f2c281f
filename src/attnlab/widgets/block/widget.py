"""One token's vector on its way through an encoder block, stage by stage, with switches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import traitlets

from attnbook.layers import EncoderBlock
from attnlab import _check
from attnlab.widgets.block import run as block_run
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["BlockFlow", "Trace"]

NORMS = ("pre", "post", "none")

_MOST_TOKENS = 6
_WIDEST = 8  # numbers of a vector
_WIDEST_HIDDEN = 16
_MOST_BLOCKS = 12
_LARGEST = 100.0  # of a number or a weight: twelve blocks of such weights do not overflow
_NOISE = 1e-12  # what is smaller is no more than rounding


class Trace(NamedTuple):
    """What is left of the token's vector after a block; cosines are None for a zero vector."""

    length: float
    sd: float
    first: float | None
    others: float | None


class BlockFlow(Widget, kind="block"):
    """Follow one token's vector through an encoder block, and switch its residual sum and norm.

    pre: s = x + part(norm(x)),   post: s = norm(x + part(x)),   none: s = x + part(x),
    for the parts attention and FFN; without the sum, "x +" is left out

    Several blocks, one after the other, all have the weights of the one that is given. There is
    no dropout and no mask, and no norm at the end of a pre-norm stack.

    Args:
        block: an ``EncoderBlock`` with d_model ≤ 8, d_ff ≤ 16 and no rope, each weight at most
            100 in size. The page gets the weights, rounded to 8 decimals, and runs it itself.
        x: (n, d_model), the vectors of at most 6 tokens, each number at most 100 in size.
        tokens: n texts.
        token: whose vector is followed at first (−1 is the last).
        norm: "pre", "post" or "none"; None takes the block's own.
        residual: False leaves out the sum around each part.
        blocks: how many, from 1 to 12.
        shown: the block whose stages are drawn first, from 1 to ``blocks``.
        step: by how much the up and down arrows change a number.

    The traits vectors (x), token, norm, residual, blocks and shown follow the reader's hand.

    Raises: TypeError for a block that is none; ValueError for shapes, counts or numbers that do not
    fit.
    """

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    layer = traitlets.Dict().tag(sync=True)  # the block: see run.py
    vectors = traitlets.List().tag(
        sync=True,
        rule=lambda self, name, value: checks.of_the_shape(
            name, _vectors(name, value, len(self.layer["w_q"])), now=self.vectors
        ),
    )
    token = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.vectors))
    norm = traitlets.Unicode("pre").tag(sync=True, rule=lambda self, _, value: _norm(value))
    residual = ruled(traitlets.Bool(True), checks.switch)
    blocks = ruled(traitlets.Int(1), lambda name, value: _count(name, value))
    shown = ruled(traitlets.Int(1), lambda name, value: _count(name, value))
    step = ruled(traitlets.Float(0.1), checks.number_above_zero)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        block: EncoderBlock,
        x: Any,
        tokens: Sequence[str],
        *,
        token: int = 0,
        norm: str | None = None,
        residual: bool = True,
        blocks: int = 1,
        shown: int = 1,
        step: float = 0.1,
        caption: str = "",
    ) -> None:
        layer = _layer(block)
        self._block = block_run.as_in_the_page(block)
        rows = _vectors("x", x, len(layer["w_q"]))
        start = {
            "vectors": rows,
            "token": token,
            "norm": block.config.norm if norm is None else norm,
            "residual": residual,
            "blocks": blocks,
            "shown": _count("shown", shown, most=_count("blocks", blocks)),
        }
        super().__init__(
            caption=caption,
            layer=layer,
            tokens=checks.texts("tokens", tokens, count=len(rows)),
            step=step,
            start=start,
        )

    @property
    def stages(self) -> dict[str, np.ndarray]:
        """The stages of the shown block by their letters, each (n, d): x, n₁, a, s₁ and so on."""
        return {stage.name: stage.rows for stage in self._shown().stages}

    @property
    def weights(self) -> np.ndarray:
        """The weights of attention in the shown block, of shape (h, n, n)."""
        return self._shown().weights

    @property
    def outputs(self) -> np.ndarray:
        """The vectors x and those after each block, of shape (blocks + 1, n, d)."""
        after = (flow.stages[-1].rows for flow in self._run())
        return np.stack([np.array(self.vectors, dtype=float), *after])

    @property
    def trace(self) -> list[tuple[float, float, float | None, float | None]]:
        """What is left of the chosen token's vector, x itself first, then after each block.

        Each is its length, its biased standard deviation, its cosine with x (``first``), and its
        cosine with the other tokens on average (``others``); None where there is no cosine.
        """
        outputs = self.outputs
        return [_traced(rows, outputs[0], self.token) for rows in outputs]

    def _run(self) -> list[block_run.Flow]:
        return block_run.run(
            self._block, self.vectors, norm=self.norm, residual=self.residual, blocks=self.blocks
        )

    def _shown(self) -> block_run.Flow:
        return self._run()[min(self.shown, self.blocks) - 1]

    def _summary(self) -> str:
        n_heads, d = self.layer["heads"], len(self.layer["w_q"])
        summed = "with" if self.residual else "without"
        return (
            f"token {self.tokens[self.token]}, norm {self.norm}, {summed} the sum,"
            f" blocks {self.blocks}, d_model {d}, heads {n_heads}, tokens: {', '.join(self.tokens)}"
        )

    def _fallback(self) -> str:
        name = _visible(self.tokens[self.token])
        norm = "no norm" if self.norm == "none" else f"{self.norm}-norm"
        summed = "with" if self.residual else "without"
        at = min(self.shown, self.blocks)
        count = f" {at} of {self.blocks}, all with the same weights" if self.blocks > 1 else ""
        return (
            f"<p>The vector of {name} on its way through an encoder block{count}: {norm},"
            f" {summed} the residual sum.</p>{self._stage_table()}"
            f"<p>The weights with which {name} attends:</p>{self._weight_table()}"
            f"<p>What is left of the vector of {name}:</p>{self._trace_table()}"
        )

    def _stage_table(self) -> str:
        rows = []
        for stage in self._shown().stages:
            x = stage.rows[self.token]
            measures = (_short(x.mean(), 0), _short(x.std()), _short(float(np.linalg.norm(x))))
            rows.append([stage.formula, *map(_short, x), *measures])
        head = ["stage", *(str(c + 1) for c in range(len(self.vectors[0]))), "mean", "sd", "length"]
        return markup.table(head, rows, label="The stages of the block")

    def _weight_table(self) -> str:
        weights = self.weights[:, self.token]
        rows = [[f"head {h}", *map(markup.fixed, row)] for h, row in enumerate(weights)]
        head = ["weights", *map(_visible, self.tokens)]
        label = "Attention weights of the token"
        return markup.table(head, rows, label=label, shades=weights.tolist())

    def _trace_table(self) -> str:
        head = ["after block", "length", "sd", "cosine to x", "cosine to others"]
        rows = [
            [str(b) if b else "x", *("–" if one is None else _short(one) for one in trace)]
            for b, trace in enumerate(self.trace)
        ]
        return markup.table(head, rows, label="What is left of the vector after each block")


def _layer(block: EncoderBlock) -> dict[str, Any]:
    """Return the block's weights, checked for size."""
    if not isinstance(block, EncoderBlock):
        raise TypeError(f"block must be an EncoderBlock: it is a {type(block).__name__}")
    d, d_ff = block.attention.d_model, block.feed_forward.widen.out_features
    for name, size, most in (("d_model", d, _WIDEST), ("d_ff", d_ff, _WIDEST_HIDDEN)):
        if size > most:
            raise ValueError(f"block must have a {name} of at most {most}, got {size}")
    if block.attention.rope is not None:
        raise ValueError("block must have no rope: the widget knows no positions")
    found = block_run.weights_of(block)
    for name, value in found.items():
        if isinstance(value, np.ndarray):
            _bounded(f"block's {name}", checks.finite_array(f"block's {name}", value, ranks=(1, 2)))
    return markup.tidy(found)


def _vectors(name: str, value: Any, d: int) -> list[list[float]]:
    array = checks.finite_array(name, value, ranks=(2,))
    if array.shape[0] > _MOST_TOKENS or array.shape[1] != d:
        raise ValueError(
            f"{name} must have the shape (n, {d}), as the block has it, with n at most"
            f" {_MOST_TOKENS}, got shape {array.shape}"
        )
    return markup.tidy(_bounded(name, array))


def _bounded(name: str, array: np.ndarray) -> np.ndarray:
    if np.abs(array).max() > _LARGEST:
        raise ValueError(f"{name} must hold numbers from −{_LARGEST:g} to {_LARGEST:g}")
    return array


def _norm(value: str) -> str:
    _check.one_of("norm", value, NORMS)
    return value


def _count(name: str, value: int, *, most: int = _MOST_BLOCKS) -> int:
    _check.whole_number(name, value, at_least=1)
    if value > most:
        raise ValueError(f"{name} must be at most {most}, got {value}")
    return value


def _traced(rows: np.ndarray, first: np.ndarray, token: int) -> Trace:
    x = rows[token]
    others = [block_run.cosine(x, row) for i, row in enumerate(rows) if i != token]
    known = cast("list[float]", [] if None in others else others)
    mean = sum(known) / len(known) if known else None
    start = block_run.cosine(x, first[token])
    return Trace(float(np.linalg.norm(x)), float(x.std()), start, mean)


def _visible(token: str) -> str:
    return markup.escape(token) if token.strip() else "␣"  # else its heading would be blank


def _short(value: float, least: float = 0.0005) -> str:
    """Return a number that may be far from 1, shortly: 1.235, 123.5, 1.2e7, 4.0e−5."""
    if abs(value) >= 1e4 or _NOISE < abs(value) < least:
        digits, _, power = f"{value:.1e}".partition("e")
        return f"{digits}e{int(power)}".replace("-", "−")
    return markup.fixed(value, 3 if abs(value) < 100 else 1)
