"""Our layers beside those of the library transformers, with the same weights."""

import pytest
import torch

from attnbook.further.longer import Scaling
from attnbook.masks import causal_mask
from tests.attnbook.strategies import close, normal
from tests.attnbook.test_latent import made
from tests.needs import needs


@torch.no_grad()
@pytest.mark.parametrize("absorb", [False, True])
def test_it_is_deepseeks_attention(absorb: bool) -> None:
    """Their cosines are float32."""
    needs("transformers")
    from transformers.models.deepseek_v3.configuration_deepseek_v3 import DeepseekV3Config
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import (
        DeepseekV3Attention,
        DeepseekV3RotaryEmbedding,
    )

    config = DeepseekV3Config(
        hidden_size=16,
        num_attention_heads=3,
        num_key_value_heads=3,
        q_lora_rank=None,
        kv_lora_rank=5,
        qk_rope_head_dim=4,
        qk_nope_head_dim=6,
        v_head_dim=3,
        rope_parameters={"rope_type": "default", "rope_theta": 20.0},
        attn_implementation="eager",
    )
    mine, theirs = made(), DeepseekV3Attention(config, layer_idx=0).double().eval()
    for ours, name in (
        (mine.query, "q_proj"),
        (mine.down, "kv_a_proj_with_mqa"),
        (mine.norm, "kv_a_layernorm"),
        (mine.up, "kv_b_proj"),
        (mine.out, "o_proj"),
    ):
        getattr(theirs, name).weight.copy_(ours.weight)
    x = normal(2, 7, 16)
    turn = DeepseekV3RotaryEmbedding(config)(x, torch.arange(7)[None])
    forbidden = torch.zeros(7, 7).masked_fill(~causal_mask(7), -torch.inf).double()
    wanted, _ = theirs(x, tuple(part.double() for part in turn), forbidden[None, None])
    close(mine(x, causal=True, absorb=absorb), wanted, 1e-6)


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn", "llama3"])
@pytest.mark.parametrize(
    ("d", "base", "trained"), [(64, 1e5, 8192), (128, 5e5, 8192), (8, 50, 64), (64, 1e4, 10**5)]
)
def test_speeds_are_those_of_the_library_transformers(kind, d, base, trained) -> None:
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
    speeds = mine.speeds(d, base, dtype=torch.float64)
    torch.testing.assert_close(speeds, theirs.double(), rtol=1e-6, atol=0)
    assert mine.stretch == pytest.approx(stretch)


@pytest.mark.parametrize("truncate", [True, False])
@pytest.mark.parametrize(
    ("d", "base", "trained", "factor"),
    # the second is gpt-oss's; then some whose ramp begins before the first pair, ends behind the
    # last one, or is shorter than the step from a pair to the next
    [
        (64, 1e5, 8192, 4),
        (64, 1.5e5, 4096, 32),
        (16, 1e4, 24, 4),
        (16, 1e4, 7, 4),
        (8, 50, 64, 2),
        (8, 1e9, 10**4, 4),
    ],
)
def test_yarn_is_that_of_transformers_rounded_or_not(truncate, d, base, trained, factor) -> None:
    needs("transformers")
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    parameters = {"rope_type": "yarn", "rope_theta": base, "factor": float(factor)}
    parameters |= {"original_max_position_embeddings": trained, "truncate": truncate}
    config = LlamaConfig(head_dim=d, max_position_embeddings=trained, rope_parameters=parameters)
    theirs, stretch = ROPE_INIT_FUNCTIONS["yarn"](config, torch.device("cpu"))
    mine = Scaling("yarn", factor, trained, truncate=truncate)
    speeds = mine.speeds(d, base, dtype=torch.float64)
    torch.testing.assert_close(speeds, theirs.double(), rtol=1e-6, atol=0)
    assert mine.stretch == pytest.approx(stretch)
