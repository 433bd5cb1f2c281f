"""A folder like a real BERT's, with two tiny layers of random weights and ten words."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", "##s", "dog", ".")
CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": len(PIECES),
    "hidden_size": 6,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 10,
    "max_position_embeddings": 12,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-3,  # large, so that a model which forgets it is seen
}


def write(folder: Path, **changed: Any) -> Path:
    """Write the four files; ``changed`` are settings of config.json."""
    config = CONFIG | changed
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 8}')
    _tokenizer().save(str(folder / "tokenizer.json"))
    save_file(weights(CONFIG), folder / "model.safetensors")
    return folder


def write_long(folder: Path, *more: str) -> Path:
    """Write a model with 64 positions, which knows more pieces, and ``[UNK]`` as a special one."""
    pieces = (*PIECES, *more)
    config = CONFIG | {"vocab_size": len(pieces), "max_position_embeddings": 64}
    write(folder, **config)
    tokenizer = _tokenizer(pieces)
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(weights(config), folder / "model.safetensors")
    return folder


def weights(config: dict[str, Any]) -> dict[str, Tensor]:
    """Return weights under BERT's own names, biases and norms random too."""
    d, d_ff = config["hidden_size"], config["intermediate_size"]
    linear = {
        "attention.self.query": (d, d),
        "attention.self.key": (d, d),
        "attention.self.value": (d, d),
        "attention.output.dense": (d, d),
        "intermediate.dense": (d_ff, d),
        "output.dense": (d, d_ff),
    }
    norms = ["embeddings.LayerNorm"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], d),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], d),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], d),
        "pooler.dense.weight": (d, d),
        "pooler.dense.bias": (d,),
    }
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        for name, (rows, columns) in linear.items():
            shapes[f"{layer}.{name}.weight"] = (rows, columns)
            shapes[f"{layer}.{name}.bias"] = (rows,)
    for name in norms:
        shapes |= {f"{name}.weight": (d,), f"{name}.bias": (d,)}
    generator = torch.Generator().manual_seed(0)
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def _tokenizer(pieces: tuple[str, ...] = PIECES) -> Tokenizer:
    numbers = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(piece, numbers[piece]) for piece in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    # as all-MiniLM-L6-v2's file does
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=16)
    return tokenizer
