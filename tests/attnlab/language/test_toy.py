"""Toy tasks: the answers are right, different from each other and the same for the same seed."""

import re
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.language import copied, dates, reversed_digits
from attnlab.language.grammar.draws import Draws
from attnlab.language.toy import FORMATS, MONTHS, ordinal


@given(seed=st.integers(0, 99), shortest=st.integers(2, 5), more=st.integers(0, 5))
def test_digits_are_copied_and_reversed(seed: int, shortest: int, more: int) -> None:
    longest = shortest + more
    for task, step in ((copied, 1), (reversed_digits, -1)):
        pairs = task(20, seed=seed, shortest=shortest, longest=longest)
        assert len({pair.source for pair in pairs}) == 20
        for pair in pairs:
            n = len(pair.source)
            assert shortest <= n <= longest
            assert pair.target == pair.source[::step]
            assert all(pair.source[i] == pair.target[j] for i, j in pair.alignment)
            gold = range(n)[::step]
            assert pair.alignment == tuple(enumerate(gold))
            assert pair.source_classes == pair.target_classes == ("digit",) * n


def test_dates_say_the_same_day() -> None:
    for pair in dates(500):
        text, iso = "".join(pair.source), "".join(pair.target)
        text = re.sub(r"(\d+)(st|nd|rd|th)", r"\1", text)
        layouts = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%Y %B %d", "%d/%m/%Y", "%d.%m.%Y",
                   "the %d of %B %Y")  # fmt: skip
        days = set()
        for layout in layouts:
            try:
                days.add(datetime.strptime(text, layout).date().isoformat())
            except ValueError:
                continue
        assert days == {iso}


def test_dates_come_in_seven_ways_and_cover_a_century() -> None:
    day = date(1999, 4, 3)
    assert len({way(day) for way in FORMATS}) == 7
    years = {int("".join(pair.target[:4])) for pair in dates(2000)}
    assert (min(years), max(years)) == (1950, 2049)
    assert len(MONTHS) == 12


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"),
     (21, "21st"), (22, "22nd"), (30, "30th")],
)  # fmt: skip
def test_ordinals(number: int, text: str) -> None:
    assert ordinal(number) == text


@pytest.mark.parametrize("task", [copied, reversed_digits, dates])
def test_the_seed_decides(task) -> None:
    assert task(30, seed=4) == task(30, seed=4)
    assert task(30, seed=4) != task(30, seed=5)
    assert task(30) == task(60)[:30]


def test_draws_follow_their_weights() -> None:
    draws = Draws(0, "weights")
    drawn = [draws.weighted("abc", (1, 0, 3)) for _ in range(4000)]
    assert drawn.count("b") == 0
    assert 0.2 < drawn.count("a") / 4000 < 0.3
    assert {draws.below(3) for _ in range(100)} == {0, 1, 2}
    assert not draws.chance(0)
    assert draws.chance(1)
