"""How much of a sentence goes through one vector: three tasks, by length and place.

"sentences" translates the corpus; "reversal" writes a string of digits backwards, "copying"
forwards. The last two differ in nothing but the order of writing, so what they have in common in
the shares of right digits by place comes from reading, and the rest from the order of writing. The
rows "one reader" read from the left alone, so that the first digit was read longest ago. The rows
"reader of" train a fresh decoder on the frozen encoder of the other task: if the decoder loses,
what is wrong follows its own order of writing; if that encoder kept less, that of the other task.
A fresh decoder for the encoder's own task is their control. "reversal, attention", lecture 3's
control, looks back; all other rows have no attention.

The rows named by numbers, steps and rate reverse strings of 2 to 8 digits. They tell apart what the
size of the model, the size of its vector alone, and the training do to a limit.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from attnbook.rnn import Encoded, Order, RNNSeq2Seq
from attnlab.language import Vocabulary, copied
from attnlab.models import Lesson, by_length, reversal, translation, translator, write
from attnlab.training.losses import teacher_forced
from attnlab.training.metrics import evaluating
from attnlab.training.seeds import seeded
from experiments.harness import run, some, teach

MODELS = {
    "sentences": {"task": "sentences"},
    "reversal": {"task": "reversal"},
    "copying": {"task": "copying"},
    "reversal, ten times the steps": {"task": "reversal", "steps": 11_500},
    "reversal, attention": {"task": "reversal", "order": "bahdanau"},
    "reversal, one reader": {"task": "reversal", "encoder": "one reader"},
    "copying, one reader": {"task": "copying", "encoder": "one reader"},
    "reversal, reader of copying": {"task": "reversal", "reader": "copying"},
    "copying, reader of reversal": {"task": "copying", "reader": "reversal"},
    "reversal, reader of reversal": {"task": "reversal", "reader": "reversal"},
    "copying, reader of copying": {"task": "copying", "reader": "copying"},
    **{
        f"{d} numbers, {steps:,} steps, rate {lr}": {
            "task": "short reversal",
            "d_model": d,
            "steps": steps,
            "lr": lr,
        }
        for d, steps, lr in (
            (28, 800, 0.01),
            (28, 800, 0.006),
            (192, 800, 0.01),
            (192, 800, 0.006),
            (28, 8_000, 0.01),
            (28, 8_000, 0.006),
            (192, 8_000, 0.006),
            (192, 8_000, 0.003),
        )
    },
    "192, s_0 of 28, 800 steps, rate 0.006": {
        "task": "short reversal",
        "encoder": "squeezed",
        "d_model": 192,
        "steps": 800,
    },
}
AGAIN = ("reversal", 0)
TOLERANCE = {"exact match": 0.08, "7–12": 0.2, "13–18": 0.1, "place 6 of 6": 0.1}
EDGES = {  # the first length of each range, and the end
    "sentences": (3, 6, 9, 12, 21),
    "reversal": (2, 7, 13, 19, 25),
    "copying": (2, 7, 13, 19, 25),
    "short reversal": (2, 4, 6, 8, 9),
}
LONG = range(13, 19)  # the lengths whose places are compared
PLACES = 6
NARROW = 28  # the numbers of Figure 1.1's vector


class OneReader(nn.Module):
    """Read from the left alone, by one GRU of d numbers: s_0 = tanh(W h_n)."""

    def __init__(self, vocabulary: int, d: int) -> None:
        super().__init__()
        self.embedding, self.gru = nn.Embedding(vocabulary, d), nn.GRU(d, d, batch_first=True)
        self.summary = nn.Linear(d, d)

    def forward(self, source: Tensor, lengths: Tensor) -> Encoded:
        """Return the summary (b, d) of source (b, n); nothing looks at its annotations."""
        packed = pack_padded_sequence(
            self.embedding(source), lengths.cpu(), True, enforce_sorted=False
        )
        _, last = self.gru(packed)  # (1, b, d)
        summary = torch.tanh(self.summary(last[0]))
        return Encoded(summary[:, None], summary)


def made(lesson: Lesson, encoder: str, d: int, seed: int) -> RNNSeq2Seq:
    """Return a fresh model with another encoder."""
    with seeded(seed):
        model = RNNSeq2Seq(len(lesson.source), len(lesson.target), d, order="none")
        if encoder == "one reader":
            model.encoder = OneReader(len(lesson.source), d)
        else:  # the sentence passes by few numbers; the rest of the decoder's first state is 0
            narrow = nn.Linear(d, NARROW), nn.ZeroPad1d((0, d - NARROW))
            model.encoder.summary = nn.Sequential(*narrow)
    return model


def rewritten(lesson: Lesson, reader: str, seed: int, **training: Any) -> RNNSeq2Seq:
    """Train on another task; then keep the encoder as it is and train a fresh decoder on this."""
    how = {"order": "none", "seed": seed, "progress": False}
    first, _ = translator(lesson_of(reader), **how, **training)
    with seeded(seed):
        model = RNNSeq2Seq(len(lesson.source), len(lesson.target), 192, order="none")
    model.encoder = first.encoder.requires_grad_(False)
    teach(model, lesson, seed, **training)
    return model


def data() -> list[Lesson]:
    """Return all that is learnt and tested on."""
    return [lesson_of(task) for task in EDGES]


def measure(
    seed: int,
    *,
    task: str,
    encoder: str = "both",
    reader: str = "",
    order: Order = "none",
    asked: int | None = None,
    d_model: int = 192,
    steps: int = 1_150,
    lr: float = 6e-3,
) -> dict[str, float]:
    """Train one model; return its shares of right answers."""
    lesson = some(lesson_of(task), asked)
    training: dict[str, Any] = {"steps": steps, "lr": lr}
    if reader:
        model = rewritten(lesson, reader, seed, **training)
    elif encoder == "both":
        how = {"order": order, "d_model": d_model, "seed": seed, "progress": False}
        model, _ = translator(lesson, **how, **training)
    else:
        model = made(lesson, encoder, d_model, seed)
        teach(model, lesson, seed, **training)
    right = answers(model, lesson, lesson.test)
    found = {"exact match": sum(right) / len(right)}
    found |= by_length(lesson.test, right, EDGES[task])
    if task == "sentences":
        apart = answers(model, lesson, lesson.combinations)
        return found | {"combinations": sum(apart) / len(apart)}
    if task == "short reversal":
        return found
    return found | by_place(model, lesson, backwards=task == "reversal")


def lesson_of(task: str) -> Lesson:
    """Return what is to be learnt."""
    if task == "sentences":
        return translation()
    if task == "reversal":
        return reversal()
    if task == "short reversal":
        return reversal(shortest=2, longest=8)
    pairs = tuple(copied(21_000, shortest=2, longest=24))
    digits = Vocabulary([list("0123456789")])
    return Lesson(pairs[1_000:], pairs[:1_000], (), digits, digits)


def answers(model: RNNSeq2Seq, lesson: Lesson, pairs: tuple) -> list[bool]:
    """Say for each pair whether the model writes the whole target."""
    written = write(model, lesson, pairs)
    return [words == pair.target for words, pair in zip(written, pairs, strict=True)]


def by_place(model: RNNSeq2Seq, lesson: Lesson, *, backwards: bool) -> dict[str, float]:
    """Return the share of right digits in each sixth of the *source*, for the ``LONG`` strings.

    Teacher-forced: the decoder reads the right digits, so that one slip does not spoil the rest.
    """
    pairs = [pair for pair in lesson.test if len(pair.source) in LONG]
    shares: list[list[float]] = [[] for _ in range(PLACES)]
    with evaluating(model):
        for batch in lesson.batches(pairs):
            right = teacher_forced(model, batch).argmax(-1) == batch.target_out
            for row, n in zip(right, (batch.target_lengths - 1).tolist(), strict=True):
                digits = row[:n].flip(0) if backwards else row[:n]  # in the order of the source
                for j, one in enumerate(digits.tolist()):
                    shares[j * PLACES // n].append(one)
    means = [float(torch.tensor(share, dtype=torch.float64).mean()) for share in shares]
    return {f"place {k} of {PLACES}": mean for k, mean in enumerate(means, 1)}


if __name__ == "__main__":
    run(__file__)
