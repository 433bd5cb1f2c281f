"""The minimal pairs: each differs in little, and neither length nor a word gives it away."""

from collections import Counter

import pytest

from attnlab.language import tokenise
from attnlab.language.texts import MinimalPair, minimal_pairs
from attnlab.language.texts.minimal_pairs import KINDS

PAIRS = minimal_pairs()
each = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong)


def test_there_are_as_many_as_the_docstring_says() -> None:
    assert f"the {len(PAIRS)} pairs" in minimal_pairs.__doc__
    assert Counter(pair.kind for pair in PAIRS) == {
        kind: 6 if kind == "distant agreement" else 4 for kind in KINDS
    }
    assert len({pair.right for pair in PAIRS} | {pair.wrong for pair in PAIRS}) == 2 * len(PAIRS)


@each
def test_both_are_sentences_and_one_word_or_the_order_is_another(pair: MinimalPair) -> None:
    right, wrong = (tokenise(text.lower(), plain=True) for text in (pair.right, pair.wrong))
    assert len(right) == len(wrong)
    if pair.kind == "order":
        assert Counter(right) == Counter(wrong)
        assert right != wrong
    else:
        assert sum(a != b for a, b in zip(right, wrong, strict=True)) == 1
    for text in (pair.right, pair.wrong):
        assert text == " ".join(text.split())
        assert text[0].isupper()
        assert text[-1] == "."


def test_whatever_always_prefers_one_number_of_the_verb_is_right_in_half() -> None:
    """As many subjects are singular as plural in the pairs of distant agreement."""
    singular = {"was", "looks", "does", "sings", "has", "knows", "leads", "lives"}
    for kind in ("agreement", "distant agreement"):
        words = [set(tokenise(pair.right, plain=True)) for pair in PAIRS if pair.kind == kind]
        assert 2 * sum(bool(some & singular) for some in words) == len(words)
