"""A task by examples alone: the prompt, the next tokens, and how many words come out right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from attnlab.models.recorded import FewShots, NextWord
from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["FewShot"]

_MOST_TASKS, _MOST_EXAMPLES, _MOST_WORDS, _MOST_TOKENS = 4, 8, 12, 8


class FewShot(Widget, kind="fewshot"):
    """Choose how many solved examples stand before a question; see what a model makes of it.

    Above stands the prompt with what the model writes after it, and beside it the most probable
    next tokens; below, each word that the task asks, with a sign for right or wrong. What is
    written is right if it is the expected word and nothing else. Where answers are exchanged, from
    two examples on, each of them stands before the answer to the next. All answers are recorded.

    Args:
        tasks: what ``smollm_few_shots`` returns: 1 to 4 tasks of as many examples and words each,
            at most 8 and 12.
        task, word: the places of the task and of the word that is asked; −1 is the last.
        count: how many examples there are.
        exchanged: whether their answers are exchanged.

    The traits task, word, count and exchanged follow the reader's hand.

    Raises: TypeError for anything but ``FewShots``; ValueError for counts, names or numbers that do
    not fit.
    Source: Brown et al. (2020).
    """

    tasks = traitlets.List().tag(sync=True)
    task = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.tasks))
    word = ruled(traitlets.Int(0), checks.index_of, count=lambda self: len(self.tasks[0]["asked"]))
    count = ruled(
        traitlets.Int(0), checks.whole, least=0, most=lambda self: len(self.tasks[0]["shown"])
    )
    exchanged = ruled(traitlets.Bool(False), checks.switch)
    initial = traitlets.Dict().tag(sync=True)  # what "reset" goes back to

    def __init__(
        self,
        tasks: Sequence[FewShots],
        *,
        task: int = 0,
        word: int = 1,
        count: int = 3,
        exchanged: bool = False,
        caption: str = "",
    ) -> None:
        if not isinstance(tasks, (list, tuple)):
            raise TypeError(f"tasks must be a list of FewShots, got {checks.one_line(tasks)}")
        _count("tasks", tasks, _MOST_TASKS)
        found = [_task(one) for one in tasks]
        for part in ("shown", "asked"):
            if len(counts := {len(one[part]) for one in found}) > 1:
                raise ValueError(f"{part} must be as many in each task, got {sorted(counts)}")
        start = {"task": task, "word": word, "count": count, "exchanged": exchanged}
        super().__init__(caption=caption, tasks=found, start=start)

    @property
    def prompt(self) -> str:
        """What the model reads."""
        task = self.tasks[self.task]
        shown = task["shown"][: self.count]
        if self.exchanged:
            others = shown[1:] + shown[:1]
            shown = [(one, other) for (one, _), (_, other) in zip(shown, others, strict=True)]
        lines = "".join(f"{one} -> {other}\n" for one, other in shown)
        return f"{lines}{task['asked'][self.word][0]} ->"

    @property
    def right(self) -> list[bool]:
        """Whether each word of the task, asked after these examples, gets its answer."""
        asked = self.tasks[self.task]["asked"]
        return [one["said"] == answer for one, (_, answer) in zip(self._row(), asked, strict=True)]

    def _row(self) -> list[dict[str, Any]]:
        most = len(self.tasks[self.task]["shown"])
        away = self.exchanged and self.count > 1
        return self.tasks[self.task]["rows"][self.count + away * (most - 1)]

    def _summary(self) -> str:
        task = self.tasks[self.task]
        told = ", answers exchanged" if self.exchanged else ""
        return f"{task['name']}, {self.count} examples{told}, {task['asked'][self.word][0]}"

    def _fallback(self) -> str:
        words = self.tasks[self.task]["asked"]
        rows = [
            [*map(markup.escape, (word, answer, one["said"])), "yes" if right else "no"]
            for (word, answer), one, right in zip(words, self._row(), self.right, strict=True)
        ]
        best = [
            [markup.escape(_shown(token)), markup.fixed(p, 2)]
            for token, p in self._row()[self.word]["top"]
        ]
        read = "; ".join(markup.escape(line) for line in self.prompt.split("\n"))
        return (
            f"<p>Right for {sum(self.right)} of these {len(words)} words, each asked after"
            f" {self.count} examples:</p>"
            + markup.table(["word", "wanted", "written", "right"], rows, label="Each word")
            + f"<p>The model reads “{read}”; the most probable next tokens are:</p>"
            + markup.table(["token", "probability"], best, label="The next token")
        )


def _shown(token: str) -> str:
    """Return a token with its space and its end of line as signs."""
    return token.replace(" ", "␣").replace("\n", "↵")


def _count(name: str, value: Sequence[Any], most: int) -> None:
    if not 1 <= len(value) <= most:
        raise ValueError(f"{name} must be 1 to {most}, got {len(value)}")


def _task(task: FewShots) -> dict[str, Any]:
    """Return what the page knows of a task: rows by count, then by count with exchanged answers."""
    if not isinstance(task, FewShots):
        raise TypeError(f"tasks must hold FewShots, got {checks.one_line(task)}")
    _count("shown", task.shown, _MOST_EXAMPLES)
    _count("asked", task.asked, _MOST_WORDS)
    (name,) = checks.texts("name", [task.name])
    most = len(task.shown)
    wanted = [(k, False) for k in range(most + 1)] + [(k, True) for k in range(2, most + 1)]
    if missing := [one for one in wanted if one not in task.found]:
        raise ValueError(f"found must have every (count, exchanged), there is no {missing[0]}")
    return {
        "name": name,
        "shown": _pairs("shown", task.shown),
        "asked": _pairs("asked", task.asked),
        "first": checks.texts("first", task.first, count=len(task.asked)),
        "rows": [_row(task.found[one], len(task.asked)) for one in wanted],
    }


def _pairs(name: str, value: Sequence[tuple[str, str]]) -> list[list[str]]:
    return [checks.texts(name, pair, count=2) for pair in value]


def _row(row: Sequence[NextWord], count: int) -> list[dict[str, Any]]:
    if len(row) != count:
        raise ValueError(f"found must have {count} words in each row, got {len(row)}")
    found = []
    for top, said in row:
        _count("top", top, _MOST_TOKENS)
        tokens = checks.texts("top", [token for token, _ in top])
        chances = [checks.between("top", p, least=0, most=1) for _, p in top]
        (written,) = checks.texts("said", [said])
        found.append({"top": list(map(list, zip(tokens, chances, strict=True))), "said": written})
    return found
