"""Tables for the tests of the beam tree, and a stepper that reads its logits from one."""

from __future__ import annotations

from itertools import product

import numpy as np
import torch

from attnbook.language import Vocabulary
from attnbook.widgets import prefix_table

EOS = "</s>"

# greedy starts with "le", whose best end is worth less than that of "la"
DETERMINERS = {
    (): {"le": 0.5, "la": 0.4},
    ("le",): {"chat": 0.35, "chien": 0.33, EOS: 0.2},
    ("la",): {"souris": 0.9, EOS: 0.1},
    ("le", "chat"): {EOS: 1.0},
    ("le", "chien"): {EOS: 0.9, "noir": 0.1},
    ("la", "souris"): {EOS: 0.8, "grise": 0.2},
    ("le", "chien", "noir"): {EOS: 1},
    ("la", "souris", "grise"): {EOS: 1},
}


def full_table(seed: int, *, longest: int = 4, lacking: float = 0.0, step: float = 0.0) -> dict:
    """A table of every prefix of three words, shorter than `longest`.

    Each row lacks a random share, up to `lacking`; `step` rounds the rest, which makes equals.
    """
    rng = np.random.default_rng(seed)
    words = ["a", "b", "c", EOS]
    table = {}
    for n in range(longest):
        for prefix in product(words[:3], repeat=n):
            shares = rng.dirichlet(np.full(4, 0.7)) * (1 - lacking * rng.random())
            if step:
                shares = np.floor(shares / step) * step
            table[prefix] = dict(zip(words, shares.tolist(), strict=True))
    return table


def model_table(words: int = 12, length: int = 20) -> dict:
    """The largest table that a page has: a chain of likely words, five of them alive."""
    stepper = TableStepper(None, words)
    vocabulary = Vocabulary([[f"word{i}" for i in range(words)]])
    source = torch.ones(1, 2, dtype=torch.long), torch.tensor([2])
    return prefix_table(stepper, *source, vocabulary, max_length=length)


class TableStepper:
    """A stepper whose logits are the logarithms of a table's rows, or, without one, random.

    Its tokens are places in `words`; bos is one more than the last of them.
    """

    def __init__(self, table: dict | None, words: list[str] | int) -> None:
        self.table, self.words = table, words

    def start(self, source, source_lengths):
        return [None] * len(source)

    def reorder(self, state, rows):
        return [state[row] for row in rows.tolist()]

    def step(self, tokens, state):
        state = [
            () if before is None else (*before, token)
            for before, token in zip(state, tokens.tolist(), strict=True)
        ]
        return torch.stack([self.row(prefix) for prefix in state]), state

    def row(self, prefix: tuple[int, ...]) -> torch.Tensor:
        if self.table is None:
            return self.random(prefix)
        row = self.table.get(tuple(self.words[token] for token in prefix), {})
        shares = [row.get(word, 0.0) for word in self.words]
        # a hypothesis that has ended is stepped on with the others, and not looked at
        return torch.tensor(shares if any(shares) else [1.0] * len(shares)).double().log()

    def random(self, prefix: tuple[int, ...]) -> torch.Tensor:
        rng = np.random.default_rng([len(prefix), *prefix])
        logits = torch.tensor(rng.normal(size=self.words + 3) * 2)
        logits[:2] = -20.0  # padding, and the beginning of a sentence
        logits[2] += -2.0 if len(prefix) < 8 else 1.0
        return logits
