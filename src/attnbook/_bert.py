"""The four files of a BERT, read into the book's layers: only the names of its weights differ."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from attnbook import _check
from attnbook.embeddings import Embeddings
from attnbook.layers import Encoder

FILES = ("config.json", "sentence_bert_config.json", "tokenizer.json", "model.safetensors")

# our names, and those of BERT's weights
EMBEDDINGS = {
    "tokens": "word_embeddings",
    "positions.table": "position_embeddings",
    "types": "token_type_embeddings",
    "norm": "LayerNorm",
}
BLOCK = {
    "attention.qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "attention.out": ("attention.output.dense",),
    "norms.0": ("attention.output.LayerNorm",),
    "feed_forward.widen": ("intermediate.dense",),
    "feed_forward.narrow": ("output.dense",),
    "norms.1": ("output.LayerNorm",),
}


def read_layers(path: Path) -> tuple[Embeddings, Encoder]:
    """Return layers of the sizes in config.json, with weights that are still to come."""
    with torch.device("meta"):  # no memory, and no random numbers
        return read(path, _layers)


def read_weights(path: Path, model: nn.Module) -> None:
    """Give ``model.embeddings`` and ``model.encoder`` the weights in model.safetensors."""
    renamed = read(path, lambda path: _renamed(load_file(path), model.state_dict()))
    model.load_state_dict(renamed, assign=True)


def read_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer in tokenizer.json, which cuts and pads every sentence to 128 pieces."""
    tokenizer = read(path, lambda path: Tokenizer.from_file(str(path)))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def read_max_embedded(path: Path) -> int:
    """Return how many pieces the authors make a sentence vector of; they cut off the rest."""
    pieces = read(path, lambda path: _json(path)["max_seq_length"])
    _check.whole_number(f"max_seq_length in {path}", pieces, at_least=1)
    return pieces


def read(path: Path, reader: Callable[[Path], Any]) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        return reader(path)
    except KeyError as error:  # of a setting, or of a weight
        raise ValueError(f"{path} must belong to a BERT: {error} is missing") from error
    except Exception as error:  # safetensors and tokenizers raise classes of their own
        raise ValueError(f"{path} must belong to a BERT: {error}") from error


def _layers(path: Path) -> tuple[Embeddings, Encoder]:
    of = _json(path)
    _check.one_of("model_type", of["model_type"], ("bert",))
    _check.one_of("positions", of.get("position_embedding_type", "absolute"), ("absolute",))
    d_model, eps = of["hidden_size"], of["layer_norm_eps"]
    embeddings = Embeddings(
        of["vocab_size"],
        d_model,
        positions="learned",
        max_length=of["max_position_embeddings"],
        n_types=of["type_vocab_size"],
        norm=True,
        eps=eps,
        scale=False,
    )
    sizes = (of["num_hidden_layers"], d_model, of["num_attention_heads"], of["intermediate_size"])
    return embeddings, Encoder(*sizes, norm="post", activation=of["hidden_act"], eps=eps)


def _renamed(theirs: dict[str, Tensor], ours: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return BERT's weights under our names; query, key and value become one matrix.

    Those of BERT's pooler, which has no part in the sentence vectors, are left out.
    """
    found = {}
    for name, wanted in ours.items():
        module, _, kind = name.rpartition(".")
        sources = [f"{source}.{kind}" for source in _sources(module)]
        found[name] = torch.cat([theirs[source] for source in sources])
        if found[name].shape != wanted.shape:
            raise ValueError(
                f"{' + '.join(sources)} must have the shape {tuple(wanted.shape)}: "
                f"its shape is {tuple(found[name].shape)}"
            )
    return found


def _sources(module: str) -> list[str]:
    if module.startswith("embeddings."):
        return [f"embeddings.{EMBEDDINGS[module.removeprefix('embeddings.')]}"]
    _, _, layer, part = module.split(".", 3)  # encoder.blocks.3.attention.qkv
    return [f"encoder.layer.{layer}.{source}" for source in BLOCK[part]]


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))
