"""Sub-words: text comes back as it was, and a set larger than the text allows is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from attnlab.language.readers import TextPair
from attnlab.translation.pieces import CONTROL, PATTERN, Pieces
from attnlab.translation.ways import Ways
from tests.attnlab.translation.small import naming, texts

TEXT = [line for side in texts() for line in side]
PIECES = Pieces.train(TEXT, 120)


def test_text_comes_back_and_a_word_shares_no_piece_with_punctuation() -> None:
    assert [PIECES.decode(ids) for ids in PIECES.encode(TEXT)] == TEXT
    odd = ["A dog's t-shirt , isn't it ? (no)", "„Nein“, sagt er – zwei-, dreimal."]
    pieces = Pieces.train(odd, 60)
    assert [pieces.decode(ids) for ids in pieces.encode(odd)] == odd
    pieces = Pieces.train(["stop. stop. stop. stop, stop, t-shirt. t-shirt, t-shirt."] * 9, 26)
    tokens = pieces.tokenizer.encode("stop. t-shirt.").tokens
    assert tokens == ["▁stop", ".", "▁t-shirt", "."]
    assert PATTERN


@given(some.text())
def test_any_text_has_numbers_that_decode(text: str) -> None:
    (ids,) = PIECES.encode([text])
    assert all(3 <= one < len(PIECES) for one in ids)
    assert isinstance(PIECES.decode([*ids, 2, 5]), str)


def test_the_names_of_control_tokens_are_text() -> None:
    named = naming(*CONTROL)
    pieces = Pieces.train(named, 28)
    for one in (pieces, Pieces.from_json(pieces.to_json()), Pieces(pieces.tokenizer)):
        ids = one.encode(named)
        assert min(min(row) for row in ids) >= len(CONTROL)
        assert [one.decode(row) for row in ids] == named
    cut = Ways(pieces, [TextPair(text, text) for text in named], rate=0.0, seed=0)
    assert [source for source, _ in cut.pairs(range(len(named)), 1)] == pieces.encode(named)


def test_the_same_text_makes_the_same_pieces_and_other_sizes_are_refused() -> None:
    assert Pieces.train(TEXT, 120).to_json() == PIECES.to_json()
    assert Pieces.from_json(PIECES.to_json()).encode(TEXT) == PIECES.encode(TEXT)
    with pytest.raises(
        ValueError, match=r"vocabulary must be what the text allows: it is 500, .* 9 pieces"
    ):
        Pieces.train(["ab ab"], 500)
    with pytest.raises(ValueError, match="vocabulary must be what the text allows: it is 9"):
        Pieces.train(["abcdefghijklmnop"], 9)
