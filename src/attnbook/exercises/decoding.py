"""The checks of lecture 2, "Decoding"."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from attnbook.exercises import Blank, Mistake, called, exercise

Row = dict[str, float]
Prefix = tuple[str, ...]
EOS = "<eos>"
# what an exact search may not lean on: the lecture's searches and the package's
READY_MADE = {"beam_search", "greedy", "search_by_hand", "one_step", "all_sentences", "compete"}
_MOST_ASKED = 1_000  # of an endless table; depth first, skipping what cannot win, it takes 30
_equal = partial(math.isclose, rel_tol=1e-4)


def small_table() -> dict[Prefix, Row]:
    """A table of next words in which the best sentence begins with the least probable word."""
    return {
        (): {"un": 0.3, "une": 0.45, "minou": 0.2},
        ("un",): {"chat": 0.8, "chien": 0.2},
        ("une",): {EOS: 0.1, "chatte": 0.5, "souris": 0.4},
        ("minou",): {"noir": 0.95},
        ("un", "chat"): {EOS: 0.5, "noir": 0.4},
        ("un", "chien"): {EOS: 1.0},
        ("une", "chatte"): {"noire": 0.7, EOS: 0.3},
        ("une", "souris"): {EOS: 0.9},
        ("minou", "noir"): {EOS: 0.98},
        ("un", "chat", "noir"): {EOS: 1.0},
        ("une", "chatte", "noire"): {EOS: 0.6},
    }


def _endless(prefix: Prefix) -> Row:
    """A table without an end: after any beginning come four words, or the end of the sentence."""
    draws = random.Random(" ".join(prefix))
    shares = [draws.random() ** 2 for _ in range(4)]
    end = 0.01 if len(prefix) < 3 else 0.3
    total = sum(shares) / (1 - end)
    return {word: share / total for word, share in zip("abcd", shares, strict=True)} | {EOS: end}


def _best(following: Callable[[Prefix], Row]) -> tuple[list[str], float]:
    """The most probable sentence: the most probable beginning is extended until it has ended."""
    open_, prefix, p = dict[Prefix, float](), (), 1.0
    while prefix[-1:] != (EOS,):
        open_ |= {(*prefix, word): p * share for word, share in following(prefix).items()}
        prefix = max(open_, key=open_.__getitem__)
        p = open_.pop(prefix)
    return list(prefix), p


@exercise(2)
def exact_search(function: Callable[[Callable[[Prefix], Row]], Any]) -> str:
    """`function(following)` must return the most probable sentence's words and probability."""
    used = set(getattr(getattr(function, "__code__", None), "co_names", ()))
    if found := sorted((used | {getattr(function, "__name__", "")}) & READY_MADE):
        raise Mistake(f"{found[0]} is the lecture's: write the search yourself.")
    words, p = _sentence(called(function, lambda prefix: dict(small_table()[prefix])))
    for wrong, said in (
        ("une chatte noire <eos>", "That is greedy's sentence: a less probable word may lead on."),
        ("un chat <eos>", "That is what a beam of two finds: a wider one finds a better sentence."),
        ("une <eos>", "That is the shortest: a longer one may be more probable."),
        ("minou noir", "Right so far, but the end of the sentence is a word too: keep <eos>."),
    ):
        if words == wrong.split():
            raise Mistake(said)
    if words != ["minou", "noir", EOS]:
        raise Mistake(f"{' '.join(map(str, words))!r} is not the most probable sentence.")
    right = 0.2 * 0.95 * 0.98
    if _equal(p, math.log(right)):
        raise Mistake("That is log p: the probability itself was wanted.")
    if not _equal(p, right):
        raise Mistake(f"The words are right, their probability is {right:.4f}, not {p:.4g}.")
    return _check_endless(function)


def _check_endless(function: Callable[..., Any]) -> str:
    asked: list[Prefix] = []

    def following(prefix: Prefix) -> Row:
        asked.append(tuple(prefix))
        if len(asked) > _MOST_ASKED or len(prefix) > 200:
            raise Mistake(
                "Right for a small table. On one without an end your search does not stop: skip "
                "each beginning that is no more probable than the best sentence so far."
            )
        return _endless(tuple(prefix))

    if _sentence(called(function, following))[0] != _best(_endless)[0]:
        raise Mistake("Right for a small table, and wrong for one without an end.")
    return f"{len(asked)} beginnings were looked at, of a table that has no end."


def _sentence(answer: Any) -> tuple[list[Any], float]:
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        kind = type(answer).__name__
        raise Mistake(f"Two things were wanted, the words and their probability; this is {kind}.")
    words, p = answer
    if not isinstance(words, list | tuple):
        raise Mistake(f"A list of words was wanted, this is {type(words).__name__}.")
    return list(words), _number(p)


def _number(p: Any) -> float:
    try:
        return float(p)
    except (TypeError, ValueError) as error:
        raise Mistake(f"A number was wanted, this is {type(p).__name__}.") from error


def _answers(findings: Any, names: list[str]) -> dict[str, Any]:
    """Return the reader's dictionary, or say that it is blank or has other names."""
    if findings is None or findings is ...:
        raise Blank
    if not isinstance(findings, Mapping) or set(findings) != set(names):
        wanted = ", ".join(f'"{name}"' for name in names)
        raise Mistake(f"A dictionary was wanted with {wanted}.")
    if any(one is ... for one in findings.values()):
        raise Blank
    return dict(findings)


@exercise(3)
def all_places_alike(findings: Any) -> str:
    """`findings` says what a search finds where all k places begin with log p = 0."""
    found = _answers(findings, ["different", "best", "like"])
    different, best, like = (_number(found[name]) for name in ("different", "best", "like"))
    if different != 1:
        raise Mistake(f"different: {different:g} is not it. Print all that the search returns.")
    if _equal(best, 0.1824):
        raise Mistake("best: that is what the right search finds. Did all places begin with 0?")
    if _equal(best, math.log(0.1026)):
        raise Mistake("best: that is log p. Its exponential was wanted.")
    if not math.isclose(best, 0.1026, abs_tol=6e-5):
        raise Mistake(f"best: {best:.4g} is not it. Search the table of Figure 2.1 with k = 3.")
    if like != 1:
        raise Mistake(f"like: with k = {like:g} the right search finds another sentence.")
    return "Copies stay copies: it is greedy decoding, at three times the cost."


def three_translators() -> dict[str, dict[str, float]]:
    """Measures of three translators, made up to be read."""
    names = ["right", "missed", "model errors", "BLEU, k = 4", "BLEU, k = 64", "words"]
    rows = {
        "A": [0.40, 0.02, 0.58, 38.1, 31.0, 8.1],
        "B": [0.30, 0.25, 0.45, 30.4, 36.2, 10.9],
        "C": [0.35, 0.01, 0.64, 33.0, 33.1, 11.1],
    }
    return {name: dict(zip(names, row, strict=True)) for name, row in rows.items()}


@exercise(4)
def read_the_measures(findings: Any) -> str:
    """`findings` says which of three translators needs what, and what search could reach."""
    found = _answers(findings, ["search", "divide", "train", "most"])
    letters = {name: str(found[name]).strip().upper() for name in ("search", "divide", "train")}
    for name, right, why in (
        ("search", "B", "for which one does the model score many references above what was found?"),
        ("divide", "A", "whose sentences are too short, and get worse as the beam gets wider?"),
        ("train", "C", "which one misses no references, has the right length, and still errs?"),
    ):
        if letters[name] != right:
            raise Mistake(f"{name}: not {letters[name]}. Ask: {why}")
    most = _number(found["most"])
    if _equal(most, 0.3):
        raise Mistake("most: that is what it has now. Some references are missed by the search.")
    if _equal(most, 1.0):
        raise Mistake("most: no search returns a reference that the model scores too low.")
    if _equal(most, 0.75):
        raise Mistake("most: model errors cannot be mended by search, missed references can.")
    if not _equal(most, 0.55):
        raise Mistake(f"most: {most:g} is not it. Which two of the three shares can be right?")
    return "An upper bound: a better search may also find what the model likes better still."


def opinions_table() -> dict[str, Row]:
    """What follows each word, in a language that likes to go round in circles."""
    return {
        ".": {"the": 0.7, "a": 0.3},
        "the": {"food": 0.5, "film": 0.3, "end": 0.2},
        "a": {"film": 0.6, "lot": 0.4},
        "food": {"was": 0.9, "is": 0.1},
        "film": {"was": 1.0},
        "end": {".": 1.0},
        "lot": {".": 0.8, "of": 0.2},
        "was": {"a": 0.5, "good": 0.4, "the": 0.1},
        "is": {"good": 1.0},
        "good": {".": 1.0},
        "of": {"food": 1.0},
    }


def _unrepeated(table: dict[str, Row], first: str, length: int, *, block: bool = True) -> list[str]:
    words, seen = [first], set[tuple[str, str]]()
    while len(words) <= length:
        row = table[words[-1]]
        allowed = [word for word in row if (words[-1], word) not in seen or not block]
        if not allowed:
            break
        words.append(max(allowed, key=row.__getitem__))
        seen.add((words[-2], words[-1]))
    return words[1:]


def _new_words(table: dict[str, Row], first: str, length: int) -> list[str]:
    """Greedy decoding in which no word may come again: a wrong answer."""
    words = [first]
    while len(words) <= length:
        allowed = [word for word in table[words[-1]] if word not in words]
        if not allowed:
            break
        words.append(max(allowed, key=table[words[-1]].__getitem__))
    return words[1:]


@exercise(5)
def no_pair_twice(function: Callable[[Callable[[str], Row], str, int], Any]) -> str:
    """`function(following, first, length)` must write greedily, no pair of words twice."""
    table = opinions_table()

    def answer(length: int) -> list[Any]:
        found = called(function, lambda word: dict(table[word]), ".", length)
        if not isinstance(found, list | tuple):
            raise Mistake(f"A list of words was wanted, this is {type(found).__name__}.")
        return list(found)

    found, right = answer(8), _unrepeated(table, ".", 8)
    if found == [".", *right] or found == [".", *right[:-1]]:
        raise Mistake("The first word is given: return those that come after it.")
    if found == _unrepeated(table, ".", 8, block=False):
        raise Mistake("That is greedy decoding as it was: it writes 'the food' again.")
    if found == _new_words(table, ".", 8):
        raise Mistake("You forbid a word that is there already: only pairs may not come again.")
    if found != right:
        same = [a == b for a, b in zip(found, right, strict=False)]
        so_far = " ".join([".", *right[: [*same, False].index(False)]])
        raise Mistake(f"After '{so_far}' another word was wanted, the best that makes no old pair.")
    longest = _unrepeated(table, ".", 100)
    if answer(100) != longest:
        raise Mistake("Right for 8 words. Where every word would make an old pair, stop.")
    return f"Here it stops after {len(longest)} words: each one more would make an old pair."
