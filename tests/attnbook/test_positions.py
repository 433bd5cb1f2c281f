"""Positions: what each kind promises."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from attnbook.attention import attention, fused_attention
from attnbook.masks import causal_mask
from attnbook.positions import (
    LearnedPositions,
    Rotary,
    Scaling,
    Sinusoidal,
    alibi_bias,
    rotary_speeds,
    sinusoidal,
)
from attnbook.scores import dot
from tests.attnbook.strategies import close, normal
from tests.needs import needs

# --- sinusoidal -----------------------------------------------------------------------------------


@given(n=st.integers(0, 20), half=st.integers(1, 8))
def test_each_number_is_that_of_the_paper(n: int, half: int) -> None:
    table = sinusoidal(n, 2 * half, dtype=torch.float64)
    assert table.shape == (n, 2 * half)
    for pos in range(n):
        for i in range(half):
            angle = pos / 10000 ** (2 * i / (2 * half))
            assert math.isclose(table[pos, 2 * i], math.sin(angle), abs_tol=1e-9)
            assert math.isclose(table[pos, 2 * i + 1], math.cos(angle), abs_tol=1e-9)


def test_a_step_is_the_same_turn_everywhere() -> None:
    table = sinusoidal(30, 8, dtype=torch.float64).unflatten(-1, (-1, 2))  # (30, 4, 2)
    products = torch.einsum("ipc,jpc->ijp", table, table)
    for step in (0, 1, 7):
        diagonal = products.diagonal(step)  # (4, 30 - step)
        close(diagonal, diagonal[:, :1].expand_as(diagonal))


def test_sinusoidal_positions_go_on_at_an_offset() -> None:
    module, x = Sinusoidal(6), normal(2, 9, 6)
    whole = module(x)
    close(whole, x + sinusoidal(9, 6, dtype=torch.float64))
    close(module(x[:, 4:], 4), whole[:, 4:])
    each = module(x[:, 4:6], torch.tensor([4, -1]))
    close(each[0], whole[0, 4:6])
    close(each[1] - x[1, 4:6], sinusoidal(1, 6, dtype=torch.float64).expand(2, 6))
    assert module(x.half()).dtype == torch.float16
    assert not list(module.parameters())
    assert not module.state_dict()


# --- learned --------------------------------------------------------------------------------------


def test_learned_positions_are_rows_of_the_table() -> None:
    module, x = LearnedPositions(9, 5).double(), normal(2, 9, 5)
    whole = module(x)
    close(whole, x + module.table.weight)
    close(module(x[:, 4:], 4), whole[:, 4:])
    close(module(x[:, :2], torch.tensor([7, -1]))[0], x[0, :2] + module.table.weight[7:])
    close(module(x[:, :2], torch.tensor([7, -1]))[1], x[1, :2] + module.table.weight[[0, 0]])


def test_no_sentences_need_no_positions() -> None:
    x, none = torch.zeros(0, 3, 4), torch.zeros(0, dtype=torch.int64)
    for module in (LearnedPositions(3, 4), Sinusoidal(4)):
        assert module(x, none).shape == x.shape


def test_learned_positions_end() -> None:
    module, x = LearnedPositions(4, 2), torch.zeros(1, 2, 2)
    module(x, 2)
    with pytest.raises(ValueError, match="within max_length = 4 positions: 2 rows end at 5"):
        module(x, 3)
    with pytest.raises(ValueError, match="2 rows end at 5"):
        module(x, torch.tensor([3]))


# --- rotary ---------------------------------------------------------------------------------------


@given(
    half=st.integers(1, 4),
    i=st.integers(0, 50),
    j=st.integers(0, 50),
    shift=st.integers(0, 50),
    seed=st.integers(0, 99),
)
def test_rotary_scores_depend_on_the_distance_alone(
    half: int, i: int, j: int, shift: int, seed: int
) -> None:
    rope = Rotary(2 * half)
    query, key = normal(1, 2 * half, seed=seed), normal(1, 2 * half, seed=seed + 1)
    here = dot(rope(query, i), rope(key, j))
    close(dot(rope(query, i + shift), rope(key, j + shift)), here, 1e-9)


def test_another_distance_gives_another_score() -> None:
    rope, query, key = Rotary(4), normal(1, 4, seed=1), normal(1, 4, seed=2)
    scores = torch.stack([dot(rope(query, i), key) for i in range(5)]).flatten()
    assert (scores.diff().abs() > 1e-3).all()


@given(n=st.integers(1, 9), half=st.integers(1, 4), seed=st.integers(0, 99))
def test_a_turn_keeps_lengths_and_position_zero_stays(n: int, half: int, seed: int) -> None:
    x = normal(2, 3, n, 2 * half, seed=seed)
    turned = Rotary(2 * half)(x)
    close(turned[..., 0, :], x[..., 0, :])
    close(turned.norm(dim=-1), x.norm(dim=-1))


def test_neighbours_are_the_two_coordinates_of_a_point() -> None:
    x = torch.zeros(1, 4, dtype=torch.float64)
    x[0, 2] = 1
    turned = Rotary(4, base=100.0)(x, 3)
    angle = 3 * 100.0 ** (-2 / 4)
    expected = torch.tensor([[0, 0, math.cos(angle), math.sin(angle)]], dtype=torch.float64)
    close(turned, expected)


def test_rotary_positions_go_on_at_an_offset() -> None:
    rope, x = Rotary(6), normal(2, 3, 9, 6)
    whole = rope(x)
    close(rope(x[..., 4:, :], 4), whole[..., 4:, :])
    chosen = torch.tensor([5, 0, 5])
    close(rope(x[..., chosen, :], positions=chosen), whole[..., chosen, :])
    close(rope(x[0, 0, chosen], positions=chosen), whole[0, 0, chosen])
    each = rope(x[..., 4:6, :], torch.tensor([4, 0]))
    close(each[0], whole[0, :, 4:6])
    close(each[1], rope(x[1, :, 4:6]))


def test_rotary_works_in_half_precision_and_on_strided_input() -> None:
    rope, x = Rotary(4), normal(2, 7, 3, 4)
    expected = rope(x.transpose(1, 2).contiguous())
    close(rope(x.transpose(1, 2)), expected)
    for dtype in (torch.float16, torch.bfloat16):
        turned = rope(x.transpose(1, 2).to(dtype))
        assert turned.dtype == dtype
        close(turned.double(), expected, 0.05)


def test_far_positions_are_exact_in_half_precision() -> None:
    x = torch.ones(1, 2)
    turned = Rotary(2)(x.bfloat16(), 1001).float()  # bfloat16 itself cannot count to 1001
    close(turned, Rotary(2)(x, 1001), 0.02)


# --- ALiBi ----------------------------------------------------------------------------------------


def test_slopes_are_those_of_the_paper() -> None:
    def slopes(h: int) -> list[float]:
        return (-alibi_bias(h, 1, 2)[:, 0, 0]).tolist()

    assert slopes(8) == [2.0**-i for i in range(1, 9)]
    assert slopes(4) == [2.0 ** -(2 * i) for i in range(1, 5)]
    assert slopes(1) == [2.0**-8]
    assert slopes(6) == pytest.approx([2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3])
    sixteen = [2.0 ** (-i / 2) for i in range(1, 17)]
    assert slopes(12) == pytest.approx([2.0**-i for i in range(1, 9)] + sixteen[:8:2])


@given(h=st.integers(1, 9), n_q=st.integers(0, 6), cached=st.integers(0, 6))
def test_alibi_grows_with_the_distance_and_ends_with_the_keys(
    h: int, n_q: int, cached: int
) -> None:
    n = n_q + cached
    bias = alibi_bias(h, n_q, n, dtype=torch.float64)
    assert bias.shape == (h, n_q, n)
    whole = alibi_bias(h, n, dtype=torch.float64)
    assert torch.equal(bias, whole[:, cached:])
    assert torch.equal(whole, whole.mT)
    if n:
        close(whole[:, 0], torch.arange(n) * alibi_bias(h, 1, 2, dtype=torch.float64)[:, :, 0])


def test_alibi_is_a_bias_for_torch_too() -> None:
    query, key, value = (normal(2, 3, 5, 4, seed=seed) for seed in range(3))
    bias = alibi_bias(3, 5, dtype=torch.float64)[None]
    allowed = bias.masked_fill(~causal_mask(5), -torch.inf)
    expected = scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    close(fused_attention(query, key, value, bias=bias, causal=True), expected)
    close(attention(query, key, value, causal_mask(5), bias=bias).output, expected)


# --- rotary positions, slowed down ----------------------------------------------------------------

YARN, LLAMA = Scaling("yarn", 4.0, 64), Scaling("llama3", 8.0, 64)
SLOWED = [Scaling("interpolation", 4.0), Scaling("ntk", 4.0), YARN, LLAMA]


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn", "llama3"])
@pytest.mark.parametrize(("d", "base", "trained"), [(64, 1e5, 8192), (128, 5e5, 8192), (8, 50, 64)])
def test_speeds_are_those_of_the_library_transformers(
    kind: str, d: int, base: float, trained: int
) -> None:
    """Its "dynamic" kind is "ntk" where the text has the length that the factor was made for."""
    needs("transformers")
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    own = {"low_freq_factor": 1.0, "high_freq_factor": 4.0} if kind == "llama3" else {}
    own |= {"original_max_position_embeddings": trained} if kind in ("yarn", "llama3") else {}
    parameters = {"rope_type": kind, "rope_theta": base, "factor": 8.0, **own}
    config = LlamaConfig(head_dim=d, max_position_embeddings=trained, rope_parameters=parameters)
    # s · n / L − (s − 1) = 8 for s = 8
    n = 15 * trained // 8 if kind == "dynamic" else None
    theirs, stretch = ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"), seq_len=n)
    ours = {"linear": "interpolation", "dynamic": "ntk"}.get(kind, kind)
    mine = Scaling(ours, 8.0, trained)
    speeds = rotary_speeds(d, base, mine, dtype=torch.float64)
    torch.testing.assert_close(speeds, theirs.double(), rtol=1e-6, atol=0)
    assert mine.stretch == pytest.approx(stretch)


@pytest.mark.parametrize("scaling", [None, *SLOWED])
def test_a_factor_of_one_and_none_at_all_are_the_same_clock(scaling: Scaling | None) -> None:
    plain = rotary_speeds(8, 50.0, dtype=torch.float64)
    close(plain, 50.0 ** (-torch.arange(4, dtype=torch.float64) / 4))
    if scaling is not None:
        close(rotary_speeds(8, 50.0, replace(scaling, factor=1), dtype=torch.float64), plain)
        slowed = rotary_speeds(8, 50.0, scaling, dtype=torch.float64)
        assert (slowed <= plain + 1e-12).all()
        assert (slowed >= plain / scaling.factor - 1e-12).all()
        close(slowed[-1], plain[-1] / scaling.factor)  # the slowest gets all of it
        assert (slowed[0] == plain[0]) == (scaling.kind != "interpolation")


def test_pairs_that_turn_often_stay_and_those_that_do_not_are_slowed() -> None:
    """Of Llama 3.1's 64 pairs 29 stay and 29 are divided by 8; yarn's 18 first stay, 35 on slow."""
    plain = rotary_speeds(128, 5e5, dtype=torch.float64)
    for kind, stay, slow in (("llama3", 29, 29), ("yarn", 19, 29)):
        ratio = plain / rotary_speeds(128, 5e5, Scaling(kind, 8.0, 8192), dtype=torch.float64)
        assert ((ratio < 1 + 1e-9).sum(), (ratio > 8 - 1e-9).sum()) == (stay, slow)
        assert (ratio.diff() >= -1e-9).all()


def test_where_every_pair_turns_often_yarn_slows_none() -> None:
    """Base 2 and a million tokens: the ramp begins behind the last pair."""
    scaling = Scaling("yarn", 4.0, 10**6)
    close(rotary_speeds(8, 2.0, scaling), rotary_speeds(8, 2.0))


@pytest.mark.parametrize("scaling", SLOWED)
@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_a_slowed_rotary_turns_by_its_speeds(scaling: Scaling, layout: str) -> None:
    x, rope = normal(2, 3, 9, 8), Rotary(8, 50.0, layout=layout, scaling=scaling)
    angles = torch.arange(9)[:, None] * rotary_speeds(8, 50.0, scaling, dtype=torch.float64)
    pairs = x.unflatten(-1, (2, -1)).mT if layout == "halves" else x.unflatten(-1, (-1, 2))
    (a, b), (sin, cos) = pairs.unbind(-1), (angles.sin(), angles.cos())
    turned = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1) * scaling.stretch
    wanted = (turned.mT if layout == "halves" else turned).flatten(-2)
    close(rope(x), wanted)
    close(rope(x[..., 4:, :], 4), wanted[..., 4:, :])
    close(rope(x[..., [7, 2], :], positions=torch.tensor([7, 2])), wanted[..., [7, 2], :])
    close(rope(x[..., 3:5, :], torch.tensor([3, 3])), wanted[..., 3:5, :])
    plain = Rotary(8, 50.0, layout=layout)  # what was kept for another clock is not taken
    assert not torch.allclose(plain(x), wanted)


def test_yarn_stretches_the_scores_by_the_square() -> None:
    query, key = normal(1, 8, seed=1), normal(1, 8, seed=2)
    rope = Rotary(8, 50.0, scaling=YARN)
    assert YARN.stretch == pytest.approx(0.1 * math.log(4) + 1)
    close(dot(rope(query), rope(key)), dot(query, key) * YARN.stretch**2)
