"""The checks of lecture 2, "Decoding"."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnbook.exercises import Mistake, called, close, exercise, tensor_of

Table = dict[tuple[str, ...], dict[str, float]]
Hypotheses = list[tuple[tuple[str, ...], float]]
_equal = partial(math.isclose, rel_tol=1e-5)  # float32 will do


def small_table() -> Table:
    """A table of next words in which greedy decoding misses the best sentence."""
    return {
        (): {"un": 0.3, "une": 0.6},
        ("un",): {"chat": 0.8, "chien": 0.2},
        ("une",): {"</s>": 0.1, "chatte": 0.5, "souris": 0.4},
        ("un", "chat"): {"</s>": 1.0},
        ("un", "chien"): {"</s>": 1.0},
        ("une", "chatte"): {"noire": 0.7, "</s>": 0.3},
        ("une", "souris"): {"</s>": 0.9},
        ("une", "chatte", "noire"): {"</s>": 0.5},
    }


def _pair(answer: Any, what: str) -> tuple[Any, Any]:
    """Return both parts of an answer, or a `Mistake` that says what was wanted."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise Mistake(f"Two things were wanted, {what}; this is {type(answer).__name__}.")
    return answer[0], answer[1]


@exercise(1)
def greedy_sentence(function: Callable[[Table], Any]) -> str:
    """`function(table)` must return greedy's words, a list with eos, and their probability."""
    found, number = _sentence(called(function, small_table()))
    for wrong, words in (
        ("une chatte noire", "Right so far, but the end of the sentence is a word too: keep </s>."),
        ("une chatte </s>", "You stopped where </s> is possible: it must be the most probable."),
        ("un chat </s>", "That is the most probable sentence: greedy decoding does not find it."),
    ):
        if found == wrong.split():
            raise Mistake(words)
    if found != ["une", "chatte", "noire", "</s>"]:
        raise Mistake(f"Greedy decoding writes other words than {' '.join(map(str, found))!r}.")
    for wrong, words in (
        (0.6 + 0.5 + 0.7 + 0.5, "You added the probabilities: multiply them (logarithms add up)."),
        (0.6 * 0.5 * 0.7, "The probability lacks its last factor, that of </s>."),
        (math.log(0.105), "That is log p: the probability itself was wanted."),
    ):
        if _equal(number, wrong):
            raise Mistake(words)
    if not _equal(number, 0.105):
        raise Mistake(f"The words are right, their probability is not {number:.4g}.")
    words, number = _sentence(called(function, small_table() | {(): {"un": 0.6, "une": 0.3}}))
    if words != ["un", "chat", "</s>"] or not _equal(number, 0.48):
        raise Mistake("Right for one table, and wrong for another that ends after three words.")
    return "One word at a time, 0.105 in the end; un chat would have had 0.24."


def _sentence(answer: Any) -> tuple[list[Any], float]:
    words, p = _pair(answer, "the words and their probability")
    if not isinstance(words, list | tuple):
        raise Mistake(f"A list of words was wanted, this is {type(words).__name__}.")
    return list(words), _number(p)


def _number(p: Any) -> float:
    try:
        return float(p)
    except (TypeError, ValueError) as error:
        raise Mistake(f"A number was wanted, this is {type(p).__name__}.") from error


@exercise(2)
def beam_step(function: Callable[[Hypotheses, Table, int], Any]) -> str:
    """`function(living, table, k)` must return the hypotheses that live on, and the ended."""
    living = [(("une",), math.log(0.6)), (("un",), math.log(0.3))]
    table, k = small_table(), 3
    table["une",] |= {"</s>": 0.45, "souris": 0.05}
    what = "those that live on and those that have ended"
    alive, ended = (_named(part) for part in _pair(called(function, list(living), table, k), what))
    right = [("une", "chatte"), ("un", "chat")], [("une", "</s>")]
    for wrong, words in _step_mistakes():
        if (sorted(alive), sorted(ended)) == tuple(sorted(part) for part in wrong):
            raise Mistake(words)
    if (list(alive), list(ended)) != right:
        if (sorted(alive), sorted(ended)) == tuple(map(sorted, right)):
            raise Mistake("The hypotheses are right, their order is not: best first.")
        raise Mistake("Other hypotheses were wanted. Write all five candidates down, and sort.")
    _check_log_p(alive | ended)
    fewer = _pair(called(function, list(living), table, 2), what)
    if tuple(list(_named(part)) for part in fewer) != ([("une", "chatte")], [("une", "</s>")]):
        raise Mistake("Right for k = 3; with k = 2 'une chatte' and 'une </s>' have the places.")
    return "All continuations compete for the k places, and one of the places ends here."


def _check_log_p(found: dict[tuple[str, ...], float]) -> None:
    sure: dict[tuple[str, ...], float] = {
        ("une", "chatte"): math.log(0.6) + math.log(0.5),
        ("un", "chat"): math.log(0.3) + math.log(0.8),
        ("une", "</s>"): math.log(0.6) + math.log(0.45),
    }
    number = found["une", "chatte"]
    if _equal(number, math.log(0.6) + 0.5):
        raise Mistake("You added the probability to log p: take its logarithm first.")
    if _equal(number, math.log(0.5)):
        raise Mistake("That is the last word's log p alone: add it to the parent's.")
    for prefix, log_p in found.items():
        if _equal(log_p * len(prefix), sure[prefix]):
            raise Mistake("You divided by the length: that belongs to the ranking at the end.")
        if not _equal(log_p, sure[prefix]):
            raise Mistake(f"log p of {prefix} is {sure[prefix]:.3f}, yours is {log_p:.3f}.")


def _named(part: Any) -> dict[tuple[str, ...], float]:
    """Return prefix → log p, in order, or a `Mistake` that says what was wanted."""
    try:
        pairs = [(tuple(prefix), float(log_p)) for prefix, log_p in part]
    except (TypeError, ValueError) as error:
        raise Mistake("Each part must be a list of pairs (prefix, log_p).") from error
    if len(dict(pairs)) < len(pairs):
        raise Mistake("A hypothesis is there twice.")
    return dict(pairs)


def _step_mistakes() -> list[tuple[tuple[list[Any], list[Any]], str]]:
    """Return wrong steps, (alive, ended), and what to say of each."""
    chatte, end, chat = ("une", "chatte"), ("une", "</s>"), ("un", "chat")
    souris, chien = ("une", "souris"), ("un", "chien")
    return [
        (([chatte, chat, end], []), "What ends in </s> must be put aside: it cannot go on."),
        (([chatte, chat], []), "You dropped what has ended: it belongs into the second list."),
        (([chatte, chat, chien, souris], [end]), "You kept everything: only k have a place."),
        (([chatte, chat, chien], [end]), "The k places are for all candidates, ended ones too."),
        (([chatte, souris, chat, chien], [end]), "You kept k for each parent: they all compete."),
        (([souris, chien, chat], []), "You kept the worst k: log p is best where it is greatest."),
        (([chatte], [end]), "You extended the best hypothesis alone: the second competes too."),
    ]


@exercise(3)
def best_by_score(function: Callable[[Hypotheses, float], Any]) -> str:
    """`function(hypotheses, alpha)` must return the words of the best by log p / n^α."""
    given = [
        (("oui", "</s>"), -2.0),
        (("un", "chat", "</s>"), -1.9),
        (("un", "chat", "noir", "</s>"), -2.25),
        (("un", "petit", "chat", "noir", "</s>"), -4.2),
    ]
    alphas = (0.0, 0.5, 1.0, 3.0)
    found = [_words(called(function, list(given), alpha)) for alpha in alphas]
    right = [_best(given, lambda lp, n, a=a: lp / n**a) for a in alphas]
    for score, words in (
        (lambda lp, n, a: lp, "That is the best log p for every α: divide it by n^α."),
        (lambda lp, n, a: lp / n, "For α > 0 you divide by n whatever α is: divide by n^α."),
        (lambda lp, n, a: lp * n**a, "You multiply by n^α: dividing is what helps long ones."),
        (lambda lp, n, a: lp / max(n * a, 1e-9), "You divide by n, or by n·α: α is an exponent."),
        (lambda lp, n, a: lp / ((5 + n) / 6) ** a, "That is the divisor of Wu et al.: here, n^α."),
        (lambda lp, n, a: -lp / n**a, "You chose the lowest score: log p is at most 0."),
        (lambda lp, n, a: lp / (n - 1) ** a, "Your n leaves </s> out: it counts, as a word."),
    ):
        wrong = [_best(given, lambda lp, n, a=a, s=score: s(lp, n, a)) for a in alphas]
        if found == wrong and found != right:
            raise Mistake(words)
    if found != right:
        raise Mistake("Another hypothesis has the best log p / n^α. Try α = 0 and α = 1 by hand.")
    return "α = 0 takes log p as it is, and a large α the longest, whatever it says."


def _words(answer: Any) -> tuple[str, ...]:
    if not isinstance(answer, tuple | list) or not all(isinstance(w, str) for w in answer):
        raise Mistake("The best one's words were wanted, not its pair, its index or a string.")
    return tuple(answer)


def _best(given: Hypotheses, score: Callable[[float, int], float]) -> tuple[str, ...]:
    return max(given, key=lambda one: score(one[1], len(one[0])))[0]


@exercise(4)
def clipped_matches(function: Callable[[list[str], list[str], int], Any]) -> str:
    """`function(output, reference, n)` must return the clipped matches, and the n-grams."""
    output = ["la", "la", "la", "petite", "pomme", "la", "petite", "pomme", "rouge", "rouge"]
    reference = ["la", "petite", "pomme", "la", "pomme", "rouge"]
    answers = [_pair(called(function, output[:], reference[:], n), "two counts") for n in (1, 2, 3)]
    found = [(_number(matches), _number(grams)) for matches, grams in answers]
    right = [_matches(output, reference, n) for n in (1, 2, 3)]
    for wrong, words in _count_mistakes(output, reference, right):
        if found == wrong and found != right:
            raise Mistake(words)
    if found != right:
        raise Mistake(f"For n = 1, 2 and 3 you say {_shown(found)}, wanted is {_shown(right)}.")
    return "The smaller of the two counts: that is all of clipping."


def _count_mistakes(
    output: list[str], reference: list[str], right: list[tuple[int, int]]
) -> list[tuple[list[Any], str]]:
    """Return wrong counts for n = 1, 2 and 3, and what to say of each."""
    both = [(_grams(output, n), _grams(reference, n)) for n in (1, 2, 3)]
    matches = [count for count, _ in right]
    shorter = output[:-1], reference[:-1]
    return [
        (
            [_matches(*shorter, n) for n in (1, 2, 3)],
            "The last n-gram is missing: N words have N − n + 1 of them.",
        ),
        (
            [(sum(c for g, c in a.items() if g in b), a.total()) for a, b in both],
            "You do not clip: the reference has 'la' twice, so two of the output's count.",
        ),
        (
            [(len(a.keys() & b.keys()), a.total()) for a, b in both],
            "You count each n-gram once: use the smaller of the two counts.",
        ),
        (
            [(m, b.total()) for m, (_, b) in zip(matches, both, strict=True)],
            "Right matches, but you counted the reference's n-grams: that would be recall.",
        ),
        ([right[0]] * 3, "You always count single words: n is the length of the n-gram."),
        (
            [(m, len(a)) for m, (a, _) in zip(matches, both, strict=True)],
            "Right matches, but count all n-grams of the output, repeated ones too.",
        ),
        (
            [(m, len(output)) for m in matches],
            "Ten words have nine pairs: count the n-grams, not the words.",
        ),
    ]


def _shown(counts: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{a:g} of {b:g}" for a, b in counts)


def _grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _matches(output: list[str], reference: list[str], n: int) -> tuple[int, int]:
    mine = _grams(output, n)
    return (mine & _grams(reference, n)).total(), mine.total()


@exercise(5)
def at_temperature(function: Callable[[Tensor, float], Any]) -> str:
    """`function(p, temperature)` must return softmax(log p / T)."""
    p, t = torch.tensor([0.5, 0.25, 0.2, 0.05], dtype=torch.float64), 0.4
    found = tensor_of(called(function, p.clone(), t), (4,))
    right = torch.softmax(p.log() / t, 0)
    for wrong, words in (
        (torch.softmax(p / t, 0), "You divided p itself: divide log p, before the softmax."),
        (torch.softmax(p.log() * t, 0), "You multiplied by T: a T below 1 must sharpen."),
        (p / t, "Dividing p by T changes no proportion, and the sum is not 1."),
        (p, "These are the probabilities as they came: T = 0.4 must sharpen them."),
        (p ** (1 / t), "The proportions are right, but the sum is not 1: divide by it."),
        (p.log() / t, "These are logarithms: the softmax is still to come."),
        (torch.softmax(p.log2() / t, 0), "Use the natural logarithm: the softmax undoes that one."),
    ):
        if close(found, wrong):
            raise Mistake(words)
    if not close(found, right):
        raise Mistake("The probabilities are wrong. At T = 1 your function must return p.")
    if not close(tensor_of(called(function, p.clone(), 3.0), (4,)), torch.softmax(p.log() / 3, 0)):
        raise Mistake("Right for T = 0.4, and wrong for T = 3.")
    return "It is p^(1/T), divided by its sum: order stays, evenness changes."


@exercise(6)
def missed_and_preferred(function: Callable[[Hypotheses, Hypotheses], Any]) -> str:
    """`function(found, references)` must count the references missed, and the model errors."""
    chat, chien, pomme = ("un", "chat"), ("un", "chien"), ("la", "pomme")
    found = [(chat, -1.0), (chien, -2.0), (pomme, -1.5), (chat, -3.0), (pomme, -0.5), (chien, -2.5)]
    wanted = [(chat, -1.0), (chat, -1.8), (chat, -2.5), (pomme, -4.0), (chat, -0.9), (chien, -2.5)]
    answer = called(function, list(found), list(wanted))
    counts = tuple(map(_number, _pair(answer, "two counts")))
    for wrong, words in (
        ((3, 1), "The two are swapped: missed is a reference with the greater log p."),
        ((1, 5), "Translations that are right are no errors: leave them out."),
    ):
        if counts == wrong:
            raise Mistake(words)
    if counts != (1, 3):
        raise Mistake(f"1 is missed, 3 are model errors; you say {counts[0]:g} and {counts[1]:g}.")
    if tuple(map(_number, _pair(called(function, found[:2], wanted[:2]), "two counts"))) != (1, 0):
        raise Mistake("Right for six sentences, and wrong for the first two of them.")
    return "Reading the reference once tells the two apart; no wider search is needed."
