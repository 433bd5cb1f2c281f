"""The step of a model: what was worked out apart comes out, and its limits hold."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.models.caches import cached_models
from attnlab.models.roof import RoofModel, machines, roof_models

LLAMA, H100 = roof_models()["Llama 3.1 8B"], machines()["H100 SXM"]
CALLS = st.fixed_dictionaries(
    {
        "texts": st.integers(1, 4_096),
        "tokens": st.integers(1, 64),
        "cached": st.integers(0, 10_000),
        "weight_bits": st.sampled_from([4, 8, 16, 32]),
        "cache_bits": st.sampled_from([4, 8, 16, 32]),
    }
)


def test_llama_by_hand() -> None:
    step = LLAMA.step(H100, texts=32, cached=8_191)
    assert step.weights == 2 * (8_030_261_248 - 128_256 * 4_096)
    assert step.caches == 32 * 8_192 * 131_072
    assert step.products == 2 * 7_504_924_672 * 32
    assert step.attention == 2 * 32 * 32 * (128 + 128) * 32 * 8_192  # layers, heads, d_k + d_v
    assert step.memory == pytest.approx(0.01474, rel=1e-3)
    assert step.arithmetic < step.memory == step.seconds
    assert step.a_second == pytest.approx(32 / step.memory)
    assert step.room == 59


def test_caches_are_those_that_are_counted_elsewhere() -> None:
    for name, model in roof_models().items():
        step = model.step(H100, texts=3, cached=1_023, cache_bits=8)
        assert step.caches == cached_models()[name].cache_bytes(1_024, batch=3, bits=8)
        assert step.held - step.caches == cached_models()[name].weight_bytes()


@given(CALLS, st.sampled_from(list(roof_models().values())))
def test_a_step_is_the_longer_side_and_grows_with_all_that_it_does(call, model) -> None:
    step = model.step(H100, **call)
    assert step.seconds == max(step.memory, step.arithmetic)
    assert step.operations == step.products + step.attention
    for name in ("texts", "tokens", "cached"):
        more = model.step(H100, **call | {name: call[name] + 1})
        assert more.memory > step.memory
        assert more.arithmetic > step.arithmetic
    faster = replace(H100, bytes_a_second=2 * H100.bytes_a_second)
    assert model.step(faster, **call).memory == step.memory / 2
    if step.room >= 1:
        assert model.step(H100, **call | {"texts": step.room}).held <= H100.memory
    if step.room >= 0:
        assert model.step(H100, **call | {"texts": step.room + 1}).held > H100.memory
    else:
        assert model.parameters * call["weight_bits"] / 8 > H100.memory


def test_experts_are_read_once_tokens_ask_for_them() -> None:
    model = roof_models()["DeepSeek-V3"]
    assert model.read(1) == pytest.approx(36.6e9, rel=1e-3)  # 37 billion, with the input's table
    assert model.read(10_000) == pytest.approx(671e9 - 129_280 * 7_168)
    counts = [model.read(n) for n in range(1, 200)]
    assert counts == sorted(counts)
    two = RoofModel("two of four", 10, 1, 1, routed=4, chosen=0.5)
    assert [two.read(n) for n in (1, 2, 3)] == [8, 9, 9.5]
