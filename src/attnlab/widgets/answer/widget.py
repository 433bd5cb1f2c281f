"""A question on paper: the reader works numbers out, enters them, and learns what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import traitlets

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["Answer"]

LONGEST = 1000  # letters of an entry


class Answer(Widget, kind="answer"):
    """Ask for numbers worked out on paper, and judge each that is entered; it may be tried again.

    Numbers are read with a point or a comma (0.5, 0,5), as fractions (1/2) or with a power of ten
    (5e-1), thousands with spaces (12 345). An entry is right, close (too few decimals, or rounded
    on the way), wrong, or no number.

    Args:
        question: the question; ``backticks`` make code, in all texts.
        answers: the right number for each label, in the order shown.
        mistakes: what goes wrong, each as ({label: number, …}, what to say): it is said where all
            its numbers were entered. ``[words](https://…)`` is a source, here and in the reason.
        decimals: how many are wanted; tolerance: how near counts as right (default: half a unit
            of the last decimal wanted).
        reason: how it is worked out, shown once all is right or given up.

    The traits entries, checked, tries and given follow the reader's hand.

    Raises: ValueError for no answers, a number that is not finite, a negative tolerance, a mistake
    that names no label, an unknown one, or whose numbers are right.
    """

    question = traitlets.Unicode("").tag(sync=True)
    labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    answers = traitlets.List(traitlets.Float()).tag(sync=True)
    mistakes = traitlets.List().tag(sync=True)  # [number or None for each label, text] each
    decimals = traitlets.Int(3).tag(sync=True)
    tolerance = traitlets.Float(0.0).tag(sync=True)
    reason = traitlets.Unicode("").tag(sync=True)
    # as typed
    entries = traitlets.List(traitlets.Unicode()).tag(
        sync=True, rule=lambda self, _, value: _entries(value, len(self.labels))
    )
    checked = traitlets.Bool(False).tag(sync=True)
    tries = ruled(traitlets.Int(0), checks.whole, least=0, most=10**6)
    given = traitlets.Bool(False).tag(sync=True)  # the answer was shown

    def __init__(
        self,
        question: str,
        answers: Mapping[str, float],
        *,
        mistakes: Sequence[tuple[Mapping[str, float], str]] = (),
        decimals: int = 3,
        tolerance: float | None = None,
        reason: str = "",
        caption: str = "",
    ) -> None:
        values = checks.finite_array("answers", list(answers.values()), ranks=(1,)).tolist()
        labels = checks.texts("answers", list(answers))
        wanted = checks.whole("decimals", decimals, least=0, most=8)
        half = 0.5 * 10.0**-wanted
        near = half if tolerance is None else _tolerance(tolerance)
        super().__init__(
            caption=caption,
            question=checks.texts("question", [question])[0],
            labels=labels,
            answers=values,
            mistakes=_mistakes(mistakes, dict(zip(labels, values, strict=True)), near),
            decimals=wanted,
            tolerance=near,
            reason=checks.texts("reason", [reason])[0],
            entries=[""] * len(values),
        )

    def _summary(self) -> str:
        return checks.one_line(self.question)

    def _fallback(self) -> str:
        numbers = [markup.fixed(value, self.decimals) for value in self.answers]
        return markup.numbers_asked(
            self.question,
            "Work out on paper",
            zip(self.labels, numbers, strict=True),
            what="answers",
            head="answer",
            reason=markup.cited(self.reason),
        )


def _tolerance(value: float) -> float:
    return checks.between("tolerance", value, least=0, most=10**12)


def _mistakes(
    mistakes: Sequence[tuple[Mapping[str, float], str]], answers: dict[str, float], near: float
) -> list[list[Any]]:
    found = []
    for place, one in enumerate(mistakes):
        name = f"mistakes[{place}]"
        if isinstance(one, str) or len(one) != 2 or not isinstance(one[0], Mapping) or not one[0]:
            raise ValueError(
                f"{name} must be ({{label: number, …}}, what to say), got {checks.one_line(one)}"
            )
        numbers, text = one
        for label in numbers:
            checks.one_of(f"a label of {name}", label, choices=list(answers))
        if not checks.texts(name, [text])[0].strip():
            raise ValueError(f"{name} must say what went wrong, got {text!r}")
        checks.finite_array(name, list(numbers.values()), ranks=(1,))
        values = {label: float(number) for label, number in numbers.items()}
        if all(abs(number - answers[label]) <= near for label, number in values.items()):
            raise ValueError(f"{name} must hold a wrong number, got the answers' own: {values}")
        found.append([[values.get(label) for label in answers], text])
    return found


def _entries(value: Sequence[str], count: int) -> list[str]:
    found = checks.texts("entries", value)
    if len(found) != count or any(len(text) > LONGEST for text in found):
        raise ValueError(
            f"entries must be {count} texts of at most {LONGEST} letters,"
            f" got {checks.one_line(value)}"
        )
    return found
