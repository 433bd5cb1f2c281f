"""Exam questions for lecture 9, positions."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


@question(section="9.5", points=3)
def products_of_positions(draw: random.Random) -> Number:
    p = draw.randint(20, 400)
    k = draw.choice([1, 2, 4, 5])
    product = math.cos(k) + math.cos(k / 100)
    return Number(
        text=f"Sinusoidal positions with $d = 4$ have two pairs, with the speeds 1 and 1/100. What "
        f"is the dot product of the position vectors of {p} and {p + k}? What is their cosine, and "
        f"what is the dot product of the vectors of {p + k} and {p + 2 * k}?",
        answers={
            "product": product,
            "cosine": product / 2,
            "second product": product,
        },
        decimals=3,
        tolerance=0.002,
        solution=f"Each pair adds the cosine of its angle between the two positions, which are {k} "
        f"apart: $\\cos({k}) + \\cos({k}/100) = {math.cos(k):.4f} + {math.cos(k / 100):.4f} = "
        f"{product:.3f}$ (in radians). Every position vector has the squared length $d/2 = 2$, so "
        f"the cosine is {product / 2:.3f}. The second product is of the same distance, hence the "
        "same.",
        mistakes=[
            "the angle in degrees",
            "the product not divided by d/2 for the cosine, or divided by d",
            "sines and cosines of the positions, with an error of rounding: only the distance "
            "is needed",
        ],
    )


@question(section="9.8", points=4)
def one_turning_pair(draw: random.Random) -> Number:
    m = draw.choice([8, 10, 12, 16, 20])
    r = draw.choice([2, 3, 4])
    j, k = draw.randint(3, 30), draw.choice([1, 2, 3])
    score = r**2 * math.cos(2 * math.pi * k / m)
    return Number(
        text=f"One pair of rotary positions turns by 1/{m} of a round at each step. Before it is "
        f"turned, a query is ({r}, 0), and so is every key. What is their dot product for the "
        f"query at position {j + k} and the key at position {j}? Which is the least distance above "
        "0 at which a key scores as high as one at the query's own position, and at which distance "
        "below that does it score lowest?",
        answers={"dot product": score, "as high again": m, "lowest": m / 2},
        decimals=3,
        tolerance=0.002,
        solution=f"Turning both is turning the query by the difference of the positions, {k}: "
        f"${r}^2 \\cos(2\\pi \\cdot {k} / {m}) = {score:.3f}$. After {m} steps the pair has gone "
        f"round and the product is {r**2} again; after half a round, {m // 2} steps, query and key "
        f"point against each other and it is $-{r**2}$.",
        mistakes=[
            f"the query turned by {j + k} steps and the key not at all",
            "the squared length left out",
            "the angle taken in degrees or without 2π",
        ],
    )


@question(section="9.7", points=3)
def two_sizes(draw: random.Random) -> Number:
    d = draw.choice([128, 200, 512, 800])
    std = draw.choice([0.02, 0.05, 0.1])
    root = math.sqrt(d)
    return Number(
        text=f"A model of $d_{{\\text{{model}}}} = {d}$ draws the components of its word "
        f"embeddings with mean 0 and a standard deviation of {std} and adds sinusoidal positions. "
        "How long is a word's vector, typically (the root of its mean squared length)? How long is "
        "a position's? By which factor must the embedding be multiplied, so that both are of the "
        "same length?",
        answers={
            "length of a word": std * root,
            "length of a position": math.sqrt(d / 2),
            "factor": 1 / (std * math.sqrt(2)),
        },
        decimals=2,
        tolerance=0.02,
        solution=f"{d} components of mean square ${std}^2$ give the length ${std} \\cdot "
        f"\\sqrt{{{d}}} = {std * root:.2f}$. A position has $d/2$ pairs, each of length 1: "
        f"$\\sqrt{{{d} / 2}} = {math.sqrt(d / 2):.2f}$. The factor is their ratio, "
        f"$1 / ({std}\\sqrt 2) = {1 / (std * math.sqrt(2)):.2f}$, whatever $d$ is.",
        mistakes=[
            f"√d = {root:.2f} as the factor: that suits embeddings drawn with 1/√d",
            "√d for the length of a position",
            "the inverse of the factor",
        ],
    )


@question(section="9.4", points=3)
def one_clock(draw: random.Random) -> Choice:
    m = draw.choice([10, 14, 16, 20, 24])
    p = draw.choice([1, 2])
    half = m // 2
    return Choice(
        text=f"A position vector has one pair alone, the sine and the cosine of an angle that goes "
        f"round in {m} steps. Which two positions have the same vector?",
        right=f"{p} and {p + m}",
        wrong={
            f"{p} and {half - p}": "Their sines are equal, but their cosines have opposite signs.",
            f"{p} and {m - p}": "Their cosines are equal, but their sines have opposite signs.",
            f"{p} and {p + half}": "The hands point against each other: both numbers change their "
            "signs.",
        },
        solution=f"A hand is where it was after a whole round of {m} steps, and only then: sine "
        "and cosine together say where it stands. That is why a slow pair stands beside each fast "
        "one, which tells its rounds apart.",
    )


@question(section="9.5", points=3)
def slowest_hand(draw: random.Random) -> Number:
    base = draw.choice([10, 20, 50])
    d = draw.choice([4, 8])
    factor = base ** (2 / d)

    def alike(k: int) -> float:
        return sum(math.cos(k / factor**i) for i in range(d // 2)) / (d / 2)

    most = max(range(20, 1_001), key=alike)
    return Number(
        text=f"Sinusoidal positions with $d = {d}$ have {base} in place of 10000. By which factor "
        "is each pair slower than the one before, and after how many steps has the slowest come "
        "round? What can go wrong in texts of 1,000 words?",
        answers={"factor": factor, "steps": 2 * math.pi * base / factor},
        decimals=2,
        tolerance=0.02,
        solution=f"The factor is ${base}^{{2/{d}}} = {factor:.2f}$. The slowest of the "
        f"{d // 2} pairs has the speed ${base}^{{-({d} - 2)/{d}}}$, so its round takes "
        f"$2\\pi \\cdot {base} / {factor:.2f} = {2 * math.pi * base / factor:.2f}$ steps. A text "
        "of 1,000 words is longer, so that all hands come round in it. There are few of them, and "
        f"they come round nearly together: positions {most} apart have the cosine "
        f"{alike(most):.3f}, and neighbours {alike(1):.3f}. With many hands this need not happen.",
        mistakes=[
            f"2π · {base}: the slowest pair is one factor short of that",
            "the exponent taken for components and not for pairs",
            "the round of one hand taken for the reason: all must come round nearly together",
        ],
    )


@question(section="9.2", points=3)
def order_through_blocks(draw: random.Random) -> Choice:
    n = draw.randint(5, 9)
    return Choice(
        text=f"A sentence of {n} different words goes through transformer blocks with a causal "
        "mask and no positions at all. The output of the last word is read. How many blocks does "
        "it take at least, so that it can depend on the order of the first two words?",
        right="Two blocks",
        wrong={
            "One block": "In it the last word averages what it sees of the other words, and the "
            "set is the same in both orders.",
            f"{n - 1} blocks, one for each word before it": "Any word sees all earlier ones in one "
            "block; nothing has to travel along the sentence.",
            "No number is enough": "That holds without a mask. A causal mask gives the first word "
            "less to see than the second.",
        },
        solution="In the first block the word that stands first sees itself alone, and the second "
        "sees both: when the two change places, the outputs at these words differ from before, "
        "while the last word still averages the same set. In the second block the last word "
        "attends to those outputs, which now tell who stood first.",
    )


@question(section="9.5")
def a_pair_of_two_speeds(draw: random.Random) -> Text:
    c = draw.choice([2, 3])
    step = draw.choice([1, 2])
    return Text(
        text="A table of positions has $d = 2$, with the components $\\sin p$ and "
        f"$\\cos {c}p$ where the formula has $\\sin p$ and $\\cos p$. Show that in the right table "
        f"one matrix moves every position by {step}, and write it down. Show that no matrix does "
        "so in the wrong one. Name two more properties of the right table that are lost, and give "
        "a test of a few lines that finds the fault.",
        solution="By the addition theorems $(\\sin(p + k), \\cos(p + k)) = (\\sin p, \\cos p) "
        "\\begin{pmatrix} \\cos k & -\\sin k \\\\ \\sin k & \\cos k \\end{pmatrix}$ with "
        f"$k = {step}$: $\\cos k = {math.cos(step):.3f}$, $\\sin k = {math.sin(step):.3f}$, and "
        f"$p$ is not in the matrix. In the wrong table $\\sin(p + {step}) = {math.cos(step):.3f} "
        f"\\sin p + {math.sin(step):.3f} \\cos p$ would have to be $a \\sin p + b \\cos {c}p$ for "
        f"every $p$. At $p = 0$ this gives $b = {math.sin(step):.3f}$; and then $p = 1$ and $p = "
        "2$ ask for different $a$. Lost are the equal length of all rows, $\\sin^2 p + \\cos^2 p = "
        "1$, and a dot product that depends on the distance alone. Test: compare the lengths of "
        "all rows, or the products of neighbours at several places; or fit the best matrix from "
        "all rows to the next and require that it leaves no error.",
        marks=[
            ("the addition theorems, and the matrix with its numbers", 2),
            ("why no matrix does it in the wrong table", 2),
            ("equal lengths; products by distance alone", 2),
            ("a test that would find it", 1),
        ],
    )


@question(section="9.9")
def longer_than_trained(draw: random.Random) -> Text:
    trained = draw.choice([128, 256, 512])
    longer = 4 * trained
    return Text(
        text=f"A model with a learned table of {trained} positions was trained on texts of up to "
        f"{trained} tokens and is wanted for {longer}. Four proposals: (a) append random rows to "
        "the table; (b) train anew with sinusoids, on the same texts; (c) the same, but let each "
        "text begin at a position drawn at random; (d) train anew with rotary positions. Say for "
        "each what you expect past the trained length and why. Then describe a test that tells "
        "whether the *length* of a text or its *positions* are the reason of a failure.",
        solution="(a) Fails: the new rows were never trained, and a guess is left. (b) There is a "
        "row for every position, but the heads were asked about the first ones alone; many "
        "matrices give these their neighbours, and nothing prefers those that go on: expect it to "
        "fail soon past the trained length. (c) Helps as far as the drawn positions reach: if they "
        f"go up to {longer}, no position is new, though distances above {trained} still are. (d) "
        "The score depends on the distance alone, so no position is new, but distances above "
        f"{trained} are: local tasks go on, while language models were found to carry only a "
        "little further. Test: give the model texts of a length that it knows, which begin at a "
        "late position. If they fail as long ones do at the same positions, the positions are the "
        "reason and not the length.",
        marks=[
            ("(a) untrained rows, a guess", 1),
            ("(b) defined, but never asked about: fails", 1),
            ("(c) helps where the drawn positions reach", 1),
            ("(d) the distance alone counts; new distances remain", 2),
            ("test: known length at late positions", 2),
        ],
    )
