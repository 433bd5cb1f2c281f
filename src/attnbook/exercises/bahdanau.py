"""The checks of lecture 3, "Attention"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnbook.exercises import Mistake, called, close, exercise, named, tensor_of
from attnbook.training.metrics import alignment_error_rate

Links = set[tuple[int, int]]


def parts() -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """A state (3,), annotations (5, 4), W_q (3, 2), W_k (4, 2) and v (2,): no size agrees."""
    generator = torch.Generator().manual_seed(3)
    sizes = (3,), (5, 4), (3, 2), (4, 2), (2,)
    state, annotations, w_q, w_k, v = (
        torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes
    )
    return state, annotations, w_q, w_k, v


@exercise(1)
def additive_scores(function: Callable[..., Any]) -> str:
    """`function(state, annotations, w_q, w_k, v)` must return the scores (n,)."""
    state, annotations, w_q, w_k, v = parts()
    found = tensor_of(called(function, state, annotations, w_q, w_k, v), (5,))
    inside = state @ w_q + annotations @ w_k  # (5, 2)
    wanted = torch.tanh(inside) @ v
    named(
        found,
        (inside @ v, "The tanh is missing: without it the state moves all scores alike."),
        (torch.tanh(inside @ v), "The tanh comes before v, on each of the hidden numbers."),
        (torch.tanh(annotations @ w_k) @ v, "The state is missing: add s W_q inside the tanh."),
        (torch.softmax(wanted, 0), "These are weights: return the scores, before the softmax."),
        (torch.tanh(inside).sum(-1), "Multiply the hidden numbers by v: their sum alone is not e."),
        (
            (torch.tanh(state @ w_q) + torch.tanh(annotations @ w_k)) @ v,
            "Add first, then take the tanh, once: tanh(a + b) is not tanh a + tanh b.",
        ),
    )
    if not close(found, wanted):
        raise Mistake("The scores are wrong: e_j = v · tanh(s W_q + h_j W_k), a number for each j.")
    return "The state's part is computed once, and broadcasting adds it to every annotation's."


@exercise(2)
def masked_context(function: Callable[..., Any]) -> str:
    """`function(scores, annotations, length)` must return the context (d,) of the real words."""
    _, annotations, *_ = parts()
    scores = torch.tensor([0.5, 2.0, -1.0, 1.5, 3.0], dtype=torch.float64)
    answer = called(function, scores.clone(), annotations.clone(), 3)
    if isinstance(answer, Tensor) and tuple(answer.shape) == (3,):
        raise Mistake("Three numbers are weights: the context is their sum of annotations, (4,).")
    found = tensor_of(answer, (4,))
    everything = torch.softmax(scores, 0)
    cut = everything.clone()
    cut[3:] = 0
    zeroed = scores.clone()
    zeroed[3:] = 0
    wanted = torch.softmax(scores[:3], 0) @ annotations[:3]
    named(
        found,
        (everything @ annotations, "The padding has weight too: hide positions from `length` on."),
        (
            cut @ annotations,
            "You hid the padding after the softmax: what is left no longer sums to 1.",
        ),
        (
            torch.softmax(zeroed, 0) @ annotations,
            "A score of 0 is not a weight of 0, for exp(0) is 1: hide it with −∞.",
        ),
        (
            torch.softmax(scores[3:], 0) @ annotations[3:],
            "The mask is turned round: you kept the padding and hid the words.",
        ),
        (torch.softmax(scores[:4], 0) @ annotations[:4], "One padding is still visible."),
        (scores[:3] @ annotations[:3], "The scores went straight to the sum: softmax is missing."),
        (annotations[:3].mean(0), "All words weigh the same here: use the scores."),
        (annotations[scores[:3].argmax()], "This is the best annotation: take the weighted sum."),
    )
    if not close(found, wanted):
        raise Mistake("The context is wrong: softmax over the first `length` scores, then the sum.")
    other = torch.softmax(scores, 0) @ annotations
    if not close(tensor_of(called(function, scores.clone(), annotations.clone(), 5), (4,)), other):
        raise Mistake("Right for length 3, wrong for length 5: use the `length` you are given.")
    return "The context has the size of an annotation, however long the sentence is."


@exercise(3)
def error_rate(function: Callable[[Links, Links], Any]) -> str:
    """`function(predicted, gold)` must return the alignment error rate of two sets of links."""
    predicted, gold = {(0, 0), (1, 2), (2, 2), (3, 1)}, {(0, 0), (1, 2), (4, 3)}
    found = _number(called(function, set(predicted), set(gold)))
    both, either = len(predicted & gold), len(predicted | gold)
    for wrong, words in (
        (2 * both / 7, "This is the agreement: the error rate is 1 minus it."),
        (1 - both / 4, "This is 1 − precision: links that you fail to predict cost nothing."),
        (1 - both / 3, "This is 1 − recall: links that are predicted wrongly cost nothing."),
        (1 - both / 7, "Links in common count twice: once as found, once as right."),
        (1 - both / either, "You divided by the union: divide by |A| + |S|."),
    ):
        if math.isclose(found, wrong, abs_tol=5e-5):
            raise Mistake(words)
    if not math.isclose(found, alignment_error_rate([predicted], [gold]), abs_tol=5e-5):
        raise Mistake("The rate is wrong: it is 1 − 2 |A ∩ S| / (|A| + |S|).")
    if not math.isclose(_number(called(function, {(0, 0)}, {(0, 0)})), 0, abs_tol=5e-5):
        raise Mistake("Two equal sets have an error rate of 0.")
    if not math.isclose(_number(called(function, {(0, 0)}, {(1, 1)})), 1, abs_tol=5e-5):
        raise Mistake("Two sets with nothing in common have an error rate of 1.")
    return "Precision and recall count alike; a word that takes no part in a link costs nothing."


@exercise(4)
def entropy(function: Callable[[Tensor], Any]) -> str:
    """`function(weights)` must return the entropy in bits of each row of weights (n_t, n_s)."""
    weights = torch.tensor(
        [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1]],
        dtype=torch.float64,
    )
    found = tensor_of(called(function, weights.clone()), (4,))
    down = torch.special.entr(weights).sum(0)
    named(
        found,
        (down / math.log(2), "You summed over the target words: a row is one target word."),
        (down, "You summed over the target words: a row is one target word."),
    )
    if bool(found.isnan().any()):
        raise Mistake("A row is NaN: 0 · log 0 counts as 0, but the computer makes 0 · (−∞) NaN.")
    bits = torch.special.entr(weights) / math.log(2)
    wanted = bits.sum(-1)
    named(
        found,
        (wanted * math.log(2), "These are nats: bits take the logarithm to base 2."),
        (-wanted, "The sign is turned: a logarithm of a weight is negative, the entropy is not."),
        (bits.mean(-1), "Sum over the words, do not average."),
        (wanted / 2, "You divided by log₂ n: that is a share of the greatest entropy."),
    )
    if not close(found, wanted):
        raise Mistake("The entropies are wrong: H = −Σ α log₂ α; four equal weights have 2 bits.")
    return "2 to the power of H is the number of words that a row spreads over: 1, 2, 4 and 2.56."


@exercise(5)
def perplexity(function: Callable[[Tensor, Tensor], Any]) -> str:
    """`function(probabilities, lengths)` must return the perplexity of a padded batch."""
    chances = torch.tensor([[0.5, 0.25, 0.5, 0.25], [0.1, 0.2, 0.9, 0.3]], dtype=torch.float64)
    lengths = torch.tensor([4, 2])
    found = _number(called(function, chances.clone(), lengths.clone()))
    real = torch.arange(4) < lengths[:, None]
    nats = -chances.log()
    loss = nats[real].mean()
    for wrong, words in (
        (
            (nats.sum() / lengths.sum()).exp(),
            "The padding's log p is in the sum: leave it out above the line as below it.",
        ),
        ((-loss).exp(), "The sign is turned: the average of log p is negative."),
        (nats.mean().exp(), "Padding is counted among the words: divide by the real ones only."),
        (loss, "This is the average loss: the perplexity is its exponential."),
        (2**loss, "The logarithm was natural, so the power is one of e, not of 2."),
        ((1 / chances[real]).mean(), "Average the logarithms, not the inverse probabilities."),
        (1 / chances[real].mean(), "Average the logarithms, not the probabilities."),
        (
            torch.stack([nats[0].mean(), nats[1, :2].mean()]).mean().exp(),
            "You averaged over sentences: every word counts the same, in any sentence.",
        ),
        (nats[real].sum().exp(), "Divide the sum by the number of words before the exponential."),
    ):
        if math.isclose(found, float(wrong), rel_tol=1e-4):
            raise Mistake(words)
    if not math.isclose(found, float(loss.exp()), rel_tol=1e-4):
        raise Mistake("The perplexity is wrong: exp(−1/N Σ log p), over the N real words.")
    return "The formula is the same for both perplexities: what differs is what the model had read."


def _number(answer: Any) -> float:
    try:
        return float(answer)
    except (TypeError, ValueError) as error:
        raise Mistake(f"One number was wanted, this is {type(answer).__name__}.") from error
