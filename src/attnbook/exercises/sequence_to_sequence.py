"""The checks of lecture 1, "Sequence to sequence"."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from attnbook.exercises import Mistake, called, close, exercise, tensor_of
from attnbook.training.losses import sequence_loss

TOKENS = ("<pad>", "<bos>", "<eos>", "the", "cat", "apple", "eats")
SENTENCE = ("the", "cat", "eats", "the", "apple")
CHANCES = [[0.5, 0.25, 0.125], [0.1]]  # of two sentences, three words and one
BOS, EOS = 1, 2


@exercise(1)
def numbers_of_a_sentence(function: Callable[[list[str], list[str]], Any]) -> str:
    """`function(tokens, sentence)` must return the numbers, with those of bos and eos around."""
    found = _numbers(called(function, list(TOKENS), list(SENTENCE)))
    words = [TOKENS.index(word) for word in SENTENCE]
    wanted = [BOS, *words, EOS]
    _equal_to_none(
        found,
        (words, "<bos> in front and <eos> behind are missing."),
        ([BOS, *words], "<eos> is missing: nothing would tell the decoder to stop."),
        ([*words, EOS], "<bos> is missing: the decoder would have nothing to read first."),
        ([EOS, *words, BOS], "<bos> and <eos> changed places."),
        ([n + 1 for n in wanted], "You count from 1: the first token, <pad>, has number 0."),
        (
            [n - 3 if n > EOS else n for n in wanted],
            "You count the words from 0. The special tokens are on the list: words begin at 3.",
        ),
        (
            [BOS, *sorted(set(words)), EOS],
            "A word that comes twice has its number twice, and the order is the sentence's.",
        ),
    )
    return _numbers_are_right(function, found, wanted)


def _numbers_are_right(function: Callable[..., Any], found: list[int], wanted: list[int]) -> str:
    if found != wanted:
        raise Mistake(f"For {' '.join(SENTENCE)} you return {found}, wanted is {wanted}.")
    turned = [*TOKENS[:3], *TOKENS[:2:-1]]
    other = [turned.index(word) for word in ("<bos>", "cat", "<eos>")]
    if _numbers(called(function, turned, ["cat"])) != other:
        raise Mistake("Right for one vocabulary, wrong for another: look each word up in `tokens`.")
    return "A look-up, and nothing is learnt in it. The vectors are."


@exercise(2)
def shifted_target(function: Callable[[list[int]], Any]) -> str:
    """`function(target)` must return what the decoder reads and what it is to say."""
    target = [7, 5, 9]
    found = _two_lists(called(function, list(target)))
    read, say, whole = [BOS, *target], [*target, EOS], [BOS, *target, EOS]
    _equal_to_none(
        found,
        (
            (say, read),
            "The two changed places: the decoder reads <bos> first, and says <eos> last.",
        ),
        ((whole, whole), "Both are the whole sentence: it would be asked to say what it reads."),
        ((target, target), "Nothing is shifted: it would be asked to say what it reads."),
        ((read, target), "Nobody asks for <eos>, so the model never learns to stop."),
        ((target, say), "The first word is read before it is said: it must read <bos> there."),
        ((read, read), "It is to say the *next* word at each step, not the one it reads."),
        ((whole, say), "After <eos> nothing is asked: drop it from what is read."),
    )
    if found != (read, say):
        raise Mistake(f"For {target} you return {found}, wanted is {(read, say)}.")
    if _two_lists(called(function, [4])) != ([BOS, 4], [4, EOS]):
        raise Mistake("Right for three words, wrong for one.")
    return "At each place the second list holds what follows the first: one shift, no loop."


def cell() -> tuple[Tensor, Tensor, dict[str, Tensor], dict[str, Tensor]]:
    """A word (3,), a state (3,), and the matrices of a GRU without biases."""
    generator = torch.Generator().manual_seed(1)
    drawn = torch.randn(8, 3, 3, generator=generator, dtype=torch.float64)
    w, u = (dict(zip("rzn", part, strict=True)) for part in (drawn[:3], drawn[3:6]))
    return drawn[6, 0], torch.tanh(drawn[7, 0]), w, u


@exercise(3)
def gru_of_the_paper(function: Callable[..., Any]) -> str:
    """`function(x, h, w, u)` must return the new state of Cho et al.'s GRU, (d,)."""
    x, h, w, u = cell()
    found = tensor_of(called(function, x, h, w, u), (3,))
    _close_to_none(found, *_mistakes_of_a_gru(x, h, w, u))
    if not close(found, _new_state(x, h, w, u)):
        raise Mistake("The state is wrong. Print r and z first: both lie between 0 and 1.")
    return "As 0 < z < 1, each new number lies between the old one and the candidate."


def _new_state(x: Tensor, h: Tensor, w: Any, u: Any, gate: Any = torch.sigmoid) -> Tensor:
    r, z = (gate(x @ w[name] + h @ u[name]) for name in "rz")
    return (1 - z) * torch.tanh(x @ w["n"] + (r * h) @ u["n"]) + z * h


def _mistakes_of_a_gru(
    x: Tensor, h: Tensor, w: dict[str, Tensor], u: dict[str, Tensor]
) -> list[tuple[Tensor, str]]:
    """Wrong states, each with what is wrong."""
    r, z = (torch.sigmoid(x @ w[gate] + h @ u[gate]) for gate in "rz")
    word, matrix = x @ w["n"], u["n"]
    plain = word + (r * h) @ matrix
    n, kept = torch.tanh(plain), z * h
    theirs, no_reset = torch.tanh(word + r * (h @ matrix)), torch.tanh(word + h @ matrix)
    swapped = (1 - r) * torch.tanh(word + kept @ matrix) + r * h
    columns = _new_state(x, h, *({k: m.T for k, m in part.items()} for part in (w, u)))
    return [
        (z * n + (1 - z) * h, "z lets the new state in. Here it keeps the old one: z ⊙ h."),
        (
            (1 - z) * theirs + kept,
            "That is PyTorch's. Here r meets h before the matrix: (r ⊙ h) U_n.",
        ),
        ((1 - z) * no_reset + kept, "The reset gate is not used: the candidate sees r ⊙ h."),
        ((1 - z) * torch.sigmoid(plain) + kept, "It is a tanh: only the gates are sigmoids."),
        ((1 - z) * plain + kept, "The candidate lacks its tanh."),
        (swapped, "The two gates changed places."),
        (
            _new_state(x, h, w, u, torch.tanh),
            "The gates are sigmoids: an r or a z below 0 makes no sense.",
        ),
        (columns, "The vectors are rows here: `x @ w`, not `w @ x`."),
        (n, "That is the candidate: the old state still has its share, z."),
        (n + kept, "The candidate's share is 1 − z, so that the shares sum to 1."),
    ]


def batch() -> tuple[Tensor, Tensor]:
    """Logits (3, 4, 6) and a target (3, 4) with sentences of 4, 2 and 1 tokens."""
    generator = torch.Generator().manual_seed(2)
    logits = 2 * torch.randn(3, 4, 6, generator=generator, dtype=torch.float64)
    return logits, torch.tensor([[3, 5, 4, 2], [4, 2, 0, 0], [2, 0, 0, 0]])


@exercise(4)
def loss_of_a_batch(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(logits, target)` must return the mean −log p of the real tokens."""
    logits, target = batch()
    found = tensor_of(called(function, logits, target), ())
    _close_to_none(found, *_mistakes_of_padding(logits, target))
    _close_to_none(found, *_mistakes_of_logarithms(logits, target))
    if not close(found, sequence_loss(logits, target)):
        raise Mistake("The loss is wrong. Print −log p of each token first, of shape (3, 4).")
    return "`cross_entropy(…, ignore_index=0)` does the same in one call."


def _surprise(logits: Tensor, target: Tensor, axis: int = -1) -> Tensor:
    return -torch.log_softmax(logits, axis).gather(-1, target[..., None])[..., 0]


def _mistakes_of_padding(logits: Tensor, target: Tensor) -> list[tuple[Tensor, str]]:
    """Wrong ways to count the tokens."""
    each, real = _surprise(logits, target), target != 0
    kept = torch.where(real, each, 0.0)
    return [
        (each.mean(), "Padding is counted: leave the places out where the target is 0."),
        (kept.mean(), "The padding's sum is 0 now, but you still divide by all places."),
        (kept.sum(), "That is the sum: divide it by the number of real tokens."),
        (each.sum() / real.sum(), "The padding is still in the sum above the line."),
        (each[target > EOS].mean(), "<eos> is a real token: only 0 is padding."),
        (kept.sum() / len(target), "You divide by the sentences: divide by the real tokens."),
        (
            (kept.sum(1) / real.sum(1)).mean(),
            "That is the mean of the sentences' means: a word of a short one counts more. "
            "Every token is to count the same.",
        ),
    ]


def _mistakes_of_logarithms(logits: Tensor, target: Tensor) -> list[tuple[Tensor, str]]:
    """Wrong ways to make −log p of logits."""
    real = target != 0
    each = _surprise(logits, target)[real]
    chosen = logits.gather(-1, target[..., None])[..., 0][real]
    axis = "The softmax runs over the vocabulary, the last axis."
    return [
        (-each.mean(), "The sign is wrong: log p is negative, the loss is −log p."),
        (-torch.exp(-each).mean(), "The logarithm is missing."),
        (-chosen.mean(), "Logits are not log p: the softmax is missing."),
        *((_surprise(logits, target, dim)[real].mean(), axis) for dim in (0, 1)),
        (each.mean() / math.log(2), "That is in bits: take the natural logarithm."),
        (each.mean().exp(), "That is the perplexity: the loss is its logarithm."),
    ]


@exercise(5)
def perplexity_of(function: Callable[[Sequence[Sequence[float]]], Any]) -> str:
    """`function(sentences)` must return exp of the mean −log p over all words."""
    found = float(tensor_of(called(function, [list(row) for row in CHANCES]), ()))
    logs = [-math.log(p) for row in CHANCES for p in row]
    wanted = math.exp(sum(logs) / len(logs))
    for wrong, what in _mistakes_of_perplexity(logs):
        if math.isclose(found, wrong, rel_tol=1e-6):
            raise Mistake(what)
    if not math.isclose(found, wanted, rel_tol=1e-6):
        raise Mistake(f"You return {found:.4f}, wanted is {wanted:.4f}.")
    if not math.isclose(float(called(function, [[0.2, 0.2]])), 5, rel_tol=1e-6):
        raise Mistake("Right for these words, wrong for two of probability 0.2: wanted is 5.")
    try:
        long = float(called(function, [[0.1] * 200] * 2))
    except (ArithmeticError, ValueError):  # 1/0, or the logarithm of 0
        long = math.inf
    if not math.isclose(long, 10, rel_tol=1e-6):
        raise Mistake("Wrong for 400 words: a product of so many underflows. Add logarithms.")
    return "A model that gives every word 1/V has perplexity V."


def _mistakes_of_perplexity(logs: list[float]) -> list[tuple[float, str]]:
    """Wrong means of the words' −log p, of which the last is a sentence by itself."""
    n, words = len(logs), [math.exp(-one) for one in logs]
    means = [sum(logs[:-1]) / (n - 1), logs[-1]]
    return [
        (sum(logs) / n, "That is the mean −log p: the perplexity is its exponential."),
        (math.exp(sum(logs) / 2), "You divide by the number of sentences: divide by the words'."),
        (math.exp(sum(logs)), "You took the sum of −log p: take its mean over the words."),
        (n / sum(words), "That is one over the mean probability. The mean is one of logarithms."),
        (sum(1 / p for p in words) / n, "That is the mean of 1/p. The mean is one of logarithms."),
        (
            math.exp(sum(means) / 2),
            "You averaged sentence by sentence: the short one has one word, and counts as one.",
        ),
        (
            sum(map(math.exp, means)) / 2,
            "That is the mean of the sentences' perplexities: take one mean over all words.",
        ),
        (2 ** (sum(logs) / n), "Base 2 belongs to logarithms of base 2: take exp here."),
        (math.exp(-sum(logs) / n), "The sign is wrong: a perplexity is never below 1."),
    ]


@exercise(6)
def summary_of_a_sentence(function: Callable[..., Any]) -> str:
    """`function(left, right, w, b)` must return the summary s_0 of a sentence, (d,)."""
    generator = torch.Generator().manual_seed(3)
    left, right = torch.randn(2, 3, 2, generator=generator, dtype=torch.float64).tanh()
    drawn = torch.randn(5, 4, generator=generator, dtype=torch.float64)
    w, b = drawn[:4], drawn[4]
    found = tensor_of(called(function, left, right, w, b), (4,))

    def made(one: Tensor, other: Tensor) -> Tensor:
        return torch.cat([one, other]) @ w + b

    first = right[0]
    _close_to_none(
        found,
        (made(left[-1], right[-1]).tanh(), "The reader from the right ends at the first word."),
        (made(left[0], right[-1]).tanh(), "Those are the states where each reader begins."),
        (made(left[0], first).tanh(), "The reader from the left ends at the last word."),
        (made(first, left[-1]).tanh(), "The halves changed places: the left reader's comes first."),
        (made(left[-1], first), "The tanh is missing."),
        ((made(left[-1], first) - b).tanh(), "The bias is missing."),
        ((w @ torch.cat([left[-1], first]) + b).tanh(), "Vectors are rows here: `@ w`."),
    )
    if not close(found, made(left[-1], first).tanh()):
        raise Mistake("The summary is wrong. Join two states first: that makes 4 numbers.")
    return "Two ends, one matrix: all that the decoder gets of the source."


def _equal_to_none(found: Any, *mistakes: tuple[Any, str]) -> None:
    """Raise the words of the first wrong answer that `found` equals."""
    for wrong, words in mistakes:
        if found == wrong:
            raise Mistake(words)


def _close_to_none(found: Tensor, *mistakes: tuple[Tensor, str]) -> None:
    """Raise the words of the first wrong answer that `found` is close to."""
    for wrong, words in mistakes:
        if close(found, wrong):
            raise Mistake(words)


def _two_lists(answer: Any) -> tuple[list[int], list[int]]:
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Mistake("Two lists were wanted: `return read, say`.")
    return _numbers(answer[0]), _numbers(answer[1])


def _numbers(answer: Any) -> list[int]:
    """The answer as a list of whole numbers, or a `Mistake`."""
    answer = answer.tolist() if hasattr(answer, "tolist") else answer
    if not isinstance(answer, (list, tuple)):
        raise Mistake(f"A list of numbers was wanted, this is {type(answer).__name__}.")
    try:
        return [operator.index(number) for number in answer]
    except (TypeError, ValueError) as error:
        raise Mistake(f"A list of whole numbers was wanted, this is {answer!r}.") from error
