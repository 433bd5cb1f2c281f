"""Small training runs for the tests: a model with dropout, shuffled data, exact comparisons."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnlab.training import History, train
from attnlab.training.schedules import warmup_cosine
from attnlab.training.seeds import seeded

WORDS = 7


class Bigrams(nn.Module):
    """Guess the next token from the last one, with dropout; its two matrices may be one."""

    def __init__(self, d: int = 4, *, tied: bool = False, seed: int = 0) -> None:
        super().__init__()
        with seeded(seed):
            self.embed = nn.Embedding(WORDS, d)
            self.dropout = nn.Dropout(0.3)
            self.output = nn.Linear(d, WORDS, bias=False)
        if tied:
            self.output.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.dropout(self.embed(tokens)))


def bigram_loss(model: nn.Module, tokens: Tensor) -> Tensor:
    """Return the mean loss of each token after the first."""
    return cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def counting(*lengths: int, seed: int = 0) -> list[Tensor]:
    """Return batches (3, n) in which each row counts upwards, modulo the vocabulary."""
    starts = torch.randint(
        WORDS, (len(lengths), 3, 1), generator=torch.Generator().manual_seed(seed)
    )
    return [(start + torch.arange(n)) % WORDS for start, n in zip(starts, lengths, strict=True)]


def shuffled(epoch: int) -> Iterator[Tensor]:
    """Yield batches of several lengths in an order drawn from torch's own random numbers."""
    batches = counting(3, 4, 4, 5, 6, 8)
    for index in torch.randperm(6 - epoch % 2).tolist():  # epochs differ in length, too
        yield batches[index]


def failing(loss: Callable[..., Tensor], at: int) -> Callable[[nn.Module, Any], Tensor]:
    """Return a loss that is interrupted when it is called for the ``at``-th time."""
    calls = iter(range(1, at + 1))

    def interrupted(model: nn.Module, batch: Any) -> Tensor:
        if next(calls) == at:
            raise KeyboardInterrupt
        return loss(model, batch)

    return interrupted


def copied(model: nn.Module) -> dict[str, Tensor]:
    """Return a copy of all weights."""
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same_bits(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    """Tell whether two sets of weights are equal to the last bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


BATCHES = counting(4, 5, 6)


def quick(
    model: nn.Module, batches: Any = BATCHES, loss: Any = bigram_loss, **options: Any
) -> History:
    """Train without a bar."""
    return train(model, batches, loss, **{"steps": 6, "progress": False, **options})


def trained(**options: Any) -> dict[str, Tensor]:
    """Return the weights of a new model after a run."""
    model = Bigrams()
    quick(model, **options)
    return copied(model)


def validation(model: nn.Module) -> float:
    """Return a number that rises and falls with the weights."""
    return model.output.weight.abs().sum().item()


def full_run(model: nn.Module, loss: Any = bigram_loss, **options: Any) -> History:
    """Train with everything that a checkpoint must bring back."""
    settings = {
        "steps": 20,
        "lr": 0.05,
        "schedule": warmup_cosine(5, 20),
        "validate": validation,
        "validate_every": 3,
        "seed": 1,
        "progress": False,
    }
    return train(model, shuffled, loss, **{**settings, **options})
