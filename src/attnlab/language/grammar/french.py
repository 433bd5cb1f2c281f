"""French spelling: elision, contraction, and the forms that depend on the word that follows."""

from typing import NamedTuple

VOWELS = frozenset("aeiouâàäéèêëîïôöùûüœæ")
# h is mute in French unless a dictionary marks it: these words behave as if a consonant came first
ASPIRATED = frozenset({"hibou", "hiboux"})
# a y before a vowel is a consonant (le yaourt); the only y of the grammar is the pronoun
ELIDED = {
    "le": "l'",
    "la": "l'",
    "je": "j'",
    "ne": "n'",
    "de": "d'",
    "que": "qu'",
    "me": "m'",
    "te": "t'",
    "se": "s'",
}
CONTRACTED = {
    ("de", "le"): "du",
    ("de", "les"): "des",
    ("à", "le"): "au",
    ("à", "les"): "aux",
    # the plural article, which is de before an adjective, vanishes after de: besoin de pommes
    ("de", "des"): "de",
    ("de", "de"): "de",
}


class Token(NamedTuple):
    """A word, its class and its links: tokens that share a link are aligned."""

    text: str
    word_class: str
    links: tuple[int, ...] = ()


def begins_with_vowel(word: str) -> bool:
    """Say whether a French word begins with a vowel sound, as *homme* does and *hibou* does not.

    >>> [begins_with_vowel(word) for word in ("homme", "hibou", "œuf", "y", "chat")]
    [True, False, True, True, False]
    """
    if word[0] == "y":
        return word == "y"
    if word[0] == "h":
        return word not in ASPIRATED
    return word[0] in VOWELS


def elide(word: str, following: str) -> str:
    """Return ``word`` as it is written before ``following``: *le* before *ami* is *l'*.

    *si* is elided before *il* and *ils* alone.
    """
    if word == "si" and following in ("il", "ils"):
        return "s'"
    if word in ELIDED and begins_with_vowel(following):
        return ELIDED[word]
    return word


def spell(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Write French as it is spelt: elide (*l'homme*), then contract (*de + le → du*).

    Elision comes first, from the right, so that *de + le + hôtel* is *de l'hôtel* while
    *de + le + parc* is *du parc*. A contraction keeps the links and the class of both words,
    the class being the article's. Only articles contract, never the pronouns *le*, *les*.
    """
    spelt: list[Token] = []
    for token in reversed(tokens):
        if spelt:
            text = elide(token.text, spelt[-1].text)
            token = token if text == token.text else token._replace(text=text)
            both = CONTRACTED.get((token.text, spelt[-1].text))
            if both is not None and spelt[-1].word_class == "determiner":
                article = spelt.pop()
                links = token.links + article.links
                token = Token(elide(both, spelt[-1].text), "determiner", links)
        spelt.append(token)
    return tuple(reversed(spelt))


def participle(masculine: str, gender: str, many: bool) -> str:
    """Make a past participle agree: *allé, allée, allés, allées*."""
    return masculine + ("e" if gender == "f" else "") + ("s" if many else "")
