"""Text to tokens and back, for English, French and German.

French is cut where an alignment needs it: *l'homme* is *l'*, *homme*, and *mange-t-il* is
*mange*, *-t*, *-il*, as in the book's own corpus.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

LANGUAGES = ("en", "fr", "de")
# a pronoun after its verb in French; spaCy cuts some of them and not others
PRONOUN = r"(-(?:je|tu|ils?|elles?|on|nous|vous|ce|moi|toi|lui|leur|les?|la|y|en))"
AFTER_VERB = re.compile(rf"(?<=\w)(-t)?{PRONOUN}{PRONOUN}?(?=$|[^\w'-])", re.IGNORECASE)
NOT_A_PRONOUN = re.compile(r"(?:rendez-vous|peut-être|là-.*|au-.*)$", re.IGNORECASE)
NUMBER = r"\d+(?:[.,:]\d+)*"
WORD = r"[^\W\d_]+(?:-[^\W\d_]+)*"
PLAIN = {
    "en": re.compile(rf"can(?=not\b)|(?:[^\W\d_]+?)(?=n't\b)|n't\b|'\w+|{NUMBER}|{WORD}|\S", re.I),
    "fr": re.compile(rf"aujourd'hui|(?:[cdjlmnst]|\w*qu)'|{NUMBER}|{WORD}|\S", re.I),
    "de": re.compile(rf"{NUMBER}|{WORD}|\S", re.I),
}
CLOSING = frozenset(".,;:!?)]}…%»")
OPENING = frozenset("([{«")


def tokenise(text: str, language: str = "en", *, plain: bool | None = None) -> list[str]:
    """Cut a text into tokens.

    It is done by spaCy's rules (no model is needed), or by one regular expression where
    ``plain``, or where spaCy is not installed and ``plain`` is not given. A typographic
    apostrophe becomes a straight one. The two ways agree on the book's own corpus.

    >>> tokenise("Comment s'est passée ta journée ?", "fr", plain=True)
    ['Comment', "s'", 'est', 'passée', 'ta', 'journée', '?']

    Raises: ValueError for a language other than "en", "fr", "de"; ModuleNotFoundError for
    ``plain=False`` without spaCy.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}: it is {language!r}")
    text = text.replace("’", "'")
    cut = _plain if plain or (plain is None and not has_spacy()) else _spacy
    if language != "fr":
        return cut(text, language)
    tokens: list[str] = []
    for chunk in text.split():
        tokens += _french(chunk, cut)
    return tokens


def detokenise(tokens: Iterable[str]) -> str:
    """Join tokens into a text, as it is printed: no space after *l'* or before *'s*, *-il*, *.*

    It reverses ``tokenise`` for text whose punctuation is spaced as in English.
    """
    text = ""
    for token in tokens:
        glued = not text or text[-1] in OPENING or (text[-1] == "'" and token[0].isalnum())
        before = token[0] in CLOSING or (token[0] in "-'" and len(token) > 1)
        before = before or token.lower() == "n't"
        text += token if glued or before else " " + token
    return text


@cache
def has_spacy() -> bool:
    """Say whether spaCy can be imported."""
    try:
        import spacy
    except ImportError:
        return False
    return bool(spacy)


@cache
def _blank(language: str) -> Any:
    import spacy

    return spacy.blank(language)


def _spacy(text: str, language: str) -> list[str]:
    return [token.text for token in _blank(language)(text) if not token.is_space]


def _plain(text: str, language: str) -> list[str]:
    return PLAIN[language].findall(text)


def _french(chunk: str, cut: Any) -> list[str]:
    """Cut the pronouns off a verb, then the rest."""
    found = AFTER_VERB.search(chunk)
    if found is None or NOT_A_PRONOUN.match(chunk.rstrip("".join(CLOSING))):
        return cut(chunk, "fr")
    pronouns = [part for part in found.groups() if part]
    rest = chunk[found.end() :]
    return [*cut(chunk[: found.start()], "fr"), *pronouns, *(_french(rest, cut) if rest else [])]
