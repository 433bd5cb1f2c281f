"""The checks of lecture 12, "Pretrained models"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnbook.embeddings import Embeddings
from attnbook.layers import Config, Encoder, EncoderBlock
from attnlab.exercises import (
    Mistake,
    called,
    close,
    drawn,
    exercise,
    named,
    shuffled,
    tensor_of,
    whole,
)
from attnlab.training.seeds import seeded

ONE_EACH = ({0}, {1}, {2})  # the block that is left out


class Filler(nn.Module):
    """A masked language model as it is before training: logits (b, n, v) of ids (b, n)."""

    def __init__(self, n_tokens: int = 9) -> None:
        super().__init__()
        self.embed = Embeddings(n_tokens, 16, positions="learned")
        self.blocks = Encoder(2, Config(16, 2))
        self.output = nn.Linear(16, n_tokens)

    def forward(self, ids: Tensor) -> Tensor:
        return 3 * self.output(self.blocks(self.embed(ids)))


@exercise(4)
def sentence_score(function: Callable[[nn.Module, Tensor, int], Any]) -> str:
    """`function(model, ids, hidden)` must return Σ log p(x_t | all other words), t hidden in turn.

    The model is the check's own, untrained.
    """
    with seeded(int(whole(0, 1_000_000))):
        model = Filler().double().eval()
    hidden, *known = shuffled(9).tolist()
    for n in (5, 3):
        ids = torch.tensor(known)[whole(0, 4, n)]
        found = tensor_of(called(function, model, ids, hidden), ())
        with torch.no_grad():
            _name_scores(model, ids, hidden, found)
    return "A model that cannot write can compare two sentences all the same."


def _name_scores(model: nn.Module, ids: Tensor, hidden: int, found: Tensor) -> None:
    """Name what is wrong with a sentence's score."""
    asked, n = _asked(model, ids, hidden), len(ids)
    at = torch.arange(n)
    seen = model(ids[None])[0].log_softmax(-1)
    none = model(torch.full((1, n), hidden))[0].log_softmax(-1)
    past = torch.stack([ids.where(at < t, hidden) for t in at])
    left = model(past)[at, at].log_softmax(-1)
    logits = model(_each_hidden(ids, hidden))
    named(
        found,
        asked.sum(),
        (seen[at, ids].sum(), "The word stands in what the model reads: hide it before you ask."),
        (none[at, ids].sum(), "All words are hidden at once: hide one, and show all others."),
        (left[at, ids].sum(), "You hid what follows as well: a masked model reads both sides."),
        (asked.mean(), "This is the mean: the sum over the words was wanted."),
        (-asked.sum(), "The sign is turned: log p is negative, a loss is positive."),
        (asked.exp().sum(), "These are probabilities: add up their logarithms."),
        (asked.exp().prod(), "This is the product of the probabilities: take its logarithm."),
        (asked.sum() / torch.tensor(2.0).log(), "That is the logarithm to the base 2."),
        (logits[at, at, ids].sum(), "These are logits: the softmax is missing."),
        (
            logits.log_softmax(-1)[at, at].amax(-1).sum(),
            "You took the likeliest word. Wanted is the one that stood there.",
        ),
        (
            logits.log_softmax(-1)[at[1:], at[1:] - 1, ids[1:]].sum(),
            "You ask the place before for its next word. Here a place is asked for its own word.",
        ),
        (logits.log_softmax(-1)[at, :, hidden].sum(), "You asked for the hidden token itself."),
        otherwise="The number is wrong. Print log p of the first word, with it alone hidden.",
    )


def _each_hidden(ids: Tensor, hidden: int) -> Tensor:
    """Return a row for each word of the sentence, in which that word is hidden: (n, n)."""
    return torch.where(torch.eye(len(ids), dtype=torch.bool), hidden, ids)


def _asked(model: nn.Module, ids: Tensor, hidden: int) -> Tensor:
    """Return log p of each word, hidden alone: (n,)."""
    at = torch.arange(len(ids))
    return model(_each_hidden(ids, hidden)).log_softmax(-1)[at, at, ids]


class Small(nn.Module):
    """An encoder of three blocks with the parts and the call of a ``Pretrained``."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = Embeddings(12, 16, positions="learned")
        self.encoder = Encoder(3, Config(16, 2, norm="post"))

    def forward(self, ids: Tensor, mask: Tensor | None = None, *, layer: int = -1) -> Tensor:
        blocks = list(self.encoder.blocks)
        x = self.embeddings(ids)
        for block in blocks if layer == -1 else blocks[:layer]:
            x = block(x, mask)
        return x


@exercise(3)
def left_out(function: Callable[[nn.Module, Tensor], Any]) -> str:
    """`function(model, ids)` must return the cosines of sentence vectors without one block each.

    The model is the check's own, untrained, of three blocks.
    """
    model = _small()
    for n in (5, 2):
        before, ids = deepcopy(model), whole(0, 11, 1, n)
        found = tensor_of(called(function, model, ids), (3,))
        weights = before.state_dict()
        for name, weight in model.state_dict().items():
            if name not in weights or not torch.equal(weight, weights[name]):
                raise Mistake("The model is changed afterwards: work on a copy, or leave it alone.")
        if len(model.state_dict()) != len(weights):
            raise Mistake("The model has lost a block afterwards: put it back.")
        with torch.no_grad():
            if not close(model(ids), before(ids)):
                raise Mistake(
                    "The model says something else afterwards: take the hooks away again."
                )
            _name_cosines(before, ids, found)
    return "Now call it with MiniLM: are all six blocks equally needed?"


def _small() -> Small:
    with seeded(int(whole(0, 1_000_000))):
        model = Small().double().eval()
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.5)  # so that a block makes a difference
    return model


def _run(model: Small, ids: Tensor, without: Iterable[int]) -> Tensor:
    """Return the vectors (n, d_model) of the run that leaves these blocks out."""
    x = model.embeddings(ids)
    for number, block in enumerate(model.encoder.blocks):
        if number not in without:
            x = block(x)
    return x[0]


def _cosines(model: Small, ids: Tensor, cases: Iterable[Iterable[int]]) -> Tensor:
    whole = _run(model, ids, ()).mean(0)
    rows = [_run(model, ids, case).mean(0) for case in cases]
    return torch.stack([functional.cosine_similarity(row, whole, dim=0) for row in rows])


def _name_cosines(model: Small, ids: Tensor, found: Tensor) -> None:
    """Name what is wrong with the three cosines."""
    wanted = _cosines(model, ids, ONE_EACH)
    whole, first = _run(model, ids, ()).mean(0), _run(model, ids, ())[0]
    runs = [_run(model, ids, case) for case in ONE_EACH]
    lengthy = torch.stack([run.mean(0) @ whole for run in runs])
    of_first = torch.stack([functional.cosine_similarity(run[0], first, dim=0) for run in runs])
    named(
        found,
        wanted,
        (torch.ones(3), "Nothing was left out: all three are 1."),
        (wanted.flip(0), "The order is reversed: the first block comes first."),
        (1 - wanted, "Return the cosine: 1 where nothing changes."),
        (lengthy, "Divide by both lengths: a cosine is a product of vectors of length 1."),
        (
            _cosines(model, ids, [{1, 2}, {0, 2}, {0, 1}]),
            "You kept one block and left the others out: leave one out, keep the others.",
        ),
        (
            _cosines(model, ids, [{0, 1, 2}, {1, 2}, {2}]),
            "You stopped before the block: those after it must still run.",
        ),
        (
            _cosines(model, ids, [{0}, {0, 1}, {0, 1, 2}]),
            "They pile up: put a block back before you leave out the next.",
        ),
        (of_first, "That is the first piece's vector: take the mean over all pieces."),
        (_no_attention(model, ids), "You silenced the attention alone: leave out the whole block."),
        otherwise="The cosines are wrong. What goes into a block that is left out comes out.",
    )


def _nothing(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
    return torch.zeros_like(output)


def _no_attention(model: Small, ids: Tensor) -> Tensor:
    """Return the cosines of runs in which one block's attention adds nothing."""
    found = []
    whole = model(ids)[0].mean(0)
    for chosen in model.encoder.blocks:
        attention = cast(EncoderBlock, chosen).attention
        hook = attention.register_forward_hook(_nothing)
        found.append(functional.cosine_similarity(model(ids)[0].mean(0), whole, dim=0))
        hook.remove()
    return torch.stack(found)


@exercise(2)
def adapted(function: Callable[[Tensor, Tensor, Tensor, Tensor], Any]) -> str:
    """`function(x, W, A, B)` must return x Wᵀ + x Aᵀ Bᵀ, of shape (b, n, out)."""
    x, w, a, b = drawn(2, 3, 7), drawn(5, 7), drawn(2, 7), drawn(5, 2)
    found = tensor_of(called(function, x, w, a, b), (2, 3, 5))
    frozen, beside = x @ w.mT, x @ a.mT @ b.mT
    named(
        found,
        frozen + beside,
        (frozen, "This is W alone, as it was before: add what A and B make of x."),
        (beside, "This is the adapter alone: W goes on working beside it."),
        (frozen - beside, "The adapter is added, not subtracted."),
        (frozen + beside / 2, "You divided by r: the adapter of this lecture has no factor."),
        ((frozen @ w) @ a.mT @ b.mT + frozen, "A reads what W has written. It reads x, beside W."),
        otherwise="The numbers are wrong. Print the shapes of x Aᵀ and of x Aᵀ Bᵀ.",
    )
    return "Two thin matrices beside a large one: this is all that low-rank tuning trains."
