"""What heads give, and a search that is tested where it had no part in choosing."""

import pytest
import torch
from torch import Tensor

from attnlab.language import pronouns
from attnlab.models import heads
from attnlab.pretrained import Pretrained

TIRED = "The animal didn't cross the street because it was too tired."
PAIRS = pronouns()[:2]


def test_a_word_has_all_of_its_pieces_and_the_last_of_several_counts(model: Pretrained) -> None:
    sentence = "The owl heard the frog that was croaking, for the owl was near."
    tokens = model.tokens(sentence)
    found = heads.places(model, sentence, "croaking")
    assert "".join(tokens[i] for i in found).replace("##", "") == "croaking"
    assert heads.places(model, sentence, "owl") == [
        max(i for i, t in enumerate(tokens) if t == "owl")
    ]
    assert len(heads.places(model, "It was croaking.", "croaking")) == len(found) > 1
    with pytest.raises(ValueError, match="word must stand in the sentence"):
        heads.places(model, sentence, "now")


def test_what_is_handed_over_is_what_the_layer_adds_up(model: Pretrained) -> None:
    """Without norms: the vectors α_ij v_j W^O of all heads and keys sum to the layer's output."""
    layer = model.encoder.blocks[0].attention
    x = model.hidden(TIRED, layer=0)[0]
    alpha, value = model.attention(TIRED)[0], layer.project(x).value[0]
    mix = layer.out.weight.T.view(12, 32, 384)
    parts = alpha[..., None] * (value @ mix)[:, None]  # (h, n, n, d_model)
    with torch.no_grad():
        close = (parts.sum(dim=(0, 2)) + layer.out.bias - layer(x)[0]).abs().max()
    assert close < 1e-4
    found = heads.handed_over(model, TIRED)
    assert found.shape == (6, 12, *alpha.shape[1:])
    assert (found[0] - parts.norm(dim=-1)).abs().max() < 1e-5


@pytest.mark.parametrize("norms", [False, True])
def test_the_table_holds_each_sentence_and_noun(model: Pretrained, norms: bool) -> None:
    table = heads.pronoun_table(model, PAIRS, norms=norms)
    assert table.shape == (2, 2, 2, 2, 6, 12)
    wide = PAIRS[0].turned[1]
    gives = heads.handed_over(model, wide) if norms else model.attention(wide)
    at = [heads.places(model, wide, word) for word in ("it", "street")]
    assert torch.equal(table[0, 1, 1, 1], gives[:, :, at[0][0], at[1][0]])


def resolver(meant: float, other: float) -> Tensor:
    """A table of one pair and one head that gives the noun that is meant more, always."""
    table = torch.tensor([[meant, other], [other, meant]]).expand(1, 2, 2, 2)
    return table[..., None, None]


def test_a_resolver_is_right_and_leans_and_habits_are_neither() -> None:
    assert heads.right(resolver(0.6, 0.2)).item() == heads.leans(resolver(0.6, 0.2)).item() == 1
    assert heads.right(resolver(0.2, 0.6)).item() == heads.leans(resolver(0.2, 0.6)).item() == 0
    first = torch.tensor([[0.6, 0.2], [0.2, 0.6]])[None, :, None].expand(1, 2, 2, 2)
    assert heads.right(first[..., None, None]).item() == 0.5
    weak = torch.tensor([[0.6, 0.2], [0.6, 0.3]]).expand(1, 2, 2, 2)[..., None, None]
    assert heads.right(weak).item() == 0.5
    assert heads.leans(weak).item() == 1


def test_two_words_alone_are_a_rival_that_sees_no_sentence(model: Pretrained) -> None:
    found = heads.association(model, PAIRS)
    assert found.shape == (2, 2, 2, 2, 1, 1)
    assert torch.allclose(found.sum(dim=3), torch.ones(1))
    wide, animal, street = model.embed(["wide", "animal", "street"])
    gap = (found[0, 1, 1, 0] / found[0, 1, 1, 1]).log()
    assert torch.allclose(gap, wide @ animal - wide @ street, atol=1e-5)


def test_a_search_finds_what_is_there_and_luck_is_what_it_finds_in_swapped_pairs() -> None:
    generator = torch.Generator().manual_seed(3)
    scores = (torch.rand(40, 2, 5, generator=generator) < 0.5).double()
    scores[:, 1, 3] = 1
    found = heads.search(scores, times=200)
    assert found.halves == (heads.Held(1, 3, 1, 1), heads.Held(1, 3, 1, 1))
    assert found.tested == 1
    assert found.luck.shape == (200,)
    assert abs(found.luck.mean() - 0.5) < 0.05
    # With one head there is nothing to choose: a half's mean is that of its coins.
    found = heads.search(torch.ones(10, 1, 1), halvings=3, times=400)
    assert found.tested == 1
    assert abs(found.luck.mean() - 0.5) < 0.03
    assert 0.1 < found.luck.std() < 0.22  # of all 10 coins √(1/40) = 0.16


def test_a_search_is_tested_on_pairs_that_had_no_part_in_it() -> None:
    scores = torch.zeros(6, 1, 2)
    scores[0::2, 0, 0], scores[1::2, 0, 1] = 1, 1  # a head for each half, useless in the other
    first, second = heads.search(scores, times=1).halves
    assert (first.head, first.chosen, first.tested) == (0, 1, 0)
    assert (second.head, second.chosen, second.tested) == (1, 1, 0)
