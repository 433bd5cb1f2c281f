"""Lecture 11's table: the Transformer beside Bahdanau's translator, and what each choice changes.

The models are those of ``attnlab.models.transformer``, on lecture 3's pairs. What one choice
changes is asked of runs of 300 steps, which leave much to be learnt.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from attnbook.decoding import Stepper
from attnbook.rnn import AttentionDecoder, DecoderState, RNNSeq2Seq
from attnbook.scores import Additive
from attnbook.transformer import Seq2Seq
from attnlab.language.batching import Batch
from attnlab.models import (
    Lesson,
    by_length,
    crossings,
    transformer,
    translation,
    translator,
    write,
)
from attnlab.training.losses import PAD, teacher_forced
from attnlab.training.metrics import (
    alignment_accuracy,
    alignment_error_rate,
    argmax_links,
    bleu,
    evaluating,
    exact_match,
    perplexity,
)
from attnlab.training.seeds import seeded
from experiments.harness import run, some, teach

FEW = {"steps": 300, "warmup": 100}
MODELS: dict[str, dict[str, Any]] = {
    "Transformer, 1,500 steps": {},
    "Transformer, own output matrix, 1,500 steps": {"tied": False},
    "Bahdanau, 1,500 steps": {"recurrent": True},
    "LSTM, 1,500 steps": {"lstm": True},
    "300 steps": FEW,
    "300 steps, no warm-up": {**FEW, "warmup": 0},
    "300 steps, smoothing 0.1": {**FEW, "smoothing": 0.1},
    "300 steps, own output matrix": {**FEW, "tied": False},
    "300 steps, no positions": {**FEW, "positions": None},
}
AGAIN = ("300 steps", 0)
TOLERANCE = {"exact match": 0.15, "BLEU": 10, "confidence": 0.06, "words right": 0.06}
EDGES = (3, 6, 9, 12, 17)


class Reader(nn.LSTM):
    """In place of the encoder's GRU: the states of all words, and those in which it ends."""

    def forward(self, *given: Any) -> Any:
        states, (last, _) = super().forward(*given)
        return states, last


class Writer(AttentionDecoder):
    """Bahdanau's decoder with an LSTM: a state is h_t and its cell c_t, side by side; c_0 = 0."""

    def __init__(self, vocabulary: int, d_model: int) -> None:
        super().__init__(vocabulary, d_model, score=Additive(*3 * [d_model]))
        self.gru = nn.LSTM(2 * d_model, d_model, batch_first=True)

    def start(self, *given: Any) -> DecoderState:
        state = super().start(*given)
        cell = torch.zeros_like(state.hidden)
        return state._replace(hidden=torch.cat([state.hidden, cell], dim=-1))

    def _advance(self, word: Tensor, state: DecoderState) -> Any:
        hidden, cell = state.hidden.chunk(2, dim=-1)  # (rows, d) each
        context, weights = self._look_once(hidden, state.memory)
        word = torch.cat([word, context], dim=-1)
        hidden, cell = torch.lstm_cell(word, (hidden, cell), *self.gru.all_weights[0])
        both = torch.cat([hidden, cell], dim=-1)
        return self._combine(context, hidden), state._replace(hidden=both), weights


def with_lstm(lesson: Lesson, *, seed: int, **settings: Any) -> RNNSeq2Seq:
    """Train lecture 3's translator with LSTMs in place of its GRUs."""
    sizes, d_model = (len(lesson.source), len(lesson.target)), 192
    with seeded(seed):
        model = RNNSeq2Seq(*sizes, d_model)
        model.encoder.gru = Reader(d_model, d_model // 2, batch_first=True, bidirectional=True)
        model.decoder = Writer(sizes[1], d_model)
    teach(model, lesson, seed, **settings)
    return model.eval()


def translate(model: Stepper, lesson: Lesson) -> dict[str, float]:
    """Return how the held-out sentences come out."""
    wanted = [pair.target for pair in lesson.test]
    written = write(model, lesson, lesson.test)
    lines = [[" ".join(words) for words in side] for side in (written, wanted)]
    unseen = write(model, lesson, lesson.combinations)
    right = [mine == theirs for mine, theirs in zip(written, wanted, strict=True)]
    return {
        "exact match": exact_match(written, wanted),
        "combinations": exact_match(unseen, [pair.target for pair in lesson.combinations]),
        "BLEU": bleu(*lines, tokenize="none").score,
        **by_length(lesson.test, right, EDGES),
    }


def certainty(model: nn.Module, batches: list[Batch]) -> dict[str, float]:
    """Return how sure the model is of the word it finds likeliest, and how often it is right."""
    sure, right, count = 0.0, 0, 0
    with evaluating(model):
        for batch in batches:
            real = batch.target_out != PAD
            best, word = teacher_forced(model, batch)[real].softmax(-1).max(-1)
            sure += best.sum().item()
            right += (word == batch.target_out[real]).sum().item()
            count += len(word)
    return {"confidence": sure / count, "words right": right / count}


def align(model: Seq2Seq, lesson: Lesson) -> dict[str, float]:
    """Compare the greatest weights with the gold links: each head's, and those of the mean."""
    gold = [pair.alignment for pair in lesson.test]
    found: dict[str, float] = {}
    for layer in range(len(model.decoder.blocks)):
        heads = [one[:, :-1] for one in crossings(model, lesson, lesson.test, layer=layer)]
        names = range(model.config.n_heads)
        rows = {f"head {head}": [one[head] for one in heads] for head in names}
        rows["mean"] = [one.mean(0) for one in heads]
        for name, weights in rows.items():
            links = [argmax_links(one) for one in weights]
            found[f"layer {layer} {name}, AER"] = alignment_error_rate(links, gold)
            found[f"layer {layer} {name}, right"] = alignment_accuracy(weights, gold).overall
    return found


def data() -> list[Lesson]:
    """Return all that is learnt and tested on."""
    return [translation()]


def measure(
    seed: int,
    *,
    asked: int | None = None,
    recurrent: bool = False,
    lstm: bool = False,
    **settings: Any,
) -> dict[str, float]:
    """Train one model and test it on the held-out pairs."""
    lesson = some(translation(), asked)
    if lstm:
        model: Any = with_lstm(lesson, seed=seed, **settings)
    else:
        train: Any = translator if recurrent else transformer
        model, _ = train(lesson, seed=seed, progress=False, **settings)
    held_out = lesson.batches(lesson.test)
    found = translate(model, lesson)
    found |= {"perplexity": perplexity(model, held_out)} | certainty(model, held_out)
    as_it_is = not (recurrent or lstm or settings)
    return found | (align(model, lesson) if as_it_is else {})


if __name__ == "__main__":
    run(__file__)
