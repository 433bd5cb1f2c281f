"""Exam questions for lecture 8, multi-head attention."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


def shown(vector: list[int]) -> str:
    return "(" + ", ".join(str(component) for component in vector) + ")"


def dot(one: list[int], other: list[int]) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))


def share(mine: float, other: float) -> float:
    """The softmax of two scores: the first one's weight."""
    return 1 / (1 + math.exp(other - mine))


@question(section="8.2", points=4)
def values_of_two_sizes(draw: random.Random) -> Number:
    alpha = draw.choice([0.4, 0.5, 0.6, 0.7, 0.8])
    rest = round(1 - alpha, 1)
    one, two = draw.sample([1, 2, 3], 2)
    mixed = alpha**2 * one**2 + rest**2 * two**2
    return Number(
        text=f"One row of weights gives a first value the weight {alpha} and a second the weight "
        f"{rest}. The values are independent numbers with mean 0; the first has the standard "
        f"deviation {one}, the second {two}. What follows can only multiply the mixture $y$ by a "
        "number. By which number $\\lambda$ is the first value recovered best, in mean squared "
        "error? Which share of the variance of each value is lost, if each is recovered by the "
        "number that is best for it?",
        answers={
            "λ for the first": alpha * one**2 / mixed,
            "share lost of the first": rest**2 * two**2 / mixed,
            "share lost of the second": alpha**2 * one**2 / mixed,
        },
        decimals=3,
        tolerance=0.002,
        solution=f"$\\operatorname{{E}}(v_1 - \\lambda y)^2 = (1 - {alpha}\\lambda)^2 \\cdot "
        f"{one**2} + \\lambda^2 \\cdot {rest}^2 \\cdot {two**2}$ is least at $\\lambda = {alpha} "
        f"\\cdot {one**2} / ({alpha}^2 \\cdot {one**2} + {rest}^2 \\cdot {two**2}) = "
        f"{alpha * one**2 / mixed:.3f}$. There the first value has lost the share that the second "
        f"has in the variance of $y$, {rest**2 * two**2 / mixed:.3f}, and the second value loses "
        f"the other share, {alpha**2 * one**2 / mixed:.3f}. Together they are 1, as with values of "
        "one size.",
        mistakes=[
            "the variances taken to be equal",
            "standard deviations used as variances",
            "the weights themselves given as the shares: they come in by their squares",
        ],
    )


@question(section="8.7", points=4)
def what_heads_cost(draw: random.Random) -> Number:
    h = draw.choice([4, 8, 16])
    d = draw.choice([16, 32, 64])
    n = draw.choice([10, 50, 100])
    d_model = h * d
    return Number(
        text=f"A layer has $d_{{\\text{{model}}}} = {d_model}$ and {h} heads, and reads {n} "
        "tokens. How many numbers do its four matrices hold (without biases)? How many "
        "multiplications do the projections, scores and weighted sums take together? How many "
        "weights are there? And how many components has a query in one head?",
        answers={
            "numbers in the matrices": 4 * d_model**2,
            "multiplications": 4 * n * d_model**2 + 2 * n**2 * d_model,
            "weights": h * n**2,
            "components of a query in a head": d,
        },
        decimals=0,
        solution=f"Four matrices of {d_model} × {d_model}: {4 * d_model**2:,}. Each of the {n} "
        f"tokens meets them once, $4 n d_{{\\text{{model}}}}^2$, and in each head all pairs are "
        f"compared and summed with vectors of {d}: $2 h n^2 d = 2 n^2 d_{{\\text{{model}}}}$; "
        f"together {4 * n * d_model**2 + 2 * n**2 * d_model:,}. Each head has {n} × {n} weights: "
        f"{h * n**2:,}. The vectors of a head have {d} components, so "
        f"the scores are divided by $\\sqrt{{{d}}}$.",
        mistakes=[
            "multiplications of the scores multiplied by h once more: the vectors are h times "
            "shorter",
            "$d_{\\text{model}}$ as the size of a head's query",
            "$W^O$ left out",
            "n × n weights, as with one head",
        ],
    )


@question(section="8.3", points=4)
def split_by_hand(draw: random.Random) -> Number:
    """Two heads of four components that prefer different keys."""
    while True:
        q, k1, k2 = ([draw.randint(-1, 2) for _ in range(8)] for _ in range(3))
        zero = dot(q[:4], k1[:4]), dot(q[:4], k2[:4])
        one = dot(q[4:], k1[4:]), dot(q[4:], k2[4:])
        gaps = zero[0] - zero[1], one[0] - one[1]
        if gaps[0] * gaps[1] < 0 and sum(gaps) != 0 and max(map(abs, gaps)) <= 6:
            break
    both = zero[0] + one[0], zero[1] + one[1]
    single = share(both[0] / math.sqrt(8), both[1] / math.sqrt(8))
    return Number(
        text=f"After the projections a token has the query {shown(q)}, and the two tokens that it "
        f"may attend to have the keys {shown(k1)} and {shown(k2)}. Which weight does the first of "
        "the two get in each head, if there are two heads? And which would it get from the same "
        "numbers with one head?",
        answers={
            "head 0": share(zero[0] / 2, zero[1] / 2),
            "head 1": share(one[0] / 2, one[1] / 2),
            "one head": single,
        },
        decimals=3,
        tolerance=0.002,
        solution=f"Head 0 has the first four components: scores {zero[0]} and {zero[1]}, divided "
        f"by $\\sqrt 4 = 2$, weight {share(zero[0] / 2, zero[1] / 2):.3f}. Head 1 has the last "
        f"four: scores {one[0]} and {one[1]}, weight {share(one[0] / 2, one[1] / 2):.3f}. One head "
        f"adds the scores, {both[0]} and {both[1]}, and divides by $\\sqrt 8$: {single:.3f}.",
        mistakes=[
            "divided by √8 in the heads",
            "divided by 2 with one head",
            "even and odd components taken as the two heads",
            "the mean of the two heads given for one head",
        ],
    )


@question(section="8.4", points=3)
def a_view_too_soon(draw: random.Random) -> Choice:
    """A row for which the wrong view gives neither the right token nor the right slice."""
    while True:
        h = draw.choice([2, 4])
        n = h * draw.randint(2, 3)
        head, row = draw.randrange(h), draw.randrange(n)
        token, part = divmod(head * n + row, h)
        if token != row and part != head:
            break

    def option(token: int, part: int) -> str:
        return f"Token {token}'s numbers from slice {part}"

    wrong = {
        option(row, head): "That is what should stand there: split each token's row first, then "
        "swap the axes.",
        option(row, part): "A row of the wrong split need not belong to the token of its number.",
        option(token, head): "In memory the slices of one token follow each other, whichever head "
        "they are for.",
    }
    return Choice(
        text=f"The queries of {n} tokens, a matrix of {n} rows of $h \\cdot d$ numbers with "
        f"$h = {h}$, should become $h \\times n \\times d$. Somebody writes `q.view(h, n, d)`. "
        f"Counting from 0 and calling the $d$ columns that belong to head $i$ slice $i$: what "
        f"stands in row {row} of head {head}?",
        right=option(token, part),
        wrong=wrong,
        solution="`view` moves nothing: it counts off pieces of $d$ numbers as they lie in memory, "
        f"where the {h} slices of token 0 come first, then those of token 1, and so on. Row {row} "
        f"of head {head} is piece ${head} \\cdot {n} + {row} = {head * n + row}$, and "
        f"{head * n + row} divided by {h} is {token}, with the remainder {part}. Right is "
        "`q.view(n, h, d).transpose(0, 1)`.",
    )


@question(section="8.3", points=3)
def heads_change_places(draw: random.Random) -> Choice:
    h = draw.choice([4, 8, 12])
    i, j = sorted(draw.sample(range(h), 2))
    return Choice(
        text=f"In a trained layer with {h} heads somebody swaps the blocks of columns that belong "
        f"to heads {i} and {j}, in $W^Q$, $W^K$ and $W^V$ alike. What must be done to get the old "
        "output back?",
        right=f"Swap blocks {i} and {j} of the rows of $W^O$",
        wrong={
            f"Swap blocks {i} and {j} of the columns of $W^O$": "The columns of $W^O$ belong to "
            "the components of the output, not to the heads.",
            "Nothing: the heads are a set and have no order": "They attend independently, but are "
            "put side by side in an order that $W^O$ relies on.",
            "Train again: each head has learned its own relation": "Each still does what it did, "
            "and only its place in the merged row is another.",
        },
        solution="The heads compute what they did, and their outputs come to stand at each other's "
        "places in the merged row. The rows of $W^O$ meet these places: the $i$-th block of $d$ "
        "rows meets head $i$. So the same two blocks of rows have to be swapped.",
    )


@question(section="8.3")
def fold_the_mixing_away(draw: random.Random) -> Text:
    h = draw.choice([4, 8, 16])
    d = draw.choice([32, 64])
    d_model = h * d
    now, then = 2 * d_model**2, h * d_model**2
    return Text(
        text=f"A layer has $d_{{\\text{{model}}}} = {d_model}$ and {h} heads. A colleague says: "
        "“$W^O$ can be left out: multiply it into $W^V$ once and for all, head by head, and let "
        "the layer add up its heads.” Show by a formula that this gives the same output. Compare "
        "the numbers that must be stored (without biases), and say what rank each new matrix has "
        "at most. Would you do it?",
        solution="The merged row times $W^O$ is a sum over heads, as the $i$-th block of rows of "
        "$W^O$ meets head $i$ alone: $\\sum_i \\alpha_i X W_i^V W_i^O$. With $M_i = W_i^V W_i^O$ "
        f"the output is $\\sum_i \\alpha_i X M_i$, the same. But each $M_i$ is {d_model} × "
        f"{d_model}: {h} of them hold {then:,} numbers, where $W^V$ and $W^O$ hold {now:,}. Its "
        f"rank is at most $d = {d}$, so all these numbers say no more than the thin factors do. "
        f"Values of {d_model} components a head also make the weighted sums {h} times as "
        "expensive. So it is right, and not worth it; it is useful for reading what a head does.",
        marks=[
            ("writes the output as a sum over heads with $W_i^V W_i^O$", 2),
            (f"{now:,} numbers against {then:,}", 2),
            (f"rank at most {d}", 1),
            ("decides, with a reason of cost", 1),
        ],
    )


@question(section="8.2")
def one_head_without_loss(draw: random.Random) -> Text:
    first, second = draw.choice(
        [
            ("its governor", "the word before it"),
            ("its subject", "its object"),
            ("the word before it", "the word after it"),
        ]
    )
    return Text(
        text=f"Each word must fetch a message from {first} and one from {second}. A layer with one "
        "head is reported to lose much less than half of them. “So one row can "
        "serve two relations after all.” Name "
        "three conditions on which at least a half is lost; for each say how a layer or a task "
        "could break it and lose less. Which measurement would you make first, to find out which "
        "it was?",
        solution="The half holds if what follows is linear; if the weights do not depend on the "
        "values; and if both values use the same components. A non-linear part after the layer may "
        "read from an average what no matrix can, for instance when messages take few different "
        "values. Queries or keys that see the message make the weights depend on it, so that they "
        "carry some of it. A task in which the two relations lead to words whose messages lie in "
        "different components keeps both apart in one average. "
        "To find out: train a head whose queries and keys get the marks of the words "
        "without the messages; if the loss goes back to a half, the weights had carried them. "
        "Equally good: fit the best linear map, or look in which components the messages lie.",
        marks=[
            ("what follows is linear, and how it could be otherwise", 2),
            ("the weights do not depend on the values, and how they could", 2),
            ("the same components, and how they could differ", 2),
            ("a measurement that tells one from another", 1),
        ],
    )
