"""Caches of real models: what was counted apart comes out of their shapes."""

import pytest
import torch

from attnbook.cache import KVCache
from attnlab.models.caches import CachedModel, Kept, cached_models

MODELS = cached_models()
each_model = pytest.mark.parametrize("name", MODELS)

# bytes a further token adds, and the whole cache at a context, both in bf16: worked out apart
KNOWN = {
    "Transformer base": (12_288, 512, 6.3e6),
    "GPT-2": (36_864, 1_024, 37.7e6),
    "BLOOM-176B": (4_014_080, 2_048, 8.2e9),
    "Falcon-7B": (8_192, 2_048, 16.8e6),
    "Llama 2 7B": (524_288, 4_096, 2.15e9),
    "Llama 2 70B": (327_680, 4_096, 1.34e9),
    "Mistral 7B v0.1": (0, 32_768, 0.54e9),
    "Llama 3.1 8B": (131_072, 131_072, 17.2e9),
    "Llama 3.1 405B": (516_096, 131_072, 67.6e9),
    "SmolLM2-135M": (23_040, 8_192, 0.19e9),
    "DeepSeek-V3": (70_272, 131_072, 9.2e9),
    "Gemma 3 27B": (81_920, 131_072, 11.2e9),
    "Qwen3-8B": (147_456, 40_960, 6.0e9),
    "gpt-oss-120b": (36_864, 131_072, 4.8e9),
    "DeepSeek-V3.2-Exp": (85_888, 131_072, 11.3e9),
    "Qwen3.5-0.8B": (12_288, 262_144, 3.2e9),
    "Gemma 4 E2B": (6_144, 131_072, 0.81e9),
    "DeepSeek-V4-Flash": (6_880, 1_048_576, 7.2e9),
    "Qwen3-Next-80B": (24_576, 262_144, 6.5e9),
    "Kimi K3": (27_648, 1_048_576, 29.4e9),
    "DeepSeek-V4.1-Flash": (3_200, 1_048_576, 3.36e9),
}


def test_every_model_is_known_and_the_oldest_comes_first() -> None:
    assert set(MODELS) == set(KNOWN)
    years = [model.year for model in MODELS.values()]
    assert years == sorted(years)
    assert (years[0], years[-1]) == (2017, 2026)


@each_model
def test_bytes_are_those_worked_out_apart_grow_with_tokens_batch_and_bits(name: str) -> None:
    model, (each, context, whole) = MODELS[name], KNOWN[name]
    assert model.bytes_per_token() == each
    assert model.context == context
    assert model.cache_bytes(context) == pytest.approx(whole, rel=0.02)
    assert model.source
    model = MODELS[name]
    sizes = [model.cache_bytes(n) for n in range(0, 5_000, 7)]
    assert sizes == sorted(sizes)
    assert sizes[0] == model.states
    far = model.cache_bytes(81_920) - model.cache_bytes(40_960)  # all windows are full
    assert far == 40_960 * model.bytes_per_token()
    model = MODELS[name]
    assert model.cache_bytes(4_096, batch=3) == 3 * model.cache_bytes(4_096)
    grown = [model.cache_bytes(4_096, bits=bits) - model.states for bits in (4, 8, 16, 32)]
    assert [grown[0] * 2**k for k in range(4)] == grown
    assert model.weight_bytes(bits=8) * 2 == model.weight_bytes() == 2 * model.parameters


def test_windows_pooling_and_states_are_counted_in_the_newest_models_too() -> None:
    model = CachedModel(
        "x", 2026, "", "", 1, 1, 8, 64, (Kept(6, window=4), Kept(10, pooled=3)), 100, 6, "y"
    )
    assert [model.cache_bytes(n) - 100 for n in (0, 2, 3, 4, 6)] == [0, 24, 56, 68, 88]
    assert model.bytes_per_token() == pytest.approx(20 / 3)
    windows = {"Gemma 3 27B": 436.2e6, "gpt-oss-120b": 4.72e6, "Gemma 4 E2B": 6.29e6}
    windows |= {"Qwen3.5-0.8B": 18.87e6, "DeepSeek-V4-Flash": 5.64e6}
    windows |= {"Qwen3-Next-80B": 75.5e6, "Kimi K3": 434.1e6, "DeepSeek-V4.1-Flash": 5.24e6}
    for name, wanted in windows.items():
        model, n = MODELS[name], 2**17
        fixed = model.cache_bytes(n) - n * model.bytes_per_token()
        assert fixed == pytest.approx(wanted, rel=1e-3)


def test_without_sharing_they_take_more_and_our_own_cache_as_many_as_counted() -> None:
    assert 2 * MODELS["DeepSeek-V3"].unshared == 4_997_120
    wanted = {"GPT-2": 1, "Falcon-7B": 71, "Llama 3.1 8B": 4, "DeepSeek-V3": 71.11}
    for name, times in wanted.items():
        assert MODELS[name].saving(1_000) == pytest.approx(times, abs=0.01)
    new, old = (
        MODELS[name].bytes_per_token() for name in ("DeepSeek-V4-Flash", "DeepSeek-V3.2-Exp")
    )
    assert new / old == pytest.approx(0.08, abs=1e-3)
    newest = MODELS["DeepSeek-V4.1-Flash"]
    scales = 2.5 * (512 / 16 + 128 / 32)  # a byte for so many numbers of an entry, as we infer
    assert newest.bytes_per_token(bits=4) + scales == 890  # the report's
    assert {name: one.sharing for name, one in MODELS.items() if one.sharing} == {
        "Gemma 4 E2B": 20,
        newest.name: 34,
    }
    n, model = 128, MODELS["SmolLM2-135M"]
    rows = torch.zeros(1, 3, n, 64)
    held = sum(part.numel() * part.element_size() for part in KVCache().append(rows, rows))
    assert 30 * held == model.cache_bytes(n, bits=32)
