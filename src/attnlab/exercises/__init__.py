"""Checks for the lectures' exercises: they name the mistake, and never stop "run all".

A lecture's module holds one check an exercise: an ordinary function that takes the reader's
answer and raises `Mistake` where it is wrong. `exercise` turns it into what a lecture calls.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_post_hook

from attnlab import _check
from attnlab.exercises._watch import Watch


class Mistake(Exception):
    """What is wrong with an answer, in words for the reader."""


class Blank(Exception):
    """The answer still holds the three dots."""

    def __str__(self) -> str:
        return "still blank. Replace the three dots with your answer and run the cell."


class Check:
    """An exercise's check. A lecture calls it, and it prints one line; a grader calls `strict`."""

    def __init__(self, number: int, check: Callable[[Any], str]) -> None:
        functools.update_wrapper(self, check)
        self.number, self._check = number, check

    def strict(self, answer: Any) -> str:
        """Return what there is to learn from a right answer.

        Raises: Mistake, with what is wrong; Blank for three dots; whatever the answer's code does.
        """
        try:
            return self._check(answer)
        except (Mistake, Blank) as found:
            # raised here: a notebook shows the code of each frame, and the check's has the answer
            raise found.with_traceback(None) from None

    def __call__(self, answer: Any) -> None:
        """Print one line: correct and why, not yet and why, or still blank. Raise nothing."""
        try:
            verdict = f"correct. {self.strict(answer)}"
        except Blank as blank:
            verdict = str(blank)
        except Mistake as mistake:
            verdict = f"not yet. {mistake}"
        except Exception as error:
            verdict = f"not yet. Your code raised {type(error).__name__}: {error}"
        print(f"Exercise {self.number}: {verdict}")


def exercise(number: int) -> Callable[[Callable[[Any], str]], Check]:
    """Make a check of a function that raises `Mistake`, or returns what there is to learn."""
    return functools.partial(Check, number)


# What a check asks with is drawn anew each time, so that no table of answers can pass.


def fresh() -> torch.Generator:
    """Return a generator that no other call has had."""
    generator = torch.Generator()
    generator.seed()
    return generator


def drawn(*shape: int) -> Tensor:
    """Standard normal numbers in float64."""
    return torch.randn(shape, generator=fresh(), dtype=torch.float64)


def uniform(low: float, high: float, *shape: int) -> Tensor:
    """Numbers between ``low`` and ``high``, in float64."""
    return low + (high - low) * torch.rand(shape, generator=fresh(), dtype=torch.float64)


def whole(low: int, high: int, *shape: int) -> Tensor:
    """Whole numbers from ``low`` to ``high``, both included."""
    return torch.randint(low, high + 1, shape, generator=fresh())


def shuffled(n: int) -> Tensor:
    """The numbers from 0 to n − 1 in some order, (n,)."""
    return torch.randperm(n, generator=fresh())


def apart(*tensors: Tensor) -> bool:
    """Whether no two of these are alike: by such a draw each mistake can be told."""
    return not any(
        one.shape == other.shape and close(one.double(), other)
        for place, one in enumerate(tensors)
        for other in tensors[:place]
    )


# The reader's code


def called(
    function: Callable[..., Any], *arguments: Any, ready: Sequence[Callable[..., Any]] = ()
) -> Any:
    """Call the reader's function; no answer (None or three dots) means that it is blank.

    Raises: Mistake where it uses a function of ``ready`` or of the checks, under any name.
    """
    answer = _call(function, arguments, ready)
    if answer is None or answer is ...:
        raise Blank
    return answer


def _call(
    function: Callable[..., Any], arguments: Sequence[Any], ready: Sequence[Callable[..., Any]]
) -> Any:
    if not callable(function):
        raise Mistake(f"A function was wanted, this is {type(function).__name__}.")
    if not arguments:  # it may train for minutes, and watching would make them more
        return function()
    # copies: what the reader's code does to them must not change what it is compared with
    given = [one.clone() if isinstance(one, Tensor) else one for one in arguments]
    if any(function is one for one in ready):
        raise Mistake(f"{function.__name__} {_DOES_IT}")
    watch = Watch(ready, arguments)
    try:
        with watch:
            return function(*given)
    finally:
        if watch.used:
            raise Mistake(f"{watch.used[0]} {_DOES_IT}")


_DOES_IT = "does it for you. Build it yourself."


def truths(function: Callable[..., Any], cases: Sequence[Sequence[Any]]) -> list[bool]:
    """Ask the reader's function for a truth value of each case; each is asked twice, in any order.

    Raises: Blank where it never answers, Mistake where it does at times, or answers something else.
    """
    places = [int(one) % len(cases) for one in shuffled(2 * len(cases))]
    answers = [_call(function, cases[place], ()) for place in places]
    if all(answer is None or answer is ... for answer in answers):
        raise Blank
    if any(answer is None for answer in answers):
        raise Mistake("At times your function returns nothing: return False where it is not so.")
    found = [(place, truth(answer)) for place, answer in zip(places, answers, strict=True)]
    said = dict(found)
    if any(said[place] != answer for place, answer in found):
        raise Mistake("Asked the same twice, your function gives two answers.")
    return [said[place] for place in range(len(cases))]


@contextmanager
def training() -> Generator[Callable[[int], None]]:
    """Count the steps of training; what is yielded raises `Mistake` where they are too few."""
    taken = 0

    def count(*_: Any) -> None:
        nonlocal taken
        taken += 1

    def at_least(steps: int) -> None:
        if taken < steps:
            raise Mistake(
                f"Your function trained for {taken} steps, {steps} at least were wanted: the "
                "numbers must come from a training in it."
            )

    hook = register_optimizer_step_post_hook(count)
    try:
        yield at_least
    finally:
        hook.remove()


# What an answer may be


def tensor_of(answer: Any, shape: tuple[int, ...]) -> Tensor:
    """The answer as a tensor of the wanted shape, or a `Mistake` that shows both shapes."""
    kind = f"this is {type(answer).__name__}"
    try:
        found = _check.tensor(answer)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = f"{kind}, and some of its elements are masked" if "masked" in str(error) else kind
        raise Mistake(f"A tensor or lists of numbers were wanted, {kind}.") from error
    if tuple(found.shape) != shape:
        raise Mistake(f"The shape is {tuple(found.shape)}, wanted is {shape}.")
    if found.is_complex():
        raise Mistake("Real numbers were wanted, these are complex: take .real of them.")
    if found.is_meta:
        raise Mistake("This tensor is on the device meta: it has no numbers.")
    return found.to_dense().cpu().to(torch.float64)


def truth(answer: Any, what: str = "") -> bool:
    """The answer as a truth value: Python's, NumPy's, or a boolean tensor of one element."""
    what = f"{what}: " if what else ""
    count = None
    if isinstance(answer, Tensor) and answer.dtype == torch.bool:
        count = answer.numel()
    elif isinstance(answer, np.ndarray) and answer.dtype == bool and not np.ma.is_masked(answer):
        count = answer.size
    if count not in (None, 1):
        raise Mistake(f"{what}One True or False was wanted: put .all() after the comparison.")
    if isinstance(answer, bool | np.bool_) or count == 1:
        return bool(answer)
    shown = repr(answer) if isinstance(answer, str | int | float) else type(answer).__name__
    raise Mistake(f"{what}True or False was wanted, this is {shown}.")


def answered(answers: Any, *names: str) -> dict[str, Any]:
    """Return a dictionary of the wanted names; three dots in it, or in its place, mean blank."""
    if answers is None or answers is ...:
        raise Blank
    if not isinstance(answers, Mapping) or set(answers) != set(names):
        wanted = ", ".join(f'"{name}"' for name in names)
        raise Mistake(f"A dictionary was wanted with {wanted}.")
    if any(answer is None or answer is ... for answer in answers.values()):
        raise Blank
    return dict(answers)


def names_among(what: str, answer: Any, known: tuple[str, ...]) -> set[str]:
    """Return an answer as a set of known names."""
    if isinstance(answer, str) or not isinstance(answer, set | frozenset | list | tuple):
        raise Mistake(f'{what}: a set of names was wanted, such as {{"{known[0]}"}}.')
    for name in answer:
        if name not in known:
            raise Mistake(f"{what}: {name!r} is not one of {'; '.join(known)}.")
    return set(answer)


def number_of(what: str, answer: Any) -> float:
    """The answer as one number."""
    if not isinstance(answer, str):
        try:
            number = float(answer)
        except (TypeError, ValueError, RuntimeError):
            pass
        else:
            if not math.isnan(number):  # NaN is never too far from anything
                return number
            raise Mistake(f"{what}: this is NaN, not a number.")
    raise Mistake(f"{what}: one number was wanted, this is {type(answer).__name__}.")


def close(answer: Tensor, wanted: Tensor) -> bool:
    """Whether two tensors agree to four decimals (NaN agrees with nothing)."""
    return bool(torch.allclose(answer, wanted.to(torch.float64), atol=5e-5, rtol=0))


def named(found: Tensor, wanted: Tensor, *mistakes: tuple[Tensor, str], otherwise: str) -> None:
    """Compare; raise the words of the first wrong answer that `found` is equal to, as a `Mistake`.

    Where it is none of them, raise the words `otherwise`.
    """
    if close(found.double(), wanted):
        return
    for wrong, words in mistakes:
        if close(found.double(), wrong):
            raise Mistake(words)
    raise Mistake(otherwise)
