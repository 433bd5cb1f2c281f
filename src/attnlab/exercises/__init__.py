"""Checks for the lectures' exercises: they name the mistake, and never stop "run all".

A lecture's module holds one check an exercise: an ordinary function that takes the reader's
answer and raises `Mistake` where it is wrong. `exercise` turns it into what a lecture calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor


class Mistake(Exception):
    """What is wrong with an answer, in words for the reader."""


class Blank(Exception):
    """The answer still holds the three dots."""


def exercise(number: int) -> Callable[[Callable[[Any], str]], Callable[[Any], None]]:
    """Make a check print one line: correct and why, not yet and why, or still blank.

    The check returns what there is to learn from a right answer. Whatever the reader's code raises
    is reported, never raised again.
    """

    def decorate(check: Callable[[Any], str]) -> Callable[[Any], None]:
        @functools.wraps(check)
        def run(answer: Any) -> None:
            try:
                verdict = f"correct. {check(answer)}"
            except Blank:
                verdict = "still blank. Replace the three dots with your answer and run the cell."
            except Mistake as mistake:
                verdict = f"not yet. {mistake}"
            except Exception as error:
                verdict = f"not yet. Your code raised {type(error).__name__}: {error}"
            print(f"Exercise {number}: {verdict}")

        return run

    return decorate


def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the reader's function; no answer (None or three dots) means that it is blank."""
    if not callable(function):
        raise Mistake(f"A function was wanted, this is {type(function).__name__}.")
    # copies: what the reader's code does to them must not change what it is compared with
    answer = function(*(one.clone() if isinstance(one, Tensor) else one for one in arguments))
    if answer is None or answer is ...:
        raise Blank
    return answer


def tensor_of(answer: Any, shape: tuple[int, ...]) -> Tensor:
    """The answer as a tensor of the wanted shape, or a `Mistake` that shows both shapes."""
    try:
        if isinstance(answer, list | tuple) and any(isinstance(row, Tensor) for row in answer):
            answer = torch.stack([torch.as_tensor(row) for row in answer])
        answer = torch.as_tensor(answer)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = type(answer).__name__
        raise Mistake(f"A tensor or lists of numbers were wanted, this is {kind}.") from error
    if tuple(answer.shape) != shape:
        raise Mistake(f"The shape is {tuple(answer.shape)}, wanted is {shape}.")
    return answer.to(torch.float64)


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


def close(answer: Tensor, wanted: Tensor) -> bool:
    """Whether two tensors agree to four decimals (NaN agrees with nothing)."""
    return bool(torch.allclose(answer, wanted.to(torch.float64), atol=5e-5, rtol=0))


def named(found: Tensor, *mistakes: tuple[Tensor, str]) -> None:
    """Raise the words of the first wrong answer that `found` is equal to, as a `Mistake`."""
    for wrong, words in mistakes:
        if close(found.double(), wrong):
            raise Mistake(words)
