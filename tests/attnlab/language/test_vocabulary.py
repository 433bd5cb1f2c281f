"""Vocabularies: fixed special numbers, one order, errors that name the token."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.language import Vocabulary

sentences = st.lists(st.lists(st.text("abcé", min_size=1, max_size=3), max_size=5), max_size=6)
SMALL = [["the", "cat", "sees", "the", "dog"], ["a", "cat"]]


def test_padding_is_0_bos_1_eos_2_and_unknown_3() -> None:
    vocabulary = Vocabulary(SMALL)
    assert (vocabulary.pad, vocabulary.bos, vocabulary.eos, vocabulary.unknown) == (0, 1, 2, None)
    assert vocabulary.tokens[:3] == ("<pad>", "<bos>", "<eos>")
    assert Vocabulary(SMALL, unknown="<unk>").unknown == 3


def test_tokens_are_ordered_by_frequency_then_alphabet() -> None:
    assert Vocabulary(SMALL).tokens[3:] == ("cat", "the", "a", "dog", "sees")
    assert Vocabulary(reversed(SMALL)).tokens == Vocabulary(SMALL).tokens


@given(corpus=sentences.filter(any))
def test_decoding_reverses_encoding(corpus: list[list[str]]) -> None:
    vocabulary = Vocabulary(corpus)
    for sentence in corpus:
        ids = vocabulary.encode(sentence)
        assert vocabulary.decode(ids) == sentence
        assert vocabulary.decode([1, *ids, 2, *ids, 0]) == sentence
    assert len(vocabulary) == 3 + len({token for sentence in corpus for token in sentence})


def test_an_unknown_token_is_named() -> None:
    with pytest.raises(ValueError, match="'horse' is not in the vocabulary of 8 tokens"):
        Vocabulary(SMALL).encode(["the", "horse"])


def test_an_unknown_token_becomes_unknown_where_one_is_set() -> None:
    vocabulary = Vocabulary(SMALL, unknown="<unk>")
    ids = vocabulary.encode(["the", "horse"])
    assert ids[1] == 3
    assert vocabulary.decode(ids) == ["the", "<unk>"]


def test_what_can_be_read_only_once_is_encoded_and_decoded_whole() -> None:
    for vocabulary in (Vocabulary(SMALL), Vocabulary(SMALL, unknown="<unk>")):
        numbers = vocabulary.encode(iter(["the", "cat"]))
        assert vocabulary.decode(iter(numbers)) == ["the", "cat"]
        assert vocabulary.decode(torch.tensor(numbers)) == ["the", "cat"]


def test_rare_tokens_are_left_out() -> None:
    assert Vocabulary(SMALL, min_count=2).tokens[3:] == ("cat", "the")
    assert "dog" not in Vocabulary(SMALL, min_count=2)
    assert "cat" in Vocabulary(SMALL, min_count=2)


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


@pytest.mark.parametrize(
    "text",
    ["", "[1, 2", "[]", '{"tokens": ["a"]}', '{"tokens": [1], "unknown": null}',
     '{"tokens": "abc", "unknown": null}', '{"tokens": ["a"], "unknown": 3}'],
)  # fmt: skip
def test_a_corrupt_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "words.json").write_text(text)
    with pytest.raises(ValueError, match=r"words.json is not a vocabulary"):
        Vocabulary.load(tmp_path / "words.json")


def test_a_file_with_a_token_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text('{"tokens": ["a", "b", "a"], "unknown": null}')
    with pytest.raises(ValueError, match="'a' is there twice"):
        Vocabulary.load(tmp_path / "words.json")


@pytest.mark.parametrize(
    ("corpus", "settings", "message"),
    [
        ([], {}, "the corpus is empty"),
        ([[], []], {}, "the corpus is empty"),
        (SMALL, {"min_count": 0}, "min_count must be a whole number of at least 1: it is 0"),
        ([["<pad>"]], {}, "'<pad>' is there twice"),
        (SMALL, {"unknown": "cat"}, "'cat' is there twice"),
    ],
)
def test_bad_input_is_a_value_error(corpus: list, settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vocabulary(corpus, **settings)


def test_a_string_is_not_a_sentence() -> None:
    with pytest.raises(TypeError, match="'the cat' is a string"):
        Vocabulary(["the cat"])
    with pytest.raises(TypeError, match="'the cat' is a string"):
        Vocabulary(SMALL).encode("the cat")


@pytest.mark.parametrize("number", [-1, 8])
def test_a_number_outside_the_vocabulary_is_named(number: int) -> None:
    with pytest.raises(ValueError, match=f"ids must be from 0 to 7: {number} is among them"):
        Vocabulary(SMALL).decode([3, number])
