"""A Transformer's weights on their way into a page: 8 bits each, and the model that they make.

Each row of a matrix has 256 levels of its own, evenly spaced from its lowest to its highest weight:
w ≈ low + step · code, with low and step in float32 and code a whole number from 0 to 255. Vectors,
which are the biases and norms, are carried as they are. ``rounded`` is the model with just these
weights, so that what is measured of it is true of the page.
"""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np
import torch
from torch import nn

from attnbook.layers import EncoderBlock
from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.language import Vocabulary
from attnlab.models.stored.rows import pack_rows, unpack_rows

__all__ = [
    "check",
    "check_pieces",
    "check_vocabularies",
    "names",
    "options",
    "restored",
    "rounded",
    "shared",
    "sizes",
    "tensors_of",
]

_WIDEST = 256
_MOST_BYTES = 2_570_000  # in base64, with a BPE of 14,000 pieces, 3.5 MB
_SMALLEST = 1e-7  # of eps: the page's data have 8 decimals
_PART = ("weight", "bias")


def rounded(model: Seq2Seq) -> Seq2Seq:
    """Return a copy of the model with the weights that a page's ``Translator`` has, in eval mode.

    Raises: TypeError, ValueError for a model that ``Translator`` cannot carry.
    """
    check(model)
    tensors = tensors_of(model)
    kept = unpack_rows(pack_rows(tensors), [tensor.shape for tensor in tensors])
    mine = copy.deepcopy(model).cpu().float().eval()
    state = dict(zip(names(model), map(torch.from_numpy, kept), strict=True))
    if shared(model):
        state["embed_target.tokens.weight"] = state["embed_source.tokens.weight"]
    mine.load_state_dict({name: state.get(name, old) for name, old in mine.state_dict().items()})
    return mine


def shared(model: Seq2Seq) -> bool:
    """Whether source and target have one matrix of embeddings."""
    return model.embed_source.tokens.weight is model.embed_target.tokens.weight


def names(model: Seq2Seq) -> list[str]:
    """Return the names of the tensors in the order in which they are carried."""
    attention = [f"{layer}.{part}" for layer in ("qkv", "out") for part in _PART]
    feed_forward = [f"{layer}.{part}" for layer in ("widen", "narrow") for part in _PART]
    listed = ["embed_source.tokens.weight"]
    listed += [] if shared(model) else ["embed_target.tokens.weight"]
    listed += [] if model.output is None else ["output.weight"]
    for stack in ("encoder", "decoder"):
        cross = ["cross"] if stack == "decoder" else []
        for place in range(len(getattr(model, stack).blocks)):
            inside = [f"{kind}.{name}" for kind in ("attention", *cross) for name in attention]
            inside += [f"feed_forward.{name}" for name in feed_forward]
            inside += [f"norms.{n}.{part}" for n in range(2 + len(cross)) for part in _PART]
            listed += [f"{stack}.blocks.{place}.{name}" for name in inside]
        if _first(model)[0].config.norm == "pre":
            listed += [f"{stack}.norm.{part}" for part in _PART]
    return listed


def tensors_of(model: Seq2Seq) -> list[np.ndarray]:
    """Return the tensors in the order in which they are carried, in double precision."""
    state = model.state_dict()
    return [state[name].detach().cpu().double().numpy() for name in names(model)]


def sizes(model: Seq2Seq) -> dict[str, Any]:
    """Return what the page must know of a model besides its tensors."""
    block, eps = _first(model)
    return {
        "heads": model.config.n_heads,
        "layers": len(model.encoder.blocks),
        "post": block.config.norm == "post",
        "tied": model.output is None,
        **({"shared": True} if shared(model) else {}),
        "eps": eps,
    }


def options(model: Seq2Seq) -> dict[str, Any]:
    """Return what ``restored`` needs besides the tensors."""
    block, eps = _first(model)
    return {
        "source": model.embed_source.tokens.num_embeddings,
        "target": model.embed_target.tokens.num_embeddings,
        "d_model": block.attention.d_model,
        "n_heads": model.config.n_heads,
        "n_layers": len(model.encoder.blocks),
        "d_ff": block.feed_forward.narrow.in_features,
        "norm": block.config.norm,
        "eps": eps,
        "tied": model.output is None,
        "shared": shared(model),
    }


def restored(data: bytes, given: dict[str, Any]) -> Seq2Seq:
    """Return the model of these options whose tensors ``pack_rows`` wrote, in eval mode."""
    source, target = given["source"], given["target"]
    left = {k: v for k, v in given.items() if k not in ("source", "target", "shared")}
    model = Seq2Seq(source, target, ModelConfig(**left)).eval()
    if given["shared"]:
        model.embed_source.tokens = model.embed_target.tokens
    state = model.state_dict()
    carried = names(model)
    tensors = unpack_rows(data, [state[name].shape for name in carried])
    found = dict(zip(carried, map(torch.from_numpy, tensors), strict=True))
    if given["shared"]:
        found["embed_target.tokens.weight"] = found["embed_source.tokens.weight"]
    model.load_state_dict({name: found.get(name, old) for name, old in state.items()})
    return model


def check(model: Any) -> None:
    """Raise unless the model is one that a page can run.

    Raises: TypeError for no ``Seq2Seq``; ValueError for other positions or activations, shared
    keys, a model that is too large, or weights that are no numbers.
    """
    if not isinstance(model, Seq2Seq):
        raise TypeError(f"model must be a Seq2Seq, got a {type(model).__name__}")
    block, eps = _first(model)
    heads, activation = block.attention, block.feed_forward.activation
    wanted = {
        "positions='sinusoidal'": (
            model.config.positions == "sinusoidal",
            repr(model.config.positions),
        ),
        "activation='relu'": (activation == "relu", repr(activation)),
        "as many heads of keys as of queries": (
            heads.n_kv_heads == heads.n_heads,
            f"n_kv_heads={heads.n_kv_heads} for n_heads={heads.n_heads}",
        ),
        f"d_model of at most {_WIDEST}": (heads.d_model <= _WIDEST, str(heads.d_model)),
        f"eps of at least {_SMALLEST:g}": (eps >= _SMALLEST, f"{eps:g}"),
        "norm_kind='layer'": (isinstance(block.norms[0], nn.LayerNorm), "another"),
        "bias=True": (block.feed_forward.widen.bias is not None, "False"),
        "scale=True": (model.embed_source.factor != 1, "False"),
    }
    for what, (fits, came) in wanted.items():
        if not fits:
            raise ValueError(f"model must have {what}, which the page can run: got {came}")
    _check_numbers(model)


def check_vocabularies(model: Seq2Seq, source: Any, target: Any) -> None:
    """Raise unless both are vocabularies, of as many tokens as the model knows."""
    pairs = (
        ("source_vocabulary", source, model.embed_source),
        ("target_vocabulary", target, model.embed_target),
    )
    for name, value, embed in pairs:
        if not isinstance(value, Vocabulary):
            raise TypeError(f"{name} must be a Vocabulary, got a {type(value).__name__}")
        if len(value) != embed.tokens.num_embeddings:
            raise ValueError(
                f"{name} must be the model's: it has {len(value)} tokens, and the model knows"
                f" {embed.tokens.num_embeddings}"
            )


def check_pieces(model: Seq2Seq, count: int) -> None:
    """Raise unless both sides of the model know as many pieces as the tokenizer has."""
    for side in (model.embed_source, model.embed_target):
        if side.tokens.num_embeddings != count:
            raise ValueError(
                f"source_vocabulary must be the model's: it has {count} pieces, and the model knows"
                f" {side.tokens.num_embeddings}"
            )


def _first(model: Seq2Seq) -> tuple[EncoderBlock, float]:
    """Return the model's first block, and the eps of its norms."""
    block = cast("EncoderBlock", model.encoder.blocks[0])
    return block, cast("nn.LayerNorm", block.norms[0]).eps


def _check_numbers(model: Seq2Seq) -> None:
    state = model.state_dict()
    tensors = [state[name] for name in names(model)]
    count = sum(t.numel() + 8 * len(t) if t.dim() == 2 else 4 * len(t) for t in tensors)
    if count > _MOST_BYTES:
        raise ValueError(
            f"model must fit into {_MOST_BYTES:,} bytes, one for each weight, got {count:,}:"
            " a smaller d_model, d_ff or vocabulary, or fewer layers, make it smaller"
        )
    if not all(torch.isfinite(tensor).all() for tensor in tensors):
        raise ValueError("model must have finite weights, but holds NaN or infinity")
