"""Change what one head of a pretrained model hands on, and measure what becomes of a pronoun.

A head's *output* is its weighted mean of values, d numbers for each place, before W^O mixes the
heads. To *ablate* a head at a place is to put its mean over other sentences there; to *patch* it,
what it gave in one other sentence. Whether this mattered is read off the last layer: ``swing`` says
how far the word that turns a pronoun's meaning turns the pronoun's vector.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from attnlab import _check
from attnlab.language.texts import PronounPair
from attnlab.models.heads import places
from attnlab.pretrained import Pretrained


@contextmanager
def replaced(model: Pretrained, layer: int, place: int, output: Tensor) -> Generator[None]:
    """Put ``output`` where a layer's heads have theirs at one place, while the block runs.

    Of a batch, row i has its own; NaN leaves a number as it is.

    Shapes: output (h, d) or (b, h, d).
    Raises: ValueError for a layer that does not exist, or another shape.
    """
    (layer,) = _check.indices("layer", [layer], len(model.encoder.blocks))
    attention: Any = model.encoder.blocks[layer].attention
    wanted = (attention.n_heads, attention.d)
    _check.must(output.shape[-2:] == wanted, "output", f"end in (h, d) = {wanted}", output)

    def hook(_: nn.Module, __: Any, found: Tensor) -> Tensor:
        found = found.clone()  # (b, h, n, d)
        found[:, :, place] = torch.where(output.isnan(), found[:, :, place], output)
        return found

    handle = attention.attend.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@torch.no_grad()
def head_outputs(model: Pretrained, sentence: str, place: int) -> Tensor:
    """Return what every head gives to one place, before W^O mixes them: (layers, heads, d)."""
    x, found = model.hidden(sentence, layer=0)[0], []
    blocks: Any = model.encoder.blocks
    for block in blocks:
        layer = block.attention
        weights = layer.weights(x, rows=[place])  # (1, h, 1, n)
        found.append((weights @ layer.project(x).value)[0, :, 0])
        x = block(x)
    return torch.stack(found)


def pronoun_outputs(model: Pretrained, pairs: Sequence[PronounPair]) -> Tensor:
    """Return every head's output at the pronoun, in the four sentences of each pair.

    Shapes: returns (pairs, 2 orders, 2 sentences, layers, heads, d).
    """
    found = [
        head_outputs(model, sentence, _place(model, sentence, pair.pronoun))
        for pair in pairs
        for sentence in (*pair.sentences, *pair.turned)
    ]
    return torch.stack(found).unflatten(0, (len(pairs), 2, 2))


def replacements(outputs: Tensor, how: Literal["ablate", "patch"]) -> Tensor:
    """Return what is put in the place of each output (pairs, 2, 2, layers, heads, d).

    To ablate, the mean over the sentences of the other pairs; to patch, the output in the other
    sentence of the pair, in the same order.

    Raises: ValueError for another ``how``.
    """
    _check.one_of("how", how, ("ablate", "patch"))
    if how == "patch":
        return outputs.flip(2)
    whole = outputs.mean(dim=(1, 2), keepdim=True)  # (pairs, 1, 1, …)
    others = (whole.sum(dim=0) - whole) / (len(outputs) - 1)
    return others.expand_as(outputs)


@torch.no_grad()
def leaning(model: Pretrained, pairs: Sequence[PronounPair], *, word: str | None = None) -> Tensor:
    """Return d = cos(u_it, u_0) − cos(u_it, u_1) in the four sentences of each pair.

    u are the last layer's vectors of the pronoun, or of another ``word``, and of both nouns; of a
    noun's several pieces, the mean.

    Shapes: returns (pairs, 2 orders, 2 sentences).
    """
    found = []
    for pair in pairs:
        for sentence in (*pair.sentences, *pair.turned):
            u = model.hidden(sentence)[0]
            found.append(_lean(model, u, sentence, pair, word or pair.pronoun))
    return torch.cat(found).unflatten(0, (len(pairs), 2, 2))


@torch.no_grad()
def leaning_without(
    model: Pretrained,
    pairs: Sequence[PronounPair],
    layer: int,
    new: Tensor,
    heads: Sequence[Sequence[int]] | None = None,
) -> Tensor:
    """Return ``leaning`` with one head of a layer replaced at the pronoun, each head in turn.

    ``heads`` are the groups that are replaced together, instead of each head by itself.

    Shapes: new (pairs, 2, 2, layers, heads, d), of ``replacements``; returns (groups, pairs, 2, 2).
    """
    blocks: Any = model.encoder.blocks
    groups = [[head] for head in range(new.shape[4])] if heads is None else heads
    chosen = torch.zeros(len(groups), new.shape[4], 1, dtype=torch.bool)
    for row, group in enumerate(groups):
        chosen[row, list(group)] = True
    found, at = [], new.flatten(0, 2)[:, layer]  # (sentences, h, d)
    texts = [(pair, one) for pair in pairs for one in (*pair.sentences, *pair.turned)]
    for (pair, sentence), output in zip(texts, at, strict=True):
        x = model.hidden(sentence, layer=layer)[0].expand(len(groups), -1, -1)
        place = _place(model, sentence, pair.pronoun)
        with replaced(model, layer, place, output.where(chosen, torch.nan)):
            for block in blocks[layer:]:
                x = block(x)
        found.append(_lean(model, x, sentence, pair, pair.pronoun))
    return torch.stack(found, dim=1).unflatten(1, (len(pairs), 2, 2))


def swing(leaning: Tensor) -> Tensor:
    """Return how far each pair's changed word turns the leaning towards the noun that it means.

    d of the sentence that means noun 0, minus d of that which means noun 1, mean over both orders:
    above 0 where it turns the right way.

    Shapes: leaning (…, pairs, 2, 2); returns (…, pairs).
    """
    return (leaning[..., 0] - leaning[..., 1]).mean(dim=-1)


def _place(model: Pretrained, sentence: str, word: str) -> int:
    (place,) = places(model, sentence, word)  # a pronoun is one piece
    return place


def _lean(model: Pretrained, u: Tensor, sentence: str, pair: PronounPair, word: str) -> Tensor:
    """Return cos(u_word, u_0) − cos(u_word, u_1) of u (b, n, d_model): (b,)."""
    mine, one, other = (
        u[:, places(model, sentence, name)].mean(dim=1) for name in (word, *pair.meant)
    )
    return cosine_similarity(mine, one, dim=-1) - cosine_similarity(mine, other, dim=-1)
