"""Exam questions for lecture 4, scoring functions."""

from __future__ import annotations

import math
import random

import torch

from attnbook.scores import dot, scaled_dot
from teaching.kit.questions import Choice, Number, Text, question


@question(section="4.3", points=4)
def three_scores(draw: random.Random) -> Number:
    q = [draw.choice([-2, -1, 1, 2]), draw.choice([1, 2, 3])]
    k = [draw.choice([1, 2, 3]), draw.choice([-2, -1, 1, 2])]
    w = draw.choice([[[0, 1], [1, 0]], [[1, 0], [0, -1]], [[0, 1], [-1, 0]], [[1, 1], [0, 1]]])
    query, key = (torch.tensor([one], dtype=torch.float64) for one in (q, k))
    turned = (query @ torch.tensor(w, dtype=torch.float64))[0].tolist()
    plain, scaled = dot(query, key).item(), scaled_dot(query, key).item()
    bilinear = sum(a * b for a, b in zip(turned, k, strict=True))
    rows = r" \\ ".join(f"{a} & {b}" for a, b in w)
    return Number(
        text=f"A query is $q = ({q[0]}, {q[1]})$, a key $k = ({k[0]}, {k[1]})$, and "
        rf"$W = \begin{{pmatrix}} {rows} \end{{pmatrix}}$. What is the score of the dot product, "
        f"of "
        "the scaled dot product, and of the bilinear score $q\\, W k^\\top$?",
        answers={"dot": plain, "scaled dot": scaled, "bilinear": bilinear},
        decimals=3,
        tolerance=0.001,
        solution=f"$q \\cdot k = {plain:g}$. Divided by $\\sqrt 2$: ${scaled:.3f}$. "
        f"$q\\, W = ({turned[0]:g}, {turned[1]:g})$, and its dot product with $k$ is "
        f"${bilinear:g}$.",
        mistakes=["divided by 2 instead of its root", "W multiplied from the other side"],
    )


@question(section="4.5", points=4)
def what_it_costs(draw: random.Random) -> Number:
    n_q, n_k = draw.choice([(20, 30), (10, 40), (25, 20), (12, 50)])
    d = draw.choice([64, 128, 256])
    pairs = n_q * n_k * d
    return Number(
        text=f"{n_q} queries meet {n_k} keys, and every width is {d}. How many multiplications "
        f"does "
        "the dot product take, how many the bilinear score, which projects each key once, and how "
        "many the additive score, which projects each query and each key once? How many numbers "
        "has "
        "the additive score's hidden layer?",
        answers={
            "dot": pairs,
            "bilinear": pairs + n_k * d**2,
            "additive": pairs + (n_q + n_k) * d**2,
            "hidden layer": pairs,
        },
        decimals=0,
        tolerance=0,
        solution=f"All compare every pair: $n_q\\, n_k\\, d = {pairs:,}$. The bilinear score adds "
        f"$n_k\\, d^2 = {n_k * d**2:,}$, which makes {pairs + n_k * d**2:,}; the additive score "
        f"$(n_q + n_k)\\, d^2 = {(n_q + n_k) * d**2:,}$, which makes "
        f"{pairs + (n_q + n_k) * d**2:,}. Its hidden layer has $d$ numbers for every pair.",
        mistakes=[
            f"keys projected anew for each query: {pairs + n_q * n_k * d**2:,} for the bilinear",
            f"one number for each pair in the hidden layer: {n_q * n_k:,}",
        ],
    )


@question(section="4.2", points=3)
def a_kernel_regression(draw: random.Random) -> Number:
    near, far = draw.sample([1, 2, 3], 2)
    low, high = draw.sample([6, 9, 12, 15, 18, 21], 2)
    at = draw.randint(8, 12)
    weight = 1 / (1 + math.exp((near**2 - far**2) / 2))
    estimate = weight * low + (1 - weight) * high
    return Number(
        text=f"Two temperatures were read: {low} degrees at {at - near} o'clock and {high} degrees "
        f"at {at + far} o'clock. Attention with the score $-(q - k)^2 / 2$ of two hours estimates "
        f"the one at {at} o'clock. What are the weight of the first reading and the estimate?",
        answers={"weight": weight, "estimate": estimate},
        decimals=2,
        tolerance=0.02,
        solution=f"The scores are ${-(near**2) / 2:g}$ and ${-(far**2) / 2:g}$. The softmax gives "
        f"the "
        f"first {weight:.4f} and the second {1 - weight:.4f}; the estimate is their weighted sum, "
        f"{estimate:.2f} degrees.",
        mistakes=["weights by the distance itself", "hours averaged instead of temperatures"],
    )


@question(section="4.2", points=2)
def blind_to_its_query(draw: random.Random) -> Choice:
    factor = draw.choice(["2", "5", "10"])
    return Choice(
        text="For which of these scores are the weights over the keys the same for every query? "
        "$u$, $v$ and $W$ are learned.",
        right=rf"$\tanh(u \cdot q) + {factor}\, v \cdot \tanh(k_j W)$",
        wrong={
            rf"${factor}\, (u \cdot q)\, (v \cdot k_j)$": "A product: the query decides how much "
            "the "
            "keys' differences count, and in which direction.",
            rf"$v \cdot \tanh({factor}\, q\, W + k_j W)$": "Inside the tanh query and key meet "
            "before "
            "they are bent.",
            rf"$-\lVert q - k_j \rVert^2 / {factor}$": "The square holds the product of $q$ and "
            "$k_j$, which does not cancel.",
        },
        solution="The score has the form $f(q) + g(k_j)$. What is added alike to all scores is "
        "cancelled by the softmax, so the query has no effect.",
    )


@question(section="4.6", points=2)
def what_can_come_at_once(draw: random.Random) -> Choice:
    m = draw.choice([8, 12, 20])
    return Choice(
        text=f"A target of {m} words is known, as in training. In which case can all {m} contexts "
        f"be "
        "computed by one call of the score?",
        right="in Luong's order, without input feeding",
        wrong={
            "in Bahdanau's order": "Each state is made with a context and asks for the next one.",
            "in Luong's order, with input feeding": "Each state reads what the step before has "
            "found.",
            "in all of them, since the words are known": "Known words are not enough where a state "
            "waits for a context.",
        },
        solution="Without input feeding no state needs a context, so all states can come first, "
        "and "
        f"ask together: {m} queries at once.",
    )


@question(section="4.4")
def a_test_for_the_query(draw: random.Random) -> Text:
    n = draw.choice([3, 4, 6])
    return Text(
        text=f"A decoder's weights over {n} source words are the same at each step: "
        "$e_j = w \\cdot [q; k_j] + b$, one linear layer. Show by the softmax that they do not "
        "depend on $q$. Does a second linear layer help? What is the smallest change that does? "
        "Why "
        "may the model translate a little better than one without attention all the same?",
        solution="With $w = [w_1; w_2]$, $e_j = w_1 \\cdot q + w_2 \\cdot k_j + b$. In the softmax "
        "$\\exp(w_1 \\cdot q + b)$ is a factor of every term above and below, and cancels. Two "
        "linear layers in a row are one linear layer. A tanh between them, over $[q; k_j]$, is the "
        "smallest change: it makes the additive score. The context, although it is the same at "
        "each "
        "step, is one more vector that tells of the source, beside the summary.",
        marks=[
            ("splits the layer, and cancels what is added alike to all scores", 3),
            ("two linear layers are one", 1),
            ("a bend between them that sees query and key together", 1),
            ("the constant context still tells something of the source", 1),
        ],
    )


@question(section="4.7")
def choose_a_score(draw: random.Random) -> Text:
    task = draw.choice(
        [
            "two lexicons whose word vectors were trained apart, in two languages",
            "pictures and words, whose vectors come from two networks that stay as they are",
        ]
    )
    return Text(
        text=f"You are to match {task}. Query and key have the same size, and nothing but the "
        f"score "
        "is trained. A colleague proposes the dot product, because on the book's task of writing "
        "digits backwards it does nearly as well as the others and is the cheapest. What do you "
        "answer? Which score do you take, and how do you compare it with the additive one fairly?",
        solution="On that task the networks that make queries and keys are trained with the score "
        "and "
        "put them where a dot product reaches them. Here they are fixed, and their numbers have "
        "nothing to do with each other, so a dot product compares at random. The bilinear score "
        "has "
        "a matrix that leads from one space to the other, which is the simplest shape that fits. "
        "The additive score may learn the pairs it is shown by heart: compare both on pairs that "
        "were held out, with several seeds.",
        marks=[
            ("there the makers of queries and keys are trained along, here not", 2),
            ("takes the bilinear score, with the reason", 2),
            ("compares on held-out pairs", 1),
            ("several seeds, or equal effort for both", 1),
        ],
    )
