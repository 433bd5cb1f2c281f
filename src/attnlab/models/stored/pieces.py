"""A tokenizer of shared pieces as bytes: merges of two bytes a number, and what no merge makes."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from attnlab import _check

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["named", "packed", "unpacked"]

_TAIL = 8  # bytes at the end of a table: its merges and its length, as little-endian uint32
_LARGE = ("vocab", "merges")


def named(vocabulary: dict[str, int]) -> list[str]:
    """Return the pieces in the order of their numbers."""
    return sorted(vocabulary, key=vocabulary.__getitem__)


def packed(given: dict[str, Any], about: dict[str, Any]) -> tuple[bytes, int]:
    """Return a tokenizer as a table of bytes, and how many merges it begins with.

    ``given`` is what the tokenizer's library writes; ``about`` is told with it. The last eight
    bytes tell the numbers of merges and of bytes.
    """
    model = given["model"]
    numbers, told = _merges(named(model["vocab"]), model)
    left = {name: value for name, value in model.items() if name not in _LARGE}
    parts = {"told": told, "about": about, "tokenizer": {**given, "model": left}}
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode()
    count = 2 * numbers.size + len(text) + _TAIL
    tail = struct.pack("<II", len(numbers), count)
    return numbers.astype("<u2").tobytes() + text + tail, len(numbers)


def unpacked(data: bytes) -> tuple[bytes, Tokenizer, dict[str, Any]]:
    """Return what stands before a table, the tokenizer that made it, and what was told with it.

    Raises: ValueError for bytes that end in no table.
    """
    library = _check.needed("tokenizers", "a translator of pieces", "pretrained")
    try:
        merges, count = struct.unpack("<II", data[-_TAIL:])
        start = len(data) - count
        if start < 0:
            raise ValueError(f"{count} bytes")
        pairs = np.frombuffer(data, "<u2", 2 * merges, offset=start).reshape(-1, 2)
        parts = json.loads(data[start + 4 * merges : -_TAIL])
        given = parts["tokenizer"]
        texts = _retold(pairs.tolist(), dict(parts["told"]), given["model"])
    except (ValueError, KeyError, TypeError, IndexError, struct.error) as error:
        raise ValueError("path must be the asset of a translator of pieces: it has none") from error
    merged = [[texts[a], texts[b]] for a, b in pairs.tolist()]
    vocabulary = {texts[number]: number for number in range(len(texts))}
    given["model"] |= {"vocab": vocabulary, "merges": merged}
    tokenizer = library.Tokenizer.from_str(json.dumps(given))
    tokenizer.encode_special_tokens = True  # "<eos>" in a text is a text; no file keeps it
    return data[:start], tokenizer, parts["about"]


def _retold(pairs: list[list[int]], texts: dict[int, str], model: dict[str, Any]) -> dict[int, str]:
    """Return all pieces by their numbers: what a merge makes gets the lowest that is free."""
    inside, known, free = len(model["continuing_subword_prefix"] or ""), set(texts.values()), 0
    for a, b in pairs:
        text = texts[a] + texts[b][inside:]
        if text not in known:
            while free in texts:
                free += 1
            texts[free] = text
            known.add(text)
    return texts


def _merges(texts: list[str], model: dict[str, Any]) -> tuple[np.ndarray, list[list[Any]]]:
    """Return the merges as pairs of numbers, and the pieces that they do not make, with theirs.

    The page gives a piece that a merge makes the lowest number that is free; where that is not its
    own, all pieces are told.
    """
    pairs = [
        pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]
    ]  # "a b" in older files
    ids, inside = model["vocab"], len(model["continuing_subword_prefix"] or "")
    made = list(dict.fromkeys(a + b[inside:] for a, b in pairs))
    told = [[number, text] for number, text in enumerate(texts) if text not in set(made)]
    known = {text for _, text in told}
    in_order = sorted(made, key=ids.__getitem__) == made
    for a, b in pairs:
        in_order = in_order and a in known and b in known
        known.add(a + b[inside:])
    numbers = np.array([[ids[a], ids[b]] for a, b in pairs]).reshape(-1, 2)
    return numbers, told if in_order else [list(pair) for pair in enumerate(texts)]
