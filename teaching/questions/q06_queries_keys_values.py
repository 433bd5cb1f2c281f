"""Exam questions for lecture 6, queries, keys and values."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


def shown(vector: list[int]) -> str:
    return "(" + ", ".join(str(component) for component in vector) + ")"


def matrix(rows: list[list[int]]) -> str:
    lines = " \\\\ ".join(" & ".join(str(entry) for entry in row) for row in rows)
    return "\\begin{pmatrix} " + lines + " \\end{pmatrix}"


def times(row: list[int], columns: list[list[int]]) -> list[int]:
    """A row (a,) times a matrix (a, b), given by its rows."""
    return [
        sum(x * line[c] for x, line in zip(row, columns, strict=True))
        for c in range(len(columns[0]))
    ]


def dot(one: list[int], other: list[int]) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))


@question(section="6.2", points=4)
def two_directions(draw: random.Random) -> Number:
    """Matrices whose scores differ in the two directions, also from what W x would give."""
    while True:
        a, b = ([draw.randint(-1, 3) for _ in range(2)] for _ in range(2))
        w_q, w_k = ([[draw.randint(-1, 2) for _ in range(2)] for _ in range(2)] for _ in range(2))
        q_a, q_b, k_a, k_b = times(a, w_q), times(b, w_q), times(a, w_k), times(b, w_k)
        there, back = dot(q_a, k_b), dot(q_b, k_a)
        column = dot([dot(line, a) for line in w_q], [dot(line, b) for line in w_k])
        if len({there, back, column, dot(a, b)}) == 4 and there * back != 0:
            break
    scaled = there / math.sqrt(2)
    return Number(
        text=f"Two tokens have the vectors $a = {shown(a)}$ and $b = {shown(b)}$, as rows, and "
        f"$W^Q = {matrix(w_q)}$, $W^K = {matrix(w_k)}$. What is the dot product of the query of "
        "$a$ with the key of $b$, what is that of the query of $b$ with the key of $a$, and what "
        "number of the first pair enters the softmax?",
        answers={
            "query of a with key of b": there,
            "query of b with key of a": back,
            "first pair, scaled": scaled,
        },
        decimals=3,
        tolerance=0.002,
        solution=f"$q_a = a W^Q = {shown(q_a)}$ and $k_b = b W^K = {shown(k_b)}$ give {there}. "
        f"$q_b = {shown(q_b)}$ and $k_a = {shown(k_a)}$ give {back}. A query has $d_k = 2$ "
        f"components, so ${there} / \\sqrt 2 = {scaled:.3f}$ enters the softmax.",
        mistakes=[
            f"W a in place of a W, which gives {column} for the first",
            f"the dot product of the vectors themselves, {dot(a, b)}, twice",
            "the two directions taken to be equal",
        ],
    )


@question(section="6.6", points=5)
def back_to_the_query(draw: random.Random) -> Number:
    """The keys are numbers, so that d_k = 1 and nothing is divided."""
    while True:
        shares = draw.choice([[2, 1, 1], [1, 2, 1], [1, 1, 2]])
        alpha = [share / 4 for share in shares]
        values, keys = draw.sample(range(-4, 9, 4), 3), draw.sample(range(-2, 4), 3)
        y = sum(a * v for a, v in zip(alpha, values, strict=True))
        wanted = int(y) + draw.choice([-2, -1, 1, 2])
        g = 2 * (y - wanted)
        by_score = [a * g * (v - y) for a, v in zip(alpha, values, strict=True)]
        by_query = sum(e * k for e, k in zip(by_score, keys, strict=True))
        if 0 not in by_score and by_query != 0 and y == int(y):
            break
    return Number(
        text=f"A query gives its three keys the weights {alpha[0]}, {alpha[1]} and {alpha[2]}. "
        f"Their values are {values[0]}, {values[1]} and {values[2]}, and the keys are the numbers "
        f"{keys[0]}, {keys[1]} and {keys[2]} ($d_k = 1$). The wanted output is {wanted}, and the "
        "loss $L$ is the squared error. Work out the derivatives of $L$ by the three scores and by "
        "the query.",
        answers={
            "dL/de₁": by_score[0],
            "dL/de₂": by_score[1],
            "dL/de₃": by_score[2],
            "dL/dq": by_query,
        },
        decimals=2,
        solution=f"The output is $y = {y:g}$, so $g = 2(y - {wanted}) = {g:g}$. With "
        "$\\partial L / \\partial e_j = \\alpha_j\\, g\\, (v_j - y)$ the scores get "
        f"{by_score[0]:g}, {by_score[1]:g} and {by_score[2]:g}, which sum to 0. As $e_j = q k_j$, "
        "$\\partial L / \\partial q = \\sum_j \\partial L / \\partial e_j \\cdot k_j = "
        f"{by_query:g}$.",
        mistakes=[
            "g · v taken in place of g · (v − y): the three derivatives do not sum to 0",
            "the factor 2 of the square left out",
            "the weight left out as a factor",
            "the sign of g reversed",
        ],
    )


@question(section="6.4", points=4)
def all_tokens_at_once(draw: random.Random) -> Number:
    """Two tokens whose scaled scores are whole numbers, so that one exponential is enough."""
    while True:
        q, k = ([[draw.randint(-1, 2) for _ in range(4)] for _ in range(2)] for _ in range(2))
        v = [[draw.randint(0, 5) for _ in range(3)] for _ in range(2)]
        rows = [[dot(one, key) for key in k] for one in q]
        gap = rows[0][0] - rows[0][1]
        if abs(gap) in (2, 4) and rows[0][0] % 2 == 0 and v[0][0] != v[1][0]:
            break
    other = 1 / (1 + math.exp(gap / 2))
    y = (1 - other) * v[0][0] + other * v[1][0]
    return Number(
        text=f"For a sentence of two tokens $Q = {matrix(q)}$, $K = {matrix(k)}$ and "
        f"$V = {matrix(v)}$. Take the first token through scaled dot-product attention, "
        "$\\operatorname{softmax}(Q K^\\top / \\sqrt{d_k})\\, V$: what are its two weights, and "
        "what is the first number of its output? How many numbers has the output of both tokens?",
        answers={
            "weight on the first token": 1 - other,
            "weight on the second token": other,
            "first number of the output": y,
            "numbers in both outputs": 6,
        },
        decimals=3,
        tolerance=0.002,
        solution=f"The first row of $Q K^\\top$ is {shown(rows[0])}. A query has $d_k = 4$ "
        f"components, so the row is divided by 2; the two scaled scores differ by {gap // 2}, and "
        f"$\\alpha_{{11}} = 1 / (1 + e^{{{-gap // 2}}}) = {1 - other:.3f}$. The first number is "
        f"${1 - other:.3f} \\cdot {v[0][0]} + {other:.3f} \\cdot {v[1][0]} = {y:.3f}$. Each output "
        "is a weighted sum of values of three numbers, so $Y$ has the shape (2, 3).",
        mistakes=[
            "the scores not divided, or divided by 4",
            "the softmax along a column",
            "the width of a query taken for that of an output",
        ],
    )


@question(section="6.4", points=3)
def thin_matrices(draw: random.Random) -> Number:
    d_model = draw.choice([200, 256, 300, 512])
    d_k, d_v = draw.choice([16, 32, 40]), draw.choice([24, 48, 50])
    n = draw.randint(10, 40)
    return Number(
        text=f"A layer of self-attention has $d_{{\\text{{model}}}} = {d_model}$, $d_k = {d_k}$ "
        f"and $d_v = {d_v}$. How many numbers do its three matrices hold together? What is the "
        "greatest rank that $W^Q {W^K}^\\top$ can have? And how many numbers has the whole output "
        f"for a sentence of {n} tokens?",
        answers={
            "numbers in the three matrices": d_model * (2 * d_k + d_v),
            "greatest rank": min(d_k, d_model),
            "numbers in the output": n * d_v,
        },
        decimals=0,
        solution=f"$W^Q$ and $W^K$ are {d_model} × {d_k} each and $W^V$ is {d_model} × {d_v}: "
        f"${d_model} \\cdot (2 \\cdot {d_k} + {d_v}) = {d_model * (2 * d_k + d_v)}$ numbers, for "
        f"any length of the sentence. A product through {d_k} components has at most the rank "
        f"{d_k}. Each token's output is a weighted sum of values, so it has {d_v} components: "
        f"${n} \\cdot {d_v} = {n * d_v}$.",
        mistakes=[
            "$d_{\\text{model}}$ as the width of the output",
            "$d_{\\text{model}}$ as the rank: the product has that many rows, but "
            "comes from two thin matrices",
            "one matrix forgotten",
        ],
    )


@question(section="6.5", points=2)
def factors_that_cancel(draw: random.Random) -> Choice:
    c = draw.choice([2, 3, 4, 5, 10])
    return Choice(
        text=f"In a trained layer somebody multiplies $W^Q$ by {c}, $W^K$ by 1/{c} and $W^V$ by "
        f"{c}. What happens?",
        right=f"The weights stay and the output is {c} times as large",
        wrong={
            f"The rows get more uneven and the output is {c} times as large": "Each score is a "
            "product of a query and a key, in which the two factors cancel.",
            "Neither weights nor output change": "The weights do not, but they now average values "
            f"that are {c} times as large.",
            f"The weights stay and the output is {c * c} times as large": "The factor of the "
            "queries does not reach the output: it ends in the scores, where it cancels.",
            f"Every weight and the output are {c} times as large": "A row of weights always sums "
            "to 1.",
        },
        solution=f"The scores are $({c}\\,q_i) \\cdot (k_j / {c}) = q_i \\cdot k_j$, so the "
        f"weights are as before. The values become ${c}\\,v_j$ and the output "
        f"$\\sum_j \\alpha_{{ij}}\\, {c}\\,v_j = {c}\\,y_i$. It is one reason why $W^Q$ and $W^K$ "
        "cannot be read each by itself.",
    )


@question(section="6.4", points=2)
def an_answer_that_cannot_be(draw: random.Random) -> Choice:
    a = draw.choice([4, 8, 12, 20])
    far = 3 * a // 4
    return Choice(
        text=f"A soft look-up has three keys, with the values ({a}, 0), (0, {a}) and (0, 0). Which "
        "of these answers can no query get, whatever the keys are and whatever divides the scores?",
        right=f"({far}, {far})",
        wrong={
            f"({a // 4}, {a // 4})": "The weights 1/4, 1/4 and 1/2 give it.",
            f"({a // 2}, {a // 4})": "The weights 1/2, 1/4 and 1/4 give it.",
            f"({0.98 * a:g}, {0.01 * a:g})": "The weights 0.98, 0.01 and 0.01 give it: nearly a "
            "hard look-up.",
        },
        solution="The answer is an average of the three values, with positive weights that sum to "
        f"1, so its two components sum to less than {a}. ({far}, {far}) sums to {2 * far}; it "
        f"would take two weights of 3/4, although each component by itself lies between 0 and {a}. "
        "Every answer inside the triangle of the three values can be reached: choose keys whose "
        "scores are the logarithms of its weights.",
    )


@question(section="6.3")
def keys_against_queries(draw: random.Random) -> Text:
    c = draw.choice([1, 2, 3, 5])
    by = "" if c == 1 else str(c)
    return Text(
        text=f"To save memory, a colleague sets $W^K = -{by}W^Q$: “queries and keys differ now, so "
        "the scores need not be symmetric, and three words can attend around a circle.” Is that "
        "right? Prove your answer, and say what this layer does to the score of a word with "
        "itself.",
        solution=f"It is not. The score is $x_i W x_j^\\top / \\sqrt{{d_k}}$ with "
        f"$W = W^Q {{W^K}}^\\top = -{by}W^Q {{W^Q}}^\\top$, and $W^\\top = W$. So $e_{{ij}} = "
        "e_{ji}$ in every sentence. If *a* preferred *b* to *c*, *b* preferred *c* to *a* and *c* "
        "preferred *a* to *b*, then $e_{ab} > e_{ac} = e_{ca} > e_{cb} = e_{bc} > e_{ba} = "
        "e_{ab}$, and a number would be greater than itself. The score of a word with itself is "
        f"$-{by}\\lVert q_i \\rVert^2 / \\sqrt{{d_k}}$, never positive: among words whose queries "
        "are equally long it is the lowest of the row, so a word looks away from what is like it. "
        "That is unlikeness in place of likeness, and still symmetric.",
        marks=[
            ("says that the claim is wrong", 1),
            ("W equals its transpose, so the scores are symmetric", 2),
            ("derives the contradiction for the circle", 2),
            ("score with itself: a negative multiple of the query's squared length", 1),
        ],
    )


@question(section="6.6")
def a_matrix_of_zeros(draw: random.Random) -> Text:
    zero, other = draw.choice([("Q", "K"), ("K", "Q")])
    role = {"Q": "queries", "K": "keys"}
    return Text(
        text="Two layers of self-attention are drawn at random, with one matrix set to zeros: in "
        f"the first layer it is $W^V$, in the second $W^{zero}$. The output is wrong in both. "
        "Which of the three matrices get a gradient in the first step of gradient descent, and "
        f"which in the second step? What if both $W^{zero}$ and $W^{other}$ were zeros at the "
        "start? Argue with the formulae for the three gradients.",
        solution="First layer: all values are zeros, so $g_i \\cdot (v_j - y_i) = 0$, no score "
        "gets a gradient, and neither $W^Q$ nor $W^K$ moves. $\\partial L / \\partial W^V = "
        "X^\\top \\alpha^\\top G$ is not zero; after the first step the values differ, and in the "
        f"second step all three matrices move. Second layer: all {role[zero]} are zeros, all "
        f"scores 0 and all rows even. $W^V$ gets a gradient. That of $W^{other}$ has the "
        f"{role[zero]} as a factor and is zero; that of $W^{zero}$ has the {role[other]} as a "
        "factor and is not. In the second step all three move. With both at zero each gradient has "
        "the other's zeros as a factor: neither ever moves, and the layer stays an even average "
        "with a learned $W^V$.",
        marks=[
            ("$W^V = 0$: only $W^V$ moves in the first step, as $v_j - y_i = 0$", 2),
            (
                f"$W^{zero} = 0$: $W^{zero}$ and $W^V$ move, $W^{other}$ does not: why",
                2,
            ),
            ("in the second step all three move, in both layers", 1),
            ("both zero: neither ever moves, rows stay even", 1),
        ],
    )
