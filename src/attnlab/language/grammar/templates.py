"""Rules that write a phrase in two languages at once.

A rule is two lines, such as

    rule("S V0~1 not/1 V1 C", "S ne/1 V0 pas/1 V1 C")

A capital letter opens a slot, filled on both sides from one phrase, links and all. A word is
written as it stands; words with the same number after the stroke are linked. ``V0~1`` gives the
number to those words of the slot that have no link yet, ``V0/1`` to all of them.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from attnlab.language.grammar.french import Token

CLASSES = {
    word: word_class
    for word_class, words in {
        "negation": "not never no longer ne pas jamais plus",
        "adverb": "often always sometimes souvent toujours parfois today yesterday tomorrow now "
        "aujourd'hui hier demain maintenant as aussi very très too trop here ici there y",
        "conjunction": "and but because when if while that et mais parce quand si pendant que",
        "question": "how what where why who which many comment où pourquoi qui combien -ce",
        "preposition": "in on under behind near front of to at with about dans sur sous derrière "
        "près de devant à 's",
        "determiner": "every this last next tous les ce cette la",
        "noun": "day morning week evening jours matin semaine soir faim soif froid chaud",
        "adjective": "hungry thirsty cold hot dernière prochaine",
        "verb": "says thinks knows dit pense sait",
        "pronoun": "il -t",
    }.items()
    for word in words.split()
}


class Phrase(NamedTuple):
    """The same words in English and in French."""

    english: tuple[Token, ...] = ()
    french: tuple[Token, ...] = ()


EMPTY = Phrase()


class Piece(NamedTuple):
    """One place of a rule: a word with its class, or a slot, whose class is empty."""

    text: str
    word_class: str
    label: str
    weak: bool  # label only what has no link yet


class Rule(NamedTuple):
    """The two sides of a rule."""

    english: tuple[Piece, ...]
    french: tuple[Piece, ...]


def rule(english: str, french: str) -> Rule:
    """Read a rule from its two lines; ``word:class`` overrides the usual class of a word."""
    return Rule(_pieces(english), _pieces(french))


def _pieces(line: str) -> tuple[Piece, ...]:
    pieces = []
    for word in line.split():
        weak = "~" in word
        text, _, label = word.partition("~" if weak else "/")
        text, _, word_class = text.partition(":")
        if text[0].isupper():
            pieces.append(Piece(text, "", label, weak))
        else:
            pieces.append(Piece(text, word_class or CLASSES[text], label, weak))
    return tuple(pieces)


def write(rule: Rule, slots: Mapping[str, Phrase], new_link: Callable[[], int]) -> Phrase:
    """Fill the slots of a rule; each label of the rule becomes a link of its own."""
    labels: dict[str, tuple[int, ...]] = {"": ()}
    for piece in rule.english + rule.french:
        if piece.label not in labels:
            labels[piece.label] = (new_link(),)
    english = _side(rule.english, {name: phrase.english for name, phrase in slots.items()}, labels)
    french = _side(rule.french, {name: phrase.french for name, phrase in slots.items()}, labels)
    return Phrase(english, french)


def _side(
    pieces: tuple[Piece, ...],
    slots: Mapping[str, tuple[Token, ...]],
    labels: Mapping[str, tuple[int, ...]],
) -> tuple[Token, ...]:
    tokens: list[Token] = []
    for text, word_class, label, weak in pieces:
        links = labels[label]
        if word_class:
            tokens.append(Token(text, word_class, links))
        elif not links:
            tokens += slots[text]
        else:
            for token in slots[text]:
                if not (weak and token.links):
                    token = token._replace(links=token.links + links)
                tokens.append(token)
    return tuple(tokens)
