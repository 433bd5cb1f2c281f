"""The words of the grammar: nouns, adjectives and verbs from three small tables, and the rest.

The tables lie in ``data/``: one word a line, a dash for "none". Kinds (human, food, place …) say
which words may meet, so that nobody eats a station.
"""

from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Noun(NamedTuple):
    """A noun: ``french[plural]``, its gender, and the prepositions of "in the garden"."""

    english: tuple[str, str]
    french: tuple[str, str]
    gender: str
    kinds: frozenset[str]
    where: tuple[str, str] | None


class Adjective(NamedTuple):
    """An adjective: French forms by gender and number, and its side of the noun."""

    english: str
    masculine: tuple[str, str]
    feminine: tuple[str, str]
    before_vowel: str
    before_noun: bool
    kinds: frozenset[str]


class Verb(NamedTuple):
    """A verb: its forms, what may be its subject and object, and the prepositions between.

    ``present`` is for je, tu, il, nous, ils. ``auxiliary`` is avoir, être, or se for a verb that
    is reflexive (and takes être). ``prepositions`` are English and French, "" for none.
    """

    english: str
    third: str
    past: str
    ing: str
    infinitive: str
    present: tuple[str, ...]
    participle: str
    auxiliary: str
    prepositions: tuple[str, str]
    subject: frozenset[str]
    object: frozenset[str]
    flags: frozenset[str]

    @property
    def label(self) -> str:
        """Its English name, with the preposition: "look for"."""
        return " ".join((self.english, self.prepositions[0])).strip()

    @property
    def direct(self) -> bool:
        """Whether it takes a direct object in French."""
        return bool(self.object) and not self.prepositions[1]


def _rows(name: str) -> list[dict[str, str]]:
    """Read a table of ``data/`` as one dictionary a line; a dash is an empty string."""
    text = (files("attnlab.language.grammar") / "data" / name).read_text(encoding="utf-8")
    head, *lines = (line.split("\t") for line in text.split("\n") if line)
    return [
        dict(zip(head, ("" if cell == "-" else cell for cell in line), strict=True))
        for line in lines
    ]


def _both(cell: str) -> tuple[str, str]:
    """Read "English/French", where a dash is nothing."""
    english, french = cell.split("/")
    return english.strip("-"), french.strip("-")


@cache
def nouns() -> tuple[Noun, ...]:
    """Read the nouns."""
    return tuple(
        Noun(
            (row["english"], row["english_plural"]),
            (row["french"], row["french_plural"]),
            row["gender"],
            frozenset(row["kinds"].split()),
            _both(row["where"]) if row["where"] else None,
        )
        for row in _rows("nouns.tsv")
    )


@cache
def adjectives() -> tuple[Adjective, ...]:
    """Read the adjectives."""
    return tuple(
        Adjective(
            row["english"],
            (row["masculine"], row["masculine_plural"]),
            (row["feminine"], row["feminine_plural"]),
            row["before_vowel"] or row["masculine"],
            row["place"] == "before",
            frozenset(row["kinds"].split()),
        )
        for row in _rows("adjectives.tsv")
    )


@cache
def verbs() -> tuple[Verb, ...]:
    """Read the verbs."""
    return tuple(
        Verb(
            row["english"],
            row["third"],
            row["past"],
            row["ing"],
            row["infinitive"],
            tuple(row[name] for name in ("je", "tu", "il", "nous", "ils")),
            row["participle"],
            row["auxiliary"],
            _both(row["prepositions"] or "-/-"),
            frozenset(row["subject"].split()),
            frozenset(row["object"].split()),
            frozenset(row["flags"].split()),
        )
        for row in _rows("verbs.tsv")
    )


# English, then French: masculine, feminine, plural; "" where there is no such form
DETERMINERS = {
    "the": ("le", "la", "les"),
    "a": ("un", "une", ""),
    "some": ("", "", "des"),
    "this": ("ce", "cette", ""),
    "these": ("", "", "ces"),
    "my": ("mon", "ma", "mes"),
    "your": ("ton", "ta", "tes"),
    "his": ("son", "sa", "ses"),
    "her": ("son", "sa", "ses"),
    "our": ("notre", "notre", "nos"),
    "their": ("leur", "leur", "leurs"),
    "two": ("", "", "deux"),
    "three": ("", "", "trois"),
}
# forms before a vowel: cet homme, mon école
BEFORE_VOWEL = {"ce": "cet", "ma": "mon", "ta": "ton", "sa": "son"}

# English subject and object, French subject and object, for I, you, he, she, we, they
PRONOUNS = (
    ("i", "me", "je", "me"),
    ("you", "you", "tu", "te"),
    ("he", "him", "il", "le"),
    ("she", "her", "elle", "la"),
    ("we", "us", "nous", "nous"),
    ("they", "them", "ils", "les"),
)
PERSONS = (0, 1, 2, 2, 3, 4)  # the row of a table of five forms that each pronoun takes
REFLEXIVE = ("me", "te", "se", "nous", "se")

BE = ("am", "are", "is", "are", "are")
WAS = ("was", "were", "was", "were", "were")
ETRE = ("suis", "es", "est", "sommes", "sont")
ETAIT = ("étais", "étais", "était", "étions", "étaient")
AVOIR = ("ai", "as", "a", "avons", "ont")
ALLER = ("vais", "vas", "va", "allons", "vont")
POUVOIR = ("peux", "peux", "peut", "pouvons", "peuvent")
DEVOIR = ("dois", "dois", "doit", "devons", "doivent")
VOULOIR = ("veux", "veux", "veut", "voulons", "veulent")
