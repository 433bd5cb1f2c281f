"""Verbs in both languages, cut in two: the part that negation and questions move, and the rest.

English divides into auxiliary and rest (*does | eat*, *is | going to eat*), French into the
finite verb with its pronouns and the rest (*a | mangé*, *se va | …*), so that one rule serves
every tense: ``S V0 not V1`` is ``S ne V0 pas V1``.
"""

from typing import NamedTuple

from attnlab.language.grammar.french import Token, participle
from attnlab.language.grammar.lexicon import (
    ALLER,
    AVOIR,
    BE,
    DEVOIR,
    ETAIT,
    ETRE,
    POUVOIR,
    REFLEXIVE,
    VOULOIR,
    WAS,
    Verb,
)
from attnlab.language.grammar.phrases import Subject
from attnlab.language.grammar.templates import Phrase

TENSES = ("present", "progressive", "past", "future", "want", "can", "must")
MODALS = {"future": ALLER, "want": VOULOIR, "can": POUVOIR, "must": DEVOIR}


class VerbGroup(NamedTuple):
    """``first`` and ``rest`` of a verb; ``link`` is the verb's own."""

    first: Phrase
    rest: Phrase
    link: int


def verb_group(
    verb: Verb,
    tense: str,
    subject: Subject,
    links: tuple[int, int],
    *,
    do: bool = False,
    clitic: Phrase | None = None,
) -> VerbGroup:
    """Conjugate a verb with its subject.

    ``links`` are those of the verb and of its auxiliary. ``do`` asks for *do*, *does*, *did*
    where English has no auxiliary of its own; *do* and *does* carry no link, *did* that of the
    French auxiliary. ``clitic`` is an object pronoun: after the verb in English, before it
    in French.
    """
    clitic = clitic or Phrase()
    english_first, english_rest = _english(verb, tense, subject.person, links, do)
    french_first, french_rest = _french(verb, tense, subject, links, clitic.french)
    return VerbGroup(
        Phrase(english_first, french_first),
        Phrase(english_rest + clitic.english, french_rest),
        links[0],
    )


def be(tense: str, subject: Subject, link: int, *, french: tuple[str, ...] = ()) -> VerbGroup:
    """Conjugate *be* and *être*, in the present or the past (*was, était*), or another verb."""
    past = tense == "past"
    forms = french or (ETAIT if past else ETRE)
    english = Token((WAS if past else BE)[subject.person], "verb", (link,))
    return VerbGroup(
        Phrase((english,), (Token(forms[subject.person], "verb", (link,)),)), Phrase(), link
    )


def _english(
    verb: Verb, tense: str, person: int, links: tuple[int, int], do: bool
) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    own, auxiliary = (links[0],), (links[1],)
    base = Token(verb.english, "verb", own)
    to = Token("to", "particle", own)
    helper = Token(("does" if person == 2 else "do"), "auxiliary")
    english, french = verb.prepositions
    particle = (Token(english, "particle", own),) if english and not french else ()
    match tense:
        case "present":
            form = base._replace(text=verb.third) if person == 2 else base
            first, rest = ((helper,), (base,)) if do else ((), (form,))
        case "progressive":
            first = (Token(BE[person], "auxiliary", own),)
            rest = (base._replace(text=verb.ing),)
        case "past":
            past = Token(verb.past, "verb", own + auxiliary)
            did = Token("did", "auxiliary", auxiliary)
            first, rest = ((did,), (base,)) if do else ((), (past,))
        case "future":
            first = (Token(BE[person], "auxiliary", auxiliary),)
            rest = (Token("going", "auxiliary", auxiliary), to, base)
        case "want":
            text = "wants" if person == 2 and not do else "want"
            first, rest = ((helper,) if do else ()), (Token(text, "verb", auxiliary), to, base)
        case _:
            first, rest = (Token(tense, "auxiliary", auxiliary),), (base,)
    return first, rest + particle


def _french(
    verb: Verb, tense: str, subject: Subject, links: tuple[int, int], clitic: tuple[Token, ...]
) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    own, auxiliary = (links[0],), (links[1],)
    person = subject.person
    if verb.auxiliary == "se":
        clitic = (Token(REFLEXIVE[person], "pronoun", own),)
    noun = (Token("besoin", "noun", own),) if "besoin" in verb.flags else ()
    if tense in ("present", "progressive"):
        return (*clitic, Token(verb.present[person], "verb", own)), noun
    if tense == "past":
        agreed = verb.participle
        if verb.auxiliary != "avoir":
            agreed = participle(agreed, subject.gender, subject.many)
        forms = AVOIR if verb.auxiliary == "avoir" else ETRE
        first = (*clitic, Token(forms[person], "auxiliary", auxiliary))
        return first, (Token(agreed, "verb", own),)
    modal = Token(MODALS[tense][person], "verb" if tense == "want" else "auxiliary", auxiliary)
    return (modal,), (*clitic, Token(verb.infinitive, "verb", own))
