"""Batches of like length, counted in pieces, and their shares for several processes.

The pairs are shuffled and sorted by length, so that pairs of one length meet others in each epoch
while a batch holds next to no padding. The lengths of an epoch's batches are always the same, and
so is their number: a step alone says which batch of which epoch it takes, and nothing has to be
remembered to go on from there.

A batch has a multiple of 16 pairs wherever it can: the products of a step then come in some fifty
shapes instead of several hundred. oneDNN writes a program for each shape that it meets, which takes
longer than to run it, and forgets the oldest of 1,024.

Where words are cut anew each time (``ways``), lengths are those of the usual cut, which are nearly
the ones that come.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

from attnlab.language.batching import Batch, Example, pad_batch
from attnlab.translation.ways import Ways

ROWS = 16


@dataclass(frozen=True)
class Share:
    """One process's part of a step: its rows, and what the step counts over all processes.

    ``batch`` is None where the step has fewer pairs than there are processes.
    """

    batch: Batch | None
    tokens: int  # target pieces of the whole step, eos counted


class Buckets:
    """The batches of a corpus, step after step, epoch after epoch."""

    def __init__(
        self, examples: Sequence[Example], tokens: int, seed: int, ways: Ways | None = None
    ) -> None:
        self.examples, self.tokens, self.seed, self.ways = examples, tokens, seed, ways
        self.lengths = [(len(target) + 1, len(source)) for source, target in examples]
        self.per_epoch = len(self._cut(sorted(range(len(examples)), key=self._length)))
        self.epoch = lru_cache(maxsize=1)(self._epoch)

    def step(self, step: int, rank: int = 0, world: int = 1) -> Share:
        """Return what process ``rank`` of ``world`` takes in a step, counted from 1.

        The pairs of a batch, sorted by length, are dealt out in turn: each process has as much to
        do, and all together have the batch of one process alone.
        """
        epoch, place = divmod(step - 1, self.per_epoch)
        rows = self.epoch(epoch)[place]
        pairs = [self.examples[row] for row in rows]
        if self.ways is not None:
            pairs = self.ways.pairs(rows, step)
        mine, total = pairs[rank::world], sum(len(target) + 1 for _, target in pairs)
        return Share(pad_batch(mine) if mine else None, total)

    def _length(self, row: int) -> tuple[int, int]:
        # up and down in turns: where the target's length changes, the source's stays
        n_t, n_s = self.lengths[row]
        return n_t, -n_s if n_t % 2 else n_s

    def _epoch(self, epoch: int) -> list[list[int]]:
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        rows: list[int] = torch.randperm(len(self.examples), generator=generator).tolist()
        cut = self._cut(sorted(rows, key=self._length))  # equals stay as they were shuffled
        return [cut[k] for k in torch.randperm(len(cut), generator=generator).tolist()]

    def _cut(self, rows: list[int]) -> list[list[int]]:
        batches: list[list[int]] = []
        first = 0
        while first < len(rows):
            n = self._fitting(rows, first)
            batches.append(rows[first : first + n])
            first += n
        return batches

    def _fitting(self, rows: list[int], first: int) -> int:
        """Return how many of the rows from ``first`` on make a batch."""
        widest = 0
        for n, row in enumerate(rows[first:]):
            widest = max(widest, *self.lengths[row])
            if n and widest * (n + 1) > self.tokens:
                return n // ROWS * ROWS or n
        return len(rows) - first
