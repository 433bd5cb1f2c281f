"""What a step of a decoding language model takes: the bytes it reads, or its arithmetic.

    llama, h100 = roof_models()["Llama 3.1 8B"], machines()["H100 SXM"]
    llama.step(h100, texts=32, cached=8_192).seconds

A step is one call of the model: it writes a token of every text, judges a few that were guessed, or
reads a prompt. It can be no faster than the longer of two times:

    seconds = max((weights + caches) / bytes a second, operations / operations a second)

Each weight makes one product, which is two operations, for each token of the call, and is read once
for all of them; each text reads a cache of its own. Norms, softmax, what goes from layer to layer
and the start of each operation are not counted, so a real step is longer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from attnlab.models.caches import cached_models

__all__ = ["Machine", "Pace", "RoofModel", "Step", "Way", "machines", "roof_models"]

_BITS = (4, 8, 16, 32)


@dataclass(frozen=True)
class Machine:
    """A processor and its memory, by what their makers promise.

    ``operations_a_second`` are those of products of 16-bit numbers, without sparsity; a product
    with its addition is two. ``memory`` is in bytes.

    Raises: TypeError for a name that is no string; ValueError for a number that is not finite and
    above 0.
    """

    name: str
    bytes_a_second: float
    operations_a_second: float
    memory: float

    def __post_init__(self) -> None:
        _text(self.name)
        for name in ("bytes_a_second", "operations_a_second", "memory"):
            _above_0(name, getattr(self, name))


class Step(NamedTuple):
    """What one call takes.

    ``weights`` and ``caches`` are the bytes it reads, ``products`` and ``attention`` the operations
    of the weights and those of queries with what is cached; ``memory`` and ``arithmetic`` the
    seconds of either side, ``seconds`` the longer of them; ``a_second`` tokens of all texts
    together; ``held`` the bytes that lie in memory, all weights with the caches; ``room`` how many
    such texts fit beside the weights, −1 where the weights alone do not.
    """

    weights: float
    caches: float
    products: float
    attention: float
    memory: float
    arithmetic: float
    seconds: float
    a_second: float
    held: float
    room: int

    @property
    def operations(self) -> float:
        """All operations of the call."""
        return self.products + self.attention


@dataclass(frozen=True)
class RoofModel:
    """A model by what a step of it needs; all of its layers see the whole text.

    ``parameters``: in all. ``unread``: of them the table of the input, if it is another than the
    output's: a token takes one row of it. ``numbers``: that a token leaves in the cache, all layers
    together. ``pairs``: products of a token's queries with one cached token, those with its key and
    those with its value, Σ heads · (d_k + d_v) over the layers. ``routed``: of the parameters,
    those of experts of which a token takes only the share ``chosen``.

    Raises: TypeError for a name that is no string; ValueError for a number out of its range.
    """

    name: str
    parameters: int
    numbers: int
    pairs: int
    unread: int = 0
    routed: int = 0
    chosen: float = 1.0

    def __post_init__(self) -> None:
        _text(self.name)
        for name in ("parameters", "numbers", "pairs"):
            _above_0(name, getattr(self, name))
        for name in ("unread", "routed"):
            _whole(name, getattr(self, name), 0)
        _above_0("chosen", self.chosen)
        if self.chosen > 1:
            raise ValueError(f"chosen must be a share of at most 1: it is {self.chosen!r}")
        if self.unread + self.routed >= self.parameters:
            raise ValueError(
                "unread and routed must leave some of the parameters: they are"
                f" {self.unread:,} and {self.routed:,} of {self.parameters:,}"
            )

    def read(self, tokens: int) -> float:
        """Return how many weights a call with so many tokens reads.

        parameters − unread − routed · (1 − chosen)^tokens

        as if each token chose its experts evenly and by itself: more tokens leave fewer untouched.

        Raises: ValueError for less than one token.
        """
        _whole("tokens", tokens, 1)
        return self.parameters - self.unread - self.routed * (1 - self.chosen) ** tokens

    def step(
        self,
        machine: Machine,
        *,
        texts: int = 1,
        tokens: int = 1,
        cached: int = 0,
        weight_bits: int = 16,
        cache_bits: int = 16,
    ) -> Step:
        """Return what a call with ``tokens`` new tokens of each text takes on a machine.

        weights = read(texts · tokens) · weight_bits / 8
        caches = texts · (cached + tokens) · numbers · cache_bits / 8
        products = 2 · read(1) · texts · tokens
        attention = 2 · pairs · texts · (tokens · cached + tokens · (tokens + 1) / 2)

        Fewer bits are fewer bytes; arithmetic stays in 16 bits.

        Raises: ValueError for texts or tokens below 1, cached below 0, or bits other than 4, 8, 16
        and 32.
        """
        _whole("texts", texts, 1)
        _whole("tokens", tokens, 1)
        _whole("cached", cached, 0)
        weight_bytes, cache_bytes = (
            _bits("weight_bits", weight_bits),
            _bits("cache_bits", cache_bits),
        )
        each = (cached + tokens) * self.numbers * cache_bytes
        weights, caches = self.read(texts * tokens) * weight_bytes, texts * each
        met = tokens * cached + tokens * (tokens + 1) // 2
        products, attention = 2 * self.read(1) * texts * tokens, 2 * self.pairs * texts * met
        memory = (weights + caches) / machine.bytes_a_second
        arithmetic = (products + attention) / machine.operations_a_second
        seconds, all_weights = max(memory, arithmetic), self.parameters * weight_bytes
        left = machine.memory - all_weights
        return Step(
            weights,
            caches,
            products,
            attention,
            memory,
            arithmetic,
            seconds,
            texts * tokens / seconds,
            all_weights + caches,
            -1 if left < 0 else math.floor(left / each),
        )


class Pace(NamedTuple):
    """Seconds for a token of each text: to read, to compute beyond that, and to guess."""

    weights: float
    caches: float
    arithmetic: float
    draft: float


@dataclass(frozen=True)
class Way:
    """A way to write: a model, what is kept, in how many bits, and what is guessed.

    A call judges ``tokens`` of each text, of which ``written`` stay on average, after ``cached``
    others; to guess them takes the share ``draft`` of a call with one token. A way that keeps
    nothing has ``cached`` 0 and reads the whole text again: ``tokens``, to write one.

    Raises: as ``RoofModel`` and its ``step``; TypeError for a model that is none.
    """

    name: str
    model: RoofModel
    tokens: int = 1
    cached: int = 8_192
    weight_bits: int = 16
    cache_bits: int = 16
    written: float = 1.0
    draft: float = 0.0

    def __post_init__(self) -> None:
        _text(self.name)
        if not isinstance(self.model, RoofModel):
            raise TypeError(f"model must be a RoofModel: it is {self.model!r}")
        _above_0("written", self.written)
        _above_0("1 + draft", 1 + self.draft)

    def pace(self, machine: Machine, texts: int = 1) -> Pace:
        """Return what a token of each text takes, each part at least."""
        bits = {"weight_bits": self.weight_bits, "cache_bits": self.cache_bits}
        step, alone = (
            self.model.step(machine, texts=texts, tokens=n, cached=self.cached, **bits)
            for n in (self.tokens, 1)
        )
        rate = machine.bytes_a_second
        weights, caches, beyond = (
            step.weights / rate,
            step.caches / rate,
            step.seconds - step.memory,
        )
        if not self.cached:  # nothing is read again: what is computed is counted there
            caches, beyond = 0.0, beyond + caches
        parts = (weights, caches, beyond, self.draft * alone.seconds)
        return Pace(*(part / self.written for part in parts))


# the tables of the input: words of the vocabulary × d_model, where the output has its own
_UNREAD = {
    "Llama 3.1 8B": 128_256 * 4_096,
    "Llama 2 7B": 32_000 * 4_096,
    "Llama 3.1 405B": 128_256 * 16_384,
    "Qwen3-8B": 151_936 * 4_096,
    "SmolLM2-135M": 0,
    "DeepSeek-V3": 129_280 * 7_168,
}
_EXPERTS: dict[str, Any] = {
    "routed": 58 * 256 * 3 * 7_168 * 2_048,
    "chosen": 8 / 256,
    "pairs": 61 * 128 * (576 + 512),
}


@cache
def roof_models() -> dict[str, RoofModel]:
    """Return the models by their names.

    The shapes are those of ``attnlab.models.caches``. DeepSeek-V3 has 58 layers of 256 experts,
    each three matrices of 7,168 × 2,048, of which a token takes 8; its queries meet the latents
    themselves, 576 numbers as key and 512 as value, which for a long prompt is not the cheapest.
    """
    found = {}
    for name, unread in _UNREAD.items():
        model = cached_models()[name]
        sizes = {"parameters": model.parameters, "numbers": model.kept[0].numbers}
        more = _EXPERTS if name == "DeepSeek-V3" else {"pairs": model.unshared}
        found[name] = RoofModel(name, **sizes, unread=unread, **more)
    return found


@cache
def machines() -> dict[str, Machine]:
    """Return the machines by their names.

    H100 and H200 as NVIDIA's pages have them, half of what is stated with sparsity; the RTX 4090
    as sums are kept in 32 bits; the laptop is an example of ours, two channels of DDR5-5600 and 8
    cores at 4 GHz with 32 operations of 32-bit numbers each in a cycle.
    """
    found = (
        Machine("H100 SXM", 3.35e12, 989e12, 80e9),
        Machine("H200 SXM", 4.8e12, 989e12, 141e9),
        Machine("RTX 4090", 1.008e12, 165e12, 24e9),
        Machine("a laptop's processor", 2 * 8 * 5.6e9, 8 * 4e9 * 32, 32e9),
    )
    return {machine.name: machine for machine in found}


def _text(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"name must be a string: it is {name!r}")


def _above_0(name: str, value: float) -> None:
    real = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (real and math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number above 0: it is {value!r}")


def _whole(name: str, value: int, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} on: it is {value!r}")


def _bits(name: str, value: int) -> float:
    """Return the bytes of a number of so many bits."""
    if value not in _BITS or isinstance(value, bool):
        raise ValueError(f"{name} must be 4, 8, 16 or 32: it is {value!r}")
    return value / 8
