"""A multiple-choice question in the page, with a reason for every answer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import traitlets

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget

__all__ = ["Checkpoint"]


class Checkpoint(Widget, kind="checkpoint"):
    """Ask a question and answer each choice with its reason; it may be tried again.

    Args:
        question: the question; ``backticks`` make code, in all texts.
        options: (text, correct, reason) for each answer; every reason is wanted.
        multiple: several answers may be right, and are checked together.
        shuffle: whether the options are shown in an order that follows from the texts alone, the
            same for everybody; False keeps the one given, where a text speaks of another's place.

    The trait options holds them in the order shown, chosen the places of those chosen now, checked
    whether they were checked.

    Raises: ValueError for fewer than two options, no right one, more than one right one where
    ``multiple`` is False, or a text that is missing.
    """

    question = traitlets.Unicode("").tag(sync=True)
    options = traitlets.List().tag(sync=True)  # [text, correct, reason] each
    multiple = traitlets.Bool(False).tag(sync=True)
    chosen = traitlets.List(traitlets.Int()).tag(
        sync=True, rule=lambda self, _, value: _places(value, len(self.options))
    )
    checked = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        question: str,
        options: Sequence[tuple[str, bool, str]],
        *,
        multiple: bool = False,
        shuffle: bool = True,
        caption: str = "",
    ) -> None:
        several = checks.switch("multiple", multiple)
        asked = checks.texts("question", [question])[0]
        found = _options(options, several)
        super().__init__(
            caption=caption,
            question=asked,
            options=_shuffled(found, asked) if checks.switch("shuffle", shuffle) else found,
            multiple=several,
        )

    def _summary(self) -> str:
        return checks.one_line(self.question)

    def _fallback(self) -> str:
        listed = "".join(f"<li>{markup.inline(text)}</li>" for text, _, _ in self.options)
        reasons = "".join(
            f"<li>{markup.inline(text)}: <b>{'right' if correct else 'not right'}</b>."
            f" {markup.cited(reason)}</li>"
            for text, correct, reason in self.options
        )
        return (
            f"<p><b>{markup.inline(self.question)}</b></p><ol>{listed}</ol>"
            f"<details><summary>answers and reasons</summary><ol>{reasons}</ol></details>"
        )


def _places(value: Sequence[int], count: int) -> list[int]:
    return sorted({checks.index_of("chosen", place, count=count) for place in value})


def _options(options: Sequence[tuple[str, bool, str]], several: bool) -> list[list[Any]]:
    found = []
    for place, option in enumerate(options):
        if isinstance(option, str) or len(option) != 3:
            raise ValueError(
                f"options[{place}] must be (text, correct, reason), got {checks.one_line(option)}"
            )
        text, correct, reason = option
        checks.texts(f"options[{place}]", [text, reason])
        if not text.strip() or not reason.strip():
            raise ValueError(f"options[{place}] needs a text and a reason")
        found.append([text, checks.switch(f"options[{place}]'s correct", correct), reason])
    right = sum(correct for _, correct, _ in found)
    if len(found) < 2 or right == 0:
        raise ValueError(f"options must be two or more, one of them right, got {len(found)}")
    if right > 1 and not several:
        raise ValueError(f"{right} options are right: say multiple=True")
    return found


def _shuffled(options: list[list[Any]], question: str) -> list[list[Any]]:
    """Return the options in the order of the hashes of question and option."""

    def place(option: list[Any]) -> bytes:
        return hashlib.sha256(f"{question}\n{option[0]}".encode()).digest()

    return sorted(options, key=place)
