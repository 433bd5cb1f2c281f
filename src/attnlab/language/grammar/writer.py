"""The book's English–French grammar: it writes a sentence, its translation and the alignment.

Every English sentence has one French translation: *you* is always *tu*, *they* always *ils*.
Text is lower-case, without punctuation.

The gold alignment follows these conventions; every word of either side has at least one link.

- A determiner is linked to the determiner: *the small cat, le petit chat*. Words for words:
  nouns, adjectives, adverbs, numbers, conjunctions.
- *do* and *does* with *not* are linked to *ne* and *pas*, all with all; *never* to *ne … jamais*,
  *no longer* to *ne … plus*, *there is no* to *ne … pas de*. In the past *did* goes with the
  French auxiliary: *did not eat, n'a pas mangé*.
- A verb in several words is linked word for word where they match (*can sing, peut chanter*;
  *wants to sing, veut chanter*, *to* with the infinitive) and otherwise all with all:
  *is eating, mange*; *ate, a mangé*; *looks for, cherche*; *needs, a besoin de*;
  *wakes up, se réveille*.
- A question's first auxiliary is linked to *est-ce que*, and to the French verb where it is more
  than *do*; with inversion, *does he eat, mange-t-il*, to the verb; *-t* goes with the pronoun.
- A contraction has the links of both its words: *du* those of *de* and *le*. In *the
  neighbour's dog, le chien du voisin*, *'s* is linked to *le* (of *le chien*) and to *de*.
- Fixed phrases are linked all with all: *every, tous les*; *near, près de*; *because, parce que*.
  In *how was your day, comment s'est passée ta journée*, *was* has the links *s'*, *est*, *passée*.
"""

from attnlab.language.grammar.clauses import ANIMATE, TWO, Clause, Clauses, ask, tenses_of
from attnlab.language.grammar.french import Token, participle
from attnlab.language.grammar.lexicon import ALLER, ETRE, verbs
from attnlab.language.grammar.phrases import Subject, nouns_of
from attnlab.language.grammar.templates import EMPTY, Phrase, rule
from attnlab.language.grammar.verbgroups import be

HUMAN = frozenset({"human"})
OBJECTS = frozenset({"food", "thing", "text", "place", "event", "opening"})

THERE_IS = {
    "statement": rule("there/1 V N P", "il/1 y/1 V N P"),
    "negated": rule("there/1 V no/2 N P", "il/1 ne/2 y/1 V pas/2 de/2 N P"),
    "question": rule("V/2 there/1 N P", "est:question/2 -ce/2 que:question/2 il/1 y/1 V N P"),
}
ADVERB_QUESTIONS = {
    "where": rule("where/1 Q", "où/1 Q"),
    "why": rule("why/1 Q", "pourquoi/1 Q"),
    "when": rule("when:question/1 Q", "quand:question/1 Q"),
}
WHERE_IS = rule("where/1 V S", "où/1 V S")
WHAT = rule("what/1 Q", "que:question/1 Q")
HOW_MANY = rule("how/1 many/1 N Q", "combien/1 de/1 N Q")
HOW = rule("how/1 V N", "comment/1 V N")
WHICH = {
    ("m", False): "quel",
    ("f", False): "quelle",
    ("m", True): "quels",
    ("f", True): "quelles",
}

JOINED = {
    "and": rule("A and/1 B", "A et/1 B"),
    "but": rule("A but/1 B", "A mais/1 B"),
    "because": rule("A because/1 B", "A parce/1 que:conjunction/1 B"),
    "when": rule("A when/1 B", "A quand/1 B"),
    "if": rule("A if/1 B", "A si:conjunction/1 B"),
    "while": rule("A while/1 B", "A pendant/1 que:conjunction/1 B"),
}
TENSES_JOINED = {
    "when": ("present", "present"),
    "if": ("future", "present"),
    "while": ("progressive", "progressive"),
}
THAT = rule("S V that:conjunction/1 A", "S V que:conjunction/1 A")
SAYING = (
    ("say", "says", ("dis", "dis", "dit", "disons", "disent")),
    ("think", "thinks", ("pense", "penses", "pense", "pensons", "pensent")),
    ("know", "knows", ("sais", "sais", "sait", "savons", "savent")),
)


class Grammar(Clauses):
    """A writer of sentences."""

    def there_is(self) -> Clause:
        """Write "there is a cat in the garden", "is there …", "there is no …"."""
        manner, many = self.draws.pick(tuple(THERE_IS)), self.draws.chance(0.5)
        noun = self.draws.pick(nouns_of(ANIMATE | {"food", "thing", "text"}))
        article = self.draws.pick(("two", "three", "some")) if many else "a"
        if manner == "negated":
            phrase = self.described(noun, many, self.qualities(noun))
        else:
            phrase = self.determined(article, noun, many, self.qualities(noun))
        nobody = Subject(Phrase(), 4 if many else 2, "m", many)
        verb = be("present", nobody, self.new_link(), french=("a",) * 5)
        where = self.place() if self.draws.chance(0.7) else EMPTY
        slots = {"V": verb.first, "N": phrase, "P": where}
        return Clause(self.compose(THERE_IS[manner], **slots), f"there is, {manner}")

    def yes_no(self) -> Clause:
        """Write a question that is answered by yes or no."""
        return (
            self.description(manner="ask") if self.draws.chance(0.3) else self.clause(manner="ask")
        )

    def adverb_question(self) -> Clause:
        """Write a question with where, why or when."""
        word = self.draws.pick(tuple(ADVERB_QUESTIONS))
        if word == "where" and self.draws.chance(0.4):
            subject = self.noun_phrase(ANIMATE | {"thing", "text", "food"}, definite=True)
            verb = be(self.draws.pick(("present", "past")), subject, self.new_link())
            phrase = self.compose(WHERE_IS, V=verb.first, S=subject.phrase)
            return Clause(phrase, "where is")
        if word == "why" and self.draws.chance(0.3):
            body = self.description(manner="ask").phrase
        else:
            body = self.clause(manner="ask", bare=True).phrase
        return Clause(self.compose(ADVERB_QUESTIONS[word], Q=body), word)

    def who(self) -> Clause:
        """Write a question about the subject."""
        subject = Subject(self.word("who", "qui", "question"), 2, "m", False)
        clause = self.clause if self.draws.chance(0.8) else self.description
        return Clause(clause(subject=subject).phrase, "who")

    def object_question(self) -> Clause:
        """Write a question about the object: what, which, how many.

        The last two not in the past, where the French participle would agree.
        """
        word = self.draws.pick(("what", "which", "how many"))
        direct = tuple(verb for verb in verbs() if verb.direct and verb.object & OBJECTS)
        verb = self.draws.pick(direct)
        allowed = [t for t in tenses_of(verb) if t != "past" or word == "what"]
        subject = self.subject(verb.subject, pronouns=0.5)
        manner = ask(subject)
        group = self.conjugate(verb, self.draws.pick(allowed), subject, do=True)
        body = self.say(manner, subject, group)
        if word == "what":
            return Clause(self.compose(WHAT, Q=body), "what")
        noun = self.draws.pick(nouns_of(verb.object))
        many = word == "how many" or self.draws.chance(0.3)
        described = self.described(noun, many, self.qualities(noun))
        if word == "how many":
            return Clause(self.compose(HOW_MANY, N=described, Q=body), word)
        which = self.word("which", WHICH[noun.gender, many], "question")
        asked = self.compose(TWO, A=which, B=described)
        return Clause(self.compose(TWO, A=asked, B=body), word)

    def how_was(self, event: Subject | None = None) -> Clause:
        """Write "how was your day", *comment s'est passée ta journée*."""
        event = event or self.noun_phrase(frozenset({"event"}), definite=True)
        link = (self.new_link(),)
        words = ("se", ETRE[event.person], participle("passé", event.gender, event.many))
        classes = ("pronoun", "auxiliary", "verb")
        verb = Phrase(
            (Token("were" if event.many else "was", "verb", link),),
            tuple(Token(*both, link) for both in zip(words, classes, strict=True)),
        )
        return Clause(self.compose(HOW, V=verb, N=event.phrase), "how was")

    def how_is(self) -> Clause:
        """Write "how is your sister", *comment va ta sœur*."""
        person = self.noun_phrase(HUMAN, definite=True)
        verb = be("present", person, self.new_link(), french=ALLER)
        return Clause(self.compose(HOW, V=verb.first, N=person.phrase), "how is")

    def joined(self) -> Clause:
        """Write two clauses with a conjunction."""
        word = self.draws.pick(tuple(JOINED))
        first, second = TENSES_JOINED.get(word, ("", ""))
        one, other = self.part(first), self.part(second)
        return Clause(self.compose(JOINED[word], A=one, B=other), word)

    def part(self, tense: str = "") -> Phrase:
        """Draw a clause to join with another: of this tense, or any clause."""
        if not tense and self.draws.chance(0.3):
            return self.description().phrase
        return self.clause(tense=tense).phrase

    def three(self) -> Clause:
        """Write three clauses: … and … because …"""
        first, second = self.draws.pick(("and", "but")), self.draws.pick(("because", "and", "but"))
        begun = self.compose(JOINED[first], A=self.part(), B=self.part())
        return Clause(self.compose(JOINED[second], A=begun, B=self.part()), "three clauses")

    def that(self) -> Clause:
        """Write "the girl says that …"."""
        subject = self.subject(HUMAN)
        base, third, french = self.draws.pick(SAYING)
        verb = self.word(third if subject.person == 2 else base, french[subject.person], "verb")
        return Clause(self.compose(THAT, S=subject.phrase, V=verb, A=self.part()), "that")

    def who_relative(self) -> Clause:
        """Write "the man who sings in the garden sees …"."""
        head = self.noun_phrase(ANIMATE)
        word = "who" if "human" in head.nouns[0].kinds else "that"
        relative = head._replace(phrase=self.word(word, "qui", "pronoun"))
        clause = self.clause(subject=relative).phrase
        whole = head._replace(phrase=self.compose(TWO, A=head.phrase, B=clause))
        return Clause(self.main(whole), "relative, subject")

    def that_relative(self) -> Clause:
        """Write "the apple that the girl eats is red".

        Not in the past, where the French participle would agree (*que la fille a mangée*).
        """
        verb = self.draws.pick(
            tuple(verb for verb in verbs() if verb.direct and "gives" not in verb.flags)
        )
        head = self.noun_phrase(verb.object)
        subject = self.subject(verb.subject)
        tense = self.draws.pick(tuple(t for t in tenses_of(verb) if t != "past"))
        group = self.conjugate(verb, tense, subject)
        relative = self.compose(
            TWO, A=self.word("that", "que", "pronoun"), B=self.say("statement", subject, group)
        )
        whole = head._replace(phrase=self.compose(TWO, A=head.phrase, B=relative))
        return Clause(self.main(whole), "relative, object")

    def main(self, subject: Subject) -> Phrase:
        """Draw the rest of a sentence whose subject has a relative clause."""
        animate = subject.nouns[0].kinds & ANIMATE
        if animate and self.draws.chance(0.6):
            return self.clause(subject=subject).phrase
        return self.description(subject=subject).phrase
