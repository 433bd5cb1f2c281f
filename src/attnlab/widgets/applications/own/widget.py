"""The reader's own sentence in a pretrained encoder: run in the page, with any head off."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import traitlets
from torch.nn import functional

from attnlab.models.stored.script import asset_script
from attnlab.widgets.applications.browser import sentences as door
from attnlab.widgets.applications.own import weights as own_weights
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.assets import WithAsset
from attnlab.widgets.core.checks import ruled

if TYPE_CHECKING:
    from attnlab.pretrained import Pretrained

__all__ = ["OwnSentence", "save_weights"]

EXAMPLES = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The street wasn't crossed by the animal because it was too tired.",
    "The street wasn't crossed by the animal because it was too wide.",
)
_MOST_EXAMPLES = 6
_MOST_STORED = 24  # pieces of an example


class OwnSentence(WithAsset, kind="own"):
    """Type a sentence: a pretrained encoder reads it in the page itself, with any head off.

    The page runs the model, with weights of 12 bits that it loads when the reader first asks for
    it; ``rounded(model)`` of ``own/weights.py`` computes the very same. Until then, and where they
    cannot be loaded, it shows the stored examples with every head on. A head that is off gives
    zeros in place of its output, before W^O mixes the heads.

    Args:
        model: a ``Pretrained`` with GELU, as ``load_minilm`` returns.
        examples: 1 to 6 sentences that the page has without the model, of at most 24 pieces,
            [CLS] and [SEP] among them.
        text: the sentence that is read at first: of at most 62 pieces; the first example unless
            given.
        layer, head: the head shown large, counted from 0.
        row: the piece that is pinned, a position in the sentence.
        off: heads that give zeros, each as (layer, head).
        between: two pieces as the picture names them, such as "animal" and "street": it says how
            near the pinned piece's last vector is to theirs, and what one other word of the
            sentence changes. Of one that the sentence lacks, and where none is given, the first
            piece after an article is taken, else the longest.
        asset: the name of the file that the page loads the weights from; those of the pieces'
            vectors are called ``asset-0`` and so on, that of the examples ``asset-stored``.

    The traits text, layer, head, row, off and between follow the reader's hand.

    Raises: TypeError for a model that is none, or examples that are no strings; ValueError for a
    model that the page cannot run, texts that are too long or have no piece, and numbers that do
    not fit.
    """

    shapes = traitlets.List().tag(sync=True)  # of the tensors that are loaded first
    sizes = traitlets.Dict().tag(sync=True)  # layers, heads, eps, how many pieces, …
    examples = traitlets.List().tag(sync=True)  # of each: its text and its tokens
    text = traitlets.Unicode("").tag(
        sync=True, rule=lambda self, name, value: self._read(name, value, most=self.sizes["most"])
    )
    layer = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.sizes["layers"])
    head = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.sizes["heads"])
    row = ruled(
        traitlets.Int(None, allow_none=True), checks.index_of, count=lambda self: len(self.tokens)
    )
    off = traitlets.List().tag(sync=True, rule=lambda self, _, value: _heads(value, self.sizes))
    between = ruled(traitlets.List(), lambda name, value: _two(name, value))
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        model: Pretrained,
        *,
        examples: Sequence[str] = EXAMPLES,
        text: str | None = None,
        layer: int = 0,
        head: int = 0,
        row: int | None = None,
        off: Sequence[tuple[int, int]] = (),
        between: Sequence[str] = (),
        asset: str = "minilm",
        caption: str = "",
    ) -> None:
        self._model = own_weights.rounded(model)
        first, shards = own_weights.packed(model)
        self._first, self._shards = first, shards
        texts = self._examples(examples)
        self._stored = b"".join(map(self._seen, texts))
        super().__init__(
            caption=caption,
            shapes=[list(tensor.shape) for tensor in own_weights.tensors_of(model)],
            sizes={**own_weights.sizes(model), "main": len(first)},
            examples=[{"text": one, "tokens": self._model.tokens(one)} for one in texts],
            asset=asset,
            carried=b"".join([first, *shards, self._stored]),
            size=len(asset_script(asset, first)),
            start={
                "text": texts[0] if text is None else text,
                "layer": layer,
                "head": head,
                "row": row,
                "off": off,
                "between": between,
            },
        )

    @property
    def tokens(self) -> list[str]:
        """The pieces of the sentence, [CLS] and [SEP] among them."""
        return self._model.tokens(self.text)

    @property
    def weights(self) -> np.ndarray:
        """The weights of every head, (layers, heads, n, n), as the page has them."""
        return self._changed().attention(self.text).numpy()

    @property
    def vectors(self) -> np.ndarray:
        """The last layer's vectors, (n, d_model), with the heads that are off."""
        return self._changed().hidden(self.text)[0][0].numpy()

    def save_asset(self, folder: Path) -> None:
        """Write the scripts that a page loads the weights and the examples from into the folder."""
        save_weights(self.asset, self._first, self._shards, folder)
        _write(folder, f"{self.asset}-stored", self._stored)

    @traitlets.observe("text")
    def _keep_place(self, _: Any) -> None:
        """A piece that a shorter sentence does not have is let go."""
        if (self.row or 0) >= len(self.tokens):
            self.row = None

    def _read(self, name: str, value: Any, *, most: int) -> str:
        count = len(self._model.tokens(value)) if isinstance(value, str) and value.strip() else 0
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a string, got {checks.one_line(value)}")
        if not 2 < count <= most:
            raise ValueError(
                f"{name} must have 1 to {most - 2} pieces besides [CLS] and [SEP], got"
                f" {max(0, count - 2)} of {checks.one_line(value)}"
            )
        return value

    def _examples(self, value: Sequence[str]) -> list[str]:
        found = checks.texts("examples", value)
        if not 1 <= len(found) <= _MOST_EXAMPLES:
            raise ValueError(f"examples must be 1 to {_MOST_EXAMPLES}, got {len(found)}")
        most = min(_MOST_STORED, self._model.max_length)
        return [self._read(f"examples[{k}]", one, most=most) for k, one in enumerate(found)]

    def _seen(self, text: str) -> bytes:
        """Return an example's weights, and the cosines of its last vectors."""
        last = functional.normalize(self._model.hidden(text)[0][0], dim=-1)
        weights = self._model.attention(text).numpy()
        return door.pack(weights, causal=False) + (last @ last.T).numpy().astype("<f4").tobytes()

    def _changed(self) -> Pretrained:
        """Return the model with zeros in place of the outputs of the heads that are off."""
        if not self.off:
            return self._model
        model = copy.deepcopy(self._model)
        blocks: Any = model.encoder.blocks
        with torch.no_grad():
            for layer, head in self.off:
                mix = blocks[layer].attention.out.weight.unflatten(1, (self.sizes["heads"], -1))
                mix[:, head] = 0  # (d_model, h, d_k)
        return model

    def _summary(self) -> str:
        layers, heads = self.sizes["layers"], self.sizes["heads"]
        return f"{layers} × {heads} heads, {len(self.off)} off: {self.text}"

    def _fallback(self) -> str:
        weights = self.weights[self.layer, self.head]
        tokens = [markup.escape(token) for token in self.tokens]
        said = (
            f"<p>Attention weights of layer {self.layer} head {self.head}, counted from 0, in:"
            f" {markup.escape(self.text)}</p>"
        )
        rows = [
            [token, door.largest(tokens, found)]
            for token, found in zip(tokens, weights, strict=True)
        ]
        label = "The largest weights of each piece"
        return said + markup.table(["piece", "attends most to"], rows, label=label)


def save_weights(asset: str, first: bytes, shards: Sequence[bytes], folder: Path) -> None:
    """Write what ``weights.packed`` returned as the scripts of an asset."""
    _write(folder, asset, first)
    for place, shard in enumerate(shards):
        _write(folder, f"{asset}-{place}", shard)


def _write(folder: Path, name: str, data: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.js"
    path.write_text(asset_script(name, data), encoding="ascii", newline="\n")


def _two(name: str, value: Any) -> list[str]:
    """Return the names of at most two pieces, not the same twice."""
    found = checks.texts(name, value)
    if len(found) > 2 or len(set(found)) < len(found):
        raise ValueError(f"{name} must be two different pieces, got {checks.one_line(value)}")
    return found


def _heads(value: Any, sizes: dict[str, Any]) -> list[list[int]]:
    """Return heads by layer and number, each once."""
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"off must be a list of (layer, head), got {checks.one_line(value)}")
    found = []
    for place, one in enumerate(value):
        if not isinstance(one, (list, tuple)) or len(one) != 2:
            raise ValueError(f"off[{place}] must be (layer, head), got {checks.one_line(one)}")
        names = (("layer", "layers"), ("head", "heads"))
        pairs = zip(names, one, strict=True)
        found.append(
            [
                checks.index_of(f"the {name} of off[{place}]", number, count=sizes[many])
                for (name, many), number in pairs
            ]
        )
    return [one for place, one in enumerate(found) if one not in found[:place]]
