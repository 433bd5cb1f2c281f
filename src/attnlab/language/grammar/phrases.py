"""Noun phrases in both languages: determiner, adjectives on their side of the noun, agreement."""

from functools import cache
from itertools import count
from typing import NamedTuple

from attnlab.language.grammar.draws import Draws
from attnlab.language.grammar.french import Token, begins_with_vowel
from attnlab.language.grammar.lexicon import (
    BEFORE_VOWEL,
    DETERMINERS,
    PERSONS,
    PRONOUNS,
    Adjective,
    Noun,
    adjectives,
    nouns,
)
from attnlab.language.grammar.templates import EMPTY, Phrase, rule, write

SINGULAR = ("the", "this", "my", "your", "his", "her", "our", "their", "a")
PLURAL = ("the", "these", "my", "your", "his", "her", "our", "their", "two", "three", "some")
SINGULAR_WEIGHTS = (12, 3, 1, 1, 1, 1, 1, 1, 6)
PLURAL_WEIGHTS = (8, 3, 1, 1, 1, 1, 1, 1, 2, 2, 4)

FIRST_INDEFINITE = ("a", "two")  # the words from here on are not definite
PARTS = frozenset({"thing", "opening"})
OWNED = frozenset({"thing", "text", "animal", "food", "opening", "event"})

POSSESSOR = rule("P 's/1 N", "D/1 N de/1 P")
PART_OF = rule("N of/1 P", "N de/1 P")
BOTH = rule("A and/1 B", "A et/1 B")


Qualities = tuple[Adjective | None, Adjective | None]
PLAIN: Qualities = (None, None)


class Subject(NamedTuple):
    """Who a verb agrees with: ``person`` is 0 to 4, for je, tu, il, nous, ils."""

    phrase: Phrase
    person: int
    gender: str
    many: bool
    nouns: tuple[Noun, ...] = ()


@cache
def nouns_of(kinds: frozenset[str]) -> tuple[Noun, ...]:
    """Return the nouns of these kinds, in the order of the table."""
    return tuple(noun for noun in nouns() if noun.kinds & kinds)


@cache
def adjectives_of(kinds: frozenset[str], before_noun: bool | None = None) -> tuple[Adjective, ...]:
    """Return the adjectives that suit these kinds; ``before_noun`` picks their French place."""
    return tuple(
        adjective
        for adjective in adjectives()
        if adjective.kinds & kinds and before_noun in (None, adjective.before_noun)
    )


def agree(adjective: Adjective, gender: str, many: bool) -> str:
    """Return the French form of an adjective: *noir, noire, noirs, noires*."""
    return (adjective.feminine if gender == "f" else adjective.masculine)[many]


def determiner(english: str, gender: str, many: bool, following: str) -> str:
    """Return the French determiner, as it is written before the word that follows."""
    masculine, feminine, plural = DETERMINERS[english]
    word = plural if many else feminine if gender == "f" else masculine
    return BEFORE_VOWEL.get(word, word) if begins_with_vowel(following) else word


class Phrases:
    """A writer of phrases: draws words, hands out links, notes which words it joined."""

    def __init__(self, draws: Draws) -> None:
        self.draws = draws
        self.combinations: list[tuple[str, str]] = []
        self.new_link = count().__next__

    def word(self, english: str, french: str, word_class: str) -> Phrase:
        """Return two words that are linked."""
        link = (self.new_link(),)
        return Phrase((Token(english, word_class, link),), (Token(french, word_class, link),))

    def adjective(self, adjective: Adjective, noun: Noun, many: bool) -> Phrase:
        """Return an adjective that agrees with a noun, and note the two."""
        self.combinations.append((adjective.english, noun.english[0]))
        return self.word(adjective.english, agree(adjective, noun.gender, many), "adjective")

    def qualities(self, noun: Noun) -> Qualities:
        """Draw at most one adjective for each side of a French noun."""
        before, after = (
            self.draws.pick(adjectives_of(noun.kinds, side)) if self.draws.chance(0.3) else None
            for side in (True, False)
        )
        return before, after

    def described(self, noun: Noun, many: bool, qualities: Qualities = PLAIN) -> Phrase:
        """Return a noun with its adjectives: *small black cat, petit chat noir*."""
        first, second = qualities
        before = self.adjective(first, noun, many) if first else EMPTY
        if first and noun.gender == "m" and not many and begins_with_vowel(noun.french[0]):
            (token,) = before.french
            before = before._replace(french=(token._replace(text=first.before_vowel),))
        after = self.adjective(second, noun, many) if second else EMPTY
        word = self.word(noun.english[many], noun.french[many], "noun")
        return Phrase(
            before.english + after.english + word.english,
            before.french + word.french + after.french,
        )

    def determined(
        self,
        english: str,
        noun: Noun,
        many: bool = False,
        qualities: Qualities = PLAIN,
        *,
        negated: bool = False,
    ) -> Phrase:
        """Return a noun with determiner and adjectives.

        Where ``negated``, an indefinite article becomes *de*: *does not eat an apple, ne mange
        pas de pomme*; the English plural is then *any*. *Some small cats* are *de petits chats*.
        """
        phrase = self.described(noun, many, qualities)
        french = determiner(english, noun.gender, many, phrase.french[0].text)
        if (negated and english == "a") or (english == "some" and (negated or qualities[0])):
            french = "de"
        if english == "some" and negated:
            english = "any"
        if english == "a" and phrase.english[0].text[0] in "aeiou":
            english = "an"
        article = self.word(english, french, "determiner")
        return Phrase(article.english + phrase.english, article.french + phrase.french)

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
        """Draw a noun phrase of these kinds, sometimes with a possessor or "of the house"."""
        choice = nouns_of(kinds)
        noun = self.draws.pick([noun for noun in choice if noun not in but] if but else choice)
        many = self.draws.chance(0.3) if many is None else many
        phrase = None
        if not plain and self.draws.chance(0.1):
            phrase = self.possessed(noun, many)
        if phrase is None:
            words, weights = (PLURAL, PLURAL_WEIGHTS) if many else (SINGULAR, SINGULAR_WEIGHTS)
            cut = words.index(FIRST_INDEFINITE[many]) if definite else len(words)
            chosen = self.draws.weighted(words[:cut], weights[:cut])
            qualities = PLAIN if plain else self.qualities(noun)
            phrase = self.determined(chosen, noun, many, qualities, negated=negated)
        return Subject(phrase, 4 if many else 2, noun.gender, many, (noun,))

    def possessed(self, noun: Noun, many: bool) -> Phrase | None:
        """Return "the neighbour's dog" or "the key of the house", or None where neither fits."""
        if noun.kinds & PARTS and self.draws.chance(0.5):
            owner = self.draws.pick(nouns_of(frozenset({"place"})))
            whole, part = self.determined("the", owner), self.determined("the", noun, many)
            return write(PART_OF, {"N": part, "P": whole}, self.new_link)
        if not noun.kinds & OWNED:
            return None
        owner = self.draws.pick(nouns_of(frozenset({"human"})))
        article = self.draws.weighted(SINGULAR[:-1], SINGULAR_WEIGHTS[:-1])
        possessor = self.determined(article, owner)
        described = self.described(noun, many, self.qualities(noun))
        french = determiner("the", noun.gender, many, described.french[0].text)
        slots = {"P": possessor, "N": described, "D": Phrase((), (Token(french, "determiner"),))}
        return write(POSSESSOR, slots, self.new_link)

    def pronoun(self, row: int) -> Subject:
        """Return the subject pronoun of a row of ``PRONOUNS``; i, you and we are masculine."""
        english, _, french, _ = PRONOUNS[row]
        phrase = self.word(english, french, "pronoun")
        return Subject(phrase, PERSONS[row], "f" if french == "elle" else "m", row > 3)

    def subject(self, kinds: frozenset[str], *, pronouns: float = 0.3) -> Subject:
        """Draw a subject: a pronoun, a noun phrase, or two of them joined by *and*."""
        if self.draws.chance(pronouns):
            return self.pronoun(self.draws.below(len(PRONOUNS)))
        if self.draws.chance(0.9):
            return self.noun_phrase(kinds)
        first = self.noun_phrase(kinds, plain=True, many=False)
        second = self.noun_phrase(first.nouns[0].kinds, plain=True, many=False, but=first.nouns)
        phrase = write(BOTH, {"A": first.phrase, "B": second.phrase}, self.new_link)
        # one masculine noun makes the whole masculine
        gender = "f" if first.gender == second.gender == "f" else "m"
        return Subject(phrase, 4, gender, True, first.nouns + second.nouns)
