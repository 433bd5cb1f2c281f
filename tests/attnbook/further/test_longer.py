"""Rotary positions, slowed down: which pairs, and by how much."""

import math
from dataclasses import replace

import pytest
import torch

from attnbook.further.longer import Scaling
from attnbook.positions import Rotary, rotary_speeds
from attnbook.scores import dot
from tests.attnbook.strategies import close, normal

YARN, LLAMA = Scaling("yarn", 4.0, 64), Scaling("llama3", 8.0, 64)
SLOWED = [Scaling("interpolation", 4.0), Scaling("ntk", 4.0), YARN, LLAMA]


@pytest.mark.parametrize("scaling", [None, *SLOWED])
def test_a_factor_of_one_and_none_at_all_are_the_same_clock(scaling: Scaling | None) -> None:
    plain = rotary_speeds(8, 50.0, dtype=torch.float64)
    close(plain, 50.0 ** (-torch.arange(4, dtype=torch.float64) / 4))
    if scaling is not None:
        close(replace(scaling, factor=1).speeds(8, 50.0, dtype=torch.float64), plain)
        slowed = scaling.speeds(8, 50.0, dtype=torch.float64)
        assert (slowed <= plain + 1e-12).all()
        assert (slowed >= plain / scaling.factor - 1e-12).all()
        close(slowed[-1], plain[-1] / scaling.factor)  # the slowest gets all of it
        assert (slowed[0] == plain[0]) == (scaling.kind != "interpolation")


def test_pairs_that_turn_often_stay_and_the_others_are_slowed() -> None:
    """Of Llama 3.1's 64 pairs 29 stay and 29 are divided by 8; yarn's 18 first stay, 35 on slow."""
    plain = rotary_speeds(128, 5e5, dtype=torch.float64)
    for kind, stay, slow in (("llama3", 29, 29), ("yarn", 19, 29)):
        ratio = plain / Scaling(kind, 8.0, 8192).speeds(128, 5e5, dtype=torch.float64)
        assert ((ratio < 1 + 1e-9).sum(), (ratio > 8 - 1e-9).sum()) == (stay, slow)
        assert (ratio.diff() >= -1e-9).all()
    # Base 2 and a million tokens: the ramp begins behind the last pair.
    scaling = Scaling("yarn", 4.0, 10**6)
    close(scaling.speeds(8, 2.0), rotary_speeds(8, 2.0))
    speeds, plain = Scaling("yarn", 4.0, 4).speeds(8, 1e4), rotary_speeds(8)
    assert speeds[0] == plain[0]
    close(speeds[1:], plain[1:] / 4, 1e-6)


def test_a_ramp_ends_at_the_last_number_of_a_vector() -> None:
    """It would go from pair 1.6 to 9.2: rounded from 1 to 10, of which 7 is the last of 8."""
    plain = rotary_speeds(8, 6.16, dtype=torch.float64)
    slowed = Scaling("yarn", 4.0, 419).speeds(8, 6.16, dtype=torch.float64)
    ramp = torch.tensor([0, 0, 1 / 6, 2 / 6], dtype=torch.float64)
    close(slowed, plain * (1 - ramp + ramp / 4))


def test_a_ramp_that_is_not_rounded_begins_between_pairs() -> None:
    """That of gpt-oss goes from pair 8.09 to 17.40."""
    plain = rotary_speeds(64, 1.5e5, dtype=torch.float64)
    scaling = Scaling("yarn", 32.0, 4096, truncate=False)
    kept = (scaling.speeds(64, 1.5e5, dtype=torch.float64) / plain * 32 - 1) / 31
    per_e = 64 / (2 * math.log(1.5e5))
    first, last = (per_e * math.log(4096 / (2 * math.pi * turns)) for turns in (32, 1))
    close(kept, 1 - ((torch.arange(32).double() - first) / (last - first)).clamp(0, 1))
    assert ((kept == 1).sum(), (kept > 1e-9).sum()) == (9, 18)


@pytest.mark.parametrize("scaling", SLOWED)
@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_a_slowed_rotary_turns_by_its_speeds(scaling: Scaling, layout: str) -> None:
    x, rope = normal(2, 3, 9, 8), Rotary(8, 50.0, layout=layout, scaling=scaling)
    angles = torch.arange(9)[:, None] * scaling.speeds(8, 50.0, dtype=torch.float64)
    pairs = x.unflatten(-1, (2, -1)).mT if layout == "halves" else x.unflatten(-1, (-1, 2))
    (a, b), (sin, cos) = pairs.unbind(-1), (angles.sin(), angles.cos())
    turned = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1) * scaling.stretch
    wanted = (turned.mT if layout == "halves" else turned).flatten(-2)
    close(rope(x), wanted)
    close(rope(x[..., 4:, :], 4), wanted[..., 4:, :])
    close(rope(x[..., 3:5, :], torch.tensor([3, 3])), wanted[..., 3:5, :])
    plain = Rotary(8, 50.0, layout=layout)  # what was kept for another clock is not taken
    assert not torch.allclose(plain(x), wanted)


def test_yarn_alone_stretches_the_scores_and_interpolation_slows_all_alike() -> None:
    query, key = normal(1, 8, seed=1), normal(1, 8, seed=2)
    rope = Rotary(8, 50.0, scaling=YARN)
    assert YARN.stretch == pytest.approx(0.1 * math.log(4) + 1)
    close(dot(rope(query), rope(key)), dot(query, key) * YARN.stretch**2)
    for trained in (None, 64):
        slowed = Scaling("interpolation", 4.0, trained).speeds(8, 50.0)
        close(slowed, rotary_speeds(8, 50.0) / 4, 1e-7)
    assert [Scaling(kind, 4.0, 64).stretch for kind in ("interpolation", "ntk", "llama3")] == [
        1
    ] * 3
