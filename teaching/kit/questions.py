"""What an exam question is made of: a number, a choice or a text, drawn anew for every seed.

A lecture's questions are the functions of ``teaching/questions/qNN_name.py`` under
``@question``. Each takes a ``random.Random``, draws its numbers from it, computes the answer and
returns one of

    Number(text="…", answers={"spread": 4.0}, decimals=2, solution="…", mistakes=["…"])
    Choice(text="…", right="…", wrong={"an option": "why it is wrong"}, solution="…")
    Text(text="…", solution="…", marks=[("says that …", 2), ("gives a reason …", 1)])

Texts are Markdown with ``$…$`` for formulae. Points are whole or halves, so that nobody adds up
thirds. What cannot be asked is a ValueError.
"""

from __future__ import annotations

import math
import numbers
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Number:
    """A question whose answers are numbers; an ``int`` is asked for as a whole number.

    An answer is right within ``tolerance``, by default half a unit of the last of its ``decimals``.
    ``mistakes`` are what a marker will see.
    """

    text: str
    answers: Mapping[str, float]
    solution: str
    decimals: int = 3
    tolerance: float | None = None
    mistakes: Sequence[str] = ()

    def __post_init__(self) -> None:
        paired("answers", self.answers, "a label to its number")
        written(self.text, self.solution, *self.answers, *self.mistakes)
        if not self.answers:
            raise ValueError("a Number needs an answer")
        if not isinstance(self.decimals, int) or self.decimals < 0:
            raise ValueError(f"decimals is {self.decimals}; wanted 0 or more")
        if self.tolerance is not None and not 0 <= self.tolerance < math.inf:
            raise ValueError(f"tolerance is {self.tolerance}; wanted 0 or more")
        for label, value in self.answers.items():
            if not isinstance(value, numbers.Real) or not math.isfinite(value):
                raise ValueError(f"the answer {label!r} is {value!r}; wanted a finite number")
            # what is asked for must be what is right, however it is rounded
            if abs(float(self.rounded(label)) - value) > self.within + 1e-9:
                raise ValueError(f"the answer {label!r} is {self.rounded(label)} when rounded, "
                                 f"not within {self.within:g} of {value}")  # fmt: skip

    @property
    def within(self) -> float:
        """How far from the answer a right one may be."""
        return 0.5 * 10.0**-self.decimals if self.tolerance is None else self.tolerance

    def places(self, label: str) -> int:
        """With how many decimals an answer is asked for and printed."""
        return 0 if isinstance(self.answers[label], int) else self.decimals

    def rounded(self, label: str) -> str:
        """An answer as it is printed: with its decimals, and no minus before nothing."""
        places = self.places(label)
        value = round(float(self.answers[label]), places) + 0.0
        return f"{value:.{places}f}"


@dataclass(frozen=True)
class Choice:
    """A question with one right option; ``wrong`` gives for each other one why it is wrong."""

    text: str
    right: str
    wrong: Mapping[str, str]
    solution: str

    def __post_init__(self) -> None:
        paired("wrong", self.wrong, "an option to why it is wrong")
        written(self.text, self.right, self.solution, *self.wrong, *self.wrong.values())
        if not self.wrong:
            raise ValueError("a Choice needs a wrong option")
        options = [" ".join(option.split()).casefold() for option in (self.right, *self.wrong)]
        if len(set(options)) < len(options):
            raise ValueError(f"two options of a Choice are the same: {[self.right, *self.wrong]}")

    def options(self, draw: random.Random) -> list[str]:
        """All options, in the order that ``draw`` gives."""
        return draw.sample([self.right, *self.wrong], len(self.wrong) + 1)


@dataclass(frozen=True)
class Text:
    """A question that is answered in words; ``marks`` are what earns points, and how many."""

    text: str
    solution: str
    marks: Sequence[tuple[str, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not all(isinstance(mark, tuple) and len(mark) == 2 for mark in self.marks):
            raise ValueError("marks are pairs: what earns points, and how many")
        written(self.text, self.solution, *(what for what, _ in self.marks))
        if not self.marks or any(points <= 0 for _, points in self.marks):
            raise ValueError("a Text needs marks, each of more than 0 points")
        for what, points in self.marks:
            halves(f"the mark {what!r}", points)

    @property
    def points(self) -> float:
        return sum(points for _, points in self.marks)


Asked = Number | Choice | Text


@dataclass(frozen=True)
class Question:
    """A function that makes a question of a section; called with a ``random.Random``."""

    make: Callable[[random.Random], Asked]
    section: str
    points: float | None  # None: the sum of its Text's marks

    @property
    def name(self) -> str:
        return self.make.__name__

    def __call__(self, draw: random.Random) -> Asked:
        """Make the question; `points_of` says what it is worth.

        Raises: ValueError for what is no question, and where its points are not the sum of its
        marks, or too few for its answers.
        """
        made = self.make(draw)
        if not isinstance(made, Asked):
            raise ValueError(f"{self.name} returned {made!r}; wanted a Number, a Choice or a Text")
        if isinstance(made, Text):
            if self.points is not None and self.points != made.points:
                raise ValueError(
                    f"{self.name} has {self.points} points, its marks give {made.points}"
                )
        elif self.points is None:
            raise ValueError(f"{self.name} needs points: only a Text has marks")
        elif isinstance(made, Number) and len(made.answers) > 2 * self.points:
            raise ValueError(f"{self.name} has {self.points:g} points for {len(made.answers)} "
                             "answers; wanted half a point for each at least")  # fmt: skip
        return made

    def points_of(self, made: Asked) -> float:
        return made.points if isinstance(made, Text) else float(self.points or 0)


def question(
    *, section: str, points: float | None = None
) -> Callable[[Callable[[random.Random], Asked]], Question]:
    """Make a function an exam question of a section, such as "7.2"; a Text needs no points."""
    lecture, _, part = section.partition(".")
    if not (lecture.isdecimal() and part.isdecimal()):
        raise ValueError(f"section is {section!r}; wanted a lecture and a section, such as '7.2'")
    if points is not None:
        if not points > 0:
            raise ValueError(f"points is {points}; wanted more than 0")
        halves("points", points)
    return lambda make: Question(make, section, points)


def written(*texts: str) -> None:
    """Refuse what is no text, says nothing, or holds a formula without an end or a bare brace."""
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"{text!r} stands where a text is wanted")
        if not text.strip():
            raise ValueError("a question's texts may not be empty")
        outside = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)  # not code
        if outside.replace("$$", "").replace(r"\$", "").count("$") % 2:
            raise ValueError(f"a formula does not end: {text!r}")
        if brace := re.search(r"[{}].{,20}", re.sub(r"\$\$[^$]*\$\$|\$[^$]*\$", "", outside)):
            raise ValueError(f"a brace stands outside of a formula, at {brace[0]!r}: "
                             "is an f missing before the text?")  # fmt: skip


def paired(name: str, given: object, what: str) -> None:
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} is {given!r}; wanted a dictionary from {what}")


def halves(name: str, points: float) -> None:
    if points * 2 != int(points * 2):
        raise ValueError(f"{name} is of {points} points; wanted whole or half points")
