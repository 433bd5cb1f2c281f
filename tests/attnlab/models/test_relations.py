"""Heads and a treebank: guesses of words, arcs, rivals, and both halves."""

import pytest
import torch

from attnlab.language import Tree, treebank
from attnlab.models import relations
from tests import needs

TREE = Tree(
    words=("The", "small", "cat", "sleeps"),
    heads=(2, 2, 3, 3),
    relations=("det", "amod", "nsubj", "root"),
    kinds=("DET", "ADJ", "NOUN", "VERB"),
    spaces=(True, True, True, False),
)
# one layer of two heads: the next word; always the last word but for itself
GUESSED = torch.tensor([[[1, 2, 3, 2], [3, 3, 3, 2]]])


def test_arcs_know_direction_distance_and_rival_and_halves_choose_and_test() -> None:
    det = relations.arcs([TREE], [GUESSED], "det")
    assert det.governor.tolist() == [[[False, False]]]
    assert (det.distance.tolist(), det.rival.tolist()) == ([2], [True])
    subject = relations.arcs([TREE], [GUESSED], "nsubj")
    assert subject.governor.tolist() == [[[True, True]]]
    assert subject.dependent.tolist() == [[[True, True]]]
    other = GUESSED.clone()
    other[0, :, 1] = torch.tensor([0, 2])  # there the second head has it, not the first
    found = relations.arcs([TREE, TREE], [GUESSED, other], "amod")
    first, second = relations.followed(found)
    assert (first.layer, first.head, first.way, first.tested) == (0, 0, "governor", 0)
    assert (first.distance, first.fixed, first.rival) == (1, 1, 1)
    assert (second.head, second.tested) == (1, 0)


def test_what_the_trees_do_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="relation must be"):
        relations.arcs([TREE], [GUESSED], "root")
    with pytest.raises(ValueError, match="have an arc 'poss'"):
        relations.arcs([TREE], [GUESSED], "poss")
    with pytest.raises(ValueError, match="both halves"):
        relations.followed(relations.arcs([TREE], [GUESSED], "det"))


def test_guesses_are_of_other_words_and_pieces_are_put_together() -> None:
    model, tree = needs.minilm(), treebank()[0]
    found = relations.guesses(model, tree)
    assert found.shape == (6, 12, len(tree.words))
    assert (found != torch.arange(len(tree.words))).all()
    assert found.max() < len(tree.words)
