"""Batches of like length, counted in pieces, and their shares for several processes.

The pairs are shuffled and sorted by length, so that pairs of one length meet others in each epoch
while a batch holds next to no padding. The lengths of an epoch's batches are always the same, and
so is their number: a step alone says which batch of which epoch it takes, and nothing has to be
remembered to go on from there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

from attnbook.language.batching import Batch, Example, pad_batch


@dataclass(frozen=True)
class Share:
    """One process's part of a step: its rows, and what the step counts over all processes.

    ``batch`` is None where the step has fewer pairs than there are processes.
    """

    batch: Batch | None
    tokens: int  # target pieces of the whole step, eos counted


class Buckets:
    """The batches of a corpus, step after step, epoch after epoch."""

    def __init__(self, examples: Sequence[Example], tokens: int, seed: int) -> None:
        self.examples, self.tokens, self.seed = examples, tokens, seed
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
        mine = [self.examples[row] for row in rows[rank::world]]
        total = sum(self.lengths[row][0] for row in rows)
        return Share(pad_batch(mine) if mine else None, total)

    def _length(self, row: int) -> tuple[int, int]:
        return self.lengths[row]

    def _epoch(self, epoch: int) -> list[list[int]]:
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        rows: list[int] = torch.randperm(len(self.examples), generator=generator).tolist()
        cut = self._cut(sorted(rows, key=self._length))  # equals stay as they were shuffled
        return [cut[k] for k in torch.randperm(len(cut), generator=generator).tolist()]

    def _cut(self, rows: list[int]) -> list[list[int]]:
        batches: list[list[int]] = []
        widest = 0
        for row in rows:
            longer = max(self.lengths[row][0], self.lengths[row][1])
            widest = max(widest, longer)
            if not batches or widest * (len(batches[-1]) + 1) > self.tokens:
                batches.append([])
                widest = longer
            batches[-1].append(row)
        return batches
