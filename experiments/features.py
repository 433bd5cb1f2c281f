"""Compare classifiers of opinions by how many examples they learn from.

"bag of words" and "frozen features" are the same linear layer, on counts of words and on the
sentence vectors of all-MiniLM-L6-v2, which stays as it is. "bi-LSTM" is trained from nothing, and
"even weights" is the same model with a score that is 0 for every word. Their settings were not
chosen on the test sentences, but for the bi-LSTM's, of which a few were tried on all examples.

Where the bi-LSTM has learnt from all examples, its attention is tampered with as well: what is
counted is the share of test sentences that it then decides otherwise.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import Adam

from attnlab.language import Vocabulary
from attnlab.language.texts import Opinion, opinions
from attnlab.models.classifier import BiLSTMClassifier, classification_loss, labelled_batches
from attnlab.models.recipe import fit
from attnlab.pretrained import load_minilm
from attnlab.training.seeds import seeded
from experiments.harness import run

COUNTS = (10, 50, 200, 544)
MODELS = {
    f"{name}, {count} examples": {"name": name, "count": count}
    for name in ("bag of words", "bi-LSTM", "frozen features")
    for count in COUNTS
} | {"even weights, 544 examples": {"name": "even weights", "count": 544}}
AGAIN = ("bi-LSTM, 10 examples", 0)
TOLERANCE = {"all": 0.12, "plain": 0.2}


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


def linear(x: Tensor, labels: Tensor) -> nn.Linear:
    """Fit one linear layer to x (n, d) by 300 steps on all examples, with a little decay."""
    layer = nn.Linear(x.shape[1], 2)
    for weight in layer.parameters():
        nn.init.zeros_(weight)
    optimizer = partial(Adam, weight_decay=1e-3)
    fit(layer, [(x, labels)], surprise, steps=300, lr=0.05, optimizer=optimizer, clip=None)
    return layer


def surprise(layer: nn.Linear, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Average −log p(label)."""
    x, labels = batch
    return cross_entropy(layer(x.to(layer.weight.dtype)), labels)


@cache
def vectors() -> dict[str, Tensor]:
    """Return the sentence vector of each opinion, by its text."""
    texts = [one.text for part in opinions() for one in part]
    model = load_minilm()
    cut = [texts[i : i + 32] for i in range(0, len(texts), 32)]
    return dict(zip(texts, torch.cat([model.embed(some) for some in cut]), strict=True))


def counts(known: list[Opinion], asked: list[Opinion]) -> Tensor:
    """Count in each opinion asked (n, words) the words that occur among those known."""
    words = {w: i for i, w in enumerate(sorted({w for one in known for w in one.words}))}
    found = torch.zeros(len(asked), len(words))
    for row, one in zip(found, asked, strict=True):
        for word in one.words:
            if word in words:
                row[words[word]] += 1
    return found


def by_linear(known: list[Opinion], asked: list[Opinion], name: str) -> Tensor:
    """Decide by a linear layer: labels (n,)."""
    if name == "bag of words":
        x, z = counts(known, known), counts(known, asked)
    else:
        x, z = (torch.stack([vectors()[one.text] for one in some]) for some in (known, asked))
    labels = torch.tensor([one.label for one in known])
    middle = x.mean(dim=0)
    layer = linear(x - middle, labels)
    return layer((z - middle).to(layer.weight.dtype)).argmax(dim=-1)


def bi_lstm(
    known: list[Opinion], seed: int, even: bool = False
) -> tuple[BiLSTMClassifier, Vocabulary]:
    """Train the classifier of 2016 on the examples, with the lecture's settings."""
    # of a few sentences hardly a word comes twice
    least = 2 if len(known) >= 200 else 1
    vocabulary = Vocabulary([one.words for one in known], min_count=least, unknown="<unk>")
    examples = [(vocabulary.encode(one.words), one.label) for one in known]
    with seeded(seed):
        model = BiLSTMClassifier(len(vocabulary))
    if even:  # every score is 0, so every word has the same weight
        nn.init.zeros_(model.score.weight).requires_grad_(False)

    def shuffled(epoch: int) -> list:
        return labelled_batches(examples, 32, seed=seed * 1_000 + epoch)

    fit(model, shuffled, classification_loss, steps=350, lr=3e-3, seed=seed)
    return model, vocabulary


@torch.no_grad()
def tampered(model: BiLSTMClassifier, sentences: list[list[int]], seed: int) -> dict[str, float]:
    """Return the shares of sentences whose decision changes with the weights."""
    chance = torch.Generator().manual_seed(seed)
    found: dict[str, list[float]] = {}
    for ids in sentences:
        both = model.lstm(model.embedding(torch.tensor([ids])))[0][0]
        forward, backward = both.chunk(2, dim=-1)
        states = forward + backward  # (n, d)
        a = torch.softmax(model.score(torch.tanh(states))[:, 0], dim=0)
        logits = partial(_logits, model, states)
        before = logits(a).argmax()
        order, n = a.argsort(descending=True).tolist(), len(ids)
        erased = torch.stack([a.clone().index_fill(0, torch.tensor(i), 0) for i in order])
        erased = erased / erased.sum(-1, keepdim=True)
        flips = (logits(erased).argmax(-1) != before).double()
        mixed = torch.stack([a[torch.randperm(n, generator=chance)] for _ in range(10)])
        changes = {
            "heaviest erased": flips[0],
            "another erased": flips[1:].mean(),
            "weights made even": (logits(torch.full_like(a, 1 / n)).argmax() != before).double(),
            "weights shuffled": (logits(mixed).argmax(-1) != before).double().mean(),
        }
        for name, share in changes.items():
            found.setdefault(name, []).append(float(share))
    return {name: sum(shares) / len(shares) for name, shares in found.items()}


def _logits(model: BiLSTMClassifier, states: Tensor, weights: Tensor) -> Tensor:
    return model.output(torch.tanh(weights @ states))


def data() -> list[Any]:
    """Return all that is learnt and tested on."""
    return [[(one.text, one.label, one.kind) for one in part] for part in opinions()]


def measure(seed: int, *, name: str, count: int, asked: int | None = None) -> dict[str, float]:
    """Train one classifier; return its accuracy, the same by kind, and what tampering does."""
    known, more, tested = drawn(count, seed), {}, list(opinions().test)[:asked]
    if name in ("bag of words", "frozen features"):
        said = by_linear(known, tested, name)
    else:
        model, vocabulary = bi_lstm(known, seed, name == "even weights")
        sentences = [vocabulary.encode(one.words) for one in tested]
        (batch,) = labelled_batches([(ids, 0) for ids in sentences], len(tested))
        said = model(batch.tokens, lengths=batch.lengths).argmax(dim=-1)
        if (name, count) == ("bi-LSTM", 544):
            more = tampered(model, sentences, seed)
    right = [int(one) == opinion.label for one, opinion in zip(said, tested, strict=True)]
    kinds = dict.fromkeys(one.kind for one in tested)
    shares = {
        kind: [r for r, one in zip(right, tested, strict=True) if one.kind == kind]
        for kind in kinds
    }
    return {
        "all": sum(right) / len(right),
        **{kind: sum(some) / len(some) for kind, some in shares.items()},
        **more,
    }


if __name__ == "__main__":
    run(__file__)
