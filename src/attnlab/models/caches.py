"""What real models keep of a text while they write, from 2017 to 2026: read as data, counted here.

    cached_models()["Llama 3.1 8B"].cache_bytes(8_192)  # 1_073_741_824

A row of ``caches.json`` holds a model's shapes and where they were read. Traps in this arithmetic:
the default of a configuration's class is often no model that was ever trained; d_k need not be
d_model / heads (Gemma, gpt-oss and Qwen3-0.6B choose it freely); a latent cache has a rotary key
beside each latent; layers with a window stop growing, and some layers keep nothing of their own:
they read what an earlier one keeps. A published count may also hide its base: compare bytes only at
the same number of bits. (DeepSeek-V4.1-Flash keeps 890 bytes a token by its report: our count in 4
bits, and the scales beside it.)

Scales and offsets of quantised numbers are not counted, nor is what a server reserves and leaves
empty.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

__all__ = ["CachedModel", "Kept", "cached_models"]

_BITS = (4, 8, 16, 32)


class Kept(NamedTuple):
    """What some layers keep: so many numbers a token, all layers together.

    With a ``window`` they keep its last tokens alone; ``pooled`` tokens share one entry.
    """

    numbers: int
    window: int | None = None
    pooled: int = 1

    def entries(self, n: int) -> int:
        """Return how many entries of ``numbers`` are kept of a text of n tokens."""
        return (n if self.window is None else min(n, self.window)) // self.pooled


@dataclass(frozen=True)
class CachedModel:
    """A model whose cache can be counted.

    ``context`` is the longest text it was made for, in tokens; ``unshared`` how many numbers a
    token would take if every head of every layer kept its own key and value; ``states`` the bytes
    of what does not grow with the text and keeps its precision; ``sharing`` how many layers keep
    nothing of the whole text and read what another layer keeps of it.
    """

    name: str
    year: int
    attention: str
    positions: str
    layers: int
    heads: int
    parameters: int
    context: int
    kept: tuple[Kept, ...]
    states: int
    unshared: int
    source: str
    sharing: int = 0

    def cache_bytes(self, n: int, *, batch: int = 1, bits: int = 16) -> int:
        """Return the bytes that are kept of ``batch`` texts of n tokens each.

        batch · (Σ numbers · ⌊min(n, window) / pooled⌋ · bits / 8 + states)

        Raises: ValueError for n below 0, a batch below 1, or bits other than 4, 8, 16 and 32.
        """
        _whole("n", n, 0)
        _whole("batch", batch, 1)
        numbers = sum(part.numbers * part.entries(n) for part in self.kept)
        return batch * (math.ceil(numbers * _bits(bits) / 8) + self.states)

    def bytes_per_token(self, *, bits: int = 16) -> float:
        """Return how many bytes each further token adds once all windows are full.

        Raises: ValueError for bits other than 4, 8, 16 and 32.
        """
        growing = sum(part.numbers / part.pooled for part in self.kept if part.window is None)
        return growing * _bits(bits) / 8

    def weight_bytes(self, *, bits: int = 16) -> int:
        """Return the bytes of all parameters, as if each had so many bits.

        Raises: ValueError for bits other than 4, 8, 16 and 32.
        """
        return math.ceil(self.parameters * _bits(bits) / 8)

    def saving(self, n: int) -> float:
        """Return how many times more bytes n tokens would take if no head shared anything.

        Raises: ValueError for n below 1.
        """
        _whole("n", n, 1)
        return 2 * self.unshared * n / self.cache_bytes(n)


@cache
def _rows() -> tuple[CachedModel, ...]:
    text = (files("attnlab.models") / "caches.json").read_text(encoding="utf-8")
    return tuple(_model(row) for row in json.loads(text))


def cached_models() -> dict[str, CachedModel]:
    """Return the models by their names, the oldest first."""
    return {model.name: model for model in _rows()}


def _model(row: dict[str, Any]) -> CachedModel:
    each = row["layers"] * row["heads"] * (row["d_k"] + row["d_v"])
    states = sum(
        one["layers"] * one["heads"] * one["rows"] * one["columns"] * one["bits"] // 8
        for one in row.get("states", ())
    )
    names = ("name", "year", "attention", "positions", "layers", "heads", "parameters", "context")
    return CachedModel(
        **{name: row[name] for name in names},
        kept=tuple(_kept(part) for part in row["kept"]),
        states=states,
        unshared=row.get("full", each),
        source=row["source"],
        sharing=row.get("sharing", 0),
    )


def _kept(part: dict[str, int]) -> Kept:
    """Return layers × what one of them keeps: keys and values of some heads, or single vectors."""
    if "kv_heads" in part:
        one = part["kv_heads"] * (part["d_k"] + part["d_v"])
    else:
        one = sum(part.get(name, 0) for name in ("latent", "rotary", "indexer"))
    return Kept(part["layers"] * one, part.get("window"), part.get("pooled", 1))


def _bits(bits: int) -> int:
    if bits not in _BITS or isinstance(bits, bool):
        raise ValueError(f"bits must be 4, 8, 16 or 32: it is {bits!r}")
    return bits


def _whole(name: str, value: int, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} on: it is {value!r}")
