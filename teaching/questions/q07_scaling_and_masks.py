"""Exam questions for lecture 7, scaling and masks."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


@question(section="7.2", points=4)
def keys_with_a_mean(draw: random.Random) -> Number:
    d = draw.choice([16, 64, 144, 256])
    a = draw.choice([2, 3])
    b, m = draw.choice([(1, 2), (2, 1), (1, 3), (2, 3)])
    variance = d * a**2 * (b**2 + m**2)
    spread = math.sqrt(variance)
    return Number(
        text=f"All components of queries and keys are independent. Those of a query have mean 0 "
        f"and standard deviation {a}; those of a key have mean {m} and standard deviation {b}. A "
        f"query and a key have {d} components. What are the mean and the variance of their dot "
        "product, and which standard deviation is left after the division by $\\sqrt d$?",
        answers={
            "mean": 0,
            "variance": variance,
            "standard deviation after the division": spread / math.sqrt(d),
        },
        decimals=2,
        solution=f"Each product has the mean $0 \\cdot {m} = 0$, and so has their sum. "
        f"$\\operatorname{{Var}}(q_c k_c) = "
        f"\\operatorname{{E}}[q_c^2]\\,\\operatorname{{E}}[k_c^2] - 0^2 = {a}^2 \\cdot ({b}^2 + "
        f"{m}^2) = {a**2 * (b**2 + m**2)}$, "
        "since $\\operatorname{E}[k_c^2]$ is the variance plus the square of the mean. Different "
        "components are independent, so the variances add up to "
        f"${d} \\cdot {a**2 * (b**2 + m**2)} = {variance}$. The division leaves "
        f"$\\sqrt{{{a**2 * (b**2 + m**2)}}} = {spread / math.sqrt(d):.2f}$.",
        mistakes=[
            f"the mean of the keys left out: {a * b} remains after the division",
            "the standard deviation given as the variance",
            f"a mean of {d * m}, as if the query's mean were 1",
        ],
    )


@question(section="7.3", points=4)
def a_nudge(draw: random.Random) -> Number:
    first, second = draw.choice([(0.5, 0.3), (0.6, 0.3), (0.7, 0.2), (0.8, 0.1), (0.5, 0.4)])
    third = round(1 - first - second, 1)
    step = draw.choice([0.02, 0.05, 0.1])
    own, one, other = (
        second * (1 - second) * step,
        -first * second * step,
        -third * second * step,
    )
    return Number(
        text=f"A row has the weights $\\alpha = ({first}, {second}, {third})$. The second number "
        f"that enters the softmax is raised by {step}. By how much does each weight move, to first "
        "order?",
        answers={"first weight": one, "second weight": own, "third weight": other},
        decimals=4,
        solution="By the second column of the Jacobian, $\\alpha_j(\\delta_{jk} - \\alpha_k)$, "
        f"times {step}: $-{first} \\cdot {second} \\cdot {step} = {one:.4f}$, "
        f"${second} \\cdot {1 - second:.1f} \\cdot {step} = {own:.4f}$ and "
        f"$-{third} \\cdot {second} \\cdot {step} = {other:.4f}$. They sum to 0, as the weights go "
        "on summing to 1.",
        mistakes=[
            "only the second weight moved: the three changes must sum to 0",
            "what the second gains is taken from the other two in equal parts",
            "the factor of the step left out",
        ],
    )


@question(section="7.5", points=3)
def what_dropout_leaves(draw: random.Random) -> Number:
    first, second = draw.choice([(0.5, 0.3), (0.6, 0.3), (0.7, 0.2), (0.4, 0.35)])
    third = round(1 - first - second, 2)
    p = draw.choice([0.1, 0.2, 0.25, 0.5])
    return Number(
        text=f"A row has the weights {first}, {second} and {third}, and attention dropout with "
        f"$p = {p}$ is applied in training. To what does the row sum in a step in which the first "
        "weight alone is dropped? With which probability is the whole row zeros? And what is the "
        "mean of the row's sum over many steps?",
        answers={
            "sum, first weight dropped": (second + third) / (1 - p),
            "probability of zeros": p**3,
            "mean of the sum": 1,
        },
        decimals=4,
        tolerance=0.0005,
        solution=f"What is kept is divided by $1 - p = {1 - p:g}$: $({second} + {third}) / "
        f"{1 - p:g} = {(second + third) / (1 - p):.4f}$. All three are dropped with probability "
        f"${p}^3 = {p**3:.4f}$. Each weight is kept with probability $1 - p$ and is then "
        "$\\alpha_j / (1 - p)$, so its mean is $\\alpha_j$, and the mean of the sum is 1.",
        mistakes=[
            "the kept weights not divided by 1 − p",
            "the kept weights divided by their own sum, as if dropout stood before the softmax",
            "1 − p as the mean of the sum",
        ],
    )


@question(section="7.2", points=3)
def a_divisor_forgotten(draw: random.Random) -> Choice:
    root = draw.choice([4, 8, 16])
    d_k = root**2
    return Choice(
        text=f"A layer with $d_k = {d_k}$ was trained with scores divided by $\\sqrt{{d_k}}$. When "
        "it is put to use, somebody forgets the division. What happens to a row of its weights?",
        right=f"The ratio of any two weights is raised to the power {root}",
        wrong={
            f"The ratio of any two weights becomes {root} times as large": "The softmax turns "
            "differences of scores into ratios: a factor of the scores is a power of the ratios.",
            "Nothing: a common factor cancels in the softmax": "A common summand does. A common "
            "factor changes the differences between the scores.",
            f"The ratio of any two weights is raised to the power 1/{root}": "That flattens the "
            "row, and is what a second division would do.",
            "The largest weight may come to lie on another key": "The order of the scores stays, "
            "and with it that of the weights.",
        },
        solution="The ratio of two weights is $\\exp(e_1 - e_2)$. Without the division the "
        f"difference is {root} times as large, and $\\exp({root}(e_1 - e_2)) = "
        f"\\exp(e_1 - e_2)^{{{root}}}$. Order and sum stay, and the row saturates.",
    )


@question(section="7.6", points=3)
def what_the_test_cannot_find(draw: random.Random) -> Choice:
    w, s = draw.randint(2, 4), draw.randint(1, 2)
    ahead = "token" if s == 1 else f"{s} tokens"
    return Choice(
        text="A test changes one token after the other and requires that no output before the "
        "changed token moves. Which of these faults in a causal layer does it not find?",
        right=f"Keys more than {w} tokens back are hidden as well",
        wrong={
            "The weights of the future are set to 0 after the softmax": "The softmax has divided "
            "by a sum that the future is part of, so earlier outputs move.",
            f"The mask lets each query see the next {ahead}": "Changing a token moves the output "
            "just before it.",
            "The scores of the future are multiplied by 0": "The weight exp(0)/S is not 0, and the "
            "value of the later token comes in with it.",
        },
        solution="The test finds whatever lets the future in. A mask that hides too much lets "
        "nothing in: every output still depends on the past alone. Count the `True` of each row, "
        "or change an early token and require that later outputs *do* move.",
    )


@question(section="7.4")
def a_report_on_divisors(draw: random.Random) -> Text:
    d_k = draw.choice([256, 1024, 4096])
    root = math.isqrt(d_k)
    rate = draw.choice([1, 2, 3])
    return Text(
        text=f"A report says: “Layers with $d_k = {d_k}$ were trained by plain gradient descent at "
        f"the rate {rate}, with twelve seeds each. Undivided and divided by $\\sqrt{{d_k}}$ all "
        "twelve learned, divided by $d_k$ none. So it is the variance of the scores that matters, "
        "as long as it is not too small.” By how much does the spread of the first scores differ "
        "between the three, and by how much the factor in front of the gradient of the scores? "
        "Which other explanation does the report leave open, and which experiment tells the two "
        "apart? What would you expect of it under Adam?",
        solution=f"The scores begin with the spreads $\\sqrt{{d_k}} = {root}$, 1 and "
        f"$1/\\sqrt{{d_k}} = 1/{root}$. A step moves $W^Q {{W^K}}^\\top / s$ by about "
        f"its gradient times rate · $d_k / s^2$, a factor of {rate * d_k:,}, {rate} and "
        f"{rate}/{d_k:,}. So the layer divided by $d_k$ may fail because its factor is too small, "
        "and the undivided one may learn only because its factor is large. Give $W^Q$ and $W^K$ "
        f"the rates {rate}/{d_k:,}, {rate} and {rate} · {d_k:,}, which makes the factors equal, "
        "and leave $W^V$ as it is: what differs now is the beginning alone. (In the lecture, with "
        "512, the undivided layers then learned nothing in 300 steps and those divided by $d_k$ "
        "all learned, the opposite of the report.) Adam moves each "
        f"number by about the rate, so that the scores move by rate · $d_k / s$: {d_k:,}, {root} "
        "and 1 times the rate. There the division by $d_k$ has steps of the same size for every "
        "$d_k$.",
        marks=[
            ("the three spreads", 1),
            ("the three factors, rate · d/s²", 2),
            ("the small factor, not the small variance, may be what fails", 1),
            ("experiment: rates that make the factors equal, W^V as it was", 2),
            ("Adam: rate · d/s, size-free when divided by d", 1),
        ],
    )


@question(section="7.6")
def rows_of_padding(draw: random.Random) -> Text:
    n = draw.randint(6, 10)
    real = draw.randint(2, n - 3)
    pad = n - real
    return Text(
        text=f"A sentence of {real} tokens is padded on the left to {n}. The causal mask and the "
        "padding mask are joined by `&`. Which rows, counted from 1, have nothing to attend to? "
        "What are the weights of such a row if a hidden score becomes $-\\infty$, if it becomes "
        "$-10^{10}$, and if the row is set to zeros, as the book does? Which of the three would "
        "you take for training, and why?",
        solution=f"Rows 1 to {pad}: up to there causal queries see padding alone. With $-\\infty$ "
        "the row is 0/0, `nan`; in the loss it makes every parameter `nan` in one step, which is "
        f"at least noticed. With $-10^{{10}}$ all {n} scores of the row are equal and each key "
        f"gets 1/{n} = {1 / n:.3f}, the future and the padding included: the output is an average "
        "of everything forbidden, and nobody notices. The book gives zeros, as an empty sum is 0, "
        "and sets the row to 0 before the softmax too, so that its gradient is 0 and not `nan`. "
        "Zeros are to be preferred: padding then changes neither values nor gradients of real "
        "tokens.",
        marks=[
            (f"rows 1 to {pad}", 1),
            ("−∞: not a number, which spreads", 1),
            (f"−10¹⁰: 1/{n} for every key, whatever it is", 2),
            ("the book: zeros, also in the gradient", 1),
            ("chooses and gives a reason", 1),
        ],
    )
