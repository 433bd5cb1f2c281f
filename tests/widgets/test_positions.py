"""Sinusoidal positions in Python: equal to the package's, and arguments checked."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnbook.positions import Rotary, sinusoidal
from attnbook.widgets import PositionExplorer
from attnbook.widgets.core import markup

DISTANCES = (1, 2, 5, 20)
RIGHT = [0.966, 0.884, 0.734, 0.590]  # cosines at d = 64, computed apart from this code
WRONG = [0.096, -0.089, -0.080, 0.054]


def random(seed: int) -> PositionExplorer:
    """An explorer of any shape and base, whose base has few decimals."""
    rng = np.random.default_rng(seed)
    d, n = 2 * int(rng.integers(1, 33)), int(rng.integers(2, 65))
    return PositionExplorer(
        d,
        n,
        round(float(10 ** rng.uniform(0, 6)), 2),
        position=int(rng.integers(n)),
        shift=int(rng.integers(64)),
        pair=int(rng.integers(d // 2)),
        formula=["divides", "multiplies"][seed % 2],
    )


@pytest.mark.parametrize(("d", "n"), [(2, 2), (8, 12), (64, 64), (38, 5)])
def test_the_table_is_that_of_the_package(d: int, n: int) -> None:
    wanted = sinusoidal(n, d, dtype=torch.float64).numpy()
    assert np.abs(PositionExplorer(d, n).table - wanted).max() < 1e-12


def test_with_any_base_it_turns_as_rotary_positions_do() -> None:
    for seed in range(0, 10, 2):
        widget = random(seed)
        east = torch.tensor([1.0, 0.0], dtype=torch.float64).repeat(widget.n, widget.d // 2)
        cos_sin = Rotary(widget.d, widget.base)(east).numpy()
        assert np.abs(widget.table[:, 0::2] - cos_sin[:, 1::2]).max() < 1e-12
        assert np.abs(widget.table[:, 1::2] - cos_sin[:, 0::2]).max() < 1e-12


def test_the_published_error_multiplies() -> None:
    widget = PositionExplorer(6, 4, 100, formula="multiplies")
    for pos in range(4):
        for i in range(3):
            angle = pos * 100 ** (2 * i / 6)
            assert widget.table[pos, 2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
            assert widget.table[pos, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)


def test_similarities_are_torchs_cosines() -> None:
    for seed in range(10):
        widget = random(seed)
        rows = torch.from_numpy(widget.table)
        wanted = torch.cosine_similarity(rows, rows[widget.position][None], dim=-1)
        assert np.abs(widget.similarities - wanted.numpy()).max() < 1e-12


def test_dividing_keeps_neighbours_alike_and_multiplying_does_not() -> None:
    for position in (0, 7):
        for formula, wanted in (("divides", RIGHT), ("multiplies", WRONG)):
            widget = PositionExplorer(position=position, formula=formula)
            found = [widget.similarities[position + k] for k in DISTANCES]
            assert found == pytest.approx(wanted, abs=5e-4)


def test_a_pair_comes_round_after_its_wavelength() -> None:
    lengths = PositionExplorer(8, base=10_000).wavelengths
    assert lengths == pytest.approx([2 * math.pi * 10**i for i in range(4)])


def test_the_fallback_shows_cosines_pairs_and_both_formulas() -> None:
    widget = PositionExplorer(8, 12, 100, position=3, shift=2)
    html = widget.html().split("</script>")[1]
    for value in [*widget.similarities, *widget.table[3], *widget.table[5]]:
        assert f"<td>{markup.fixed(value)}</td>" in html
    assert "sin(pos / 100<sup>2i/8</sup>)" in html
    html = PositionExplorer().html()
    for value in RIGHT + WRONG:
        assert f"<td>{markup.fixed(value)}</td>" in html
    assert "sin(pos · 10000<sup>2i/64</sup>)" in PositionExplorer(formula="multiplies").html()


def test_the_repr_says_what_is_there() -> None:
    told = "PositionExplorer(d 8, n 12, base 500.5, multiplies, position 11, shift 3)"
    assert repr(PositionExplorer(8, 12, 500.5, position=-1, shift=3, formula="multiplies")) == told


BAD = [
    ({"d": 7}, "d must be even"),
    ({"d": 0}, "d must be a whole number from 2 to 64, got 0"),
    ({"d": 66}, "d must be a whole number from 2 to 64, got 66"),
    ({"d": 8.0}, "d must be a whole number"),
    ({"n": 1}, "n must be a whole number from 2 to 64"),
    ({"n": 65}, "n must be a whole number from 2 to 64"),
    ({"n": True}, "n must be a whole number"),
    ({"base": 0.5}, "base must be a number from 1 to 1,000,000"),
    ({"base": 2e6}, "base must be a number from 1 to 1,000,000"),
    ({"base": float("nan")}, "base must be a finite number"),
    ({"base": "a"}, "base must be a number"),
    ({"position": 32}, "position must be a whole number from -32 to 31"),
    ({"shift": -1}, "shift must be a whole number from 0 to 63"),
    ({"shift": 64}, "shift must be a whole number from 0 to 63"),
    ({"pair": 32}, "pair must be a whole number from -32 to 31"),
    ({"formula": "adds"}, 'formula must be "divides" or "multiplies", got \'adds\''),
    ({"formula": ["divides"]}, 'formula must be "divides" or "multiplies"'),
]


@pytest.mark.parametrize(("changes", "words"), BAD, ids=[words for _, words in BAD])
def test_a_bad_argument_is_named(changes: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PositionExplorer(**changes)


def test_a_bad_assignment_changes_nothing() -> None:
    widget = PositionExplorer(8, 12, position=3)
    before = widget.state()
    for name, bad in [("d", 9), ("n", 99), ("base", 0.0), ("position", 12), ("pair", 4)]:
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, bad)
    for name, bad in [("shift", 64), ("formula", "adds")]:
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, bad)
    assert widget.state() == before


def test_position_and_pair_stay_within_a_smaller_table() -> None:
    widget = PositionExplorer(8, 12, position=-1, pair=-1)
    assert (widget.position, widget.pair) == (11, 3)
    widget.n, widget.d = 5, 4
    assert (widget.position, widget.pair) == (4, 1)
    assert widget.similarities.shape == (5,)
    assert widget.initial["position"] == 11
