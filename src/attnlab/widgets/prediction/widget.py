"""Predict, then reveal: the reader writes numbers down before the computed ones are shown."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget

__all__ = ["Prediction"]


class Prediction(Widget, kind="prediction"):
    """Ask for a number under each label, then show it beside the computed one.

    Args:
        question: the question; ``backticks`` make code, in all texts.
        answers: the computed number for each label, in the order shown.
        decimals: how many are shown; tolerance: how near counts as close
            (default: a tenth of the largest answer's size).
        reason: why it is so, shown with the answers.

    The traits guesses and revealed follow the reader's hand.

    Raises: ValueError for no answers, a number that is not finite, a negative tolerance.
    """

    question = traitlets.Unicode("").tag(sync=True)
    labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    answers = traitlets.List(traitlets.Float()).tag(sync=True)
    decimals = traitlets.Int(3).tag(sync=True)
    tolerance = traitlets.Float(0.0).tag(sync=True)
    reason = traitlets.Unicode("").tag(sync=True)
    guesses = traitlets.List(traitlets.Float(allow_none=True)).tag(
        sync=True, rule=lambda self, _, value: _guesses(value, len(self.labels))
    )
    revealed = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        question: str,
        answers: Mapping[str, float],
        *,
        decimals: int = 3,
        tolerance: float | None = None,
        reason: str = "",
        caption: str = "",
    ) -> None:
        values = checks.finite_array("answers", list(answers.values()), ranks=(1,))
        near = 0.1 * float(np.abs(values).max()) if tolerance is None else float(tolerance)
        if not 0 <= near < float("inf"):
            raise ValueError(f"tolerance must be 0 or more, got {tolerance!r}")
        super().__init__(
            caption=caption,
            question=checks.texts("question", [question])[0],
            labels=checks.texts("answers", list(answers)),
            answers=[float(value) for value in values],
            decimals=checks.whole("decimals", decimals, least=0, most=8),
            tolerance=near,
            reason=checks.texts("reason", [reason])[0],
            guesses=[None] * len(values),
        )

    def _summary(self) -> str:
        return checks.one_line(self.question)

    def _fallback(self) -> str:
        numbers = [markup.fixed(value, self.decimals) for value in self.answers]
        return markup.numbers_asked(
            self.question,
            "Write down a number for",
            zip(self.labels, numbers, strict=True),
            what="computed numbers",
            head="computed",
            reason=markup.inline(self.reason),
        )


def _guesses(value: list[float | None], count: int) -> list[float | None]:
    if len(value) != count:
        raise ValueError(f"guesses must be {count}, got {len(value)}")
    return value
