"""BPE-dropout: the words of the training text are cut otherwise each time that they are read.

A set of pieces cuts *bench* always alike, and a model that reads 29,000 pairs never sees the
letters in it. Here each join is left out with some probability: *ben·ch*, *b·ench*, now and then
letters. So the model meets rare pieces more often, and learns that cuts of one word mean the same.
It is for training alone; what is translated is cut as usual.

A word has ``WAYS`` cuts, drawn once from a seed of its own, and takes one of them at each place.
Cutting every word anew would cost a third of a step.
"""

import json
import random
from collections.abc import Sequence
from itertools import pairwise

from attnlab.language.batching import Example
from attnlab.language.readers import TextPair
from attnlab.translation.pieces import UNKNOWN, Pieces

WAYS = 32


class Ways:
    """The training pairs, cut in many ways.

    ``rate`` is the probability that a join is left out where it could be made; 0 is the usual cut.
    Source: Provilkov, Emelianenko and Voita (2020), algorithm 1.
    """

    def __init__(
        self, pieces: Pieces, pairs: Sequence[TextPair], *, rate: float, seed: int
    ) -> None:
        model = json.loads(pieces.to_json())["model"]
        self.ids: dict[str, int] = model["vocab"]
        self.ranks = {tuple(joined): rank for rank, joined in enumerate(model["merges"])}
        self.rate, self.seed = rate, seed
        self.words = [(pieces.words(source), pieces.words(target)) for source, target in pairs]
        self.known: dict[str, list[list[int]]] = {}

    def pairs(self, rows: Sequence[int], step: int) -> list[Example]:
        """Return the pairs of ``rows`` as numbers of pieces, as ``step`` cuts them."""
        drawn = random.Random(f"{self.seed} {step}")
        return [
            (self._sentence(source, drawn), self._sentence(target, drawn))
            for source, target in (self.words[row] for row in rows)
        ]

    def _sentence(self, words: Sequence[str], drawn: random.Random) -> list[int]:
        ids: list[int] = []
        for word in words:
            if word not in self.known:
                self.known[word] = self._ways(word)
            ways = self.known[word]
            ids += ways[int(drawn.random() * len(ways))]
        return ids

    def _ways(self, word: str) -> list[list[int]]:
        drawn = random.Random(f"{self.seed} {word}")
        unknown = self.ids[UNKNOWN]
        cuts = [self.cut(word, drawn) for _ in range(WAYS)]
        return [[self.ids.get(piece, unknown) for piece in cut] for cut in cuts]

    def cut(self, word: str, drawn: random.Random) -> list[str]:
        """Cut a word into letters, and join neighbours, the most frequent first, as chance lets."""
        pieces = list(word)
        while True:
            joins = [
                (self.ranks[pair], k)
                for k, pair in enumerate(pairwise(pieces))
                if pair in self.ranks and drawn.random() >= self.rate
            ]
            if not joins:
                return pieces
            _, k = min(joins)
            pieces[k : k + 2] = [pieces[k] + pieces[k + 1]]
