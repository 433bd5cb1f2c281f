"""A file like SmolLM2's: two tiny layers of random weights, all bytes but one, and three merges."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.attnbook.copying import randomised
from tests.needs import needs

D_MODEL, HEADS, KV_HEADS, D_FF, LAYERS = 32, 4, 2, 64, 2
EPS, BASE, CONTEXT = 0.05, 50.0, 48  # not the usual, so that a model which forgets them is seen
UNSPELT = 0x04
MERGES = ("Ġ t", "h e", "Ġt he")
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def pieces() -> list[str]:
    """Return the special tokens, the letters that stand for bytes, and the merged pieces."""
    single = [letter for byte, letter in letters().items() if byte != UNSPELT]
    return [*SPECIAL, *single, *(merge.replace(" ", "") for merge in MERGES)]


def letters() -> dict[int, str]:
    """Return the letter that stands for each byte, as GPT-2 chose them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]  # those that stand for themselves
    others = [byte for byte in range(256) if byte not in plain]
    found = {byte: chr(byte) for byte in plain}
    return found | {byte: chr(256 + i) for i, byte in enumerate(others)}


SETTINGS: dict[str, Any] = {
    "llama.context_length": CONTEXT,
    "llama.embedding_length": D_MODEL,
    "llama.block_count": LAYERS,
    "llama.feed_forward_length": D_FF,
    "llama.attention.head_count": HEADS,
    "llama.attention.head_count_kv": KV_HEADS,
    "llama.attention.layer_norm_rms_epsilon": EPS,
    "llama.rope.freq_base": BASE,
    "llama.rope.dimension_count": D_MODEL // HEADS,
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": pieces(),
    "tokenizer.ggml.token_type": [3] * len(SPECIAL) + [1] * (len(pieces()) - len(SPECIAL)),
    "tokenizer.ggml.merges": list(MERGES),
    "tokenizer.ggml.eos_token_id": 2,
}


def llama(seed: int = 0) -> nn.Module:
    """Return a tiny Llama of the library `transformers`, in float64, its output matrix tied."""
    needs("transformers")
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=len(pieces()),
        hidden_size=D_MODEL,
        intermediate_size=D_FF,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=CONTEXT,
        rms_norm_eps=EPS,
        rope_parameters={"rope_type": "default", "rope_theta": BASE},
        tie_word_embeddings=True,
        attn_implementation="eager",
    )
    return randomised(transformers.LlamaForCausalLM(config).double(), seed).eval()


def weights(theirs: nn.Module) -> dict[str, Tensor]:
    """Return a Llama's weights as a GGUF file names them and orders their rows."""
    names = {"embed_tokens": "token_embd", "norm": "output_norm", "self_attn.o_proj": "attn_output"}
    names |= {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    names |= {f"self_attn.{part}_proj": f"attn_{part}" for part in "qkv"}
    names |= {f"mlp.{part}_proj": f"ffn_{part}" for part in ("gate", "up", "down")}
    found = {}
    for name, weight in theirs.model.state_dict().items():
        layer, place = "", name.removesuffix(".weight")
        if place.startswith("layers."):
            _, number, place = place.split(".", 2)
            layer = f"blk.{number}."
        if place in ("self_attn.q_proj", "self_attn.k_proj"):
            weight = interleaved(weight, D_MODEL // HEADS)
        found[f"{layer}{names[place]}.weight"] = weight
    return found


def interleaved(rows: Tensor, d: int) -> Tensor:
    """Put rows i and i + d / 2 of each head side by side, as llama.cpp's converter does."""
    heads = [head.view(2, d // 2, -1) for head in rows.split(d)]
    return torch.cat([torch.stack((first, second), dim=1).flatten(0, 1) for first, second in heads])


def write(
    folder: Path,
    *,
    theirs: nn.Module | None = None,
    stored: str = "F32",
    architecture: str = "llama",
    without: str = "",
    changed: dict[str, Any] | None = None,
    more: dict[str, Tensor] | None = None,
) -> Path:
    """Write the file, with its matrices ``stored`` as that type.

    ``changed`` are settings, and ``without`` one that is left out, or a weight; ``more`` are
    weights, in place of those of the same name.
    """
    needs("gguf")
    import gguf

    path = folder / "tiny.gguf"
    writer = gguf.GGUFWriter(path, architecture)
    for name, value in (SETTINGS | (changed or {})).items():
        add = {int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
        if name != without:
            add.get(type(value), writer.add_array)(name, value)
    kind = gguf.GGMLQuantizationType[stored]
    for name, weight in (weights(theirs or llama()) | (more or {})).items():
        matrix = weight.dim() > 1 and weight.shape[-1] % 32 == 0
        numbers, of = weight.float().numpy(), kind if matrix else gguf.GGMLQuantizationType.F32
        if name != without:
            writer.add_tensor(name, gguf.quantize(numbers, of), raw_dtype=of)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
