"""A translator as a page loads it: its weights at 8 bits each and its pieces, in one script.

``rounded`` is the model with just these weights, ``load_translator`` reads a translator of pieces
back from its file. ``weights``, ``rows`` and ``pieces`` are the bytes, ``script`` the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from attnbook.transformer import Seq2Seq
from attnlab.models.stored.pieces import unpacked
from attnlab.models.stored.script import asset_bytes
from attnlab.models.stored.weights import restored, rounded

__all__ = ["StoredTranslator", "load_translator", "rounded"]


class StoredTranslator(NamedTuple):
    """A translator of pieces out of an asset: the model as the page has it, and its tokenizer."""

    model: Seq2Seq
    tokenizer: Any
    lower: bool  # whether it reads lower case alone


def load_translator(path: str | Path) -> StoredTranslator:
    """Read back a translator of pieces from the file that a page loads it from.

    ``attnlab.widgets.Translator``, made of what this returns, writes the same file again.

    Raises: FileNotFoundError; ValueError for a file that is no asset, or another widget's.
    """
    carried, tokenizer, about = unpacked(asset_bytes(path))
    lower = about.pop("lower", False)
    return StoredTranslator(restored(carried, about), tokenizer, lower)
