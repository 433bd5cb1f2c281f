"""Vocabularies: fixed special numbers, one order, errors that name the token."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.language import Vocabulary

sentences = st.lists(st.lists(st.text("abcé", min_size=1, max_size=3), max_size=5), max_size=6)
SMALL = [["the", "cat", "sees", "the", "dog"], ["a", "cat"]]


def test_numbers_are_special_ones_first_then_by_frequency_and_alphabet_without_the_rare() -> None:
    vocabulary = Vocabulary(SMALL)
    assert (vocabulary.pad, vocabulary.bos, vocabulary.eos, vocabulary.unknown) == (0, 1, 2, None)
    assert vocabulary.tokens[:3] == ("<pad>", "<bos>", "<eos>")
    assert Vocabulary(SMALL, unknown="<unk>").unknown == 3
    assert Vocabulary(SMALL).tokens[3:] == ("cat", "the", "a", "dog", "sees")
    assert Vocabulary(reversed(SMALL)).tokens == Vocabulary(SMALL).tokens
    vocabulary = Vocabulary(SMALL, unknown="<unk>")
    ids = vocabulary.encode(["the", "horse"])
    assert ids[1] == 3
    assert vocabulary.decode(ids) == ["the", "<unk>"]
    assert Vocabulary(SMALL, min_count=2).tokens[3:] == ("cat", "the")
    assert "dog" not in Vocabulary(SMALL, min_count=2)
    assert "cat" in Vocabulary(SMALL, min_count=2)


@given(corpus=sentences.filter(any))
def test_decoding_reverses_encoding(corpus: list[list[str]]) -> None:
    vocabulary = Vocabulary(corpus)
    for sentence in corpus:
        ids = vocabulary.encode(sentence)
        assert vocabulary.decode(ids) == sentence
        assert vocabulary.decode([1, *ids, 2, *ids, 0]) == sentence
    assert len(vocabulary) == 3 + len({token for sentence in corpus for token in sentence})


def test_what_can_be_read_only_once_is_encoded_and_decoded_whole() -> None:
    for vocabulary in (Vocabulary(SMALL), Vocabulary(SMALL, unknown="<unk>")):
        numbers = vocabulary.encode(iter(["the", "cat"]))
        assert vocabulary.decode(iter(numbers)) == ["the", "cat"]
        assert vocabulary.decode(torch.tensor(numbers)) == ["the", "cat"]


@pytest.mark.parametrize("name", ["<pad>", "<bos>", "<eos>"])
def test_a_word_that_names_a_control_token_is_none(name: str) -> None:
    known, open_ = Vocabulary(SMALL), Vocabulary(SMALL, unknown="<unk>")
    the, cat = open_.encode(["the", "cat"])
    assert open_.encode([name, "the", name, name, "cat", name]) == [3, the, 3, 3, cat, 3]
    assert open_.encode(["<unk>"]) == [3]
    told = f"tokens must be words: {name!r} is among them, the name of the control token"
    for words in ([name], ["the", name], [name, "cat"]):
        with pytest.raises(ValueError, match=told):
            known.encode(words)


@pytest.mark.parametrize("unknown", [None, "<unk>"])
def test_a_saved_vocabulary_comes_back(tmp_path: Path, unknown: str | None) -> None:
    vocabulary = Vocabulary([*SMALL, ["œuf", "l'"]], unknown=unknown)
    vocabulary.save(tmp_path / "words.json")
    again = Vocabulary.load(tmp_path / "words.json")
    assert again == vocabulary
    assert again.encode(["œuf"]) == vocabulary.encode(["œuf"])
    assert again.unknown == vocabulary.unknown
    assert vocabulary != Vocabulary(SMALL)
    assert vocabulary != "vocabulary"
