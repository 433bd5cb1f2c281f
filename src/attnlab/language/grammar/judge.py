"""Whether the book's grammar can write a sentence, and what is wrong with it where it cannot.

>>> accepts("the small cats sleep".split())
True
>>> why_not("the small cats sleeps".split())
'it would be a sentence with "cat" in place of "cats"'

No rule is written down twice: the grammar that writes the corpus is itself led through its
choices. Where it would draw a word, it takes in turn each one that stands in the sentence, and
goes back as soon as it has written a phrase that does not. What is accepted, it wrote itself.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache, partial
from itertools import islice, pairwise
from typing import Any, TypeVar

from attnlab.language.grammar import lexicon
from attnlab.language.grammar.clauses import MANNERS, PLACES
from attnlab.language.grammar.draws import Draws
from attnlab.language.grammar.lexicon import BE, DETERMINERS, PRONOUNS, WAS, Noun, Verb
from attnlab.language.grammar.parallel import ONE_CLAUSE, SENTENCES, sentences
from attnlab.language.grammar.phrases import PLAIN, Qualities, Subject, nouns_of
from attnlab.language.grammar.templates import Phrase, Rule
from attnlab.language.grammar.verbgroups import VerbGroup
from attnlab.language.grammar.writer import ADVERB_QUESTIONS, JOINED, SAYING, THERE_IS, Grammar

Item = TypeVar("Item")
Written = TypeVar("Written", Phrase, Subject)
_Others = dict[str, list[str]]  # for each word, what may stand in its place

_TABLES = (MANNERS, THERE_IS, ADVERB_QUESTIONS, JOINED, PLACES)
_KINDS = frozenset[str]().union(*(noun.kinds for noun in lexicon.nouns()))
_BECOMES = {"a": "an", "some": "any"}  # before a vowel, and after a negation


def accepts(words: Sequence[str], *, one_clause: bool = False) -> bool:
    """Say whether the grammar can write exactly these words, as ``english_french`` gives them.

    Every sentence of the corpus is accepted, and so is any other that the same choices lead to,
    however short or long it is, with the combinations of words that the corpus holds apart.
    ``one_clause`` accepts only what ``english_french(one_clause=True)`` draws from.

    Raises: TypeError for a string, and for words that are none.
    """
    _check_words(words)
    return _accepts(tuple(words), one_clause)


def why_not(words: Sequence[str], *, one_clause: bool = False) -> str | None:
    """Name one change of one word that would make a sentence of it, ``None`` where it is one.

    In turn: words that the grammar does not have, another form of a word, two neighbours the other
    way round, a word too many, a missing *the* or preposition, a word of another meaning. The
    first that helps is named. Two mistakes are mostly beyond it, and it says so.

    Raises: TypeError for a string, and for words that are none.
    """
    _check_words(words)
    words = tuple(words)
    if _accepts(words, one_clause):
        return None
    if not words:
        return "it has no words"
    if one_clause and _accepts(words, False):
        return "it has more than one clause"
    unknown = [f'"{word}"' for word in dict.fromkeys(words) if word not in _vocabulary()]
    if unknown:
        return f"the grammar has no {' and no '.join(unknown)}"
    for changed, how in _changes(words):
        if _accepts(changed, one_clause):
            return f"it would be a sentence {how}"
    return "no change of one word makes a sentence of it"


def _check_words(words: object) -> None:
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise TypeError(f"words must be a list of words: it is {words!r}")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"words must be made of strings: {word!r} is a {type(word).__name__}")


def _accepts(words: tuple[str, ...], one_clause: bool) -> bool:
    reader = _Reader(words)
    return any(
        _english(clause.phrase) == words
        for way in (ONE_CLAUSE if one_clause else SENTENCES)
        for clause in reader.ways(partial(way, reader))
    )


def _english(phrase: Phrase) -> tuple[str, ...]:
    return tuple(token.text for token in phrase.english)


class _DeadEnd(Exception):
    """The grammar was led to words that do not stand in the sentence."""


class _Choices(Draws):
    """Draws that follow a path: the first of what is left at each choice, and new choices."""

    def __init__(self, words: frozenset[str], path: list[list[Any]]) -> None:
        self.words, self.path, self.taken = words, path, 0

    def _choose(self, among: Callable[[], list[Item]]) -> Item:
        if self.taken == len(self.path):
            left = among()
            if not left:
                raise _DeadEnd
            self.path.append(left)
        self.taken += 1
        return self.path[self.taken - 1][0]

    def chance(self, p: float) -> bool:
        return self._choose(lambda: [False, True])

    def below(self, n: int) -> int:
        return self._choose(lambda: list(range(n)))

    def pick(self, items: Sequence[Item]) -> Item:
        return self._choose(lambda: self._fitting(items))

    def weighted(self, items: Sequence[Item], weights: Sequence[int]) -> Item:
        return self.pick(items)

    def _fitting(self, items: Sequence[Item]) -> list[Item]:
        fitting = dict.fromkeys(item for item in items if _fits(item, items, self.words))
        # "there is no cat" draws a determiner and does not write it
        return list(fitting) or [item for item in items[:1] if item in DETERMINERS]


def _fits(item: object, items: Sequence[object], words: frozenset[str]) -> bool:
    """Say whether a sentence of these words may hold what is drawn; in doubt, it may."""
    if isinstance(item, Rule):
        return all(piece.text in words for piece in item.english if piece.word_class)
    if isinstance(item, tuple):
        return not words.isdisjoint(_texts(item))
    if not isinstance(item, str):
        return True
    if item in DETERMINERS:
        return item in words or _BECOMES.get(item) in words
    # "negated" names a rule of two tables: if all of one may be drawn, it is that table's
    named = [each for each in _TABLES if tuple(each) == items] or _TABLES
    rules = [table[item] for table in named if item in table]
    return not rules or any(_fits(rule, (), words) for rule in rules)


@cache
def _texts(item: tuple[Any, ...]) -> frozenset[str]:
    """Collect all strings of a noun, an adjective, a verb, a row of pronouns."""
    inner = [_texts(part) for part in item if isinstance(part, tuple)]
    return frozenset(part for part in item if isinstance(part, str)).union(*inner)


class _Reader(Grammar):
    """The grammar, led to what stands in a sentence.

    Phrases that come in many places are written in every way once, and then chosen from.
    """

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(Draws(0))
        self.words, self.text = frozenset(words), f" {' '.join(words)} "
        self.found: dict[Hashable, list[Any]] = {}

    def ways(self, write: Callable[[], Any]) -> Iterator[Any]:
        """Call ``write`` once for each path of choices; yield what it writes, but no dead ends."""
        path: list[list[Any]] = []
        while True:
            outer, self.draws = self.draws, _Choices(self.words, path)
            try:
                written = [write()]
            except _DeadEnd:
                written = []
            self.draws = outer
            yield from written
            while path and len(path[-1]) == 1:
                path.pop()
            if not path:
                return
            path[-1].pop(0)

    def every(self, name: Hashable, write: Callable[[], Written]) -> list[Written]:
        """Write a phrase in every way that stands in the sentence, the first time it is asked."""
        if name not in self.found:
            different = {_but_for_links(written): written for written in self.ways(write)}
            self.found[name] = list(different.values())
        return self.found[name]

    def one_of(self, several: list[Written]) -> Written:
        return several[self.draws.below(len(several))]

    def stands(self, phrase: Phrase) -> Phrase:
        """Return the phrase; a dead end where its words are not side by side in the sentence."""
        if phrase.english and f" {' '.join(_english(phrase))} " not in self.text:
            raise _DeadEnd
        return phrase

    def word(self, english: str, french: str, word_class: str) -> Phrase:
        return self.stands(super().word(english, french, word_class))

    def compose(self, template: Rule, **slots: Phrase) -> Phrase:
        return self.stands(super().compose(template, **slots))

    def described(self, noun: Noun, many: bool, qualities: Qualities = PLAIN) -> Phrase:
        return self.stands(super().described(noun, many, qualities))

    def determined(
        self,
        english: str,
        noun: Noun,
        many: bool = False,
        qualities: Qualities = PLAIN,
        *,
        negated: bool = False,
    ) -> Phrase:
        return self.stands(super().determined(english, noun, many, qualities, negated=negated))

    def conjugate(self, verb: Verb, tense: str, subject: Subject, **how: Any) -> VerbGroup:
        group = super().conjugate(verb, tense, subject, **how)
        self.stands(group.first)
        self.stands(group.rest)
        return group

    def noun_phrase(
        self,
        kinds: frozenset[str],
        *,
        definite: bool = False,
        negated: bool = False,
        plain: bool = False,
        many: bool | None = None,
        but: tuple[Noun, ...] = (),
    ) -> Subject:
        how = {"definite": definite, "negated": negated, "plain": plain, "many": many}
        every = self.every(tuple(how.values()), partial(super().noun_phrase, _KINDS, **how))
        allowed = set(nouns_of(kinds)).difference(but)
        return self.one_of([phrase for phrase in every if phrase.nouns[0] in allowed])

    def subject(self, kinds: frozenset[str], *, pronouns: float = 0.3) -> Subject:
        return self.one_of(self.every(kinds, partial(super().subject, kinds)))

    def place(self) -> Phrase:
        return self.one_of(self.every("place", super().place))

    def part(self, tense: str = "") -> Phrase:
        return self.one_of(self.every(f"part {tense}", partial(super().part, tense)))


def _but_for_links(written: Phrase | Subject) -> Hashable:
    phrase, *rest = written if isinstance(written, Subject) else (written,)
    return _english(phrase), *rest


@cache
def _vocabulary() -> frozenset[str]:
    """Collect the words of enough sentences that none is missing."""
    drawn = islice(sentences(0, "vocabulary"), 6_000)
    return frozenset(word for phrase, _, _ in drawn for word in _english(phrase))


@cache
def _other_forms() -> _Others:
    families = [noun.english for noun in lexicon.nouns()] + [verb[:4] for verb in lexicon.verbs()]
    families += [row[:2] for row in PRONOUNS + SAYING] + [("a", "an"), ("some", "any")]
    families += [("this", "these"), ("do", "does", "did"), ("want", "wants"), (*BE[:3], *WAS[:2])]
    others: _Others = defaultdict(list)
    for family in families:
        for word in family:
            others[word] += [form for form in family if form != word]
    return others


@cache
def _other_meanings() -> _Others:
    """Name for each noun, adjective and verb one of each kind, in the same form."""
    entries = [(noun.english, noun.kinds) for noun in lexicon.nouns()]
    entries += [((adjective.english,), adjective.kinds) for adjective in lexicon.adjectives()]
    entries += [(verb[:4], verb[8:]) for verb in lexicon.verbs()]
    # nouns have 2 forms, adjectives 1, verbs 4; "a" and "an" want one of each kind
    kinds = {(len(forms), forms[0][0] in "aeiou", kind): forms for forms, kind in entries}
    others: _Others = defaultdict(list)
    for forms, _ in entries:
        alike = [other for other in kinds.values() if len(other) == len(forms)]
        for i, word in enumerate(forms):
            others[word] += [other[i] for other in alike if other[i] != word]
    return others


def _changes(words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Change one word in every way; yield the words and what changed, the likeliest first."""
    yield from _replaced(words, _other_forms())
    for i, (first, second) in enumerate(pairwise(words)):
        yield (*words[:i], second, first, *words[i + 2 :]), f'with "{second}" before "{first}"'
    for i, word in enumerate(words):
        yield words[:i] + words[i + 1 :], f'without "{word}", its word {i + 1}'
    for other in dict.fromkeys(verb.prepositions[0] or "the" for verb in lexicon.verbs()):
        for i, word in enumerate(words):
            yield (*words[:i], other, *words[i:]), f'with "{other}" before "{word}"'
    yield from _replaced(words, _other_meanings())


def _replaced(words: tuple[str, ...], others: _Others) -> Iterator[tuple[tuple[str, ...], str]]:
    for i, word in enumerate(words):
        for other in others.get(word, ()):
            yield (*words[:i], other, *words[i + 1 :]), f'with "{other}" in place of "{word}"'
