"""The book's parallel corpus: English–French pairs drawn from the grammar, and held-out sets.

>>> corpus = english_french(n=100, held_out=10)
>>> " ".join(corpus.test[1].source), " ".join(corpus.test[1].target)
('how was your day', "comment s' est passée ta journée")
"""

from collections.abc import Callable, Iterator

from attnlab import _check
from attnlab.language.grammar.clauses import Clause
from attnlab.language.grammar.draws import Draws
from attnlab.language.grammar.french import spell
from attnlab.language.grammar.lexicon import adjectives, nouns, verbs
from attnlab.language.grammar.phrases import Subject
from attnlab.language.grammar.templates import Phrase
from attnlab.language.grammar.writer import Grammar
from attnlab.language.pairs import Corpus, Pair

SHORTEST, LONGEST_IN_TRAINING, LONGEST = 3, 20, 30
HELD_OUT_COMBINATIONS = 0.04  # of all pairs of words that may meet

SENTENCES: dict[Callable[[Grammar], Clause], int] = {
    Grammar.clause: 24,
    Grammar.description: 8,
    Grammar.there_is: 4,
    Grammar.yes_no: 8,
    Grammar.adverb_question: 6,
    Grammar.object_question: 8,
    Grammar.who: 3,
    Grammar.how_was: 2,
    Grammar.how_is: 1,
    Grammar.joined: 20,
    Grammar.that: 6,
    Grammar.who_relative: 6,
    Grammar.that_relative: 6,
    Grammar.three: 18,
}


ONE_CLAUSE = (
    *(Grammar.clause, Grammar.description, Grammar.there_is, Grammar.yes_no, Grammar.who),
    *(Grammar.adverb_question, Grammar.object_question, Grammar.how_was, Grammar.how_is),
)


def english_french(
    n: int = 46_000, *, seed: int = 0, held_out: int = 1_000, one_clause: bool = False
) -> Corpus:
    """Draw ``n`` training pairs, and four held-out sets of ``held_out`` pairs each.

    No English sentence comes twice. The held-out sets depend on ``seed`` alone, not on ``n``,
    and a smaller corpus is the beginning of a larger one. Training, validation and test pairs
    have 3 to 20 tokens a side, those of ``longer`` 21 to 30. The test set begins with "the
    small black cat does not eat the red apple" and "how was your day".

    With ``one_clause`` nothing is joined by *and*, *because*, *that* or *who*: all the words and
    tenses in sentences of some 3 to 16 tokens, other draws, and an empty set ``longer``.

    Raises: ValueError for a number of pairs that is not a whole number, at least 1 of ``n`` and
    2 of ``held_out``.
    """
    _check.whole_number("n", n, at_least=1)
    _check.whole_number("seed", seed)
    _check.whole_number("held_out", held_out, at_least=2)
    apart = combinations_apart(seed)
    seen: set[tuple[str, ...]] = set()
    held: dict[str, tuple[Pair, ...]] = {}
    ways = ONE_CLAUSE if one_clause else tuple(SENTENCES)
    for name in ("test", "valid", "combinations", "longer"):
        first = famous() if name == "test" else ()
        wanted = 0 if one_clause and name == "longer" else held_out
        held[name] = _take(wanted, first, sentences(seed, name, ways), name, apart, seen)
    train = _take(n, (), sentences(seed, "train", ways), "train", apart, seen)
    return Corpus(train, **held)


def combinations_apart(seed: int = 0) -> frozenset[tuple[str, str]]:
    """Draw the (adjective, noun) and (noun, verb) pairs that only ``combinations`` joins."""
    draws = Draws(seed, "combinations apart")
    kept = {combination for pair in famous() for combination in pair.combinations}
    meetings = [
        (adjective.english, noun.english[0])
        for adjective in adjectives()
        for noun in nouns()
        if adjective.kinds & noun.kinds
    ] + [
        (noun.english[0], verb.label)
        for noun in nouns()
        for verb in verbs()
        if noun.kinds & verb.subject
    ]
    return frozenset(
        meeting
        for meeting in meetings
        if draws.chance(HELD_OUT_COMBINATIONS) and meeting not in kept
    )


def _take(
    n: int,
    first: tuple[Pair, ...],
    drawn: Iterator[tuple[Phrase, str, list[tuple[str, str]]]],
    name: str,
    apart: frozenset[tuple[str, str]],
    seen: set[tuple[str, ...]],
) -> tuple[Pair, ...]:
    """Take ``n`` new pairs that belong to the set of this name."""
    taken = list(first)
    seen.update(pair.source for pair in first)
    least, most = (
        (LONGEST_IN_TRAINING + 1, LONGEST) if name == "longer" else (SHORTEST, LONGEST_IN_TRAINING)
    )
    while len(taken) < n:
        phrase, pattern, combinations = next(drawn)
        if apart.isdisjoint(combinations) == (name == "combinations"):
            continue
        pair = pair_of(phrase, pattern, combinations)
        shorter, longer = sorted((len(pair.source), len(pair.target)))
        if least <= shorter and longer <= most and pair.source not in seen:
            seen.add(pair.source)
            taken.append(pair)
    return tuple(taken)


def sentences(
    seed: int, name: str, ways: tuple[Callable[[Grammar], Clause], ...] = tuple(SENTENCES)
) -> Iterator[tuple[Phrase, str, list[tuple[str, str]]]]:
    """Draw sentences of these kinds without end, each name with random numbers of its own.

    Yields the phrase, its pattern and the combinations of words in it, for ``pair_of``.
    """
    draws = Draws(seed, name)
    weights = tuple(SENTENCES[way] for way in ways)
    while True:
        grammar = Grammar(draws)
        phrase, pattern = draws.weighted(ways, weights)(grammar)
        yield phrase, pattern, grammar.combinations


def pair_of(phrase: Phrase, pattern: str, combinations: list[tuple[str, str]]) -> Pair:
    """Spell a phrase and turn its links into an alignment."""
    french = spell(phrase.french)
    where: dict[int, list[int]] = {}
    for j, token in enumerate(french):
        for link in token.links:
            where.setdefault(link, []).append(j)
    alignment = {
        (i, j)
        for i, token in enumerate(phrase.english)
        for link in token.links
        for j in where.get(link, ())
    }
    return Pair(
        tuple(token.text for token in phrase.english),
        tuple(token.text for token in french),
        tuple(sorted(alignment)),
        pattern,
        tuple(token.word_class for token in phrase.english),
        tuple(token.word_class for token in french),
        tuple(combinations),
    )


def famous() -> tuple[Pair, Pair]:
    """Write the two sentences that the book begins with."""
    noun = {noun.english[0]: noun for noun in nouns()}
    adjective = {adjective.english: adjective for adjective in adjectives()}
    verb = {verb.label: verb for verb in verbs()}
    grammar = Grammar(Draws(0))
    cat = grammar.determined("the", noun["cat"], False, (adjective["small"], adjective["black"]))
    subject = Subject(cat, 2, "m", False, (noun["cat"],))
    group = grammar.conjugate(verb["eat"], "present", subject, do=True)
    apple = grammar.determined("the", noun["apple"], False, (None, adjective["red"]))
    eats = grammar.say("negated", subject, group, apple)
    first = pair_of(eats, "negated, present, object", grammar.combinations)
    grammar = Grammar(Draws(0))
    day = Subject(grammar.determined("your", noun["day"]), 2, "f", False, (noun["day"],))
    phrase, pattern = grammar.how_was(day)
    return first, pair_of(phrase, pattern, grammar.combinations)
