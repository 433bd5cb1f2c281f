"""Random choices that are the same on every machine and in every version of Python."""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Draws:
    """A seeded source of choices.

    Only ``random.Random.random`` is used: it is the one method whose numbers Python promises
    never to change. Two sources with the same seed and name give the same choices.
    """

    def __init__(self, seed: int, name: str = "") -> None:
        # a string is hashed by SHA-512, so sources of different names are independent
        self._random = Random(f"{seed} {name}").random

    def chance(self, p: float) -> bool:
        """Return ``True`` with probability ``p``."""
        return self._random() < p

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n − 1, each equally likely."""
        return int(self._random() * n)

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of ``items``, each equally likely."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[Item], weights: Sequence[int]) -> Item:
        """Return one of ``items``, each as likely as its whole-numbered weight says."""
        totals = list(accumulate(weights))
        return items[bisect(totals, self.below(totals[-1]))]
