"""An encoder's weights on their way into a page: 12 bits each, and the model that they make.

Each row of a matrix has 4,096 levels of its own, evenly spaced from its lowest to its highest
weight: w ≈ low + step · code, with low and step in float32. Vectors, which are the biases and
norms, are carried as they are. With 8 bits the weights of some head in some sentence of twenty
words are off by 0.03 to 0.07, with 12 by a tenth of that; ``rounded`` is the model with just these
weights, so that what is measured of it is true of the page.

The vectors of the pieces are most of the numbers, and a sentence needs few of them: they lie apart,
``SHARD`` pieces together, and a page loads those that a sentence has.

The upper six and the lower six bits of the codes lie apart, so that in base64 each half is a letter
of its own: the upper ones are unequal in number, and gzip makes them fewer bytes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from attnlab.pretrained import Pretrained

__all__ = ["MOST_PIECES", "SHARD", "check", "pack", "packed", "rounded", "sizes", "unpack"]

MOST_PIECES = 64  # of a sentence, [CLS] and [SEP] among them
SHARD = 256  # pieces whose vectors are loaded together
_STEPS = 2**12 - 1
_CUT: dict[str, dict[str, Any]] = {  # how a text is cut, in the page as by the model's tokenizer
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    },
}
_TABLE = "embeddings.tokens.weight"
_PLACES = "embeddings.positions.table.weight"
_KIND = "embeddings.types.weight"


def pack(tensors: Sequence[np.ndarray]) -> bytes:
    """Return matrices and vectors as bytes, a multiple of three.

    First, as little-endian float32, of each matrix the lowest number of each row and then the step
    of each row, of each vector the numbers; then the upper six bits of all codes, four in three
    bytes, and the lower six.
    """
    exact, codes = [], []
    for tensor in tensors:
        if tensor.ndim == 1:
            exact.append(tensor)
            continue
        low = tensor.min(axis=1).astype("<f4").astype(float)
        step = ((tensor.max(axis=1) - low) / _STEPS).astype("<f4").astype(float)
        exact += [low, step]
        whole = np.rint((tensor - low[:, None]) / np.where(step > 0, step, 1)[:, None])
        codes.append(whole.clip(0, _STEPS).astype(np.uint16).ravel())
    floats = np.concatenate(exact).astype("<f4").tobytes()
    every = np.concatenate(codes)
    return _filled(floats) + _sixes(every >> 6) + _sixes(every & 63)


def unpack(data: bytes, shapes: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Return the tensors that ``pack`` wrote, in float32, as the page has them."""
    counts = [shape[0] * len(shape) for shape in shapes]  # a matrix has two for each row
    exact = np.frombuffer(data, dtype="<f4", count=sum(counts)).astype(float)
    planes = np.frombuffer(data, dtype=np.uint8)[4 * sum(counts) + -4 * sum(counts) % 3 :]
    upper, lower = (_codes(plane) for plane in np.split(planes, 2))
    codes = (upper << 6) + lower
    found, at, code = [], 0, 0
    for shape, count in zip(shapes, counts, strict=True):
        numbers = exact[at : at + count]
        at += count
        if len(shape) == 2:
            low, step = numbers.reshape(2, -1, 1)
            whole = codes[code : code + shape[0] * shape[1]].reshape(shape)
            code += whole.size
            numbers = low + step * whole
        found.append(numbers.astype(np.float32))
    return found


def _filled(data: bytes) -> bytes:
    """Return the bytes with zeros after them, a multiple of three: base64 begins anew."""
    return data + bytes(-len(data) % 3)


def _sixes(codes: np.ndarray) -> bytes:
    four = np.append(codes, np.zeros(-len(codes) % 4, codes.dtype)).reshape(-1, 4).astype(np.uint32)
    whole = four @ np.array([1 << 18, 1 << 12, 1 << 6, 1], dtype=np.uint32)
    return whole.astype(">u4").view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()


def _codes(plane: np.ndarray) -> np.ndarray:
    three = plane.reshape(-1, 3).astype(np.uint32)
    whole = three @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    return (whole[:, None] >> np.array([18, 12, 6, 0], dtype=np.uint32) & 63).ravel()


def check(model: Any) -> None:
    """Raise unless the model is one that a page can run.

    Raises: TypeError for no ``Pretrained``; ValueError for another activation, another tokenizer
    than BERT's in lower case, or weights that are no numbers.
    """
    from attnlab.pretrained import Pretrained

    if not isinstance(model, Pretrained):
        raise TypeError(f"model must be a Pretrained, got a {type(model).__name__}")
    activation = model.encoder.blocks[0].feed_forward.activation  # type: ignore[union-attr]
    if activation != "gelu":
        raise ValueError(
            f"model must have hidden_act='gelu', which the page can run, got {activation!r}"
        )
    for name, wanted in _CUT.items():
        came = json.loads(model.tokenizer.to_str())[name]
        if any(came.get(key) != value for key, value in wanted.items()):
            raise ValueError(
                f"model must have the {name} of BERT in lower case, {wanted}, which the page has"
            )
    for name, tensor in model.state_dict().items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"model must have finite weights, but {name} holds NaN or infinity")


def names(model: Pretrained) -> list[str]:
    """Return the names of the tensors in the order in which they are carried, the pieces' apart."""
    linear = ("attention.qkv", "attention.out", "feed_forward.widen", "feed_forward.narrow")
    return [
        _PLACES,
        *(f"embeddings.norm.{part}" for part in ("weight", "bias")),
        *(
            f"encoder.blocks.{layer}.{name}.{part}"
            for layer in range(len(model.encoder.blocks))
            for name in (*linear, "norms.0", "norms.1")
            for part in ("weight", "bias")
        ),
    ]


def tensors_of(model: Pretrained) -> list[np.ndarray]:
    """Return the tensors in that order, in double precision.

    Every piece is of the first kind of sentence, whose vector is added to those of the positions.
    """
    state = {name: tensor.detach().cpu().double() for name, tensor in model.state_dict().items()}
    places = state[_PLACES][:MOST_PIECES] + state[_KIND][0]
    return [(places if name == _PLACES else state[name]).numpy() for name in names(model)]


def shards_of(model: Pretrained) -> list[np.ndarray]:
    """Return the vectors of the pieces, ``SHARD`` together."""
    table = model.state_dict()[_TABLE].detach().cpu().double().numpy()
    return [table[start : start + SHARD] for start in range(0, len(table), SHARD)]


def vocabulary(model: Pretrained) -> list[str]:
    """Return the pieces in the order of their numbers."""
    return [piece for piece, _ in sorted(model.tokenizer.get_vocab().items(), key=lambda x: x[1])]


def packed(model: Pretrained) -> tuple[bytes, list[bytes]]:
    """Return what a page loads first, the pieces' names behind it, and then a shard at a time."""
    pieces = "\n".join(vocabulary(model)).encode()
    return pack(tensors_of(model)) + pieces, [pack([shard]) for shard in shards_of(model)]


def sizes(model: Pretrained) -> dict[str, Any]:
    """Return what the page must know of a model besides its bytes."""
    block = model.encoder.blocks[0]
    return {
        "layers": len(model.encoder.blocks),
        "heads": block.attention.n_heads,  # type: ignore[union-attr]
        "eps": repr(block.norms[0].eps),  # type: ignore[index, union-attr] # 1e-12 is rounded away
        "pieces": len(vocabulary(model)),
        "shard": SHARD,
        "special": [one.content for one in model.tokenizer.get_added_tokens_decoder().values()],
        "most": min(MOST_PIECES, model.max_length),
    }


def rounded(model: Pretrained) -> Pretrained:
    """Return a copy of the model with the weights that the page has.

    Raises: as ``check``.
    """
    check(model)
    mine = copy.deepcopy(model).cpu().float().eval()
    tensors = tensors_of(mine)
    kept = unpack(pack(tensors), [tensor.shape for tensor in tensors])
    state = dict(zip(names(mine), map(torch.from_numpy, kept), strict=True))
    places = mine.state_dict()[_PLACES].clone()
    places[:MOST_PIECES] = state[_PLACES]
    shards = [unpack(pack([shard]), [shard.shape])[0] for shard in shards_of(mine)]
    state |= {
        _PLACES: places,
        _TABLE: torch.from_numpy(np.concatenate(shards)),
        _KIND: torch.zeros_like(mine.state_dict()[_KIND]),
    }
    mine.load_state_dict(state)
    return mine
