"""Compare the scoring functions on reversal: exact match by length, and where the model looks.

One recipe for all, that of ``attnlab.models.translator``: reversal of 2 to 24 digits, width 128,
600 steps. "linear" is additive without its tanh, a score that cannot see the decoder's state; "two
projections" is the scaled dot product of a projected state and projected annotations; "no
attention" has nothing to look with. The rate 0.006 was chosen for the additive score in Bahdanau's
order; half of it tells what hangs on it.
"""

from __future__ import annotations

from torch import Tensor, nn

from attnbook.rnn import Order, RNNSeq2Seq
from attnbook.scores import Score, dot, scaled_dot
from attnlab.models import Lesson, by_length, looks, reversal, translator, write
from attnlab.training.metrics import alignment_accuracy, exact_match
from attnlab.training.seeds import seeded
from experiments.harness import run, some, teach

D_MODEL, STEPS = 128, 600
EDGES = (2, 7, 13, 19, 25)
MODELS = {
    "additive": {"order": "bahdanau", "score": "additive"},
    "dot": {"order": "bahdanau", "score": "dot"},
    "scaled dot": {"order": "bahdanau", "score": "scaled dot"},
    "bilinear": {"order": "bahdanau", "score": "bilinear"},
    "linear": {"order": "bahdanau", "score": "linear"},
    "additive, Luong": {"order": "luong", "score": "additive"},
    "dot, Luong": {"order": "luong", "score": "dot"},
    "scaled dot, Luong": {"order": "luong", "score": "scaled dot"},
    "bilinear, Luong": {"order": "luong", "score": "bilinear"},
    **{
        f"{score}, Luong, rate 0.003": {"order": "luong", "score": score, "lr": 3e-3}
        for score in ("additive", "dot", "scaled dot", "bilinear")
    },
    "linear, Luong": {"order": "luong", "score": "linear"},
    "linear, Luong, rate 0.003": {"order": "luong", "score": "linear", "lr": 3e-3},
    **{
        f"{score}, rate 0.003": {"order": "bahdanau", "score": score, "lr": 3e-3}
        for score in ("additive", "dot", "scaled dot", "bilinear", "linear")
    },
    "no attention": {"order": "none"},
    "no attention, rate 0.003": {"order": "none", "lr": 3e-3},
    # half the rate makes this score alone worse: does twice the rate make it better?
    "scaled dot, rate 0.012": {"order": "bahdanau", "score": "scaled dot", "lr": 0.012},
    "scaled dot, Luong, rate 0.012": {"order": "luong", "score": "scaled dot", "lr": 0.012},
    **{
        f"{score}{ends}": {"order": order, "score": score, "lr": lr}
        for score in ("two projections", "two projections, no root")
        for order, end in (("luong", ", Luong"), ("bahdanau", ""))
        for lr, ends in ((6e-3, end), (3e-3, f"{end}, rate 0.003"))
    },
}
AGAIN = ("scaled dot, Luong", 0)
TOLERANCE = {"exact match": 0.15, "on the digit to write": 0.2, "parameters": 0}


class Linear(nn.Module):
    """Score by e = w_q · q + w_k · k + b: the softmax over k cancels all but the middle term."""

    def __init__(self, d_q: int, d_k: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(d_q, 1), nn.Linear(d_k, 1, bias=False)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the scores (…, n_q, n_k) of query (…, n_q, d_q) and key (…, n_k, d_k)."""
        return self.query(query) + self.key(key).mT


class TwoProjections(nn.Module):
    """Score by e = (q A) · (k B) / √d, as a transformer does, or without the root."""

    def __init__(self, d: int, score: Score = scaled_dot) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.score = score

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the scores (…, n_q, n_k) of query (…, n_q, d) and key (…, n_k, d)."""
        return self.score(self.query(query), self.key(key))


OWN = {  # those that ``translator`` does not offer
    "linear": lambda: Linear(D_MODEL, D_MODEL),
    "two projections": lambda: TwoProjections(D_MODEL),
    "two projections, no root": lambda: TwoProjections(D_MODEL, dot),
}


def with_own(lesson: Lesson, order: Order, score: str, seed: int, lr: float) -> RNNSeq2Seq:
    """Train as ``translator`` does, with a score that it does not offer."""
    with seeded(seed):
        sizes = len(lesson.source), len(lesson.target), D_MODEL
        model = RNNSeq2Seq(*sizes, order=order, score=OWN[score]())
    teach(model, lesson, seed, steps=STEPS, lr=lr)
    return model


def data() -> list[Lesson]:
    """Return all that is learnt and tested on."""
    return [reversal()]


def measure(
    seed: int, *, order: Order, score: str = "additive", lr: float = 6e-3, asked: int | None = None
) -> dict[str, float]:
    """Train one model; return its exact match, the same by length, and where it looks."""
    lesson = some(reversal(), asked)
    if score in OWN:
        model = with_own(lesson, order, score, seed, lr)
    else:
        settings = {"order": order, "score": score, "d_model": D_MODEL, "steps": STEPS, "lr": lr}
        model, _ = translator(lesson, seed=seed, **settings)
    written, wanted = write(model, lesson, lesson.test), [pair.target for pair in lesson.test]
    right = [one == other for one, other in zip(written, wanted, strict=True)]
    found = {"exact match": exact_match(written, wanted), **by_length(lesson.test, right, EDGES)}
    if order == "none":
        return found
    gold = [pair.alignment for pair in lesson.test]
    # one to the right of the digit to be written stands the digit written last
    last = [[(i + 1, j) for i, j in links if j > 0] for links in gold]
    seen = looks(model, lesson, lesson.test)
    kind = model.decoder.score
    parameters = kind.parameters() if isinstance(kind, nn.Module) else ()
    return {
        **found,
        "on the digit to write": alignment_accuracy(seen, gold).overall,
        "on the digit before": alignment_accuracy(seen, last).overall,
        "parameters": sum(one.numel() for one in parameters),
    }


if __name__ == "__main__":
    run(__file__)
