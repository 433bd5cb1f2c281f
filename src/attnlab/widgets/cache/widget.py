"""What the caches of real models take, over the context; a GPU's memory and the weights beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from attnlab.models.caches import CachedModel, cached_models
from attnlab.widgets.core import checks, markup, units
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["CacheCalculator"]

_MODELS = (
    "GPT-2",
    "Llama 2 7B",
    "Mistral 7B v0.1",
    "Llama 3.1 8B",
    "SmolLM2-135M",
    "DeepSeek-V3",
    "Gemma 3 27B",
    "DeepSeek-V4-Flash",
)
_MOST_MODELS = 10
_SHORTEST, _LONGEST = 2**7, 2**20
_LARGEST_BATCH = 2**10
_BITS = (16, 8, 4)
_MEMORIES = (24, 80, 141)
_LIMIT = 2**30  # tokens: a text that long is as long as any


class CacheCalculator(Widget, kind="cache"):
    """Choose a model, texts and bits, and see what is kept of them, and where it stops to fit.

    cache = texts · (Σ numbers a token leaves · tokens kept · bits / 8 + fixed states)

    Args:
        models: 1 to 10 models, by the names of ``cached_models()`` or as ``CachedModel``; eight of
            2019 to 2026 if none are given.
        chosen: the place of the model that is drawn thick, with its weights (−1 is the last).
        context: tokens in a text, from 128 to 1,048,576.
        batch: texts at once, from 1 to 1,024.
        bits: of each number in the cache, 16, 8 or 4.
        weight_bits: of each parameter, 16, 8 or 4.
        gpu: its memory, 24, 80 or 141 GB of 10⁹ bytes.

    The traits but ``models`` follow the reader's hand.

    Raises: TypeError for a model that is none; ValueError for a name that is not known, for another
    count of models, or for a number out of its range.
    """

    models = traitlets.List().tag(sync=True)
    chosen = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.models))
    context = ruled(traitlets.Int(8_192), checks.whole, least=_SHORTEST, most=_LONGEST)
    batch = ruled(traitlets.Int(1), checks.whole, least=1, most=_LARGEST_BATCH)
    bits = ruled(traitlets.Int(16), checks.either, choices=_BITS)
    weight_bits = ruled(traitlets.Int(16), checks.either, choices=_BITS)
    gpu = ruled(traitlets.Int(80), checks.either, choices=_MEMORIES)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        models: Sequence[str | CachedModel] = _MODELS,
        *,
        chosen: int = 0,
        context: int = 8_192,
        batch: int = 1,
        bits: int = 16,
        weight_bits: int = 16,
        gpu: int = 80,
        caption: str = "",
    ) -> None:
        self._models = checks.known_or_own(
            "models", models, kind=CachedModel, known=cached_models(), most=_MOST_MODELS
        )
        texts = {"context": context, "batch": batch}
        widths = {"bits": bits, "weight_bits": weight_bits, "gpu": gpu}
        super().__init__(
            caption=caption,
            models=[_picture(model) for model in self._models],
            start={"chosen": chosen, **texts, **widths},
        )

    @property
    def cache_bytes(self) -> list[int]:
        """What each model keeps of these texts, in these bits."""
        return [self._cache(model, self.context) for model in self._models]

    @property
    def room(self) -> list[int | None]:
        """The longest texts whose caches fit on this GPU beside each model's weights.

        −1 where the weights alone do not fit, None where a text may be of any length.
        """
        return [self._longest(model) for model in self._models]

    def _cache(self, model: CachedModel, n: int) -> int:
        return model.cache_bytes(n, batch=self.batch, bits=self.bits)

    def _longest(self, model: CachedModel) -> int | None:
        left = self.gpu * 10**9 - model.weight_bytes(bits=self.weight_bits)
        if self._cache(model, 0) > left:
            return -1
        if self._cache(model, _LIMIT) <= left:
            return None
        low, high = 0, _LIMIT  # low fits, high does not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._cache(model, middle) <= left else (low, middle)
        return low

    def _summary(self) -> str:
        return (
            f"{self._models[self.chosen].name}, {self.context:,} tokens, batch {self.batch:,},"
            f" {self.bits} bits, {self.gpu} GB"
        )

    def _fallback(self) -> str:
        rows = []
        for model, cache, room in zip(self._models, self.cache_bytes, self.room, strict=True):
            weights = model.weight_bytes(bits=self.weight_bits)
            growing = (part for part in model.kept if not part.window or self.context < part.window)
            each = sum(part.numbers / part.pooled for part in growing) * self.bits / 8
            sizes = (cache, each, weights, cache + weights)
            name, context = markup.escape(model.name), f"{model.context:,}"
            rows.append([name, context, *map(units.sized, sizes), _room_said(room)])
        head = ["model", "its context", "cache", "one more token", "weights", "together"]
        texts = "one text" if self.batch == 1 else f"{self.batch:,} texts"
        return (
            f"<p>What is kept of {texts} of {self.context:,} tokens in {self.bits} bits; weights in"
            f" {self.weight_bits} bits. 1 GB is 10⁹ bytes.</p>"
            + markup.table([*head, f"room in {self.gpu} GB"], rows, label="All models")
        )


def _picture(model: CachedModel) -> dict[str, Any]:
    """Return what the page counts with: numbers, window (0: none) and pooled of what is kept."""
    names = ("name", "year", "context", "parameters", "states")
    kept = [[part.numbers, part.window or 0, part.pooled] for part in model.kept]
    return {name: getattr(model, name) for name in names} | {"kept": kept}


def _room_said(room: int | None) -> str:
    return "any length" if room is None else "none" if room < 0 else f"{room:,}"
