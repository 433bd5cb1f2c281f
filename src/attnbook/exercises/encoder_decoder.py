"""The checks of lecture 11, "The transformer"."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnbook.exercises import Mistake, called, close, exercise, named, tensor_of
from attnbook.masks import causal_mask, padding_mask
from attnbook.training.schedules import warmup_inverse_sqrt

LENGTHS = (4, 2, 3)  # three sources, padded to four words
BOS, EOS = 1, 2


def random(*shape: int, seed: int = 11) -> Tensor:
    """Draw normal numbers in float64, the same each time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@exercise(1)
def cross_attention(function: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Any]) -> str:
    """`function(x, memory, w_q, w_k, w_v)` must return the outputs (n_t, d_v)."""
    x, memory = random(3, 4), random(5, 4, seed=1)
    w_q, w_k, w_v = random(4, 6, seed=2), random(4, 6, seed=3), random(4, 2, seed=4)
    answer = called(function, x, memory, w_q, w_k, w_v)
    if isinstance(answer, Tensor) and tuple(answer.shape) == (5, 2):
        raise Mistake("There are 5 rows, one for each word of the memory: the queries come from x.")
    found = tensor_of(answer, (3, 2))
    products = (x @ w_q) @ (memory @ w_k).T
    value = memory @ w_v

    def attended(scores: Tensor, divisor: float, dim: int = -1) -> Tensor:
        return torch.softmax(scores / divisor, dim) @ value

    itself = torch.softmax((x @ w_q) @ (x @ w_k).T / math.sqrt(6), -1) @ (x @ w_v)
    swapped = (x @ w_k) @ (memory @ w_q).T
    named(
        found,
        (itself, "x asks itself: keys and values must come from the memory."),
        (attended(products, 1), "The scores are raw: divide them by √d_k."),
        (attended(products, 2), "You divided by √d: d_k is the width of the keys, here 6."),
        (attended(products, 6), "You divided by d_k: the divisor is its root."),
        (attended(products, math.sqrt(2)), "You divided by √d_v: take the width of the keys."),
        (attended(products, math.sqrt(5)), "You divided by √n_s: take the width of the keys."),
        (attended(products, math.sqrt(6), 0), "The softmax runs over the target: use dim=-1."),
        (attended(swapped, math.sqrt(6)), "w_q and w_k changed places: w_q is for x."),
        (products / math.sqrt(6) @ value, "The softmax is missing."),
    )
    if not close(found, attended(products, math.sqrt(6))):
        raise Mistake("The outputs are wrong. Print the scores' shape first: it is (3, 5).")
    return "Three rows asked five, and the two lengths never had to agree."


@exercise(2)
def paper_rate(function: Callable[[int, float, int], Any]) -> str:
    """`function(step, peak, warmup)` must return the paper's curve, of the height `peak`."""
    cases = ((1, 1e-3, 100), (100, 1e-3, 100), (400, 2e-3, 100), (50, 6e-3, 225))
    found = [_number(called(function, *case)) for case in cases]

    def like(rate: Callable[[int, float, int], float]) -> bool:
        wanted = [rate(*case) for case in cases]
        return all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(found, wanted, strict=True))

    mistakes: tuple[tuple[Callable[[int, float, int], float], str], ...] = (
        (
            lambda s, p, w: min(s / w, (w / s) ** 0.5),
            "The form is right, but its height is 1: it must be peak.",
        ),
        (
            lambda s, p, w: p * min(s**-0.5, s * w**-1.5),
            "At step warmup this is peak/√warmup: the formula needs the factor √warmup.",
        ),
        (
            lambda s, p, w: p * max(s / w, (w / s) ** 0.5),
            "This is the greater of the two: the rate then falls first, and rises for ever.",
        ),
        (
            lambda s, p, w: p * (w / s) ** 0.5,
            "The warm-up is missing: the rate falls from step 1.",
        ),
        (lambda s, p, w: p * s / w, "It never falls: the other argument is missing."),
        (lambda s, p, w: p * min(1, s / w), "It stays at the peak: it must fall as 1/√step."),
        (
            lambda s, p, w: p * min(s / w, w / s),
            "It falls as one over the step: it must be one over its root.",
        ),
        (
            lambda s, p, w: p * min(s / w, w / s) ** 0.5,
            "It rises as a root: until step warmup it is a straight line.",
        ),
    )
    for rate, words in mistakes:
        if like(rate):
            raise Mistake(words)
    if not like(lambda s, p, w: p * warmup_inverse_sqrt(w)(s)):
        raise Mistake(f"At step 400, with 0.002 and 100, it is 0.001: yours is {found[2]:.6g}.")
    return "With the peak 1/√(d_model · warmup) it is the paper's."


@exercise(3)
def three_masks(function: Callable[[Sequence[int], int, int], Any]) -> str:
    """`function(lengths, n_s, n_t)` must return the three masks of an encoder–decoder."""
    answer = called(function, list(LENGTHS), 4, 5)
    if not isinstance(answer, tuple | list) or len(answer) != 3:
        raise Mistake("Three masks were wanted: `return encoder, decoder, cross`.")
    if any(part is None or part is ... for part in answer):
        called(lambda: None)
    real, past = padding_mask(LENGTHS, 4), causal_mask(5)
    encoder, decoder, cross = (
        _mask(name, part, shape)
        for name, part, shape in (
            ("encoder's", answer[0], (3, 1, 4)),
            ("decoder's", answer[1], (5, 5)),
            ("cross-attention's", answer[2], (3, 1, 4)),
        )
    )
    for name, mask in (("encoder's", encoder), ("cross-attention's", cross)):
        _real_words("The " + name, mask, real)
    named(
        decoder.double(),
        ((~past).double(), "The decoder's mask is turned over: True means may attend."),
        (past.T.double(), "The decoder's mask looks forward: keep j ≤ i."),
        (past.tril(-1).double(), "The decoder's mask hides a token from itself: keep j ≤ i."),
        (torch.ones(5, 5, dtype=torch.float64), "The decoder's mask hides nothing."),
    )
    if not torch.equal(decoder, past):
        raise Mistake("The decoder's mask is wrong: row i has True up to column i.")
    again = function([1, 6], 6, 2)
    wanted = (padding_mask([1, 6], 6), causal_mask(2), padding_mask([1, 6], 6))
    if not all(torch.equal(a, b) for a, b in zip(again, wanted, strict=True)):
        raise Mistake("Right for this batch, wrong for another: use lengths, n_s and n_t.")
    return "The first and the third are equal: the same words are hidden twice."


def _real_words(whose: str, mask: Tensor, real: Tensor) -> None:
    longer = padding_mask([length + 1 for length in LENGTHS], 5)[..., :4]
    named(
        mask.double(),
        ((~real).double(), f"{whose} mask is turned over: True means may attend."),
        (torch.ones(3, 1, 4, dtype=torch.float64), f"{whose} mask hides no padding."),
        (longer.double(), f"{whose} mask shows one padding: positions count from 0."),
    )
    if not torch.equal(mask, real):
        raise Mistake(f"{whose} mask hides the wrong words: the first `length` are real.")


def _mask(name: str, mask: Any, shape: tuple[int, ...]) -> Tensor:
    if not isinstance(mask, Tensor):
        raise Mistake(f"The {name} mask must be a tensor: this is {type(mask).__name__}.")
    if mask.dtype != torch.bool:
        raise Mistake(f"The {name} mask must be boolean: its dtype is {mask.dtype}.")
    if tuple(mask.shape) != shape:
        raise Mistake(f"The {name} mask has the shape {tuple(mask.shape)}, wanted is {shape}.")
    return mask


@exercise(4)
def smoothed_loss(function: Callable[[Tensor, Tensor, float], Any]) -> str:
    """`function(logits, target, epsilon)` must return the smoothed cross-entropy's mean."""
    logits, target, eps = random(3, 5), torch.tensor([4, 0, 2]), 0.2
    found = tensor_of(called(function, logits, target, eps), ())
    log_p = logits.log_softmax(-1)
    right = log_p.gather(1, target[:, None])[:, 0]
    whole, each = log_p.sum(-1), log_p.mean(-1)
    wanted = cross_entropy(logits, target, label_smoothing=eps)
    named(
        found,
        (-right.mean(), "There is no smoothing in it: epsilon changes nothing."),
        (-wanted, "The sign is turned: a loss is −Σ q log p."),
        (wanted * 3, "This is the sum over the rows: the mean is wanted."),
        (
            -((1 - eps) * right + eps * whole).mean(),
            "Each word gets ε, so q sums to more than 1: it is ε/N, with N words.",
        ),
        (
            -((1 - eps) * right + eps * (whole - right) / 4).mean(),
            "You spread ε over the other words alone: the paper's ε/N goes to all N, "
            "the right one with them.",
        ),
        (-(right + eps * each).mean(), "The right word must give its share up: (1 − ε) log p."),
        (-(eps * right + (1 - eps) * each).mean(), "ε and 1 − ε changed places."),
        (-(1 - eps) * right.mean(), "What is taken from the right word goes to nobody: add ε/N Σ."),
        (
            -((1 - eps) * right.exp() + eps * log_p.exp().mean(-1)).mean(),
            "These are probabilities: the loss has their logarithms.",
        ),
        (
            -((1 - eps) * logits.gather(1, target[:, None])[:, 0] + eps * logits.mean(-1)).mean(),
            "These are the logits: log_softmax makes log p of them.",
        ),
    )
    if not close(found, wanted):
        raise Mistake("The number is wrong. Begin with one row, and write q down for it.")
    return "It equals PyTorch's cross_entropy(…, label_smoothing=ε)."


@exercise(5)
def write_greedily(function: Callable[[Callable[[list[int]], Tensor], int], Any]) -> str:
    """`function(logits_of, limit)` must write greedily, and stop at eos or after `limit`."""
    seen: list[list[int]] = []
    answer = called(function, _writer([5, 3, 3, 4, EOS], seen), 9)
    found = _tokens(answer)
    if any(not asked or asked[0] != BOS for asked in seen):
        raise Mistake("logits_of must be given a target that begins with <bos>, which is 1.")
    wanted = [5, 3, 3, 4]
    if seen and all(asked == [BOS] for asked in seen):
        raise Mistake("You ask after <bos> each time: what was written must be read again.")
    named = {
        (BOS, *wanted): "<bos> is still in front: it was read, not written.",
        (*wanted, EOS): "<eos> is still at the end: leave it out.",
        (BOS, *wanted, EOS): "<bos> and <eos> are still there: return what is between them.",
        tuple(wanted[:-1]): "The last word is missing: stop when <eos> is chosen, not before.",
    }
    if tuple(found) in named:
        raise Mistake(named[tuple(found)])
    if len(found) > len(wanted) and found[: len(wanted)] == wanted:
        raise Mistake("You go on after <eos>, which is 2: stop there.")
    if found and set(found) == {5}:
        raise Mistake("You take the first row of the logits: the last one is for the next word.")
    if found != wanted:
        raise Mistake(f"You wrote {found}, wanted is {wanted}: take the argmax of the last row.")
    for asked in seen:
        if asked[: len(wanted) + 1] != [BOS, *wanted][: len(asked)]:
            raise Mistake(f"You asked after {asked}: it must be <bos> and the tokens written.")
    for limit in (1, 3):
        cut = _tokens(function(_writer([5, 3, 3, 4, EOS], []), limit))
        if cut != wanted[:limit]:
            raise Mistake(f"With limit={limit} you wrote {len(cut)} tokens: {cut}.")
    return "A model with a cache reads one token a call, and writes the same."


def _writer(script: list[int], seen: list[list[int]]) -> Callable[[list[int]], Tensor]:
    """A model that says the script whatever it has read, and then word 5 for ever."""

    def logits_of(target: list[int]) -> Tensor:
        target = [int(token) for token in target]
        seen.append(target)
        logits = torch.zeros(len(target), 6)
        for place in range(len(target)):
            logits[place, script[place] if place < len(script) else 5] = 1
        return logits

    return logits_of


def _tokens(answer: Any) -> list[int]:
    answer = answer.tolist() if isinstance(answer, Tensor) else answer
    try:
        return [int(token) for token in answer]
    except (TypeError, ValueError) as error:
        raise Mistake("A list of tokens was wanted, such as [5, 3, 4].") from error


def _number(answer: Any) -> float:
    try:
        return float(answer)
    except (TypeError, ValueError) as error:
        raise Mistake(f"A number was wanted, this is {type(answer).__name__}.") from error
