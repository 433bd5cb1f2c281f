"""Clauses: a subject, a verb in one of seven tenses and its complements, said in several ways."""

from functools import cache
from typing import NamedTuple

from attnlab.language.grammar.french import Token
from attnlab.language.grammar.lexicon import AVOIR, PERSONS, PRONOUNS, Noun, Verb, verbs
from attnlab.language.grammar.phrases import Phrases, Subject, adjectives_of, agree
from attnlab.language.grammar.templates import EMPTY, Phrase, Rule, rule, write
from attnlab.language.grammar.verbgroups import TENSES, VerbGroup, be, verb_group

ANIMATE = frozenset({"human", "animal"})
MOVABLE = ANIMATE | {"thing", "food", "text"}
DESCRIBED = MOVABLE | {"place", "event"}

# S subject, V0 and V1 the two parts of the verb, C what follows, P a French pronoun after its verb
MANNERS: dict[str, Rule] = {
    "statement": rule("S V0 V1 C", "S V0 V1 C"),
    "negated": rule("S V0~1 not/1 V1 C", "S ne/1 V0 pas/1 V1 C"),
    "never": rule("S V0 never/1 V1 C", "S ne/1 V0 jamais/1 V1 C"),
    "no longer": rule("S V0 no/1 longer/1 V1 C", "S ne/1 V0 plus/1 V1 C"),
    "often": rule("S V0 often/1 V1 C", "S V0 souvent/1 V1 C"),
    "always": rule("S V0 always/1 V1 C", "S V0 toujours/1 V1 C"),
    "sometimes": rule("S V0 sometimes/1 V1 C", "S V0 parfois/1 V1 C"),
    "question": rule("V0/1 S V1 C", "est:question/1 -ce/1 que:question/1 S V0 V1 C"),
    "inverted": rule("V0~1 S V1 C", "V0/1 S V1 C"),
}
NEGATIVE = ("negated", "never", "no longer")
WITH_DO = ("negated", "question", "inverted")
FREQUENCIES = ("never", "no longer", "often", "always", "sometimes")

PLACES = {
    "in": rule("in/1 N", "dans/1 N"),
    "on": rule("on/1 N", "sur/1 N"),
    "under": rule("under/1 N", "sous/1 N"),
    "behind": rule("behind/1 N", "derrière/1 N"),
    "near": rule("near/1 N", "près/1 de/1 N"),
    "in front of": rule("in/1 front/1 of/1 N", "devant/1 N"),
}
TIMES = {
    "past": (
        rule("yesterday/1", "hier/1"),
        rule("this/1 morning/2", "ce/1 matin/2"),
        rule("last/1 week/2", "la/1 semaine/2 dernière/1"),
    ),
    "present": (
        rule("today/1", "aujourd'hui/1"),
        rule("every/1 day/2", "tous/1 les/1 jours/2"),
        rule("every/1 morning/2", "tous/1 les/1 matins:noun/2"),
        rule("every/1 evening/2", "tous/1 les/1 soirs:noun/2"),
    ),
    "progressive": (rule("now/1", "maintenant/1"), rule("today/1", "aujourd'hui/1")),
    "future": (
        rule("tomorrow/1", "demain/1"),
        rule("next/1 week/2", "la/1 semaine/2 prochaine/1"),
        rule("this/1 evening/2", "ce/1 soir/2"),
    ),
}
FEELINGS = (
    rule("hungry/1", "faim/1"),
    rule("thirsty/1", "soif/1"),
    rule("cold/1", "froid/1"),
    rule("hot/1", "chaud/1"),
)
RECIPIENT = rule("N to/1 R", "N à/1 R")
ADVERB_ADJECTIVE = rule("W A", "W A")
AS_AS = rule("as/1 A as/2 N", "aussi/1 A que:conjunction/2 N")
TWO = rule("A B", "A B")


PERSON = Noun(("", ""), ("", ""), "", frozenset({"human"}), None)  # whom a pronoun stands for


class Clause(NamedTuple):
    """A phrase that is a clause, and the name of its pattern."""

    phrase: Phrase
    pattern: str


@cache
def tenses_of(verb: Verb) -> tuple[str, ...]:
    """Return the tenses a verb of the grammar is used in, one that is likelier several times."""
    if "present" in verb.flags:
        return ("present",)
    tenses = tuple(
        tense for tense in TENSES if tense != "progressive" or "stative" not in verb.flags
    )
    # a participle with être has four forms, which must all be seen
    return tenses if verb.auxiliary == "avoir" else (*tenses, "past", "past", "past")


@cache
def verbs_for(kinds: frozenset[str], tense: str) -> tuple[Verb, ...]:
    """Return the verbs that take a subject of these kinds and have the tense, "" for any."""
    return tuple(
        verb for verb in verbs() if verb.subject & kinds and (not tense or tense in tenses_of(verb))
    )


def takes_pronoun(verb: Verb, tense: str) -> bool:
    """Say whether the object may be a pronoun.

    Not in the past, where the French participle would agree with it (*l'a vue*).
    """
    return verb.direct and "human" in verb.object and tense != "past"


def frame_of(verb: Verb) -> str:
    """Name what a verb takes."""
    if not verb.object:
        return "no object"
    return "recipient" if "gives" in verb.flags else "object" if verb.direct else "preposition"


def ask(subject: Subject) -> str:
    """Return the manner of a question: inversion for pronouns, except *je*; else *est-ce que*."""
    return "question" if subject.nouns or subject.person == 0 else "inverted"


def after_verb(subject: Phrase, finite: str) -> Phrase:
    """Return a pronoun as it follows its French verb: *-tu*, and *-t -il* after a vowel."""
    (token,) = subject.french
    hyphenated = token._replace(text="-" + token.text)
    if finite[-1] in "ae" and token.text in ("il", "elle"):
        return subject._replace(french=(token._replace(text="-t"), hyphenated))
    return subject._replace(french=(hyphenated,))


class Clauses(Phrases):
    """A writer of clauses."""

    def compose(self, template: Rule, **slots: Phrase) -> Phrase:
        """Fill a rule."""
        return write(template, slots, self.new_link)

    def say(
        self, manner: str, subject: Subject, group: VerbGroup, complement: Phrase = EMPTY
    ) -> Phrase:
        """Put a clause together in one of the ``MANNERS``."""
        who = subject.phrase
        if manner == "inverted":
            who = after_verb(who, group.first.french[-1].text)
        return self.compose(MANNERS[manner], S=who, V0=group.first, V1=group.rest, C=complement)

    def conjugate(
        self,
        verb: Verb,
        tense: str,
        subject: Subject,
        *,
        do: bool = False,
        clitic: Phrase = EMPTY,
    ) -> VerbGroup:
        """Conjugate a verb, and note it together with the nouns that are its subject."""
        self.combinations += [(noun.english[0], verb.label) for noun in subject.nouns]
        links = (self.new_link(), self.new_link())
        return verb_group(verb, tense, subject, links, do=do, clitic=clitic)

    def manner(self, tense: str) -> str:
        """Draw how a clause is said, of those that suit the tense."""
        if self.draws.chance(0.5):
            return "statement"
        several = ["negated", "negated", "negated", "never"]
        several += ["often", "always", "sometimes", "no longer"] if tense == "present" else []
        several += ["often"] if tense == "past" else []
        return self.draws.pick(several)

    def complement(self, verb: Verb, link: int, *, negated: bool) -> Phrase:
        """Draw what a verb takes: an object, with its prepositions, and a recipient."""
        if not verb.object:
            return EMPTY
        english, french = verb.prepositions
        direct_negated = negated and not french
        definite = "definite" in verb.flags
        phrase = self.noun_phrase(verb.object, definite=definite, negated=direct_negated).phrase
        if "gives" in verb.flags:
            recipient = self.noun_phrase(frozenset({"human"}), definite=True, plain=True).phrase
            return self.compose(RECIPIENT, N=phrase, R=recipient)
        if not french:
            return phrase
        links = (self.new_link(),) if english else (link,)
        first = Phrase(
            (Token(english, "preposition", links),) if english else (),
            (Token(french, "preposition", links),),
        )
        return self.compose(TWO, A=first, B=phrase)

    def adjunct(self, tense: str, *, place: bool = True) -> Phrase:
        """Draw where and when it happens; mostly neither."""
        phrase = EMPTY
        if place and self.draws.chance(0.2):
            phrase = self.place()
        if tense in TIMES and self.draws.chance(0.2):
            time = self.compose(self.draws.pick(TIMES[tense]))
            phrase = self.compose(TWO, A=phrase, B=time)
        return phrase

    def place(self) -> Phrase:
        """Draw "in the garden", "under the table", "near the old station"."""
        near = self.draws.chance(0.4)
        if near:
            name = self.draws.pick(("near", "behind", "in front of"))
            chosen = self.noun_phrase(frozenset({"place", "opening", "furniture"}), definite=True)
        elif self.draws.chance(0.3):
            name = "under"
            chosen = self.noun_phrase(frozenset({"furniture"}), definite=True, plain=True)
        else:
            chosen = self.noun_phrase(frozenset({"place", "furniture"}), definite=True)
            (name, _) = chosen.nouns[0].where or ("", "")
        return self.compose(PLACES[name], N=chosen.phrase)

    def clause(
        self,
        *,
        subject: Subject | None = None,
        manner: str = "",
        tense: str = "",
        bare: bool = False,
    ) -> Clause:
        """Draw a clause with a lexical verb; what is given is kept.

        The manner "ask" is a question in the form that suits the subject; ``bare`` leaves out
        where and when.
        """
        kinds = subject.nouns[0].kinds if subject and subject.nouns else ANIMATE
        verb = self.draws.pick(verbs_for(kinds, tense))
        tense = tense or self.draws.pick(tenses_of(verb))
        subject = subject or self.subject(verb.subject)
        manner = ask(subject) if manner == "ask" else manner or self.manner(tense)
        with_pronoun = takes_pronoun(verb, tense) and self.draws.chance(0.3)
        clitic = self.object_pronoun(subject) if with_pronoun else EMPTY
        group = self.conjugate(verb, tense, subject, do=manner in WITH_DO, clitic=clitic)
        rest = EMPTY
        if not with_pronoun:
            rest = self.complement(verb, group.link, negated=manner in NEGATIVE)
        if not bare:
            when = "" if manner in FREQUENCIES else tense
            adjunct = self.adjunct(when, place="place" not in verb.object)
            rest = self.compose(TWO, A=rest, B=adjunct)
        frame = "pronoun" if with_pronoun else frame_of(verb)
        return Clause(self.say(manner, subject, group, rest), f"{manner}, {tense}, {frame}")

    def object_pronoun(self, subject: Subject) -> Phrase:
        """Draw an object pronoun that is not the subject itself: *him, le*."""
        others = [
            english_and_french
            for person, english_and_french in zip(PERSONS, PRONOUNS, strict=True)
            if person == 2 or person != subject.person
        ]
        _, english, _, french = self.draws.pick(others)
        return self.word(english, french, "pronoun")

    def description(self, *, subject: Subject | None = None, manner: str = "") -> Clause:
        """Draw a clause with *be*: tired, very big, as big as, in the garden, hungry."""
        tense = self.draws.pick(("present", "present", "past"))
        subject = subject or self.subject(DESCRIBED)
        manner = ask(subject) if manner == "ask" else manner or self.manner(tense)
        kinds = subject.nouns[0].kinds if subject.nouns else ANIMATE
        if kinds & ANIMATE and self.draws.chance(0.15):
            verb = be("present", subject, self.new_link(), french=AVOIR)
            feeling = self.compose(self.draws.pick(FEELINGS))
            return Clause(self.say(manner, subject, verb, feeling), f"{manner}, be hungry")
        verb = be(tense, subject, self.new_link())
        if kinds & MOVABLE and self.draws.chance(0.15):
            return Clause(self.say(manner, subject, verb, self.place()), f"{manner}, be somewhere")
        quality, name = self.quality(subject, manner in NEGATIVE)
        return Clause(self.say(manner, subject, verb, quality), f"{manner}, {name}")

    def quality(self, subject: Subject, negated: bool) -> tuple[Phrase, str]:
        """Draw the adjective of a clause with *be*, and the name of its pattern."""
        kinds = frozenset.intersection(*(noun.kinds for noun in subject.nouns or (PERSON,)))
        said = {token.text for token in subject.phrase.english}
        adjective = self.draws.pick([a for a in adjectives_of(kinds) if a.english not in said])
        self.combinations += [(adjective.english, noun.english[0]) for noun in subject.nouns]
        french = agree(adjective, subject.gender, subject.many)
        phrase = self.word(adjective.english, french, "adjective")
        if self.draws.chance(0.2):
            than = self.noun_phrase(kinds, definite=True, plain=True, but=subject.nouns)
            return self.compose(AS_AS, A=phrase, N=than.phrase), "as … as"
        if not negated and self.draws.chance(0.3):
            words = self.draws.pick((("very", "très"), ("too", "trop")))
            degree = self.word(*words, "adverb")
            return self.compose(ADVERB_ADJECTIVE, W=degree, A=phrase), "be very"
        return phrase, "be"
