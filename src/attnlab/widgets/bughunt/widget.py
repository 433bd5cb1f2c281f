"""A bug hunt in the page: the wrong output first, then the code, every line of which answers."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
import traitlets

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget

__all__ = ["BugHunt"]

MOST_LINES = 30  # more is a page to read, no hunt


class BugHunt(Widget, kind="bughunt"):
    """Show code that is wrong and let the reader find the line; each line has its answer.

    Args:
        question: the question; ``backticks`` make code, in the answers too.
        code: the code; empty lines before and after it are dropped, and its common indent.
        lines: the answer of each line by its number from 1. Every line has one but blank lines,
            and lines of brackets alone, which may have none. ``[words](https://…)`` is a source.
        bug: the number of the line that is wrong, or of several.
        evidence: the wrong output, as printed, which stands above the code.

    The trait pressed holds the numbers of the lines that were pressed, the last one last.

    Raises: ValueError for code without a line, a line without an answer, an answer for no line, no
    bug, or a bug that is no line.
    """

    question = traitlets.Unicode("").tag(sync=True)
    evidence = traitlets.Unicode("").tag(sync=True)
    code = traitlets.List(traitlets.Unicode()).tag(sync=True)
    answers = traitlets.List(traitlets.Unicode()).tag(sync=True)  # of each line, or ""
    bugs = traitlets.List(traitlets.Int()).tag(sync=True)
    pressed = traitlets.List(traitlets.Int()).tag(
        sync=True, rule=lambda self, _, value: _pressed(value, self.answers)
    )

    def __init__(
        self,
        question: str,
        code: str,
        lines: Mapping[int, str],
        *,
        bug: int | Sequence[int],
        evidence: str = "",
        caption: str = "",
    ) -> None:
        written = _code(code)
        answers = _answers(written, lines)
        super().__init__(
            caption=caption,
            question=checks.texts("question", [question])[0],
            evidence=checks.texts("evidence", [evidence])[0].strip("\n"),
            code=written,
            answers=answers,
            bugs=_bugs(bug, answers),
        )

    def _summary(self) -> str:
        return checks.one_line(self.question)

    def _fallback(self) -> str:
        shown = f"<pre>{markup.escape(self.evidence)}</pre>" if self.evidence else ""
        lines = "".join(
            f'<li><code class="attnbook-kept">{markup.escape(line)}</code></li>'
            for line in self.code
        )
        answers = "".join(
            f'<li value="{number}"><b>{"the mistake" if number in self.bugs else "right"}</b>.'
            f" {markup.cited(answer)}</li>"
            for number, answer in enumerate(self.answers, 1)
            if answer
        )
        return (
            f"<p><b>{markup.inline(self.question)}</b></p>{shown}<ol>{lines}</ol>"
            f"<details><summary>the answer of each line</summary><ol>{answers}</ol></details>"
        )


def _code(code: str) -> list[str]:
    if not isinstance(code, str):
        raise TypeError(f"code must be a string, got {checks.one_line(code)}")
    lines = textwrap.dedent(code.replace("\r\n", "\n").expandtabs(4)).strip("\n").split("\n")
    lines = [line.rstrip() for line in lines]
    if not any(lines):
        raise ValueError(f"code must have a line to press, got {checks.one_line(code)}")
    if len(lines) > MOST_LINES:
        raise ValueError(f"code must have at most {MOST_LINES} lines, got {len(lines)}")
    return lines


def _answers(code: list[str], lines: Mapping[int, str]) -> list[str]:
    if not isinstance(lines, Mapping):
        raise TypeError(f"lines must map line numbers to answers, got {checks.one_line(lines)}")
    for number, answer in lines.items():
        checks.whole("a line number in lines", number, least=1, most=len(code))
        if not code[number - 1]:
            raise ValueError(f"lines answers line {number}, which is blank")
        if not checks.texts(f"lines[{number}]", [answer])[0].strip():
            raise ValueError(f"lines[{number}] must be an answer, got {answer!r}")
    for number, line in enumerate(code, 1):
        if number not in lines and line.strip("()[]{}, "):
            raise ValueError(f"lines must answer line {number}, {checks.one_line(line)}")
    return [lines.get(number, "") for number in range(1, len(code) + 1)]


def _bugs(bug: int | Sequence[int], answers: list[str]) -> list[int]:
    several = [bug] if isinstance(bug, (int, np.integer, str, float)) else list(bug)
    bugs = sorted({checks.whole("bug", one, least=1, most=len(answers)) for one in several})
    if not bugs:
        raise ValueError("bug must be the number of a line, or of several, got none")
    for one in bugs:
        if not answers[one - 1]:
            raise ValueError(f"bug must be a line with an answer, got {one}, which has none")
    return bugs


def _pressed(value: Sequence[int], answers: list[str]) -> list[int]:
    for number in value:
        checks.whole("pressed", number, least=1, most=len(answers))
        if not answers[number - 1]:
            raise ValueError(f"pressed must hold lines with an answer, got {number}")
    return list(dict.fromkeys(value))
