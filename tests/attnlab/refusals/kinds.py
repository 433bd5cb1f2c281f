"""The kinds of arguments that the lab has beside attention's, each with what is wrong with it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tests.attnbook.test_refused import IDS, INF, LENGTHS, NAN, Arg, Bad

NONSENSE = "nonsense"  # what no choice has
Wrong = tuple[Any, ...]  # a value, what of it the error shows, and the error where it is another


def arg(good: Any, *wrong: Wrong) -> Arg:
    return Arg(good, [Bad(*one) for one in wrong])


def count(good: int, least: int = 1, *more: Wrong) -> Arg:
    """A whole number."""
    wanted = f"be a whole number of at least {least}: it is"
    return arg(good, *((one, f"{wanted} {one!r}") for one in (least - 1, 2.5, True, "2")), *more)


def number(good: float, *wrong: Any) -> Arg:
    return Arg(good, [Bad(one, f"it is {one!r}") for one in (NAN, INF, "1", True, *wrong)])


def chance() -> Arg:
    return number(0.0, 1.0, -0.1)


def whole(good: Tensor, beyond: int | None, *wrong: Tensor) -> Arg:
    """Whole numbers (…) below ``beyond``, and such tensors of another shape."""
    bad = [
        Bad(good.tolist(), "a list", TypeError),
        Bad(good.float(), "float32"),
        Bad(good > 0, "bool"),
        *(Bad(one, "shape is") for one in wrong),
    ]
    if beyond is not None:
        bad += [Bad(good + beyond, str(int(good.flatten()[0]) + beyond)), Bad(good - beyond, "-")]
    return Arg(good, bad)


def positive(good: float, *wrong: Any) -> Arg:
    return number(good, 0.0, -1.0, *wrong)


def share(good: float = 0.0, *wrong: Any) -> Arg:
    several = (-0.1, 1.5, NAN, INF, *wrong)
    return arg(good, *((one, f"be from 0 to 1: it is {one!r}") for one in several))


def choice(good: object) -> Arg:
    return arg(good, (NONSENSE, f"it is {NONSENSE!r}"))


def kind(good: Any, *wrong: Any, also: tuple[Wrong, ...] = ()) -> Arg:
    """What must be of a class, or a function."""
    others = ((one, f"it is a {type(one).__name__}", TypeError) for one in (3, "x", *wrong))
    return arg(good, *others, *also)


def strings(good: Any, *more: Wrong, within: Callable[[Any], Any] = lambda one: one) -> Arg:
    """A list of strings, which may lie in something else."""
    wrong = {"'ab'": "ab", "made of strings: 3 is a int": [3], "None is a NoneType": ["a", None]}
    return arg(good, *((within(one), came, TypeError) for came, one in wrong.items()), *more)


def text(good: str, *more: Wrong) -> Arg:
    """One text for a pretrained model."""
    kinds = ((one, f"be a string: it is a {type(one).__name__}", TypeError) for one in (3, ["a"]))
    return arg(good, *kinds, ("\ud800", "be Unicode that can be written: '\\ud800'"), *more)


def texts(good: str, *more: Wrong) -> Arg:
    """One text or several for a pretrained model."""
    wrong = {"a bytes": b"a", "a NoneType": None, "be strings: 3 is a int": ["a", 3]}
    kinds = ((one, came, TypeError) for came, one in wrong.items())
    return arg(good, *kinds, ([], ": there is none"), *more)


def numbers(good: Any, *more: Wrong) -> Arg:
    """A list of whole numbers."""
    kinds = ((x, f"be a list of whole numbers: it is {x!r}", TypeError) for x in ("34", None))
    wrong = ([0.5], [NAN], [True], [[3]])
    inside = (([3, *one], f"be whole numbers: {one[0]} is among them") for one in wrong)
    return arg(good, *kinds, *inside, (torch.tensor([0.5]), "be whole numbers: 0.5"), *more)


def examples(second: Any, *sides: str) -> Arg:
    """Pairs whose ``sides`` are the numbers of words; ``second`` is right for the other side."""
    padding = (([3, x], f"be at least 1, for 0 is padding: {x} is among them") for x in (0, -1))
    bad = [Bad([([3], second), ([], second)], "token: that of pair 1 is empty", named=False)]
    for value, came, error, _ in numbers(None, *padding).bad:
        for side in sides:
            pair = (value, second) if side == "source" else ([3], value)
            told = f"the tokens of the {side} of pair 1 must {came}"
            bad.append(Bad([([3], second), pair], told, error, named=False))
    return Arg([([3], second), ([4, 5], second)], [*bad, Bad([], "hold at least one pair: ")])


def sentences(good: Any, *more: Wrong) -> Arg:
    """A list with something for each sentence, beside another such list."""
    told = "be a list of sentences: it is a"
    wrong = ((x, f"{told} {type(x).__name__}", TypeError) for x in ("a", {"a": 1}, {"a"}))
    return arg(good, *wrong, ([], "have the same number of sentences, at least 1: "), *more)


def links(good: Any, *more: Wrong) -> Arg:
    """The links of two sentences."""
    wanted = "hold links (source, target) of two positions, counted from 0: sentence 1 has"
    wrong = (([[], [one]], f"{wanted} {one}") for one in ((0, -1), (0.5, 0), (1, 2, 3), 7))
    return sentences(good, *wrong, *more)


TOKENS = whole(IDS, 9, IDS[0])
ENDS = ((LENGTHS[:1], "(1,)"), (LENGTHS + 1, "4 is among them"))


def embedded(beyond: int) -> Arg:
    """Tokens that attention's embeddings refuse, or its layers."""
    outside = whole(IDS, beyond).bad[3:]
    return Arg(IDS, [*outside, Bad(IDS[0], "shape is", named=False)])


LENGTHS_OF = arg(LENGTHS, *whole(LENGTHS, 9).bad, *ENDS)
