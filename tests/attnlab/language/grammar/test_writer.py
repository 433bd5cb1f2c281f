"""What the grammar builds, phrase by phrase: noun phrases, verbs, pronouns, spelling."""

import pytest

from attnlab.language.grammar.clauses import WITH_DO, Clauses
from attnlab.language.grammar.draws import Draws
from attnlab.language.grammar.french import Token, begins_with_vowel, elide, spell
from attnlab.language.grammar.lexicon import PRONOUNS, adjectives, nouns, verbs
from attnlab.language.grammar.phrases import Subject
from attnlab.language.grammar.templates import Phrase

NOUN = {noun.english[0]: noun for noun in nouns()}
ADJECTIVE = {adjective.english: adjective for adjective in adjectives()}
VERB = {verb.label: verb for verb in verbs()}


@pytest.mark.parametrize(
    ("english", "noun", "many", "qualities", "negated", "wanted"),
    [
        ("a", "cat", 0, ("small", "black"), 0, "a small black cat = un petit chat noir"),
        ("a", "apple", 0, (None, "red"), 1, "a red apple = de pomme rouge"),
        ("some", "horse", 1, ("small", None), 0, "some small horses = de petits chevaux"),
        ("some", "horse", 1, (None, "black"), 0, "some black horses = des chevaux noirs"),
        ("some", "cat", 1, (None, None), 1, "any cats = de chats"),
        ("this", "man", 0, ("old", None), 0, "this old man = ce vieil homme"),
        ("this", "man", 0, (None, "happy"), 0, "this happy man = cet homme heureux"),
        ("this", "owl", 0, ("beautiful", None), 0, "this beautiful owl = ce beau hibou"),
        ("this", "bird", 0, ("beautiful", None), 0, "this beautiful bird = ce bel oiseau"),
        ("these", "bird", 1, ("beautiful", None), 0, "these beautiful birds = ces beaux oiseaux"),
        ("my", "school", 0, (None, None), 0, "my school = mon école"),
        ("my", "school", 0, ("old", None), 0, "my old school = ma vieille école"),
        ("her", "hotel", 0, ("new", None), 0, "her new hotel = son nouvel hôtel"),
        ("the", "actress", 0, (None, "famous"), 0, "the famous actress = l' actrice célèbre"),
        ("the", "mouse", 1, (None, "brown"), 0, "the brown mice = les souris marron"),
        ("a", "owl", 0, (None, None), 0, "an owl = un hibou"),
        ("a", "cat", 0, ("old", None), 0, "an old cat = un vieux chat"),
    ],
)  # fmt: skip
def test_noun_phrases(english, noun, many, qualities, negated, wanted) -> None:
    chosen = tuple(ADJECTIVE[one] if one else None for one in qualities)
    phrase = Clauses(Draws(0)).determined(english, NOUN[noun], many, chosen, negated=negated)
    assert f"{text(phrase.english)} = {text(spell(phrase.french))}" == wanted


def text(tokens: tuple[Token, ...]) -> str:
    return " ".join(token.text for token in tokens)


def subject_named(writer: Clauses, name: str) -> Subject:
    """Return a pronoun, or "the" noun in the singular, or in the plural as "the queens"."""
    rows = [row[0] for row in PRONOUNS]
    if name in rows:
        return writer.pronoun(rows.index(name))
    many = name not in NOUN
    noun = NOUN[name[:-1] if many else name]
    return Subject(
        writer.determined("the", noun, many), 4 if many else 2, noun.gender, many, (noun,)
    )


@pytest.mark.parametrize(
    ("subject", "verb", "tense", "manner", "wanted"),
    [
        ("i", "sing", "present", "statement", "i sing = je chante"),
        ("i", "listen to", "present", "negated", "i do not listen to = je n' écoute pas"),
        ("he", "eat", "present", "inverted", "does he eat = mange -t -il"),
        ("they", "eat", "present", "inverted", "do they eat = mangent -ils"),
        ("we", "eat", "present", "statement", "we eat = nous mangeons"),
        ("you", "sleep", "present", "inverted", "do you sleep = dors -tu"),
        ("i", "sleep", "present", "question", "do i sleep = est -ce que je dors"),
        ("he", "sleep", "present", "question", "does he sleep = est -ce qu' il dort"),
        ("queen", "sing", "progressive", "negated",
         "the queen is not singing = la reine ne chante pas"),
        ("queen", "sing", "past", "negated", "the queen did not sing = la reine n' a pas chanté"),
        ("queen", "leave", "past", "statement", "the queen left = la reine est partie"),
        ("queens", "leave", "past", "never",
         "the queens never left = les reines ne sont jamais parties"),
        ("boys", "fall", "past", "statement", "the boys fell = les garçons sont tombés"),
        ("she", "wake up", "past", "negated", "she did not wake up = elle ne s' est pas réveillée"),
        ("we", "wake up", "present", "often", "we often wake up = nous nous réveillons souvent"),
        ("i", "wake up", "future", "statement", "i am going to wake up = je vais me réveiller"),
        ("you", "wake up", "want", "negated",
         "you do not want to wake up = tu ne veux pas te réveiller"),
        ("she", "go to", "past", "inverted", "did she go = est -elle allée"),
        ("cat", "eat", "past", "question", "did the cat eat = est -ce que le chat a mangé"),
        ("he", "eat", "past", "inverted", "did he eat = a -t -il mangé"),
        ("they", "sing", "can", "negated", "they can not sing = ils ne peuvent pas chanter"),
        ("we", "sing", "must", "statement", "we must sing = nous devons chanter"),
        ("she", "eat", "present", "no longer", "she no longer eats = elle ne mange plus"),
        ("i", "need", "present", "negated", "i do not need = je n' ai pas besoin"),
        ("she", "eat", "past", "often", "she often ate = elle a souvent mangé"),
        ("he", "look for", "present", "always", "he always looks for = il cherche toujours"),
    ],
)  # fmt: skip
def test_verbs(subject: str, verb: str, tense: str, manner: str, wanted: str) -> None:
    writer = Clauses(Draws(0))
    who = subject_named(writer, subject)
    group = writer.conjugate(VERB[verb], tense, who, do=manner in WITH_DO)
    phrase = writer.say(manner, who, group)
    assert f"{text(phrase.english)} = {text(spell(phrase.french))}" == wanted


@pytest.mark.parametrize(
    ("tense", "manner", "wanted"),
    [
        ("present", "statement", "the cat looks for her = le chat la cherche"),
        ("present", "negated", "the cat does not look for her = le chat ne la cherche pas"),
        ("future", "negated",
         "the cat is not going to look for her = le chat ne va pas la chercher"),
    ],
)  # fmt: skip
def test_object_pronouns_stand_before_their_verb(tense: str, manner: str, wanted: str) -> None:
    writer = Clauses(Draws(0))
    who, her = subject_named(writer, "cat"), writer.word("her", "la", "pronoun")
    group = writer.conjugate(VERB["look for"], tense, who, do=manner in WITH_DO, clitic=her)
    phrase = writer.say(manner, who, group)
    assert f"{text(phrase.english)} = {text(spell(phrase.french))}" == wanted


def test_two_subjects_are_feminine_only_where_both_are() -> None:
    genders = {
        tuple(noun.gender for noun in who.nouns): who.gender
        for seed in range(300)
        if len((who := Clauses(Draws(seed)).subject(frozenset({"human"}), pronouns=0)).nouns) == 2
    }
    assert genders == {("m", "m"): "m", ("m", "f"): "m", ("f", "m"): "m", ("f", "f"): "f"}


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("de le:determiner parc", "du parc"),
        ("de le:determiner hôtel", "de l' hôtel"),
        ("à les:determiner école", "aux école"),
        ("de des:determiner œufs", "d' œufs"),
        ("de de:determiner petits", "de petits"),
        ("de les:pronoun", "de les"),
        ("que il", "qu' il"),
        ("si il", "s' il"),
        ("si elle", "si elle"),
        ("ne y a", "n' y a"),
        ("parce que une", "parce qu' une"),
        ("le hibou", "le hibou"),
    ],
)
def test_spelling(words: str, wanted: str) -> None:
    split = [word.partition(":") for word in words.split()]
    spelt = spell(tuple(Token(word, kind or "other") for word, _, kind in split))
    assert text(spelt) == wanted


def test_a_contraction_keeps_both_links_yaourt_has_no_vowel_and_no_phrase_no_words() -> None:
    tokens = (Token("de", "preposition", (1,)), Token("le", "determiner", (2,)))
    assert spell((*tokens, Token("parc", "noun", (3,)))) == (
        Token("du", "determiner", (1, 2)),
        Token("parc", "noun", (3,)),
    )
    assert not begins_with_vowel("yaourt")
    assert elide("le", "yaourt") == "le"
    assert spell(Phrase().french) == ()
