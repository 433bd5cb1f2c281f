"""Scoring: Moses's form of a text, and translations that depend on no other sentence."""

import pytest

from attnlab.translation.model import build
from attnlab.translation.moses import are_tokens, lowered_tokens
from attnlab.translation.pieces import Pieces
from attnlab.translation.score import scores
from attnlab.translation.scoring import score, translate
from tests.attnlab.translation.small import recipe, texts


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("en", "A man's T-shirt, isn't it?", "a man &apos;s t-shirt , isn &apos;t it ?"),
        ("en", 'It says "Go".', "it says &quot; go &quot; ."),
        ("en", "The dogs' bowl.", "the dogs &apos; bowl ."),
        ("de", "Er sagt: „Geht’s?“", "er sagt : &quot; geht &apos; s ? &quot;"),
        ("de", "Ein Mann … 3,5 km – weit.", "ein mann ... 3,5 km - weit ."),
        ("de", "Käse & Brot", "käse &amp; brot"),
        ("en", "", ""),
    ],
)
def test_text_takes_the_form_of_the_release(language: str, text: str, wanted: str) -> None:
    assert lowered_tokens(text, language) == wanted
    assert lowered_tokens(wanted, language) == wanted


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
    others = ["il n' est pas là ."]  # other tokens than Moses's are left as they are
    assert scores(others, {"tokens": others}, "fr")["tokens"] == pytest.approx(100)
    assert scores(plain, {"tokens": tokens}, "de")["tokens"] == pytest.approx(100)


@pytest.mark.parametrize("kind", ["transformer", "gru"])
def test_a_translation_depends_on_no_other_sentence(kind: str) -> None:
    english, french = texts()
    pieces = Pieces.train(english + french, 120)
    model = build(recipe(model=kind), 120).eval()
    together = translate(model, pieces, ["", *english[:5]], recipe())
    alone = [translate(model, pieces, [one], recipe())[0] for one in english[:5]]
    assert together == ["", *alone]
