"""What a pretrained model's heads give from a word to a word, and how to test a claim about one.

A head gives word j to word i by weight, α_ij, or by norm, ‖α_ij v_j W^O‖, which also counts how
long the vector is that it hands over. A claim about one head of many is tested where it had no part
in choosing it: ``search`` chooses on one half, tests on the other, and says what luck alone gives.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnlab import _check
from attnlab.language.texts import PronounPair
from attnlab.pretrained import Pretrained


def places(model: Pretrained, sentence: str, word: str) -> list[int]:
    """Return where the pieces of a word stand in its sentence; of several such words, the last.

    Raises: ValueError for a word that is not there.
    """
    found = [match.span() for match in re.finditer(rf"\b{re.escape(word)}\b", sentence)]
    _check.must(found, "word", "stand in the sentence", word)
    first, last = found[-1]
    offsets = model.tokenizer.encode(sentence).offsets
    return [i for i, (start, end) in enumerate(offsets) if first <= start < end <= last]


@torch.no_grad()
def handed_over(model: Pretrained, sentence: str) -> Tensor:
    """Compute the norms ‖α_ij v_j W^O‖ of one sentence, of every layer and head.

    Shapes: returns (layers, heads, n, n), as ``model.attention`` does.
    Source: Kobayashi et al. (2020).
    """
    x, found = model.hidden(sentence, layer=0)[0], []
    blocks: Any = model.encoder.blocks
    for block in blocks:
        layer = block.attention
        value = layer.project(x).value[0]  # (h, n, d)
        mix = layer.out.weight.unflatten(1, (layer.n_heads, layer.d))  # (d_model, h, d)
        found.append(torch.einsum("h n d, m h d -> h n m", value, mix).norm(dim=-1))
        x = block(x)
    return model.attention(sentence) * torch.stack(found)[:, :, None]


def pronoun_table(
    model: Pretrained, pairs: Iterable[PronounPair], *, norms: bool = False
) -> Tensor:
    """Return what every head gives from a pair's pronoun to its two nouns, in its four sentences.

    By weight, or with ``norms`` by norm; a word of several pieces gets what they get together, and
    as a query gives their mean.

    Shapes: returns (pairs, 2 orders, 2 sentences, 2 nouns, layers, heads); of both axes of
    sentences and nouns, 0 is the noun that ``meant[0]`` names.
    """
    return torch.stack([_of_pair(model, pair, norms) for pair in pairs])


def _of_pair(model: Pretrained, pair: PronounPair, norms: bool) -> Tensor:
    found = []
    for sentence in (*pair.sentences, *pair.turned):
        gives = handed_over(model, sentence) if norms else model.attention(sentence)
        row = gives[:, :, places(model, sentence, pair.pronoun)].mean(dim=2)  # (layers, heads, n)
        found += [row[..., places(model, sentence, noun)].sum(dim=-1) for noun in pair.meant]
    return torch.stack(found).unflatten(0, (2, 2, 2))


def right(table: Tensor) -> Tensor:
    """Return how often the noun that is meant gets more than the other, for each pair and head.

    Shapes: table (pairs, 2, 2, 2, layers, heads), of ``pronoun_table``; returns (pairs, layers,
    heads), each 0, ¼, ½, ¾ or 1.
    """
    one, other = table.unbind(3)  # (pairs, 2 orders, 2 sentences, layers, heads)
    won = torch.stack([(one > other)[:, :, 0], (other > one)[:, :, 1]])
    return won.double().mean(dim=(0, 2))


def leans(table: Tensor) -> Tensor:
    """Return how often the ratio of both nouns moves towards the one that the changed word means.

    A fixed preference for one noun or one place has no part in it.

    Shapes: table (pairs, 2, 2, 2, layers, heads), of ``pronoun_table``; returns (pairs, layers,
    heads), each 0, ½ or 1.
    """
    one, other = table.unbind(3)
    ratio = one / other  # (pairs, 2 orders, 2 sentences, layers, heads)
    return (ratio[:, :, 0] > ratio[:, :, 1]).double().mean(dim=1)


@torch.no_grad()
def association(model: Pretrained, pairs: Iterable[PronounPair]) -> Tensor:
    """Return a rival of every head: what the changed word by itself has in common with both nouns.

    The softmax over the two nouns of cos(changed word, noun), of the three words' own vectors, each
    made of a text of this one word: there is no sentence, and no pronoun to resolve.

    Shapes: returns (pairs, 2, 2, 2, 1, 1), as ``pronoun_table`` with one layer of one head; the
    two orders are equal.
    """
    found = [model.embed(pair.changed) @ model.embed(pair.meant).T for pair in pairs]
    both = torch.stack(found).softmax(dim=-1)  # (pairs, 2 changed words, 2 nouns)
    return both[:, None, :, :, None, None].expand(-1, 2, -1, -1, -1, -1)


class Held(NamedTuple):
    """A head that was chosen on one half for its mean score there, and its score on the other."""

    layer: int
    head: int
    chosen: float
    tested: float


class Searched(NamedTuple):
    """What a search holds on the pairs that had no part in it.

    ``halves`` are its heads chosen on the even pairs and on the odd ones; ``tested`` is the mean
    score over many halvings by chance, both ways; ``luck`` (times,) the same where a coin decides
    for each pair which meaning is which.
    """

    halves: tuple[Held, Held]
    tested: float
    luck: Tensor


def search(scores: Tensor, *, seed: int = 0, halvings: int = 50, times: int = 1000) -> Searched:
    """Choose the best head on one half of the pairs and test it on the other, and the other way.

    To swap the two meanings of a pair turns its score s into 1 − s in all heads alike: every head
    keeps its habits, and only their tie to the meaning is cut.

    Shapes: scores (pairs, layers, heads), from 0 to 1, of at least 2 pairs.
    Raises: ValueError for another shape, fewer pairs, or ``halvings`` or ``times`` below 1.
    """
    _check.must(scores.dim() == 3, "scores", "have the shape (pairs, layers, heads)", scores)
    n = len(scores)
    _check.must(n >= 2, "scores", "be of at least 2 pairs", but=f"of {n}")
    _check.sizes(halvings=halvings, times=times)
    generator = torch.Generator().manual_seed(seed)
    swap = torch.rand(times, n, 1, generator=generator) < 0.5
    order = torch.rand(halvings, n, generator=generator).argsort(dim=1)
    halves = order < n // 2  # (halvings, pairs)
    flat = scores.flatten(1).float()  # (pairs, layers · heads)
    lucky = torch.where(swap, 1 - flat, flat)  # (times, pairs, layers · heads)
    found, even = [], torch.arange(n)[None] % 2 == 0
    for half in (even, ~even):
        best, mine, rest = _best(flat[None], half)
        layer, head = divmod(int(best), scores.shape[2])
        found.append(Held(layer, head, float(mine), float(rest)))
    tested, luck = (
        torch.cat([_best(some, halves)[2], _best(some, ~halves)[2]], dim=1).mean(dim=1)
        for some in (flat[None], lucky)
    )
    return Searched((found[0], found[1]), float(tested), luck)


def _best(scores: Tensor, halves: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best column on each half of the pairs, its mean there and on the other half.

    Shapes: scores (times, pairs, columns), halves (halvings, pairs); returns (times, halvings).
    """
    mine, rest = (
        torch.einsum("h p, t p c -> t h c", part, scores) / part.sum(dim=1)[:, None]
        for part in (halves.float(), (~halves).float())
    )
    best = mine.argmax(dim=-1, keepdim=True)
    return best[..., 0], mine.amax(dim=-1), rest.gather(-1, best)[..., 0]
