"""The pronoun pairs: one word decides, and neither position nor a repeated noun gives it away."""

import re
from collections import Counter

import pytest

from attnlab.language import tokenise
from attnlab.language.texts import PronounPair, pronouns

PAIRS = pronouns()
each = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "/".join(pair.meant))


def words(sentence: str) -> list[str]:
    return tokenise(sentence.lower(), plain=True)


def differ(sentences: tuple[str, str]) -> list[tuple[str, str]]:
    first, second = map(words, sentences)
    return [(a, b) for a, b in zip(first, second, strict=True) if a != b]


def test_there_are_as_many_as_the_docstring_says() -> None:
    found = Counter(pair.pronoun for pair in PAIRS)
    assert f"the {len(PAIRS)} pairs" in pronouns.__doc__
    assert f"{found['it']} with *it*, two each with *he*, *she*, *they*" in pronouns.__doc__
    assert found["it"] >= 18
    assert found["he"] == found["she"] == found["they"] == 2
    assert len({pair.sentences[0] for pair in PAIRS}) == len(PAIRS)


@each
def test_one_word_is_changed_pronoun_and_nouns_are_there_once_and_turn(pair: PronounPair) -> None:
    assert differ(pair.sentences) == differ(pair.turned) == [pair.changed]
    assert not set(pair.changed) & {pair.pronoun, *pair.meant}
    for sentence in (*pair.sentences, *pair.turned):
        found = Counter(words(sentence))
        for word in (pair.pronoun, *pair.meant):
            assert word.isalpha()
            assert found[word] == 1
        assert words(sentence) == tokenise(sentence.lower(), plain=False)  # spaCy cuts it alike
        assert sentence == " ".join(sentence.split())
        assert sentence[0].isupper()
        assert sentence[-1] == "."
    first, second = pair.meant
    for sentence in pair.sentences:
        places = [words(sentence).index(word) for word in (first, second, pair.pronoun)]
        assert places == sorted(places)
    for sentence in pair.turned:
        places = [words(sentence).index(word) for word in (second, first, pair.pronoun)]
        assert places == sorted(places)


@pytest.mark.parametrize("choice", [0, -1], ids=["the first noun", "the nearest noun"])
def test_a_position_is_right_half_of_the_time(choice: int) -> None:
    right = []
    for pair in PAIRS:
        for sentences in (pair.sentences, pair.turned):
            for sentence, meant in zip(sentences, pair.meant, strict=True):
                nouns = [word for word in words(sentence) if word in pair.meant]
                right.append(nouns[choice] == meant)
    assert sum(right) * 2 == len(right)


def test_a_quoted_pair_names_its_authors_and_year() -> None:
    quoted = [pair.source for pair in PAIRS if pair.source != "book"]
    assert len(quoted) == 2
    assert all(re.search(r"\w \((19|20)\d\d\)$", source) for source in quoted)
