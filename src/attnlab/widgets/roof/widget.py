"""The time of a step of a decoding language model: what it reads beside what it computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import traitlets

from attnlab.models import roof
from attnlab.models.roof import Machine, Pace, RoofModel, Step, Way
from attnlab.widgets.core import checks, markup, units
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["Roof"]

_MODELS = ("Llama 3.1 8B", "Llama 2 7B", "Llama 3.1 405B", "DeepSeek-V3", "SmolLM2-135M")
_MACHINES = ("H100 SXM", "H200 SXM", "RTX 4090", "a laptop's processor")
_MOST = 10  # models, or machines
_MOST_TEXTS, _MOST_TOKENS, _MOST_CACHED = 2**12, 2**13, 2**17
_BITS = (16, 8, 4)
_MOST_WAYS = 6


class Roof(Widget, kind="roof"):
    """Choose model, machine, texts, tokens and bits, and see what a step waits for.

    seconds = max((weights + caches) / bytes a second, operations / operations a second)

    A step is one call of the model, with new tokens of each text: one while they are written, a few
    where guesses are judged, all of a prompt. ``attnlab.models.roof`` says what is counted. What
    does not fit in the machine's memory is counted as if it did, and a sentence says so.

    Args:
        models: 1 to 10 models, by the names of ``roof_models()`` or as ``RoofModel``; five if none
            are given.
        machines: 1 to 10 machines, by the names of ``machines()`` or as ``Machine``.
        model, machine: the place of the one that is shown (−1 is the last).
        texts: in one call, from 1 to 4,096.
        tokens: new ones of each text, from 1 to 8,192.
        cached: tokens that each text has in its cache before, from 0 to 131,072.
        weight_bits, cache_bits: of each number, 16, 8 or 4.
        ways: up to 6 ways of writing to compare, each a bar; of the settings only the number of
            texts, and the machine, then count.

    The traits but ``models``, ``machines`` and ``ways`` follow the reader's hand.

    Raises: TypeError for a model or a machine that is none; ValueError for a name that is not
    known, for another count of them, or for a number out of its range.
    Source: Williams, Waterman and Patterson (2009).
    """

    models = traitlets.List().tag(sync=True)
    machines = traitlets.List().tag(sync=True)
    ways = traitlets.List().tag(sync=True)
    model = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.models))
    machine = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.machines))
    texts = ruled(traitlets.Int(1), checks.whole, least=1, most=_MOST_TEXTS)
    tokens = ruled(traitlets.Int(1), checks.whole, least=1, most=_MOST_TOKENS)
    cached = ruled(traitlets.Int(8_192), checks.whole, least=0, most=_MOST_CACHED)
    weight_bits = ruled(traitlets.Int(16), checks.either, choices=_BITS)
    cache_bits = ruled(traitlets.Int(16), checks.either, choices=_BITS)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        models: Sequence[str | RoofModel] = _MODELS,
        machines: Sequence[str | Machine] = _MACHINES,
        *,
        model: int = 0,
        machine: int = 0,
        texts: int = 1,
        tokens: int = 1,
        cached: int = 8_192,
        weight_bits: int = 16,
        cache_bits: int = 16,
        ways: Sequence[Way] = (),
        caption: str = "",
    ) -> None:
        self._models = checks.known_or_own(
            "models", models, kind=RoofModel, known=roof.roof_models(), most=_MOST
        )
        self._machines = checks.known_or_own(
            "machines", machines, kind=Machine, known=roof.machines(), most=_MOST
        )
        self._ways = list(ways)
        if len(self._ways) > _MOST_WAYS or not all(isinstance(way, Way) for way in self._ways):
            raise ValueError(f"ways must be at most {_MOST_WAYS} Ways: they are {self._ways!r}")
        chosen = {"model": model, "machine": machine}
        call = {"texts": texts, "tokens": tokens, "cached": cached}
        super().__init__(
            caption=caption,
            models=[asdict(one) for one in self._models],
            machines=[asdict(one) for one in self._machines],
            ways=[asdict(one) for one in self._ways],
            start={**chosen, **call, "weight_bits": weight_bits, "cache_bits": cache_bits},
        )

    @property
    def step(self) -> Step:
        """What the step takes that is shown."""
        call = ("texts", "tokens", "cached", "weight_bits", "cache_bits")
        machine = self._machines[self.machine]
        return self._models[self.model].step(
            machine, **{name: getattr(self, name) for name in call}
        )

    @property
    def paces(self) -> dict[str, Pace]:
        """What a token of each text takes by each of the ways."""
        machine = self._machines[self.machine]
        return {way.name: way.pace(machine, self.texts) for way in self._ways}

    def _summary(self) -> str:
        if self._ways:
            machine = self._machines[self.machine].name
            return f"{', '.join(self.paces)}; {machine}, {self.texts:,} texts"
        return (
            f"{self._models[self.model].name}, {self._machines[self.machine].name},"
            f" {self.texts:,} × {self.tokens:,} tokens, {self.cached:,} cached,"
            f" {self.weight_bits} and {self.cache_bits} bits"
        )

    def _fallback(self) -> str:
        model, machine, step = self._models[self.model], self._machines[self.machine], self.step
        if self._ways:
            found = [
                [
                    markup.escape(name),
                    *(units.timed(part) if part else "0" for part in (*pace, sum(pace))),
                ]
                for name, pace in self.paces.items()
            ]
            head = ["way", *Pace._fields, "together"]
            return (
                f"<p>{markup.escape(machine.name)}, texts at once {self.texts:,}: the least time"
                " for a token of each.</p>" + markup.table(head, found, label="The ways")
            )
        size, held = units.sized(machine.memory), units.sized(step.held)
        fits = "fit" if step.room >= self.texts else "do not fit"

        def row(name: str, read: float, operations: float) -> list[str]:
            times = read / machine.bytes_a_second, operations / machine.operations_a_second
            to_read, to_compute = map(units.timed, times)
            each = units.digits(operations / read)
            return [name, units.sized(read), to_read, units.many(operations), to_compute, each]

        rows = [
            row("weights", step.weights, step.products),
            row("caches", step.caches, step.attention),
            row("together", step.weights + step.caches, step.operations),
        ]
        head = ["part", "bytes", "to read", "operations", "to compute", "operations a byte"]
        return (
            f"<p>{markup.escape(model.name)} on {markup.escape(machine.name)}: texts at"
            f" once {self.texts:,}, new tokens of each {self.tokens:,}, tokens in each cache"
            f" {self.cached:,}, weights in {self.weight_bits} bits, caches in"
            f" {self.cache_bits}.</p>"
            + markup.table(head, rows, label="A step")
            + f"<p>step = max({units.timed(step.memory)}, {units.timed(step.arithmetic)}) ="
            f" {units.timed(step.seconds)}. Weights and caches take {held}: they {fits} in"
            f" {size}.</p>"
        )
