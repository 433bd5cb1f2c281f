"""Scoring: Moses's form of a text, and translations that depend on no other sentence."""

import pytest
import sacrebleu
from sacrebleu.metrics import BLEU

from attnlab.training.metrics import bleu
from attnlab.translation.model import build
from attnlab.translation.moses import are_tokens, lowered_tokens
from attnlab.translation.pieces import Pieces
from attnlab.translation.score import scores
from attnlab.translation.scoring import score, translate
from tests.attnlab.translation.small import recipe, texts

RIGHT = {
    "zh": ["一个男人在街上骑自行车。", "两只狗在草地上奔跑。", "一个女孩坐在长椅上。"],
    "th": ["ผู้ชายขี่จักรยานบนถนน", "สุนัขสองตัววิ่งบนสนามหญ้า", "เด็กผู้หญิงนั่งบนม้านั่ง"],
}
WRITTEN = {  # one word of each is another
    "zh": ["一个女人在街上骑自行车。", "两只猫在草地上奔跑。", "一个男孩坐在长椅上。"],
    "th": ["ผู้หญิงขี่จักรยานบนถนน", "แมวสองตัววิ่งบนสนามหญ้า", "เด็กผู้ชายนั่งบนม้านั่ง"],
}


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("en", "A man's T-shirt, isn't it?", "a man &apos;s t-shirt , isn &apos;t it ?"),
        ("en", 'It [in red] says "Go".', "it &#91; in red &#93; says &quot; go . &quot;"),
        ("en", "The '90s' dogs' bowl.", "the &apos; 90s &apos; dogs &apos; bowl ."),
        ("en", "He's 1980's rock'n'roll.", "he &apos;s 1980 &apos;s rock &apos;n&apos;roll ."),
        ("en", "Fish &amp; | a_b <pad>", "fish &amp; amp ; &#124; a _ b &lt; pad &gt;"),
        ("de", "Er sagt: „Geht’s?“", "er sagt : &quot; geht &apos; s ? &quot;"),
        ("de", "Ein Mann … 3,5 km – weit.", "ein mann ... 3,5 km - weit ."),
        ("de", "Er sagt „Nein.“ [und] dann", "er sagt &quot; nein &quot; . &#91; und &#93; dann"),
        ("de", "Käse & Brot, Nummer 28.", "käse &amp; brot , nummer 28."),
        ("fr", "L’homme d'aujourd'hui", "l&apos; homme d&apos; aujourd&apos; hui"),
        ("fr", "[Il] dit « Quelqu'un ».", "&#91; il &#93; dit &quot; quelqu&apos; un &quot; ."),
        ("it", "C'è un po' d'acqua.", "c&apos; è un po &apos; d&apos; acqua ."),
        ("it", '"Sì." dice l\'uomo.', "&quot; sì . &quot; dice l&apos; uomo ."),
        ("en", "", ""),
    ],
)
def test_text_takes_the_form_that_moses_gives_it(language: str, text: str, wanted: str) -> None:
    """In the release, or by sacremoses 0.2.0 after ``lower()`` and its normaliser."""
    assert lowered_tokens(text, language) == wanted


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("en", ["a man &apos;s t-shirt , isn &apos;t it ?", "it says &quot; go . &quot;"]),
        ("fr", ["l&apos; homme d&apos; hier est là .", "il n&apos; est &#91; pas &#93; là ."]),
        ("fr", ["il n' est pas là .", "l' homme d' hier est là ."]),  # others than Moses's
    ],
)
def test_tokens_are_scored_as_they_are(language: str, lines: list[str]) -> None:
    assert score(lines, lines, language).tokens == pytest.approx(100)
    wanted = bleu(lines[::-1], lines, tokenize="none").score
    assert score(lines[::-1], lines, language).tokens == wanted
    assert score(lines[::-1], lines, language, tokens=lines).tokens == wanted
    assert scores(lines[::-1], {"tokens": lines}, language)["tokens"] == round(wanted, 2)


def test_a_language_whose_rules_are_missing_has_no_score_in_tokens() -> None:
    lines = ["Muž jde domů a spí.", "Dva psi běží po louce."]
    found = score(lines, lines, "cs")
    assert (round(found.cased), found.tokens) == (100, None)
    assert set(scores(lines, {"reference": lines}, "cs")) == {"cased", "cased_signature"}
    with pytest.raises(ValueError, match="language must be one of 'en', 'de', 'fr', 'it'"):
        lowered_tokens(lines[0], "cs")
    with pytest.raises(ValueError, match=r"language must be one of .*: it is 'cs'"):
        score(lines, lines, "cs", tokens=[line.lower() for line in lines])


@pytest.mark.parametrize(
    ("language", "cut", "wanted"), [("zh", "zh", 73.13), ("th", "char", 76.85)]
)
def test_text_without_spaces_is_cut_as_its_language_is(language, cut, wanted) -> None:
    written, right = WRITTEN[language], RIGHT[language]
    found = score(written, right, language)
    assert found.cased == sacrebleu.corpus_bleu(written, [right], tokenize=cut).score
    assert found.cased == pytest.approx(wanted, abs=0.005)
    assert f"tok:{cut}|" in found.signature
    assert found.tokens is None
    assert scores(written, {"reference": right}, language)["cased"] == round(found.cased, 2)


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_language_with_a_tokenizer_of_its_own_has_that_or_an_error(language: str) -> None:
    lines = ["a b c d"]
    try:
        BLEU(tokenize=f"{language}-mecab")
    except RuntimeError:
        with pytest.raises(ImportError, match=f"tokenize='{language}-mecab' needs"):
            score(lines, lines, language)
    else:
        assert f"tok:{language}-mecab" in score(lines, lines, language).signature


def test_both_scores_of_a_perfect_translation_are_100() -> None:
    lines = ["Ein Mann geht schnell nach Hause .", "Zwei Hunde laufen über die Wiese ."]
    found = score(lines, lines, "de")
    assert (round(found.cased), round(found.tokens)) == (100, 100)
    lowered = score([line.lower() for line in lines], lines, "de")
    assert lowered.tokens == pytest.approx(100)
    assert lowered.cased < 90


def test_plain_text_is_told_from_tokens_and_lowered_before_it_meets_them() -> None:
    plain = ["Ein Mann, ein Wort.", "Zwei Hunde laufen.", "Nein"]
    tokens = [lowered_tokens(line, "de") for line in plain]
    assert (are_tokens(plain), are_tokens(tokens)) == (False, True)
    assert are_tokens([*plain, *tokens]) is None
    assert are_tokens(["dit &quot; non &quot; à l&apos; homme", "l' homme est là ."]) is True
    assert are_tokens(["l'homme mange une pomme", "il n'est pas là"]) is False
    assert are_tokens(RIGHT["zh"]) is None  # no capitals, so nothing is told by them
    assert scores(plain, {"tokens": tokens}, "de")["tokens"] == pytest.approx(100)


@pytest.mark.parametrize("kind", ["transformer", "gru"])
def test_a_translation_depends_on_no_other_sentence(kind: str) -> None:
    english, french = texts()
    pieces = Pieces.train(english + french, 120)
    model = build(recipe(model=kind), 120).eval()
    together = translate(model, pieces, ["", *english[:5]], recipe())
    alone = [translate(model, pieces, [one], recipe())[0] for one in english[:5]]
    assert together == ["", *alone]
