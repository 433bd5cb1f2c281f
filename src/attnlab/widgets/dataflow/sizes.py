"""Sizes as they are written in a drawing: products, quotients and sums of names and whole numbers.

``n × d_k`` is a shape of two sizes; ``d_model / h`` and ``4·d × (d + 1)`` count. A text is read
here, once, into a tree: a whole number, a name, or [operation, left, right]. The page gets the
trees and works them out as ``value`` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["Tree", "most", "names_in", "parse", "product_of", "shape_of", "value"]

Tree = Any  # int, str or [operation, Tree, Tree]

LARGEST = 2**53 - 1  # the last whole number up to which JavaScript counts
_SIGNS = {"−": "-", "×": "*", "·": "*", "÷": "/"}
_WORD = re.compile(r"\s*(\d+|[^\W\d]\w*|[-−+*×·/÷()])")


def parse(text: str) -> Tree:
    """Read an expression: + and −, then × (also · and *) and /, from left to right; parentheses.

    Raises: ValueError for a text that is none.
    """
    words, at = [], 0
    rest = text.rstrip()
    while at < len(rest):
        found = _WORD.match(rest, at)
        if not found:
            raise ValueError(f"{text!r} cannot be read as sizes: {rest[at:].strip()[0]!r} is none")
        words.append(_SIGNS.get(found[1], found[1]))
        at = found.end()
    words.append("")
    tree, at = _sum(text, words, 0)
    if words[at]:
        raise ValueError(f"{text!r} cannot be read as sizes: {words[at]!r} has no place there")
    return tree


def _sum(text: str, words: list[str], at: int) -> tuple[Tree, int]:
    return _chain(text, words, at, ("+", "-"), _product)


def _product(text: str, words: list[str], at: int) -> tuple[Tree, int]:
    return _chain(text, words, at, ("*", "/"), _one)


def _chain(
    text: str,
    words: list[str],
    at: int,
    signs: tuple[str, str],
    part: Callable[[str, list[str], int], tuple[Tree, int]],
) -> tuple[Tree, int]:
    """Read parts with these signs between them, from the left."""
    tree, at = part(text, words, at)
    while words[at] in signs:
        other, after = part(text, words, at + 1)
        tree, at = [words[at], tree, other], after
    return tree, at


def _one(text: str, words: list[str], at: int) -> tuple[Tree, int]:
    word = words[at]
    if word == "(":
        tree, at = _sum(text, words, at + 1)
        if words[at] != ")":
            raise ValueError(f"{text!r} cannot be read as sizes: ) is missing")
        return tree, at + 1
    if not word or word in "+-*/)":
        where = f"before {word!r}" if word else "at its end"
        raise ValueError(f"{text!r} cannot be read as sizes: a name or a number is missing {where}")
    return (int(word) if word.isdecimal() else word), at + 1


def shape_of(text: str) -> list[Tree]:
    """Read a shape: expressions with × between them, outside parentheses; none of an empty text.

    Raises: ValueError as ``parse``.
    """
    if not text.strip():
        return []
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "×" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [parse(part) for part in parts]


def product_of(shape: Sequence[Tree]) -> Tree:
    """Return the tree of a shape's product, how many numbers it holds."""
    tree: Tree = shape[0] if shape else 1
    for one in shape[1:]:
        tree = ["*", tree, one]
    return tree


def names_in(tree: Tree) -> set[str]:
    """Return the names that a tree asks for."""
    if isinstance(tree, list):
        return names_in(tree[1]) | names_in(tree[2])
    return {tree} if isinstance(tree, str) else set()


def value(tree: Tree, sizes: Mapping[str, int]) -> int:
    """Return a tree's number.

    Raises: ValueError for a quotient that is not whole, a division by 0, a difference below 0, and
    a number that JavaScript could not count.
    """
    if not isinstance(tree, list):
        return sizes[tree] if isinstance(tree, str) else tree
    sign, left, right = tree[0], value(tree[1], sizes), value(tree[2], sizes)
    if sign == "/":
        if right == 0:
            raise ValueError(f"{left} / 0 has no value")
        if left % right:
            raise ValueError(f"{left} / {right} is not a whole number")
        return left // right
    if sign == "-" and left < right:
        raise ValueError(f"{left} − {right} is below 0")
    found = {"+": left + right, "-": left - right, "*": left * right}[sign]
    if found > LARGEST:
        raise ValueError("a number is too large to be counted")
    return found


def most(tree: Tree, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """Return the least and the most that a tree may come to, or a little less and more."""
    if not isinstance(tree, list):
        return ranges[tree] if isinstance(tree, str) else (tree, tree)
    (low, high), (other_low, other_high) = most(tree[1], ranges), most(tree[2], ranges)
    if tree[0] == "/":
        return low // max(other_high, 1), high // max(other_low, 1)
    if tree[0] == "-":
        return max(low - other_high, 0), max(high - other_low, 0)
    if tree[0] == "+":
        return low + other_low, high + other_high
    return low * other_low, high * other_high
