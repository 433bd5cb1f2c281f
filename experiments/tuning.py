"""Compare ways to teach all-MiniLM-L6-v2 a task: which of its numbers are trained, and how many.

"bag of words" counts words and knows nothing of the model. "linear" and "hidden layer" leave the
model as it is and learn a classifier of the mean of its last vectors, without a hidden layer or
with one of 256. "last block" trains the last block with a linear classifier; "low rank" instead a
product B A of rank 8 beside W_q, W_k and W_v of each block, or of the last alone (Hu et al., 2022).
All take as many steps of 32 sentences, by Adam, at a rate that rises for a tenth of the steps and
falls to 0.

The rate of each way is the best of these on a fifth of the examples to learn from, those at places
i with (i // 2) % 5 == 4, after learning from the others with seed 3, which no row has; nothing was
chosen on the test sentences:

- bag of words 0.01, 0.03, 0.1, 0.3; linear 0.001, 0.003, 0.01, 0.03
- hidden layer 0.0003, 0.001, 0.003, 0.01; last block 0.0003, 0.001, 0.003, 0.01, 0.03
- low rank, of either kind, 0.001, 0.003, 0.01

(Many sentences there have a twin of the other class with nearly its words, so the bag of words is
right in less than a half of that fifth.)

Where "low rank" has learnt from all examples, a word of each test sentence is erased as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.parametrize import register_parametrization
from torch.nn.utils.rnn import pad_sequence

from attnbook.layers import EncoderBlock
from attnbook.masks import padding_mask
from attnbook.record import record_attention
from attnlab.language.texts import Opinion, opinions
from attnlab.models.recipe import fit
from attnlab.pretrained import Pretrained, load_minilm
from attnlab.training import seeded, warmup_cosine
from experiments.harness import run

STEPS, BATCH, RANK, HIDDEN = 102, 32, 8, 256
# the first block that is trained; those below are computed once for each sentence
FIRST = {
    "linear": 6,
    "hidden layer": 6,
    "low rank, last block": 5,
    "last block": 5,
    "low rank": 0,
}
RATES = {
    "bag of words": 3e-2,
    "linear": 3e-3,
    "hidden layer": 3e-3,
    "low rank, last block": 3e-3,
    "last block": 1e-2,
    "low rank": 3e-3,
}
MODELS = {
    f"{way}, {count} examples": {"way": way, "count": count} for count in (544, 50) for way in RATES
}
AGAIN = ("last block, 50 examples", 0)
TOLERANCE = {"all": 0.12, "plain": 0.2}


class LowRank(nn.Module):
    """Turn a weight W (m, n) that stays as it is into W + B A, A (r, n) and B (m, r) learnt.

    B begins at 0, so that nothing changes at first.
    """

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        m, n = weight.shape
        self.A = nn.Parameter(torch.randn(rank, n) / n**0.5)
        self.B = nn.Parameter(torch.zeros(m, rank))

    def forward(self, weight: Tensor) -> Tensor:
        """Return W + B A, (m, n)."""
        return weight + self.B @ self.A


class Batch(NamedTuple):
    """Sentences as they enter the first block that is trained, their mask, and their classes."""

    x: Tensor  # (b, n, d_model)
    mask: Tensor  # (b, 1, n)
    labels: Tensor  # (b,)


class Classifier(nn.Module):
    """Some blocks, the mean over a sentence's own pieces, and layers that decide."""

    def __init__(self, blocks: nn.ModuleList, decide: nn.Module) -> None:
        super().__init__()
        self.blocks, self.decide = blocks, decide

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the logits (b, 2) of x (b, n, d_model)."""
        for block in self.blocks:
            x = block(x, mask)
        real = mask.mT.to(x.dtype)  # (b, n, 1)
        return self.decide((x * real).sum(dim=1) / real.sum(dim=1))


class Counting(nn.Module):
    """A number for each word, added up: logits (b, 2) of counts (b, 1, words)."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.decide = nn.Linear(words, 2)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the logits (b, 2)."""
        return self.decide(x[:, 0])


@cache
def minilm(dtype: torch.dtype) -> Pretrained:
    """Return MiniLM with weights of one dtype, which take no gradient."""
    return load_minilm().to(dtype).requires_grad_(False)


@cache
def entering(text: str, first: int, dtype: torch.dtype) -> Tensor:
    """Return what the block ``first`` reads of one sentence, (n, d_model)."""
    return minilm(dtype).hidden(text, layer=first)[0][0]


def drawn(count: int, seed: int) -> list[Opinion]:
    """Draw as many examples of either label, without replacement."""
    chance = torch.Generator().manual_seed(seed)
    known = opinions().train
    found = []
    for label in (0, 1):
        places = [i for i, one in enumerate(known) if one.label == label]
        order = torch.randperm(len(places), generator=chance)[: count // 2]
        found += [known[places[i]] for i in order.tolist()]
    return found


def batch_of(some: list[Opinion], first: int) -> Batch:
    """Return sentences as the block ``first`` reads them, padded."""
    rows = [entering(one.text, first, torch.get_default_dtype()) for one in some]
    x = pad_sequence(rows, batch_first=True)
    mask = padding_mask([len(row) for row in rows], x.shape[1])
    return Batch(x, mask, torch.tensor([one.label for one in some]))


def counted(some: list[Opinion], words: dict[str, int]) -> Batch:
    """Return how often each of the words stands in each sentence, as vectors of one piece."""
    x = torch.zeros(len(some), 1, len(words))
    for row, one in zip(x, some, strict=True):
        for word in one.words:
            if word in words:
                row[0, words[word]] += 1
    return Batch(x, torch.ones(len(some), 1, 1, dtype=torch.bool), _labels(some))


def _labels(some: list[Opinion]) -> Tensor:
    return torch.tensor([one.label for one in some])


def surprise(model: nn.Module, batch: Batch) -> Tensor:
    """Average −log p(label)."""
    return cross_entropy(model(batch.x, batch.mask), batch.labels)


def classifier(way: str) -> Classifier:
    """Return a classifier in which that is trained which requires a gradient."""
    model = minilm(torch.get_default_dtype())
    blocks = deepcopy(model.encoder.blocks[FIRST[way] :])
    d = model.embeddings.tokens.embedding_dim
    if way == "last block":
        blocks.requires_grad_(True)
    if way.startswith("low rank"):
        for block in blocks:
            qkv = cast(EncoderBlock, block).attention.qkv
            register_parametrization(qkv, "weight", LowRank(qkv.weight, RANK))
    if way == "hidden layer":
        return Classifier(
            blocks, nn.Sequential(nn.Linear(d, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 2))
        )
    return Classifier(blocks, nn.Linear(d, 2))


def taught(known: list[Opinion], way: str, seed: int, lr: float | None = None) -> tuple[Any, Any]:
    """Train in one way; return the model and what makes a batch of sentences."""
    words = {w: i for i, w in enumerate(sorted({w for one in known for w in one.words}))}

    def read(some: list[Opinion]) -> Batch:
        return counted(some, words) if way == "bag of words" else batch_of(some, FIRST[way])

    def shuffled(epoch: int) -> Iterator[Batch]:
        order = torch.randperm(len(known)).tolist()  # the seed of the epoch is fit's
        for start in range(0, len(known), BATCH):
            yield read([known[i] for i in order[start : start + BATCH]])

    with seeded(seed):
        model = Counting(len(words)) if way == "bag of words" else classifier(way)
    rate = RATES[way] if lr is None else lr
    schedule = warmup_cosine(STEPS // 10, STEPS)
    fit(model, shuffled, surprise, steps=STEPS, lr=rate, schedule=schedule, seed=seed)
    return model, read


@torch.no_grad()
def decided(model: nn.Module, read: Any, asked: list[Opinion]) -> list[int]:
    """Return the class that the model decides on for each sentence."""
    found = []
    for start in range(0, len(asked), BATCH):
        batch = read(asked[start : start + BATCH])
        found += model(batch.x, batch.mask).argmax(dim=-1).tolist()
    return found


def words_of(text: str) -> list[list[int]]:
    """Return the places of each word's pieces; [CLS], [SEP] and punctuation belong to none."""
    offsets = minilm(torch.get_default_dtype()).tokenizer.encode(text).offsets
    spans = [found.span() for found in re.finditer(r"\w+(?:['’-]\w+)*", text)]
    return [[i for i, (s, e) in enumerate(offsets) if a <= s < e <= b] for a, b in spans]


@torch.no_grad()
def erased(model: Classifier, asked: list[Opinion], first: int) -> dict[str, float]:
    """Erase one word of each sentence; return the shares of decisions that change.

    An erased word is masked as padding is: as a key in all layers, and in the mean. The word with
    most attention is the one whose pieces together get most in the last layer, as the mean over
    heads and over all queries.
    """
    below = minilm(torch.get_default_dtype())
    found: dict[str, list[float]] = {}
    for one in asked:
        words = words_of(one.text)
        ids, whole = below.encode(one.text)
        masks = whole.repeat(len(words) + 1, 1, 1)  # the first erases nothing
        for mask, word in zip(masks[1:], words, strict=True):
            mask[0, word] = False
        x = below(ids.expand(len(masks), -1), masks, layer=first)
        with record_attention(model.blocks if len(model.blocks) else below.encoder) as seen:
            margins = model(x, masks).diff(dim=-1)[:, 0]  # for minus against
            if not len(model.blocks):
                below(ids, whole)
        weights = seen.weights(seen.names[-1])[0].mean(dim=(0, 1))  # (n,), of the whole sentence
        given = torch.stack([weights[word].sum() for word in words])
        flips = ((margins[1:] > 0) != (margins[0] > 0)).double()
        # against the decision: no other word's erasure changes it where this one's does not
        top, most = given.argmax(), (margins[1:] * margins[0].sign()).argmin()
        others = (flips.sum() - flips[top]) / max(1, len(words) - 1)
        for name, share in {
            "most attended erased": flips[top],
            "another erased": others,
            "most effective erased": flips[most],
            "most attended is most effective": (top == most).double(),
            "a word drawn is": torch.tensor(1 / len(words)),
        }.items():
            found.setdefault(name, []).append(float(share))
    return {name: sum(shares) / len(shares) for name, shares in found.items()}


def data() -> list[Any]:
    """Return all that is learnt and tested on."""
    return [[(one.text, one.label, one.kind) for one in part] for part in opinions()]


def measure(seed: int, *, way: str, count: int, asked: int | None = None) -> dict[str, float]:
    """Train in one way; return the accuracy, by kind too, and what erasing a word does."""
    tested = list(opinions().test)[:asked]
    model, read = taught(drawn(count, seed), way, seed)
    right = [
        said == one.label for said, one in zip(decided(model, read, tested), tested, strict=True)
    ]
    shares = {"all": right}
    for kind in dict.fromkeys(one.kind for one in tested):
        shares[kind] = [r for r, one in zip(right, tested, strict=True) if one.kind == kind]
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    more = {}
    if (way, count) == ("low rank", 544):
        more = erased(model, tested, FIRST[way])
    return {
        **{kind: sum(some) / len(some) for kind, some in shares.items()},
        "numbers trained": float(trained),
        **more,
    }


if __name__ == "__main__":
    run(__file__)
