"""Tokens: cut where an alignment needs it, with spaCy and without, and joined again."""

import builtins

import pytest

from attnlab.language import Corpus, detokenise, tokenise
from attnlab.language.tokens import has_spacy

both_ways = pytest.mark.parametrize("plain", [True, False], ids=["plain", "spacy"])


@both_ways
@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("en", "How was your day?", "How was your day ?"),
        ("en", "The neighbour's dog doesn't eat.", "The neighbour 's dog does n't eat ."),
        ("en", "I cannot, you can't.", "I can not , you ca n't ."),
        ("en", "It's 3.5 (or so)", "It 's 3.5 ( or so )"),
        ("fr", "Comment s'est passée ta journée ?", "Comment s' est passée ta journée ?"),
        ("fr", "L’homme n’a pas d'œufs.", "L' homme n' a pas d' œufs ."),
        ("fr", "Qu'est-ce qu'il mange", "Qu' est -ce qu' il mange"),
        ("fr", "mange-t-il ? Étais-tu là ?", "mange -t -il ? Étais -tu là ?"),
        ("fr", "Donne-le-moi !", "Donne -le -moi !"),
        ("fr", "aujourd'hui, jusqu'à 1,5", "aujourd'hui , jusqu' à 1,5"),
        ("fr", "peut-être un rendez-vous", "peut-être un rendez-vous"),
        ("de", "Der Mann schläft, oder?", "Der Mann schläft , oder ?"),
    ],
)
def test_text_is_cut(language: str, text: str, tokens: str, plain: bool) -> None:
    assert tokenise(text, language, plain=plain) == tokens.split()


@both_ways
def test_the_books_own_sentences_come_back(corpus: Corpus, plain: bool) -> None:
    for pair in corpus.train[:500] + corpus.longer[:100]:
        assert tuple(tokenise(detokenise(pair.source), "en", plain=plain)) == pair.source
        assert tuple(tokenise(detokenise(pair.target), "fr", plain=plain)) == pair.target


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("l' homme n' a pas d' œufs .", "l'homme n'a pas d'œufs."),
        ("mange -t -il ?", "mange-t-il?"),
        ("the neighbour 's dog does n't eat", "the neighbour's dog doesn't eat"),
        ("one ( or two ) , then", "one (or two), then"),
        ("a - b", "a - b"),
        ("", ""),
    ],
)
def test_tokens_are_joined(tokens: str, text: str) -> None:
    assert detokenise(tokens.split()) == text


@both_ways
@pytest.mark.parametrize("text", ["", "  \t "])
def test_no_text_has_no_tokens(text: str, plain: bool) -> None:
    for language in ("en", "fr", "de"):
        assert tokenise(text, language, plain=plain) == []


def test_without_spacy_the_plain_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def no_spacy(name: str, *rest: object, **named: object) -> object:
        if name.split(".")[0] == "spacy":
            raise ModuleNotFoundError("No module named 'spacy'", name="spacy")
        return real(name, *rest, **named)

    has_spacy.cache_clear()
    monkeypatch.setattr(builtins, "__import__", no_spacy)
    try:
        assert not has_spacy()
        assert tokenise("U.S. cats", "en") == ["U", ".", "S", ".", "cats"]
    finally:
        has_spacy.cache_clear()
