"""Exam questions for lecture 5, self-attention."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


def shown(vector: list[int]) -> str:
    return "(" + ", ".join(str(component) for component in vector) + ")"


def softmax(scores: list[float]) -> list[float]:
    exponentials = [math.exp(score - max(scores)) for score in scores]
    return [e / sum(exponentials) for e in exponentials]


def dot(one: list[int], other: list[int]) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))


@question(section="5.2", points=4)
def a_row_by_hand(draw: random.Random) -> Number:
    """Scores that differ and lie within 6 of each other, so that each weight can be read."""
    while True:
        x = [[draw.randint(-1, 2) for _ in range(4)] for _ in range(3)]
        scores = [dot(x[0], other) for other in x]
        apart = max(scores) - min(scores)
        if len(set(scores)) == 3 and apart <= 6 and len({row[0] for row in x}) == 3:
            break
    weights = softmax([score / 2 for score in scores])
    first = sum(weight * row[0] for weight, row in zip(weights, x, strict=True))
    parts = " + ".join(
        f"{weight:.3f} \\cdot ({row[0]})" for weight, row in zip(weights, x, strict=True)
    )
    return Number(
        text=f"Three tokens have the vectors $a = {shown(x[0])}$, $b = {shown(x[1])}$ and "
        f"$c = {shown(x[2])}$. Self-attention is applied to them without a mask and without "
        "learned matrices. Which weights does $a$ give, and what is the first component of its "
        "output?",
        answers={
            "weight of a": weights[0],
            "weight of b": weights[1],
            "weight of c": weights[2],
            "first component of the output": first,
        },
        decimals=3,
        tolerance=0.002,
        solution=f"The dot products of $a$ with $a$, $b$ and $c$ are {scores[0]}, {scores[1]} and "
        f"{scores[2]}. Divided by $\\sqrt d = \\sqrt 4 = 2$ they are {scores[0] / 2:g}, "
        f"{scores[1] / 2:g} and {scores[2] / 2:g}. Their exponentials, divided by the sum of all "
        f"three, are {weights[0]:.3f}, {weights[1]:.3f} and {weights[2]:.3f}. The first component "
        f"of the output is ${parts} = {first:.3f}$.",
        mistakes=[
            "the scores not divided: the weights are more uneven than they should be",
            "divided by 4, the number of components, and not by its root",
            "divided by √3, the number of tokens instead of components",
            "scores divided by their sum, without the exponential",
        ],
    )


@question(section="5.4", points=4)
def pairs_that_are_left(draw: random.Random) -> Number:
    n = draw.randint(8, 14)
    pad = draw.randint(2, n // 2 - 1)
    real = n - pad
    triangle = real * (real + 1) // 2
    return Number(
        text=f"A sentence of {real} tokens is padded to {n}. The layer uses "
        "`causal_mask(n) & padding_mask`, where `True` means *may attend*. How many entries of the "
        f"{n} × {n} mask are `True` when the padding stands on the right, and how many when it "
        "stands on the left? And how many rows have nothing to attend to when it stands on the "
        "left?",
        answers={
            "True, padding on the right": triangle + pad * real,
            "True, padding on the left": triangle,
            "empty rows, padding on the left": pad,
        },
        decimals=0,
        solution=f"A real token sees itself and the real tokens before it: together "
        f"${real} \\cdot {real + 1} / 2 = {triangle}$ pairs, on either side. A query of the "
        f"padding on the right comes after all {real} real tokens and sees each of them, which "
        f"adds ${pad} \\cdot {real} = {pad * real}$ and gives {triangle + pad * real}. A query of "
        f"the padding on the left has only padding before it, so its row is empty: {pad} rows.",
        mistakes=[
            "rows of the padding counted as empty on the right as well: the mask hides keys, "
            "not queries",
            "the diagonal left out: a token may attend to itself",
            "all rows counted as full, without the causal mask",
        ],
    )


@question(section="5.6", points=3)
def work_against_recurrence(draw: random.Random) -> Number:
    d = draw.choice([64, 128, 256, 512])
    times = draw.choice([2, 4, 8])
    longer = draw.choice([3, 5, 10])
    n = times * d
    return Number(
        text=f"A recurrent layer with its two matrices, and self-attention without "
        f"learned matrices, both have vectors of {d} components. A text has {n} tokens. How many "
        "times as many multiplications does self-attention take as the recurrent layer? How many "
        f"sequential steps does the recurrent layer take? And for a text {longer} times as long, "
        "by which factor do the multiplications of self-attention grow?",
        answers={
            "attention by recurrence": 2 * n**2 * d / (2 * n * d**2),
            "sequential steps": n,
            "growth": ((longer * n) ** 2 * d) / (n**2 * d),
        },
        decimals=0,
        solution=f"Self-attention takes $2n^2d$ multiplications and the recurrent layer $2nd^2$; "
        f"the ratio is $n / d = {n} / {d} = {times}$. Each state waits for the one before it: "
        f"{n} steps. In $2n^2d$ the length is squared, so the factor is ${longer}^2 = "
        f"{longer**2}$.",
        mistakes=[
            "d / n instead of n / d",
            "growth taken to be that of the recurrent layer, which is linear in the length",
        ],
    )


@question(section="5.4", points=2)
def zeros_as_padding(draw: random.Random) -> Choice:
    real, pad = draw.randint(4, 9), draw.randint(2, 6)
    return Choice(
        text=f"A sentence of {real} tokens is padded by {pad} vectors of zeros, and somebody "
        "leaves the padding mask out: “a vector of zeros adds nothing to a sum”. What does a real "
        "token get as its output?",
        right="The right output multiplied by a factor below 1",
        wrong={
            "The right output: zeros add nothing": "The values add nothing, but each zero vector "
            "has the score 0 and so takes the share exp(0) of the weights.",
            "An output that may point anywhere else": "The weights of the real tokens keep their "
            "proportions, and the padding's values are zeros: only the length changes.",
            "Not a number (`nan`)": "That takes a row with nothing to attend to, or `nan` in the "
            "padding. Here all scores are finite.",
        },
        solution=f"Each of the {pad} vectors of zeros has the score 0, whoever asks. In the "
        f"softmax it adds $\\exp(0) = 1$ to the denominator, which becomes $S + {pad}$ where it "
        f"was $S$. All real weights are multiplied by $S / (S + {pad})$, and the padding's share "
        "meets values of zeros. So the output has the right direction and is too short.",
    )


@question(section="5.5", points=3)
def a_swap_under_a_causal_mask(draw: random.Random) -> Choice:
    n = draw.randint(9, 12)
    i = draw.randint(3, 4)
    j = draw.randint(i + 2, n - 2)
    return Choice(
        text=f"A sentence has {n} different tokens, counted from 1. Tokens {i} and {j} change "
        "places, and one layer of self-attention with a causal mask is applied, without positions. "
        "At which places can the output differ from what it was at the same place before?",
        right=f"At places {i} to {j}",
        wrong={
            f"At places {i} and {j} only": "The tokens between them see another one of the two "
            "than before.",
            f"At places {i} to {n}": f"From place {j + 1} on a token sees both, as before, and a "
            "sum does not depend on the order of its terms.",
            f"At all places from 1 to {n}": f"Those before place {i} may not look at either of "
            "the two.",
            "At none: the layer sees no order": "That holds without a mask, and then the outputs "
            "move with their tokens.",
        },
        solution=f"Places 1 to {i - 1} see neither of the two. At place {i} another token asks. "
        f"Places {i + 1} to {j - 1} see the token that has come to place {i} and no longer the one "
        f"that has left it. At place {j} the same set is seen, but another token asks. Places "
        f"{j + 1} to {n} have the same query and the same set of keys and values.",
    )


@question(section="5.4")
def zero_in_place_of_minus_infinity(draw: random.Random) -> Text:
    first, second = -draw.randint(1, 2), -draw.randint(3, 4)
    hidden = draw.randint(2, 6)
    weights = softmax([first, second, 0])
    right = softmax([first, second])
    return Text(
        text=f"The scaled scores of a query with three keys are {first}, {second} and {hidden}, "
        "and the third key lies in the future. A colleague hides it by `scores = scores * may`, "
        "where `may` is (1, 1, 0), and then takes the softmax. Work out the weights that follow, "
        "and those that should. Explain the difference, put the code right, and describe a test "
        "that finds this mistake without knowing the code.",
        solution=f"The product sets the third score to 0, and the weights are {weights[0]:.3f}, "
        f"{weights[1]:.3f} and {weights[2]:.3f}. They should be {right[0]:.3f}, {right[1]:.3f} "
        "and 0. A score of 0 is not a weight of 0: $\\exp(0) = 1$, and since both allowed scores "
        "are negative, the hidden key even gets the largest weight. Only $-\\infty$ has the "
        "exponential 0: `scores.masked_fill(~may, -math.inf)` with a boolean `may`, before the "
        "softmax. Test: change the vector of a later token and compare the outputs of all tokens "
        "before it; none may change.",
        marks=[
            (f"the weights of the code: {weights[0]:.3f}, {weights[1]:.3f}, {weights[2]:.3f}", 1),
            (f"the right weights: {right[0]:.3f}, {right[1]:.3f}, 0", 1),
            ("says that exp(0) = 1, so that a score of 0 is a share", 1),
            ("fills in −∞ before the softmax", 1),
            ("a test that changes a later token and compares earlier outputs", 2),
        ],
    )


@question(section="5.6")
def recurrence_replaced(draw: random.Random) -> Text:
    d = draw.choice([100, 200, 300])
    n = d * draw.choice([2, 3, 5])
    return Text(
        text=f"A team has a recurrent layer that reads texts of {n:,} tokens, with vectors of {d} "
        "components, and predicts each next word. It wants to put one layer of "
        "self-attention, without a mask or learned matrices, in its place. Name two things that "
        "are gained and two things that are lost or must be added, each with its reason, and "
        "compare the multiplications of the two layers.",
        solution=f"Gained: all tokens are computed at once in training, where the recurrent layer "
        f"takes {n:,} steps one after the other; and any two words are one step apart, where a "
        f"signal passed through up to {n:,} tanh, each of which may shrink it. Lost or to be "
        "added: without a causal mask a token sees the words that it should predict, so the mask "
        "is needed; without positions the layer does not see word order, of which the mask alone "
        "gives little; and the layer has nothing to learn until projections are added. Work: "
        f"$2n^2d$ against $2nd^2$, that is $n/d = {n // d}$ times as many multiplications for "
        f"attention.",
        marks=[
            ("all tokens at once in place of sequential steps", 1),
            ("a path of length one in place of one that grows with the distance", 1),
            ("a causal mask, or else the answer is visible", 1),
            ("positions are needed, or nothing is learned: either, with its reason", 1),
            (f"{n // d} times as many multiplications, with the formula", 2),
        ],
    )
