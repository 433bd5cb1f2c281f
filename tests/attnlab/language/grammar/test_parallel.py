"""The parallel corpus: its size, its held-out sets, its alignments, the same everywhere."""

import hashlib
import inspect
import os
import subprocess
import sys
from collections import Counter
from itertools import combinations as pairs_of
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from attnlab.language import Corpus, Pair, crosses, english_french
from attnlab.language.grammar.lexicon import nouns, verbs
from attnlab.language.grammar.parallel import combinations_apart, pair_of, sentences
from tests.attnlab.language.conftest import WHOLE

CLASSES = {
    *("noun", "verb", "adjective", "adverb", "determiner", "pronoun", "preposition", "particle"),
    *("auxiliary", "negation", "conjunction", "question"),
}
DIGEST = "5a2f7a11"  # where the grammar changes, the corpus may: then change it here


def digest(corpus: Corpus) -> str:
    return hashlib.sha256(repr(tuple(corpus)).encode()).hexdigest()[:8]


def words(parts: tuple[tuple[Pair, ...], ...], side: int) -> set[str]:
    return {token for part in parts for pair in part for token in pair[side]}


def test_size_words_patterns_lengths_crossings_and_fans_are_as_promised(corpus, pairs) -> None:
    assert inspect.signature(english_french).parameters["n"].default == WHOLE
    assert [len(part) for part in corpus[1:]] == [1_000] * 4
    assert len({pair.source for pair in pairs}) == len(corpus.train) + 4_000
    assert len(words((corpus.train,), 0)) >= 200
    assert len(words((corpus.train,), 1)) >= 200
    counts = Counter(pair.pattern for pair in corpus.train)
    frequent = 100 * len(corpus.train) / WHOLE
    assert sum(count >= frequent for count in counts.values()) >= 30
    for side in (0, 1):
        lengths = [len(pair[side]) for pair in pairs]
        assert (min(lengths), max(lengths)) == (3, 30)
        assert sum(len(pair[side]) >= 15 for pair in corpus.train) >= 0.15 * len(corpus.train)
    assert sum(map(crosses, corpus.train)) >= 0.4 * len(corpus.train)
    for side in (0, 1):
        fans = sum(
            max(Counter(link[side] for link in pair.alignment).values()) > 1
            for pair in corpus.train
        )
        assert fans >= 0.3 * len(corpus.train)


@given(links=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_crosses_follows_its_definition(links: set[tuple[int, int]]) -> None:
    pair = Pair((), (), tuple(sorted(links)), "", (), ())
    wanted = any((i - k) * (j - m) < 0 for (i, j), (k, m) in pairs_of(links, 2))
    assert crosses(pair) == wanted


def test_every_word_is_aligned_to_its_own_kind_and_has_a_class(pairs: list[Pair]) -> None:
    for pair in pairs:
        for side, tokens, classes in (
            (0, pair.source, pair.source_classes),
            (1, pair.target, pair.target_classes),
        ):
            assert {link[side] for link in pair.alignment} == set(range(len(tokens))), pair
            assert len(classes) == len(tokens)
            assert set(classes) <= CLASSES
        assert list(pair.alignment) == sorted(set(pair.alignment))
    for pair in pairs:
        for i, j in pair.alignment:
            one, other = pair.source_classes[i], pair.target_classes[j]
            if one == "noun" and pair.source[i] != "besoin":
                assert other in ("noun", "determiner"), pair  # every day: tous les jours
            if "adjective" in (one, other):
                assert {one, other} <= {"adjective", "noun", "determiner"}, pair  # hungry: faim


def test_one_english_sentence_has_one_french_sentence() -> None:
    french: dict[tuple[str, ...], tuple[str, ...]] = {}
    again = 0
    for sentence in islice(sentences(7, "again"), 6_000):
        pair = pair_of(*sentence)
        again += pair.source in french
        assert french.setdefault(pair.source, pair.target) == pair.target
    assert again > 0


def test_held_out_words_were_shown_and_longer_sentences_are_longer(corpus: Corpus) -> None:
    for side in (0, 1):
        counts = Counter(token for pair in corpus.train for token in pair[side])
        unknown = words(corpus[1:], side) - set(counts)
        if len(corpus.train) == WHOLE:
            assert unknown == set()
            assert min(counts.values()) >= 5
        else:  # what this part has yet to show
            assert len(unknown) <= 0.01 * len(counts)
    others = [pair for part in corpus[:-1] for pair in part]
    for side in (0, 1):
        longest = max(len(pair[side]) for pair in others)
        assert min(len(pair[side]) for pair in corpus.longer) > longest


def test_the_words_of_a_combination_are_together_nowhere_else(corpus) -> None:
    apart = combinations_apart()
    assert len(apart) >= 30
    for name in ("train", "valid", "test", "longer"):
        assert all(apart.isdisjoint(pair.combinations) for pair in getattr(corpus, name))
    assert all(not apart.isdisjoint(pair.combinations) for pair in corpus.combinations)
    apart = combinations_apart()
    plural = {noun.english[0]: noun.english[1] for noun in nouns()}
    forms = {verb.label: (verb.third, verb.past) for verb in verbs() if " " not in verb.label}
    unseen = set()
    for first, second in apart:
        if second in plural:
            unseen |= {(first, second), (first, plural[second])}
        unseen |= {(first, form) for form in forms.get(second, ())}
    seen = {
        two
        for pair in corpus.train
        if not pair.pattern.startswith("relative")  # in "who sees the cat sleeps" no cat sleeps
        for two in zip(pair.source, pair.source[1:], strict=False)
    }
    assert unseen
    assert unseen.isdisjoint(seen)


def test_the_two_famous_sentences_begin_the_test_set(corpus: Corpus) -> None:
    cat, day = corpus.test[:2]
    assert " ".join(cat.source) == "the small black cat does not eat the red apple"
    assert " ".join(cat.target) == "le petit chat noir ne mange pas la pomme rouge"
    assert cat.alignment == (
        *((0, 0), (1, 1), (2, 3), (3, 2), (4, 4), (4, 6), (5, 4), (5, 6), (6, 5)),
        *((7, 7), (8, 9), (9, 8)),
    )
    assert " ".join(day.source) == "how was your day"
    assert " ".join(day.target) == "comment s' est passée ta journée"
    assert day.alignment == ((0, 0), (1, 1), (1, 2), (1, 3), (2, 4), (3, 5))


def test_a_smaller_corpus_begins_a_larger_one_and_another_seed_gives_another() -> None:
    small, large = english_french(n=50, held_out=20), english_french(n=120, held_out=20)
    assert small.train == large.train[:50]
    assert small[1:] == large[1:]
    one, other = (english_french(n=50, seed=seed, held_out=10) for seed in (0, 1))
    assert not set(one.train) & set(other.train)
    assert one.test[:2] == other.test[:2]


def test_the_corpus_is_the_same_on_every_machine_whatever_the_order_of_sets() -> None:
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    program = (
        "from attnlab.language import english_french; import hashlib; "
        "c = english_french(n=200, held_out=20); "
        "print(hashlib.sha256(repr(tuple(c)).encode()).hexdigest()[:8])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": other, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == digest(english_french(n=200, held_out=20)) == DIGEST
