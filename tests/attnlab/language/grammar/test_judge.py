"""The reader of the grammar: it accepts what the grammar writes, all of it and nothing else.

The proof is an enumeration that shares nothing with the reader: over a small lexicon, the grammar
is run through every sequence of draws, blindly, and what it writes is the set of its sentences.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import pytest

from attnlab.language.grammar.draws import Draws
from attnlab.language.grammar.judge import _vocabulary, accepts, why_not
from attnlab.language.grammar.lexicon import DETERMINERS, Adjective, Noun, Verb
from attnlab.language.grammar.parallel import ONE_CLAUSE, SENTENCES, famous, sentences
from attnlab.language.grammar.writer import Grammar

# *her*, which is two words; food; an owner; places. What a rule writes unasked, *a* and *this*
# where there is a verb, must be among the words
LEXICONS = tuple(
    frozenset(words.split())
    for words in (
        "cat hear a this her",
        "cat apple eat small a this some",
        "girl evening leave good a this these",
        "garden chair the a",
    )
)

Words = tuple[str, ...]


class OutsideError(Exception):
    """The draw is one of a word outside the small lexicon."""


class Counter(Draws):
    """Draws that count: a sequence of digits, each below its own limit, that grows by one."""

    def __init__(self, lexicon: frozenset[str]) -> None:
        self.lexicon = lexicon
        self.digits: list[int] = []
        self.limits: list[int] = []
        self.place = 0

    def below(self, n: int) -> int:
        if self.place == len(self.digits):
            self.digits.append(0)
            self.limits.append(n)
        self.place += 1
        return self.digits[self.place - 1]

    def chance(self, p: float) -> bool:
        return self.below(2) == 1

    def pick(self, items: Sequence[Any]) -> Any:
        inside = [item for item in items if within(item, self.lexicon)]
        if not inside:
            raise OutsideError
        return inside[self.below(len(inside))]

    def weighted(self, items: Sequence[Any], weights: Sequence[int]) -> Any:
        return self.pick(items)

    def advance(self) -> bool:
        self.place = 0
        while self.digits and self.digits[-1] + 1 == self.limits[-1]:
            self.digits.pop()
            self.limits.pop()
        if self.digits:
            self.digits[-1] += 1
        return bool(self.digits)


def within(item: object, lexicon: frozenset[str]) -> bool:
    if isinstance(item, Noun):
        return item.english[0] in lexicon
    if isinstance(item, Adjective | Verb):
        return item.english in lexicon
    return item not in DETERMINERS or item in lexicon


@cache
def enumerated(lexicon: frozenset[str]) -> frozenset[Words]:
    """Write every sentence of one clause over a small lexicon."""
    written: set[Words] = set()
    for way in ONE_CLAUSE:
        draws, more = Counter(lexicon), True
        while more:
            with suppress(OutsideError):
                written.add(english(way(Grammar(draws)).phrase))
            more = draws.advance()
    return frozenset(written)


def english(phrase: Any) -> Words:
    return tuple(token.text for token in phrase.english)


def drawn(n: int, name: str, ways: Any) -> list[Words]:
    return [english(phrase) for phrase, _, _ in islice(sentences(0, name, tuple(ways)), n)]


def corrupted(words: Words, vocabulary: Sequence[str], rng: Random) -> Words:
    """Break a sentence in one way: two words turned, one doubled, dropped, put in or replaced."""
    i, j, other = rng.randrange(len(words)), rng.randrange(len(words)), rng.choice(vocabulary)
    before, word, after = words[:i], words[i : i + 1], words[i + 1 :]
    turned = list(words)
    turned[i], turned[j] = words[j], words[i]
    kinds = (tuple(turned), before + word + word + after, before + after)
    return rng.choice((*kinds, (*before, other, *words[i:]), (*before, other, *after)))


@pytest.mark.parametrize("n", [80, pytest.param(1_000, marks=pytest.mark.heavy)])
@pytest.mark.parametrize("lexicon", LEXICONS, ids=lambda words: " ".join(sorted(words)))
def test_over_a_small_lexicon_exactly_what_the_grammar_writes_is_accepted(lexicon, n) -> None:
    there = enumerated(lexicon)
    rng, vocabulary = Random(0), sorted(set().union(*there))
    broken = 0
    for whole in rng.sample(sorted(there), min(n, len(there))):
        assert accepts(whole, one_clause=True), whole
        other = corrupted(whole, vocabulary, rng)
        assert accepts(other, one_clause=True) == (other in there), other
        broken += other not in there
    assert broken > n / 3  # or the corruptions would prove nothing


@pytest.mark.parametrize(("ways", "n"), [(ONE_CLAUSE, 200), (SENTENCES, 40)])
def test_what_the_grammar_draws_is_accepted(ways: Any, n: int) -> None:
    one_clause = ways is ONE_CLAUSE
    for words in drawn(n, "grammatical", ways):
        assert accepts(words, one_clause=one_clause), words


def test_every_way_to_write_is_read_and_the_books_first_sentences_accepted() -> None:
    for way in SENTENCES:
        for words in drawn(5, way.__name__, (way,)):
            assert accepts(words, one_clause=way in ONE_CLAUSE), words
    assert all(accepts(pair.source, one_clause=True) for pair in famous())


WRONG = {
    "the small cats sleeps": 'with "cat" in place of "cats"',
    "he do not sleep": 'with "does" in place of "do"',
    "does he sleeps": 'with "sleep" in place of "sleeps"',
    "i are tired": 'with "am" in place of "are"',
    "the girl sees he": 'with "him" in place of "he"',
    "an cat sleeps": 'with "a" in place of "an"',
    "two cat sleep": 'with "cats" in place of "cat"',
    "he does not eat some apples": 'with "any" in place of "some"',
    "the black small cat sleeps": 'with "small" before "black"',
    "the the cat sleeps": 'without "the", its word 1',
    "the cat eats apple": 'with "the" before "apple"',
    "she goes the school": 'with "to" before "the"',
    "the station sleeps": 'in place of "station"',
}


@pytest.mark.parametrize(("text", "change"), WRONG.items())
def test_one_mistake_is_refused_and_the_change_that_helps_is_named(text: str, change: str) -> None:
    assert not accepts(text.split(), one_clause=True)
    assert change in (why_not(text.split(), one_clause=True) or "")


@pytest.mark.parametrize(
    ("text", "same"),
    [("the cat and the dog sleep", "dog"), ("the cat is as small as the dog", "dog")],
)
def test_two_nouns_that_meet_are_different(text: str, same: str) -> None:
    assert accepts(text.split(), one_clause=True)
    assert not accepts(text.replace(same, "cat").split(), one_clause=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("the small cats sleep", None),
        ("", "it has no words"),
        ("the zebra eats a zebra and grass", 'the grammar has no "zebra" and no "grass"'),
        ("the cat sleeps because the girl eats an apple", "it has more than one clause"),
        ("eats the the sleep", "no change of one word makes a sentence of it"),
    ],
)
def test_what_else_is_wrong_is_said(text: str, why: str | None) -> None:
    assert why_not(text.split(), one_clause=True) == why
    assert accepts(text.split()) == (why is None or "clause" in why)


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["he", "sleeps"], True),
        (("he", "sleeps"), True),
        (["the cat", "sleeps"], False),
        (["he", "sleeps", ""], False),
    ],
)
def test_words_are_a_list_or_a_tuple_of_single_words(words: Sequence[str], right: bool) -> None:
    assert accepts(words) == right


def test_nothing_is_known_that_the_grammar_does_not_write_and_nothing_missing() -> None:
    assert _vocabulary() == set().union(*drawn(8_000, "train", SENTENCES))
