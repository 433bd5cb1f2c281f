"""Sampling: the right chances, cut where asked, and a sentence's chance its own."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator

from attnbook.decoding import greedy, pick, sample
from tests.attnbook.tables import Table, batch, random_table

P = [0.4, 0.1, 0.05, 0.3, 0.15]  # eos, 2, is one of them


def shares(count: int = 4000, **options) -> list[float]:
    """Return how often each word of P is drawn first."""
    table = Table(torch.tensor(P, dtype=torch.float64).log().expand(1, 5, 5, 5))
    source, lengths = torch.zeros(count, 1).long(), torch.ones(count).long()
    generator = Generator().manual_seed(3)
    found = sample(table, source, lengths, max_length=1, generator=generator, **options)
    first = torch.tensor([h.tokens[0] if h.tokens else 2 for h in found])
    return (first.bincount(minlength=5) / count).tolist()


def tempered(temperature: float, kept: tuple[int, ...] = (0, 1, 2, 3, 4)) -> list[float]:
    powers = [p ** (1 / temperature) if i in kept else 0.0 for i, p in enumerate(P)]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, tempered(1)),
        ({"temperature": 2.0}, tempered(2)),
        ({"temperature": 0.5}, tempered(0.5)),
        ({"top_k": 2}, tempered(1, (0, 3))),
        ({"top_k": 9}, tempered(1)),
        ({"top_p": 0.35}, tempered(1, (0,))),
        ({"top_p": 0.5}, tempered(1, (0, 3))),
        ({"top_p": 0.8}, tempered(1, (0, 3, 4))),
        ({"top_p": 1.0}, tempered(1)),
        # of the three that top_k leaves, the first two have 0.82
        ({"top_k": 3, "top_p": 0.8}, tempered(1, (0, 3))),
        # at temperature 0.5 the first two have 0.87
        ({"temperature": 0.5, "top_p": 0.8}, tempered(0.5, (0, 3))),
    ],
)
def test_words_come_as_often_as_they_should(options, wanted: list[float]) -> None:
    for mine, p in zip(shares(**options), wanted, strict=True):
        four_sigma = 4 * math.sqrt(p * (1 - p) / 4000)
        assert abs(mine - p) <= four_sigma  # so where p is 0 or 1, exactly


@given(seed=st.integers(0, 2**16))
def test_with_nothing_left_to_chance_it_is_greedy(seed: int) -> None:
    table = random_table(3, 6, seed=seed)
    wanted = greedy(table, *batch(3), max_length=6)
    for options in ({"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-9}, {"temperature": 1e-300}):
        generator = Generator().manual_seed(seed)
        found = sample(table, *batch(3), max_length=6, generator=generator, **options)
        assert found == wanted


@pytest.mark.parametrize(
    ("draw", "options", "token"),
    [
        (0.0, {}, 0),
        (0.49, {}, 1),
        (0.5, {}, 2),  # each word has [from, to) of its own
        (0.99, {}, 3),
        (1.0, {}, 3),  # a number below 1 may be rounded to 1
        (1.0, {"top_k": 2}, 1),
        (0.49, {"top_k": 2}, 0),
        (0.5, {"top_k": 2}, 1),
        (1.0, {"top_p": 0.5}, 1),  # two of four have one half: enough
        (1.0, {"top_p": 0.51}, 2),
        (1.0, {"top_p": 0.25}, 0),
    ],
)
def test_a_number_chooses_the_word_whose_share_it_falls_in(draw: float, options, token) -> None:
    even = torch.full((1, 4), -math.log(4))
    options = {"temperature": 1.0, "top_k": None, "top_p": None} | options
    assert pick(even, torch.tensor([draw]), **options).tolist() == [token]


def test_the_cut_of_one_row_does_not_cut_another() -> None:
    log_p = torch.tensor([[0.97, 0.01, 0.01, 0.01], [0.25, 0.25, 0.25, 0.25]]).log()
    chosen = pick(log_p, torch.tensor([0.99, 0.99]), 1.0, None, 0.9)
    assert chosen.tolist() == [0, 3]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_at_the_lowest_temperature_the_greatest_is_alone(dtype: torch.dtype) -> None:
    log_p = torch.tensor([[0.2, 0.5, 0.3]], dtype=dtype).log()
    for draw in (0.0, 0.99):
        chosen = pick(log_p, torch.tensor([draw]), 5e-324, None, None)
        assert chosen.tolist() == [1]
    equals = torch.tensor([[0.4, 0.2, 0.4]], dtype=dtype).log()
    assert pick(equals, torch.tensor([0.99]), 5e-324, None, None).tolist() == [2]


def test_of_equals_top_k_keeps_the_lowest_ids() -> None:
    even = Table(torch.zeros(1, 6, 6, 6))
    source, lengths = torch.zeros(200, 1).long(), torch.ones(200).long()
    generator = Generator().manual_seed(0)
    found = sample(even, source, lengths, max_length=1, top_k=2, generator=generator)
    assert {tuple(h.tokens) for h in found} == {(0,), (1,)}


def test_the_log_probability_is_the_models_own() -> None:
    table = random_table(4, 6)
    generator = Generator().manual_seed(0)
    options = {"max_length": 5, "temperature": 0.3, "top_k": 3, "generator": generator}
    for i, found in enumerate(sample(table, *batch(4), **options)):
        history = [0, 1, *found.tokens] + [2] * found.finished
        log_p = table.logits[i].log_softmax(dim=-1)
        triples = zip(history, history[1:], history[2:], strict=False)
        assert found.log_probability == pytest.approx(sum(float(log_p[t]) for t in triples))
        assert found.score == found.log_probability


@given(seed=st.integers(0, 2**16), b=st.integers(1, 5))
def test_with_its_own_generator_a_sentence_hangs_on_nothing_else(seed: int, b: int) -> None:
    table = random_table(5, 6, seed=seed)
    source, lengths = batch(5)

    def write(rows: list[int]):
        own = [Generator().manual_seed(seed + i) for i in rows]
        return sample(table, source[rows], lengths[rows], max_length=7, generator=own)

    together = write([0, 1, 2, 3, 4])
    order = torch.randperm(5, generator=Generator().manual_seed(seed)).tolist()[:b]
    assert write(order) == [together[i] for i in order]


@given(seed=st.integers(0, 2**16), b=st.integers(1, 5))
def test_with_one_generator_a_sentence_hangs_on_its_place_alone(seed: int, b: int) -> None:
    table, other = random_table(5, 6, seed=seed), random_table(5, 6, seed=seed + 1)
    source, lengths = batch(5)

    def write(table: Table, b: int, n: int = 7):
        generator = Generator().manual_seed(seed)
        return sample(table, source[:b], lengths[:b], max_length=n, generator=generator)

    together = write(table, 5)
    assert write(table, b) == together[:b]
    mixed = Table(table.logits.clone())
    mixed.logits[: b - 1] = other.logits[: b - 1]  # all before it write something else
    assert write(mixed, b)[b - 1] == together[b - 1]
    for short, long in zip(write(table, 5, 3), together, strict=True):
        assert short.tokens == long.tokens[:3]


def test_without_a_generator_torchs_seed_decides_and_with_one_calls_differ() -> None:
    table = random_table(6, 9)
    found = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        found.append(sample(table, *batch(6), max_length=9))
    assert found[0] == found[1] != found[2]
    table, generator = random_table(6, 9), Generator().manual_seed(0)
    first = sample(table, *batch(6), max_length=9, generator=generator)
    assert sample(table, *batch(6), max_length=9, generator=generator) != first


def test_words_that_cannot_be_are_never_drawn() -> None:
    table = random_table(3, 6)
    table.logits[..., [0, 5]] = -math.inf
    for temperature in (0.01, 1.0, 100.0):
        generator = Generator().manual_seed(1)
        options = {"max_length": 9, "temperature": temperature, "generator": generator}
        for found in sample(table, *batch(3), **options):
            assert not {0, 5} & set(found.tokens)
