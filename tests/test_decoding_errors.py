"""Decoding refuses at the door what it cannot do."""

import math

import pytest
import torch
from torch import Generator

from attnbook.decoding import beam_search, greedy, sample
from tests.tables import Table, batch, random_table

SOURCE, LENGTHS = batch(3)
WAYS = {"greedy": greedy, "sample": sample, "beam_search": beam_search}


def run(way: str, **changed):
    arguments = {"stepper": random_table(3, 5), "source": SOURCE, "source_lengths": LENGTHS}
    arguments |= {"max_length": 4} | ({"beam": 2} if way == "beam_search" else {}) | changed
    return WAYS[way](
        arguments.pop("stepper"),
        arguments.pop("source"),
        arguments.pop("source_lengths"),
        **arguments,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"source": [[1]]}, TypeError, "source must be a torch.Tensor: it is a list"),
        ({"source": SOURCE[:, 0]}, ValueError, r"source must have the shape .*\(3,\)"),
        (
            {"source": SOURCE[:0], "source_lengths": LENGTHS[:0]},
            ValueError,
            "at least one sentence",
        ),
        ({"source_lengths": [1, 1, 1]}, TypeError, "source_lengths must be a torch.Tensor"),
        ({"source_lengths": LENGTHS[:2]}, ValueError, r"source_lengths must be .*\(b,\) = \(3,\)"),
        ({"source_lengths": LENGTHS.float()}, ValueError, "source_lengths must be int64"),
        ({"source_lengths": -LENGTHS}, ValueError, r"source_lengths must be from 0 to 1.*\[-1, "),
        ({"source_lengths": LENGTHS + 1}, ValueError, r"source_lengths must be from 0 to 1.*\[2, "),
        ({"max_length": 0}, ValueError, "max_length must be a whole number of at least 1: it is 0"),
        ({"max_length": -4}, ValueError, "max_length must be a whole number of at least 1"),
        ({"max_length": 2.0}, ValueError, "max_length must be a whole number of at least 1"),
        ({"bos": -1}, ValueError, "bos must be a whole number of at least 0: it is -1"),
        ({"bos": LENGTHS[:2]}, ValueError, r"bos must be a token, or int64 of .*\(3,\).*\(2,\)"),
        ({"bos": LENGTHS.int()}, ValueError, "bos must be a token, .*torch.int32"),
        ({"eos": -1}, ValueError, "eos must be a whole number of at least 0: it is -1"),
        ({"eos": 5}, ValueError, "eos must be below the vocabulary's 5: it is 5"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(way, changed, error, message: str) -> None:
    with pytest.raises(error, match=message):
        run(way, **changed)


@pytest.mark.parametrize(
    ("way", "changed", "message"),
    [
        ("beam_search", {"beam": 0}, "beam must be a whole number of at least 1: it is 0"),
        ("beam_search", {"beam": 1.5}, "beam must be a whole number of at least 1"),
        ("beam_search", {"length_penalty": -0.1}, "length_penalty must be at least 0 and finite"),
        ("beam_search", {"length_penalty": math.inf}, "length_penalty must be .* it is inf"),
        ("beam_search", {"length_penalty": math.nan}, "length_penalty must be .* it is nan"),
        ("sample", {"temperature": 0.0}, "temperature must be above 0 and finite: it is 0.0"),
        ("sample", {"temperature": -1.0}, "temperature must be above 0 and finite: it is -1.0"),
        ("sample", {"temperature": math.inf}, "temperature must be above 0 and finite"),
        ("sample", {"temperature": math.nan}, "temperature must be above 0 and finite"),
        ("sample", {"top_k": 0}, "top_k must be a whole number of at least 1: it is 0"),
        ("sample", {"top_p": 0.0}, "top_p must be above 0 and at most 1: it is 0.0"),
        ("sample", {"top_p": 1.01}, "top_p must be above 0 and at most 1: it is 1.01"),
        ("sample", {"top_p": math.nan}, "top_p must be above 0 and at most 1"),
        ("sample", {"generator": [Generator()] * 2}, "one for each of the 3 sentences: .* 2"),
    ],
)
def test_a_way_that_cannot_be_is_refused(way: str, changed, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(way, **changed)


class Stubborn(Table):
    """A stepper that gives logits of one shape, whatever is asked."""

    def step(self, tokens, state):
        return self.logits, state


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", [(2, 5), (3, 1, 5), (5,)])
def test_logits_of_another_shape_are_refused(way: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"step must return logits of the shape \(rows, voc"):
        run(way, stepper=Stubborn(torch.zeros(shape)))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_logits_that_are_no_numbers_are_refused(way: str, wrong: float) -> None:
    table = random_table(3, 5)
    table.logits[1, :, :, 3] = wrong
    with pytest.raises(ValueError, match="step must return logits that are numbers"):
        run(way, stepper=table)
