"""Which of a pretrained model's heads follow which relation of a treebank, and simple rivals.

A head's guess for a word is the other word that it attends to most. It is compared with a tree, in
both directions: from dependent to governor, and from governor to dependent.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from attnlab import _check
from attnlab.language.dependencies import Tree
from attnlab.pretrained import Pretrained

Way = Literal["governor", "dependent"]


def guesses(model: Pretrained, tree: Tree) -> Tensor:
    """Return the other word that each word attends to most, in every head.

    Weights of pieces become weights of words: summed over the pieces of a key, averaged over those
    of a query.

    Shapes: returns (layers, heads, words), int64.
    Source: Clark et al. (2019), section 4.1.
    """
    starts, at = [], 0
    for word, space in zip(tree.words, tree.spaces, strict=True):
        starts.append((at, at + len(word)))
        at += len(word) + space
    offsets = model.tokenizer.encode(tree.text).offsets
    member = torch.tensor([[a <= s < e <= b for s, e in offsets] for a, b in starts]).float()
    keys = model.attention(tree.text) @ member.T  # (layers, heads, pieces, words)
    words = member @ keys / member.sum(dim=1, keepdim=True)
    return (words - torch.eye(len(starts))).argmax(dim=-1)  # not itself


class Arcs(NamedTuple):
    """All arcs of one relation, and which heads have them.

    Shapes: ``governor`` (arcs, layers, heads): from the dependent, does the head guess the
    governor? ``dependent``, the reverse. ``distance`` (arcs,): governor − dependent. ``rival``
    (arcs,): has the next word of the relation's usual kind the dependent's arc? ``sentence``
    (arcs,): which tree.
    """

    governor: Tensor
    dependent: Tensor
    distance: Tensor
    rival: Tensor
    sentence: Tensor


# where a rule without a model looks from the dependent: for the next word of these kinds
RIVALS: dict[str, tuple[int, tuple[str, ...]]] = {
    "det": (1, ("NOUN", "PROPN")),
    "amod": (1, ("NOUN", "PROPN")),
    "poss": (1, ("NOUN", "PROPN")),
    "nsubj": (1, ("VERB",)),
    "aux": (1, ("VERB",)),
    "dobj": (-1, ("VERB",)),
    "pobj": (-1, ("ADP",)),
}


def arcs(trees: Sequence[Tree], guessed: Sequence[Tensor], relation: str) -> Arcs:
    """Return all arcs of a relation with what each head guessed for them.

    Shapes: ``guessed`` holds for each tree the (layers, heads, words) of ``guesses``.
    Raises: ValueError for a relation without a rival, or one that the trees do not have.
    """
    _check.one_of("relation", relation, RIVALS)
    found: list[tuple[Tensor, Tensor, int, bool, int]] = []
    for number, (tree, guess) in enumerate(zip(trees, guessed, strict=True)):
        for word, (governor, name) in enumerate(zip(tree.heads, tree.relations, strict=True)):
            if name == relation:
                up, down = guess[..., word] == governor, guess[..., governor] == word
                rival = _next(tree, word, *RIVALS[relation]) == governor
                found.append((up, down, governor - word, rival, number))
    _check.must(found, "trees", f"have an arc {relation!r}", but="they have none")
    up, down, distance, rival, number = zip(*found, strict=True)
    numbers = (torch.tensor(part) for part in (distance, rival, number))
    return Arcs(torch.stack(up), torch.stack(down), *numbers)


def _next(tree: Tree, word: int, step: int, kinds: tuple[str, ...]) -> int | None:
    places = range(word + step, len(tree.words) if step > 0 else -1, step)
    return next((place for place in places if tree.kinds[place] in kinds), None)


class Followed(NamedTuple):
    """The head, direction and distance that fit a relation best in one half of the sentences.

    ``tested``, ``fixed`` and ``rival`` are the shares of arcs in the other half that the head, the
    distance and the next word of the right kind have.
    """

    layer: int
    head: int
    way: Way
    distance: int
    tested: float
    fixed: float
    rival: float


def followed(found: Arcs) -> tuple[Followed, Followed]:
    """Choose a relation's head on every other sentence and test it on the rest; change the halves.

    Raises: ValueError where a half has no arc.
    """
    halves = []
    for half in (0, 1):
        mine, rest = found.sentence % 2 == half, found.sentence % 2 != half
        _check.must(mine.any() and rest.any(), "found", "have arcs in both halves", but="one has")
        shares = {way: found[i][mine].double().mean(0) for i, way in enumerate(WAYS)}
        way = max(WAYS, key=lambda way: float(shares[way].max()))
        layer, head = divmod(int(shares[way].argmax()), shares[way].shape[1])
        step = int(found.distance[mine].mode().values)
        tested = found[WAYS.index(way)][rest][:, layer, head]
        tests = (tested, found.distance[rest] == step, found.rival[rest])
        halves.append(Followed(layer, head, way, step, *(float(t.double().mean()) for t in tests)))
    return halves[0], halves[1]


WAYS: tuple[Way, Way] = ("governor", "dependent")
