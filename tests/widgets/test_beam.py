"""The beam tree in Python: what beam search finds, what is refused, and what paper shows."""

from __future__ import annotations

import math
import re

import pytest
import torch

from attnbook.decoding import beam_search, greedy
from attnbook.language import Vocabulary
from attnbook.rnn import RNNSeq2Seq
from attnbook.widgets import BeamTree, prefix_table
from tests.widgets.beams import DETERMINERS, EOS, TableStepper, full_table, model_table

PENALTIES = (0.0, 0.6, 1.0, 2.0)
ONE = torch.ones(1, 2, dtype=torch.long), torch.tensor([2])


def plain(found) -> list[tuple]:
    return [(tuple(one.tokens), one.finished) for one in found]


def numbers(found) -> list[float]:
    return [number for one in found for number in (one.log_probability, one.score)]


def by_hand(table: dict, k: int, penalty: float, longest: int) -> list[tuple]:
    """Beam search once more, in plain Python, without ending early."""
    living, ended = [((), 0.0)], []
    for n in range(1, longest + 1):
        grown = [
            ((*words, word), log_p + math.log(p))
            for words, log_p in living
            for word, p in table[words].items()
            if p > 0
        ]
        kept = sorted(grown, key=lambda one: -one[1])[:k]
        ended += [(words, p / n**penalty) for words, p in kept if words[-1] == EOS]
        living = [one for one in kept if one[0][-1] != EOS]
    ended += [(words, p / longest**penalty) for words, p in living]
    return sorted(ended, key=lambda one: -one[1])[:k]


def test_greedy_begins_with_the_likelier_word_and_a_beam_of_two_finds_better() -> None:
    tree = BeamTree(DETERMINERS, beam=1)
    assert plain(tree.hypotheses) == [(("le", "chat"), True)]
    assert tree.hypotheses[0].log_probability == pytest.approx(math.log(0.5 * 0.35))
    tree.beam = 2
    assert plain(tree.hypotheses) == [(("la", "souris"), True), (("le", "chat"), True)]
    assert tree.hypotheses[0].log_probability == pytest.approx(math.log(0.4 * 0.9 * 0.8))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_table_that_lacks_nothing_is_searched_as_a_model_is(penalty: float) -> None:
    words = ["a", "b", "c", EOS]
    for seed in range(6):
        table = full_table(seed)
        for beam in range(1, 6):
            tree = BeamTree(table, beam=beam, penalty=penalty)
            ids = {"bos": 0, "eos": 3, "max_length": 4}
            stepper = TableStepper(table, words)
            (wanted,) = beam_search(stepper, *ONE, beam=beam, length_penalty=penalty, **ids)
            named = [([words[i] for i in one.tokens], one.finished) for one in wanted]
            assert [(one.tokens, one.finished) for one in tree.hypotheses] == named
            assert numbers(tree.hypotheses) == pytest.approx(numbers(wanted), abs=1e-7)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_what_a_row_lacks_is_never_chosen_and_never_shared_out(penalty: float) -> None:
    for seed in range(6):
        table = full_table(seed, lacking=0.9)
        for beam in range(1, 6):
            found = BeamTree(table, beam=beam, penalty=penalty).hypotheses
            wanted = by_hand(table, beam, penalty, 4)
            written = [(*one.tokens, EOS) if one.finished else tuple(one.tokens) for one in found]
            assert written == [words for words, _ in wanted]
            scores = [score for _, score in wanted]
            assert [one.score for one in found] == pytest.approx(scores, abs=1e-7)


def model() -> tuple[RNNSeq2Seq, Vocabulary]:
    torch.manual_seed(0)
    vocabulary = Vocabulary([list("abcdefghijkl")])
    size = len(vocabulary)
    rnn = RNNSeq2Seq(size, size, d_model=16, order="none").eval()
    with torch.no_grad():
        for parameter in rnn.parameters():
            parameter.mul_(3)  # a new model finds everything equally likely
    return rnn, vocabulary


def test_the_table_of_a_model_is_searched_as_the_model_itself() -> None:
    rnn, vocabulary = model()
    source = torch.tensor([[4, 5, 6]]), torch.tensor([3])
    table = prefix_table(rnn, *source, vocabulary, beams=4, max_length=7)
    for beam in range(1, 5):
        for penalty in PENALTIES:
            options = {"beam": beam, "length_penalty": penalty, "max_length": 7}
            (wanted,) = beam_search(rnn, *source, **options)
            tree = BeamTree(table, beam=beam, beams=4, penalty=penalty)
            named = [[vocabulary.tokens[i] for i in one.tokens] for one in wanted]
            assert [one.tokens for one in tree.hypotheses] == named
            assert numbers(tree.hypotheses) == pytest.approx(numbers(wanted), abs=1e-5)
    (first,) = greedy(rnn, *source, max_length=7)
    found = BeamTree(table, beam=1, beams=4).hypotheses[0].tokens
    assert found == [vocabulary.tokens[i] for i in first.tokens]


def test_the_table_of_a_model_holds_few_words_of_each_prefix_and_names_the_end() -> None:
    rnn, vocabulary = model()
    source = torch.tensor([[4, 5, 6]]), torch.tensor([3])
    table = prefix_table(rnn, *source, vocabulary, beams=2, max_length=5, eos="fin")
    assert {len(row) for row in table.values()} == {6}
    assert all(list(row.values()) == sorted(row.values(), reverse=True) for row in table.values())
    assert not any("fin" in prefix for prefix in table)
    assert "<eos>" not in {word for row in table.values() for word in row}


def test_the_greatest_table_stays_within_its_budget() -> None:
    assert len(BeamTree(model_table()).html()) < 60_000


def test_the_table_comes_back_as_it_was_given() -> None:
    assert BeamTree(DETERMINERS).table == DETERMINERS
    for seed in range(3):
        table = full_table(seed, lacking=0.3)
        back = BeamTree(table).table
        assert list(back) == list(table)
        for prefix, row in table.items():
            assert back[prefix] == pytest.approx(row, rel=1e-6)


def test_an_edited_probability_changes_what_is_found() -> None:
    tree = BeamTree(DETERMINERS, beam=1, editable=True)
    logs = [list(row) for row in tree.logs]
    logs[0] = [math.log(0.3), math.log(0.4)]
    tree.logs = logs
    assert plain(tree.hypotheses) == [(("la", "souris"), True)]
    assert tree.table[()] == {"le": 0.3, "la": 0.4}
    logs[0] = [None, None]  # probabilities of 0: nothing can be written
    tree.logs = [list(row) for row in logs]
    assert tree.hypotheses == []
    assert "nothing" in repr(tree)


def test_the_repr_says_what_is_found() -> None:
    assert repr(BeamTree(DETERMINERS)) == (
        "BeamTree(8 prefixes, k = 2, α = 0, best: la souris </s>)"
    )


def test_the_fallback_shows_what_the_beam_keeps_and_the_ranking() -> None:
    html = BeamTree(DETERMINERS, penalty=1).html().split("</script>")[1]
    assert "le (−0.693); la (−0.916)" in html
    assert "la souris (−1.022); le chat (−1.743)" in html
    score = math.log(0.4 * 0.9 * 0.8) / 3
    assert f"<td>3</td><td>{score:.3f}</td>".replace("-", "−") in html


def without(*prefix: str) -> dict:
    return {key: row for key, row in DETERMINERS.items() if key != prefix}


BAD = [
    (({("a",): {"b": 1}},), {}, "for ('a',), but 'a' is not among the words after ()"),
    (({},), {}, "table must begin with the empty prefix ()"),
    (({(): {}},), {}, "table[()] must hold at least one word: it is empty"),
    (({(): {"a": 0.7, "b": 0.4}},), {}, "table[()] must sum to at most 1, got a sum of 1.1"),
    (({(): {"a": -0.1}},), {}, "table[()] must hold probabilities from 0 to 1, got -0.1"),
    (({(): {"a": float("nan")}},), {}, "must hold probabilities from 0 to 1, got nan"),
    (({(): {"a": "0.5"}},), {}, "must hold probabilities from 0 to 1, got '0.5'"),
    (({(): {EOS: 0.5}, (EOS,): {"a": 1}},), {}, "table must not go on after '</s>'"),
    ((without("le", "chat"),), {}, "('le', 'chat'): a beam of 1 has to extend it"),
    ((without("la", "souris", "grise"),), {"max_length": 4}, "a beam of 4 has to extend it"),
    ((DETERMINERS,), {"max_length": 5, "beams": 6}, "beams must be a whole number from 1 to 5"),
    ((DETERMINERS,), {"beam": 0}, "beam must be a whole number from 1 to 5, got 0"),
    ((DETERMINERS,), {"beam": 3, "beams": 2}, "beam must be a whole number from 1 to 2, got 3"),
    ((DETERMINERS,), {"beam": True}, "beam must be a whole number from 1 to 5, got True"),
    ((DETERMINERS,), {"penalty": -1}, "penalty must be a number from 0 to 2, got -1"),
    ((DETERMINERS,), {"penalty": float("nan")}, "penalty must be a number from 0 to 2, got nan"),
    ((DETERMINERS,), {"penalty": "1"}, "penalty must be a number from 0 to 2, got '1'"),
    ((DETERMINERS,), {"step": 5}, "step must be a whole number from -5 to 4, got 5"),
    ((DETERMINERS,), {"max_length": 21}, "max_length must be a whole number from 1 to 20"),
    ((without("le", "chien", "noir"),), {"max_length": 4, "editable": True}, "editable=True"),
    ((full_table(0),), {"editable": True}, "at most 30 numbers where they can be edited, got 160"),
]


@pytest.mark.parametrize(("given", "options", "words"), BAD, ids=[words for *_, words in BAD])
def test_a_bad_argument_is_named(given: tuple, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        BeamTree(*given, **options)


def test_what_is_no_table_is_named() -> None:
    for bad, words in [
        ([((), {"a": 1})], "table must be a dict from prefixes"),
        ({"": {"a": 1}}, "table must have tuples of words as its keys, got ''"),
        ({(): ["a"]}, "must be a dict from words to probabilities, got"),
        ({(): {1: 0.5}}, "must be a dict from words to probabilities, got {1: 0.5}"),
    ]:
        with pytest.raises(TypeError) as caught:
            BeamTree(bad)
        assert words in str(caught.value)


def test_a_bad_assignment_is_refused_and_changes_nothing() -> None:
    tree = BeamTree(DETERMINERS, editable=True)
    kept = tree.state()
    for name, value in [("beam", 6), ("penalty", 2.5), ("step", 9), ("logs", [[0.0]])]:
        with pytest.raises(ValueError, match=name):
            setattr(tree, name, value)
    with pytest.raises(ValueError, match=r"must sum to at most 1, got a sum of 1\.2"):
        tree.logs = [[math.log(0.6), math.log(0.6)], *tree.logs[1:]]
    assert tree.state() == kept
    with pytest.raises(ValueError, match="made with editable=False"):
        BeamTree(DETERMINERS).logs = [[None, None], *tree.logs[1:]]


def test_a_model_that_does_not_fit_is_named() -> None:
    rnn, vocabulary = model()
    two = torch.ones(2, 3, dtype=torch.long), torch.tensor([3, 3])
    one = torch.tensor([[4, 5, 6]]), torch.tensor([3])
    with pytest.raises(ValueError, match=r"source must hold one sentence.*\(2, 3\)"):
        prefix_table(rnn, *two, vocabulary, max_length=4)
    with pytest.raises(ValueError, match="beams must be a whole number of at least 1"):
        prefix_table(rnn, *one, vocabulary, max_length=4, beams=0)
    with pytest.raises(ValueError, match="eos must not be one of the vocabulary's words: 'a' is"):
        prefix_table(rnn, *one, vocabulary, max_length=4, eos="a")
    with pytest.raises(ValueError, match="a token for each of the stepper's 15 logits"):
        prefix_table(rnn, *one, Vocabulary([["a"]]), max_length=4)
    with pytest.raises(TypeError, match="vocabulary must be a Vocabulary"):
        prefix_table(rnn, *one, ["a"], max_length=4)
