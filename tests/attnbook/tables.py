"""Small worlds to decode in: a table instead of a model, and searches without any cleverness."""

import math
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.decoding import Hypothesis, Stepper
from tests.attnbook.strategies import normal

EOS = 2


class TableState(NamedTuple):
    sentence: Tensor
    last: Tensor


class Table:
    """Logits that hang on the sentence, the token before last and the last one: (s, V, V, V).

    A source's first token says which sentence it is. ``steps`` counts the calls.
    """

    def __init__(self, logits: Tensor) -> None:
        self.logits, self.steps = logits, 0

    def start(self, source: Tensor, source_lengths: Tensor) -> TableState:
        return TableState(source[:, 0], torch.zeros_like(source[:, 0]))

    def step(self, tokens: Tensor, state: TableState) -> tuple[Tensor, TableState]:
        self.steps += 1
        return self.logits[state.sentence, state.last, tokens], state._replace(last=tokens)

    def reorder(self, state: TableState, rows: Tensor) -> TableState:
        return TableState(*(part[rows] for part in state))


def random_table(s: int, v: int, *, seed: int = 0, spread: float = 2.0) -> Table:
    return Table(normal(s, v, v, v, seed=seed) * spread)


def table_of(after: dict[tuple[int, ...], list[float]], v: int) -> Table:
    """Give the probabilities after each prefix of at most two words; all others are uniform."""
    logits = torch.zeros(1, v, v, v, dtype=torch.float64)
    for prefix, p in after.items():
        before, last = (0, 1, *prefix)[-2:]  # bos is 1, and 0 stands before it
        logits[0, before, last] = torch.tensor(p, dtype=torch.float64).log()
    return Table(logits)


def batch(b: int) -> tuple[Tensor, Tensor]:
    """Return b sources of one token, their own number, and their lengths."""
    return torch.arange(b)[:, None], torch.ones(b, dtype=torch.long)


def brute_force(table: Table, sentence: int, length: int, alpha: float) -> list[Hypothesis]:
    """Return all sentences there are, best first."""
    v, found = table.logits.shape[-1], []
    log_probabilities = table.logits[sentence].log_softmax(dim=-1).tolist()
    for n in range(1, length + 1):
        for words in product(range(v), repeat=n):
            ends = words[-1] == EOS
            if EOS in words[:-1] or not (ends or n == length):
                continue
            history, log_p = (0, 1, *words), 0.0
            for i, word in enumerate(words):
                log_p += log_probabilities[history[i]][history[i + 1]][word]
            kept = list(words[:-1] if ends else words)
            found.append(Hypothesis(kept, log_p, log_p / n**alpha, ends))
    return sorted(found, key=lambda one: -one.score)


@torch.no_grad()
def plain_beam(
    stepper: Stepper,
    source: Tensor,
    source_lengths: Tensor,
    *,
    beam: int,
    max_length: int,
    length_penalty: float = 1.0,
) -> list[list[Hypothesis]]:
    """Search sentence by sentence, hypothesis by hypothesis, to the very end."""
    return [
        _search(
            stepper,
            source[i : i + 1, :n],
            source_lengths[i : i + 1],
            beam,
            max_length,
            length_penalty,
        )
        for i, n in enumerate(source_lengths.tolist())
    ]


def _search(
    stepper: Stepper, source: Tensor, lengths: Tensor, beam: int, max_length: int, alpha: float
) -> list[Hypothesis]:
    living, ended = [(0.0, [])], []
    for n in range(1, max_length + 1):
        candidates = []
        for log_p, words in living:
            log_probabilities = _next(stepper, source, lengths, words).tolist()
            candidates += [(log_p + p, [*words, y]) for y, p in enumerate(log_probabilities)]
        candidates = [one for one in candidates if one[0] > -math.inf]
        best = sorted(candidates, key=lambda one: -one[0])[:beam]  # stable: the first of equals
        ended += [(log_p, words, n) for log_p, words in best if words[-1] == EOS]
        living = [(log_p, words) for log_p, words in best if words[-1] != EOS]
    ended += [(log_p, words, max_length) for log_p, words in living]
    all_of_them = [
        Hypothesis([w for w in words if w != EOS], log_p, log_p / n**alpha, EOS in words)
        for log_p, words, n in ended
    ]
    return sorted(all_of_them, key=lambda one: -one.score)[:beam]


def _next(stepper: Stepper, source: Tensor, lengths: Tensor, words: list[int]) -> Tensor:
    """Read a hypothesis from its beginning, with a state of its own."""
    state = stepper.start(source, lengths)
    for token in [1, *words]:
        logits, state = stepper.step(torch.tensor([token]), state)
    return logits[0].log_softmax(dim=-1)
