"""A Transformer that translates in the reader's browser, and shows where it looks."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
import traitlets

from attnbook.decoding import Hypothesis, beam_search
from attnbook.multihead import MultiHeadAttention
from attnbook.record import record_attention
from attnbook.transformer import Seq2Seq
from attnlab.language import Vocabulary
from attnlab.models.stored import weights as stored_weights
from attnlab.models.stored.rows import pack_rows
from attnlab.models.stored.script import asset_script
from attnlab.widgets.applications.translator.pieces import PagePieces
from attnlab.widgets.applications.translator.vocabularies import Vocabularies
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.assets import WithAsset
from attnlab.widgets.core.checks import ruled

__all__ = ["EXAMPLES", "Translator"]

FIRST = "the small black cat does not eat the red apple"
EXAMPLES = (
    "how was your day",
    "the queen looks after your neighbour's owl",
    "how many blue bags must you sell",
)
BLANK = 0.005  # as in the book's other figures, a smaller weight has no number
_LAYERS = {
    "cross": "decoder.blocks.{}.cross",
    "encoder": "encoder.blocks.{}.attention",
    "decoder": "decoder.blocks.{}.attention",
}
_MOST_EXAMPLES = 6
_MOST_BEAM = 8
_STEEPEST = 2  # the greatest length penalty


def _place(name: str, value: int) -> int:
    if value < 0:
        raise ValueError(f"{name} must be None or at least 0, got {value}")
    return value


class Translator(WithAsset, kind="translator"):
    """Type an English sentence, and a trained Transformer translates it in the page itself.

    The page loads the weights, 8 bits each, when the reader first asks for a translation, and runs
    the model; ``attnlab.models.stored.rounded(model)`` computes the very same. Beam search is that
    of ``attnbook.decoding``: score(y) = log p(y) / n^α.

    Args:
        model: ``Seq2Seq`` with sinusoidal positions, ReLU and d_model of at most 256, pre- or
            post-norm, tied or not, of at most some 2.5 million weights; both sides may share one
            matrix of embeddings.
        source_vocabulary: the model's own; target_vocabulary: alike. Or a ``tokenizers.Tokenizer``
            and None: a BPE whose pieces both sides share; ``translator/pieces.py`` says which.
        sentence: what is translated first: a text, or 1 to 16 tokens; of pieces, 1 to 60.
        lower: of pieces, whether the model reads lower case alone. Before they are cut, letters
            are composed (NFC), and spaces made one.
        examples: texts that the reader may choose, at most 6.
        beam: hypotheses kept at every step, 1 to 8; length_penalty: α, from 0 to 2.
        part: whose weights are drawn: "cross", "encoder" or "decoder".
        layer: of that part (−1 is the last); head: one of its heads, or None for their mean.
        off: heads that add nothing, each as (part, layer, head): their output is zero.
        temperature: T, by which all scores are divided besides √d_k, in every attention.
        asset: the name of the file that the page loads the weights from.
        simple: show the sentence and a button alone until it is translated, piece by piece.

    The traits sentence, beam, penalty, part, layer, head, shown (how many words of the translation
    are shown; None is all), row (the one pinned), off and temperature follow the reader's hand.

    Raises: TypeError for a model or a vocabulary that is none; ValueError for a model that the page
    cannot run or that is not that of the vocabularies, words that it does not know, and numbers
    that do not fit.
    """

    source_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    target_words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    shapes = traitlets.List().tag(sync=True)  # of the tensors in the asset
    sizes = traitlets.Dict().tag(sync=True)  # heads, layers, whether post, tied and shared, eps
    pieces = traitlets.Dict().tag(sync=True)  # how a text is cut into pieces; empty for words
    examples = traitlets.List(traitlets.Unicode()).tag(sync=True)
    sentence = traitlets.List(traitlets.Unicode()).tag(
        sync=True, rule=lambda self, name, value: self._reader.sentence(name, value)
    )
    beam = ruled(traitlets.Int(1), checks.whole, least=1, most=_MOST_BEAM)
    penalty = traitlets.Float(1.0).tag(
        sync=True,
        rule=lambda self, _, value: checks.between(
            "length_penalty", value, least=0, most=_STEEPEST
        ),
    )
    part = ruled(
        traitlets.Unicode("cross"),
        checks.one_of,
        choices=tuple(_LAYERS),
        said=f"one of {', '.join(_LAYERS)}",
    )
    layer = ruled(traitlets.Int(0), checks.index_of, count=lambda self: self.sizes["layers"])
    head = ruled(
        traitlets.Int(None, allow_none=True),
        checks.index_of,
        count=lambda self: self.sizes["heads"],
    )
    shown = ruled(traitlets.Int(None, allow_none=True), _place)
    row = ruled(traitlets.Int(None, allow_none=True), _place)
    # heads that add nothing: (part, layer, head)
    off = traitlets.List().tag(sync=True, rule=lambda self, _, value: _heads(value, self.sizes))
    temperature = ruled(traitlets.Float(1.0), checks.between, least=0.01, most=1000)
    simple = traitlets.Bool(False).tag(sync=True)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        model: Seq2Seq,
        source_vocabulary: Vocabulary | Any,
        target_vocabulary: Vocabulary | None = None,
        *,
        sentence: str | Sequence[str] = FIRST,
        examples: Sequence[str] = EXAMPLES,
        lower: bool = False,
        beam: int = 1,
        length_penalty: float = 1.0,
        part: str = "cross",
        layer: int = -1,
        head: int | None = None,
        off: Sequence[tuple[str, int, int]] = (),
        temperature: float = 1.0,
        asset: str = "translator",
        simple: bool = False,
        caption: str = "",
    ) -> None:
        self._model = stored_weights.rounded(model)
        self._reader = _reader(self._model, source_vocabulary, target_vocabulary, lower)
        tensors = stored_weights.tensors_of(model)
        carried = pack_rows(tensors) + self._reader.table
        super().__init__(
            caption=caption,
            source_words=list(self._reader.known),
            target_words=self._reader.target if self._reader.known else [],
            shapes=[list(tensor.shape) for tensor in tensors],
            sizes=stored_weights.sizes(self._model),
            pieces=self._reader.page,
            examples=_examples(examples, self._reader),
            asset=asset,
            simple=checks.switch("simple", simple),
            carried=carried,
            size=len(asset_script(asset, carried)),
            start={
                "sentence": sentence,
                "beam": beam,
                "penalty": length_penalty,
                "part": part,
                "layer": layer,
                "head": head,
                "shown": None,
                "row": None,
                "off": off,
                "temperature": temperature,
            },
        )

    def state(self) -> dict[str, Any]:
        """Return what the page's JSON holds: of pieces, only where there are any."""
        found = super().state()
        return {k: v for k, v in found.items() if v or k not in ("pieces", "simple")}

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """What beam search finds for the sentence, best first, by the rounded weights."""
        source, lengths = self._source()
        return beam_search(
            self._changed(),
            source,
            lengths,
            beam=self.beam,
            max_length=self._reader.longest(source.shape[1]),
            length_penalty=self.penalty,
        )[0]

    @property
    def translation(self) -> str:
        """The best hypothesis as a text."""
        return self._reader.text(self.hypotheses[0].tokens)

    @property
    def weights(self) -> np.ndarray:
        """The weights that are drawn, of shape (n_q, n_k), of one head or the mean of all.

        "encoder": source × source. "cross": row t is the step that writes word t, a column a word
        of the source. "decoder": row t reads word t − 1, the first one <bos>, and all before it.
        """
        return self._run(self.hypotheses[0], self.part)[1]

    def _changed(self) -> Seq2Seq:
        """Return the model with the heads that are off, and with its scores divided by T."""
        if not self.off and self.temperature == 1:
            return self._model
        model = copy.deepcopy(self._model)
        heads = self.sizes["heads"]
        with torch.no_grad():
            for part, layer in itertools.product(_LAYERS, range(self.sizes["layers"])):
                place = _LAYERS[part].format(layer)
                attention = cast("MultiHeadAttention", model.get_submodule(place))
                for parameter in attention.qkv.parameters():  # the queries, and so the scores
                    parameter[: attention.d_model] /= self.temperature
                columns = attention.out.weight.unflatten(1, (heads, -1))  # (d_model, h, d)
                for head in (head for *where, head in self.off if where == [part, layer]):
                    columns[:, head] = 0
        return model

    def _source(self) -> tuple[torch.Tensor, torch.Tensor]:
        ids = torch.tensor([self._reader.source(self.sentence)[0]])
        return ids, torch.tensor([ids.shape[1]])

    def _words(self, ids: Sequence[int]) -> list[str]:
        return [self._reader.target[number] for number in ids]

    def _run(self, best: Hypothesis, part: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the probability of each token of a hypothesis (m,), and the weights of a part."""
        source, lengths = self._source()
        written = _written(best)
        target = torch.tensor([[Vocabulary.bos, *written[:-1]]])
        model = self._changed()
        with torch.no_grad(), record_attention(model) as seen:
            logits = model(source, target, source_lengths=lengths)
            drawn = seen.weights(_LAYERS[part].format(self.layer), heads=self.head)[0]
        chances = logits[0].softmax(dim=-1)[torch.arange(len(written)), written]
        return chances.numpy(), drawn.mean(dim=0).numpy()

    def _summary(self) -> str:
        return f"d_model {self.shapes[0][1]}, {' '.join(self.sentence)} → {self.translation}"

    def _fallback(self) -> str:
        best = self.hypotheses[0]
        said = (
            f"The model reads “{markup.escape(' '.join(self.sentence))}” and writes"
            f" “{markup.escape(self.translation)}”."
        )
        if self.simple:
            return f"<p>{said}</p>"
        chances, weights = self._run(best, "cross")
        words = map(markup.escape, self._words(_written(best)))
        rows = [
            [word, markup.fixed(p, 2), *map(_weight, row)]
            for word, p, row in zip(words, chances, weights, strict=True)
        ]
        source = [markup.escape(word) for word in self._reader.source(self.sentence)[1]]
        whose = "the mean of its heads" if self.head is None else f"head {self.head}"
        return (
            f"<p>{said} A row is a word that it writes, with its"
            " probability p and where the decoder looks in the source for it: layer"
            f" {self.layer}, {whose}. The weights of a row sum to 1.</p>"
            + markup.table(
                ["word", "p", *source],
                rows,
                label="Each word of the translation, and its weights over the source",
                shades=[[None, *row] for row in weights.tolist()],
            )
        )


def _weight(weight: float) -> str:
    """Return a weight as the maps have it: below 0.005 a cell has no number."""
    return "" if weight < BLANK else markup.fixed(weight, 2)


def _heads(value: Any, sizes: dict[str, Any]) -> list[list[Any]]:
    """Return heads by part, layer and number, each once."""
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"off must be a list of (part, layer, head), got {value!r}")
    found = []
    for place, one in enumerate(value):
        name = f"off[{place}]"
        if not isinstance(one, (list, tuple)) or len(one) != 3:
            raise ValueError(f"{name} must be (part, layer, head), got {one!r}")
        part, layer, head = one
        part = checks.one_of(f"the part of {name}", part, choices=tuple(_LAYERS))
        layer = checks.index_of(f"the layer of {name}", layer, count=sizes["layers"])
        found.append(
            [part, layer, checks.index_of(f"the head of {name}", head, count=sizes["heads"])]
        )
    return [one for place, one in enumerate(found) if one not in found[:place]]


def _written(best: Hypothesis) -> list[int]:
    """All that was written, eos with it where it came."""
    return [*best.tokens, *([Vocabulary.eos] if best.finished else [])]


def _reader(model: Seq2Seq, source: Any, target: Any, lower: bool) -> Vocabularies | PagePieces:
    """Return what cuts the reader's text, and joins the model's; both sides must be the model's."""
    if isinstance(source, Vocabulary) or not hasattr(source, "to_str"):
        stored_weights.check_vocabularies(model, source, target)
        checks.switch("lower", lower)
        return Vocabularies(source, target)
    if target is not None:
        raise ValueError("target_vocabulary must be None where one tokenizer cuts both languages")
    about = {**stored_weights.options(model), "lower": checks.switch("lower", lower)}
    found = PagePieces(source, lower=lower, about=about)
    stored_weights.check_pieces(model, len(found.target))
    return found


def _examples(value: Sequence[str], reader: Vocabularies | PagePieces) -> list[str]:
    found = checks.texts("examples", value)
    if len(found) > _MOST_EXAMPLES:
        raise ValueError(f"examples must be at most {_MOST_EXAMPLES}, got {len(found)}")
    for place, text in enumerate(found):
        reader.sentence(f"examples[{place}]", text)
    return found
