"""A Transformer's weights on their way into a page: 8 bits each, and the model that they make.

Each row of a matrix has 256 levels of its own, evenly spaced from its lowest to its highest weight:
w ≈ low + step · code, with low and step in float32 and code a whole number from 0 to 255. Vectors,
which are the biases and norms, are carried as they are. ``rounded`` is the model with just these
weights, so that what is measured of it is true of the page.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from attnbook.language import Vocabulary
from attnbook.transformer import Seq2Seq

__all__ = ["check", "check_vocabularies", "names", "pack", "rounded", "sizes", "unpack"]

_LEVELS = 255  # steps from the lowest weight of a row to its highest
_WIDEST = 256
_MOST_BYTES = 1_100_000  # in base64 some 1.5 MB
_SMALLEST = 1e-7  # of eps: the page's data have 8 decimals
_PART = ("weight", "bias")


def rounded(model: Seq2Seq) -> Seq2Seq:
    """Return a copy of the model with the weights that a page's `Translator` has, in eval mode.

    Raises:
        TypeError, ValueError: a model that `Translator` cannot carry.
    """
    check(model)
    data, shapes = pack(model)
    mine = copy.deepcopy(model).cpu().float().eval()
    state = dict(zip(names(model), map(torch.from_numpy, unpack(data, shapes)), strict=True))
    mine.load_state_dict({name: state.get(name, old) for name, old in mine.state_dict().items()})
    return mine


def names(model: Seq2Seq) -> list[str]:
    """Return the names of the tensors in the order in which they are carried."""
    attention = [f"{layer}.{part}" for layer in ("qkv", "out") for part in _PART]
    feed_forward = [f"{layer}.{part}" for layer in ("widen", "narrow") for part in _PART]
    listed = ["embed_source.tokens.weight", "embed_target.tokens.weight"]
    listed += [] if model.output is None else ["output.weight"]
    for stack in ("encoder", "decoder"):
        cross = ["cross"] if stack == "decoder" else []
        for place in range(len(getattr(model, stack).blocks)):
            inside = [f"{kind}.{name}" for kind in ("attention", *cross) for name in attention]
            inside += [f"feed_forward.{name}" for name in feed_forward]
            inside += [f"norms.{n}.{part}" for n in range(2 + len(cross)) for part in _PART]
            listed += [f"{stack}.blocks.{place}.{name}" for name in inside]
        if model.encoder.blocks[0].norm == "pre":
            listed += [f"{stack}.norm.{part}" for part in _PART]
    return listed


def pack(model: Seq2Seq) -> tuple[bytes, list[list[int]]]:
    """Return the weights as bytes, and each tensor's shape.

    First, as little-endian float32, of each matrix the lowest weight of each row and then the step
    of each row, of each vector the numbers; after them, a byte for each weight of the matrices.
    """
    state = model.state_dict()
    tensors = [state[name].detach().cpu().double().numpy() for name in names(model)]
    exact, codes = [], []
    for tensor in tensors:
        if tensor.ndim == 1:
            exact.append(tensor)
            continue
        low = tensor.min(axis=1).astype("<f4").astype(float)
        step = ((tensor.max(axis=1) - low) / _LEVELS).astype("<f4").astype(float)
        whole = np.rint((tensor - low[:, None]) / np.where(step > 0, step, 1)[:, None])
        exact += [low, step]
        codes.append(whole.clip(0, _LEVELS).astype(np.uint8))
    floats = np.concatenate(exact).astype("<f4").tobytes()
    return floats + b"".join(code.tobytes() for code in codes), [list(t.shape) for t in tensors]


def unpack(data: bytes, shapes: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Return the tensors that `pack` wrote, in float32, as the page has them."""
    counts = [shape[0] * len(shape) for shape in shapes]  # a matrix has two for each row
    exact = np.frombuffer(data, dtype="<f4", count=sum(counts)).astype(float)
    codes = np.frombuffer(data, dtype=np.uint8, offset=4 * sum(counts))
    found, at, byte = [], 0, 0
    for shape, count in zip(shapes, counts, strict=True):
        numbers = exact[at : at + count]
        at += count
        if len(shape) == 2:
            low, step = numbers.reshape(2, -1, 1)
            whole = codes[byte : byte + shape[0] * shape[1]].reshape(shape)
            byte += whole.size
            numbers = low + step * whole
        found.append(numbers.astype(np.float32))
    return found


def sizes(model: Seq2Seq) -> dict[str, Any]:
    """Return what the page must know of a model besides its tensors."""
    block = model.encoder.blocks[0]
    return {
        "heads": model.n_heads,
        "layers": len(model.encoder.blocks),
        "post": block.norm == "post",
        "tied": model.output is None,
        "eps": block.norms[0].eps,
    }


def check(model: Any) -> None:
    """Raise unless the model is one that a page can run.

    Raises:
        TypeError: no `Seq2Seq`.
        ValueError: other positions or activations, shared keys, a model that is too large, or
            weights that are no numbers.
    """
    if not isinstance(model, Seq2Seq):
        raise TypeError(f"model must be a Seq2Seq, got a {type(model).__name__}")
    block = model.encoder.blocks[0]
    d, heads = block.attention.d_model, block.attention
    wanted = {
        "positions='sinusoidal'": (model.positions == "sinusoidal", repr(model.positions)),
        "activation='relu'": (
            block.feed_forward.activation == "relu",
            repr(block.feed_forward.activation),
        ),
        "as many heads of keys as of queries": (
            heads.n_kv_heads == heads.n_heads,
            f"n_kv_heads={heads.n_kv_heads} for n_heads={heads.n_heads}",
        ),
        f"d_model of at most {_WIDEST}": (d <= _WIDEST, str(d)),
        f"eps of at least {_SMALLEST:g}": (
            block.norms[0].eps >= _SMALLEST,
            f"{block.norms[0].eps:g}",
        ),
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


def _check_numbers(model: Seq2Seq) -> None:
    state = model.state_dict()
    tensors = [state[name] for name in names(model)]
    count = sum(tensor.numel() + 8 * len(tensor) for tensor in tensors)
    if count > _MOST_BYTES:
        raise ValueError(
            f"model must fit into {_MOST_BYTES:,} bytes, one for each weight, got {count:,}:"
            " a smaller d_model, d_ff or vocabulary, or fewer layers, make it smaller"
        )
    if not all(torch.isfinite(tensor).all() for tensor in tensors):
        raise ValueError("model must have finite weights, but holds NaN or infinity")
