"""The opinions: balanced, hard where they say so, and different from each other."""

from collections import Counter
from functools import cache
from itertools import combinations, pairwise

import pytest
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from attnlab.language import Vocabulary, tokenise
from attnlab.language.texts import Opinion, opinions
from attnlab.language.texts.opinions import KINDS, LABELS

TRAIN, TEST = opinions()
EVERY = (*TRAIN, *TEST)
PARTS = pytest.mark.parametrize("part", [TRAIN, TEST], ids=["train", "test"])


@cache
def bag(opinion: Opinion) -> Counter[str]:
    return Counter(word for word in opinion.words if word not in ",.:")


def likeness(one: Opinion, other: Opinion) -> float:
    """Return the share of their words that two sentences have in common, from 0 to 1."""
    a, b = bag(one), bag(other)
    return (a & b).total() / (a | b).total()


def test_there_are_as_many_as_promised_of_known_kinds_mostly_hard_and_none_nearly_twice() -> None:
    assert f"{len(TRAIN)} sentences to learn from and {len(TEST)} to" in opinions.__doc__
    assert {opinion.kind for opinion in EVERY} == set(KINDS)
    assert LABELS == ("negative", "positive")
    labels = {opinion.text: LABELS[opinion.label] for opinion in EVERY}
    assert labels["I loved every minute of this film."] == "positive"
    assert labels["I hated every minute of this film."] == "negative"
    assert sum(opinion.kind != "plain" for opinion in TEST) / len(TEST) >= 0.6
    assert len({opinion.text.lower() for opinion in EVERY}) == len(EVERY)
    near = [(a.text, b.text) for a in TEST for b in TRAIN if likeness(a, b) > 0.6]
    assert near == []


@PARTS
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_balanced(part: tuple[Opinion, ...], kind: str) -> None:
    labels = Counter(opinion.label for opinion in part if opinion.kind == kind)
    assert labels[0] == labels[1] >= 7
    assert set(labels) == {0, 1}


def test_each_is_one_short_sentence() -> None:
    for opinion in EVERY:
        text, words = opinion.text, opinion.words
        assert text == " ".join(text.split()), text
        assert text[0].isupper(), text
        assert text.find(".") == len(text) - 1, text
        assert 4 <= sum(word not in ",.:" for word in words) <= 16, text
        assert words == [word.lower() for word in words], text
        assert words == tokenise(text.lower(), plain=False), text  # spaCy cuts it alike


@PARTS
def test_the_sentences_are_no_template_and_pairs_have_opposite_labels(part) -> None:
    free = [opinion for opinion in part if opinion.kind != "order"]
    alike = [(a.text, b.text) for a, b in combinations(free, 2) if likeness(a, b) > 0.6]
    assert len(alike) <= 8, alike  # minimal pairs, on purpose
    openings = Counter(tuple(opinion.words[:3]) for opinion in free)
    assert max(openings.values()) <= 5
    chosen = [opinion for opinion in part if opinion.kind == "order"]
    for one, other in zip(chosen[::2], chosen[1::2], strict=True):
        assert Counter(one.words) == Counter(other.words)
        assert one.words != other.words
        assert {one.label, other.label} == {0, 1}
    places = [place for place, opinion in enumerate(part) if opinion.kind == "order"]
    assert all(b == a + 1 for a, b in pairwise(places))


def test_there_are_enough_pairs_and_no_bag_is_there_in_another_kind() -> None:
    bags = Counter(tuple(sorted(opinion.words)) for opinion in EVERY)
    twice = {words for words, count in bags.items() if count > 1}
    assert set(bags.values()) == {1, 2}
    assert len(twice) >= 40
    assert {tuple(sorted(o.words)) for o in EVERY if o.kind == "order"} == twice


def counts(part: tuple[Opinion, ...], vocabulary: Vocabulary) -> Tensor:
    """Return how often each known word comes in each sentence, and a column of ones."""
    table = torch.zeros(len(part), len(vocabulary), dtype=torch.float64)
    for row, opinion in zip(table, part, strict=True):
        known = [word for word in opinion.words if word in vocabulary]
        row.index_add_(0, torch.tensor(vocabulary.encode(known)), torch.ones(len(known)).double())
    return torch.cat([table, torch.ones(len(part), 1).double()], dim=1)


def by_a_bag_of_words() -> dict[str, float]:
    """Fit a logistic regression on word counts; return its share of right answers by kind."""
    vocabulary = Vocabulary([opinion.words for opinion in TRAIN])
    seen, labels = counts(TRAIN, vocabulary), torch.tensor([o.label for o in TRAIN]).double()
    weights = torch.zeros(seen.shape[1], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=100)

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = binary_cross_entropy_with_logits(seen @ weights, labels)
        value = value + 0.003 * weights.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    says = (counts(TEST, vocabulary) @ weights.detach() > 0).tolist()
    right = {kind: [] for kind in KINDS}
    for answer, opinion in zip(says, TEST, strict=True):
        right[opinion.kind].append(answer == opinion.label)
    return {kind: sum(answers) / len(answers) for kind, answers in right.items()}


def test_a_bag_of_words_answers_the_plain_ones_and_one_of_each_pair() -> None:
    right = by_a_bag_of_words()
    assert right["plain"] >= 0.8
    assert right["order"] == 0.5
    assert all(right[kind] <= right["plain"] - 0.1 for kind in ("negation", "contrast", "idiom"))
