"""Exam questions for lecture 10."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


@question(section="10.4", points=4)
def two_neurons(draw: random.Random) -> Number:
    threshold = draw.choice([1, 2, 3])
    writes = draw.sample([2, 3, 4, 5], 2)
    low, high = draw.randint(1, 4), draw.randint(2, 4)
    first = (low + threshold + high, low)  # the first neuron reads what is above the threshold
    second = (low, low + threshold + draw.randint(1, 3))  # the second one does

    def read(x: tuple[int, int]) -> tuple[int, int]:
        return x[0] - x[1] - threshold, x[1] - x[0] - threshold

    def written(x: tuple[int, int]) -> int:
        return sum(max(0, one) * w for one, w in zip(read(x), writes, strict=True))

    linear = sum(one * w for one, w in zip(read(first), writes, strict=True))
    return Number(
        text="A feed-forward network reads two components. It has two neurons and writes one "
        "number:\n\n"
        r"$$W_1 = \begin{pmatrix} 1 & -1 \\ -1 & 1 \end{pmatrix}, \quad b_1 = "
        rf"(-{threshold},\, -{threshold}), \quad W_2 = \begin{{pmatrix}} {writes[0]} \\ "
        rf"{writes[1]} \end{{pmatrix}}, \quad b_2 = 0.$$"
        f"\n\nWhat does it write for the token $({first[0]}, {first[1]})$ and for the token "
        f"$({second[0]}, {second[1]})$? And for the first token, if the ReLU is left out?",
        answers={
            "first token": written(first),
            "second token": written(second),
            "first token, without the ReLU": linear,
        },
        decimals=0,
        solution=f"The neurons read $x_1 - x_2 - {threshold}$ and $x_2 - x_1 - {threshold}$. "
        f"Of the first token they read {read(first)[0]} and {read(first)[1]}: the ReLU passes on "
        f"only the first, times {writes[0]} gives {written(first)}. Of the second token they read "
        f"{read(second)[0]} and {read(second)[1]}: {read(second)[1]} times {writes[1]} gives "
        f"{written(second)}. Without the ReLU both count: "
        f"{read(first)[0]} · {writes[0]} − {-read(first)[1]} · {writes[1]} = {linear}.",
        mistakes=[
            "the threshold left out",
            "the negative reading passed on as well, though there is a ReLU",
        ],
    )


@question(section="10.2", points=4)
def gradient_through_parts(draw: random.Random) -> Number:
    tenths, n = draw.choice([4, 5, 6]), draw.choice([4, 6])
    c = tenths / 10
    return Number(
        text=f"In a chain of {n} parts each part $f$ multiplies one number by {c}. So the "
        f"derivative of $f$ is {c}. A gradient of 1 enters at the output. What arrives at the "
        "input without the sum, and with the sum, $x + f(x)$? And with the sum, if every second "
        f"part multiplies by −{c} instead?",
        answers={
            "without the sum": c**n,
            "with the sum": (1 + c) ** n,
            "with the sum, every second −": ((1 + c) * (1 - c)) ** (n // 2),
        },
        decimals=3,
        solution=f"Derivatives are multiplied. Without the sum: ${c}^{n} = {c**n:.3f}$. With it "
        f"each factor is $1 + {c}$: ${1 + c:.1f}^{n} = {(1 + c) ** n:.3f}$. With changing signs "
        f"half of the factors are {1 + c:.1f} and half {1 - c:.1f}, in all {n // 2} times their "
        f"product {(1 + c) * (1 - c):.2f}: {((1 + c) * (1 - c)) ** (n // 2):.3f}. So where "
        "parts add, the sum keeps a gradient from vanishing and does not by itself keep it from "
        "growing; with changing signs it shrinks.",
        mistakes=[
            f"$1 + {c}^{n}$: the 1 stands in every factor, not once",
            f"$1 + {n} · {c}$: a sum of the parts, where factors are multiplied",
        ],
    )


@question(section="10.5", points=4)
def two_places_of_a_norm(draw: random.Random) -> Number:
    middle, step = draw.randint(2, 6), draw.choice([1, 2])
    shape = draw.sample([-3, -1, 1, 3], 4)
    while abs(shape[0]) == 1:  # the asked component is one of the outer ones
        shape = draw.sample([-3, -1, 1, 3], 4)
    total = [middle + step * one for one in shape]
    change = [draw.randint(-3, 3) for _ in range(4)]
    x = [one - other for one, other in zip(total, change, strict=True)]
    gain, bias = draw.choice([2, 3]), draw.choice([1, 2])
    deviation = math.sqrt(5) * step
    normed = (total[0] - middle) / deviation
    post = gain * normed + bias

    def row(vector: list[int]) -> str:
        return "$(" + ",\\, ".join(str(one) for one in vector) + ")$"

    return Number(
        text=f"A part of a block returns {row(change)}, whatever it reads. The token is {row(x)}; "
        f"the LayerNorm has the gain {gain} and the bias {bias} for every component, and ε is left "
        "out. What is the first component after this part with its sum in a pre-norm block, and "
        "what in a post-norm block?",
        answers={"pre-norm": total[0], "post-norm": post},
        decimals=2,
        solution=f"Pre-norm: $x + f(\\mathrm{{LN}}(x))$. What $f$ reads does not matter here, so "
        f"it is $x + f$: {row(total)}, and first {total[0]}. Post-norm: the norm of that sum. Its "
        f"mean is {middle}, its variance $(9 + 1 + 1 + 9)/4 · {step}^2 = {5 * step * step}$, so "
        f"$({total[0]} - {middle}) / {deviation:.3f} = {normed:.3f}$, times {gain} and plus "
        f"{bias}: {post:.2f}.",
        mistakes=[
            "pre-norm: the normalised token was added to, and not the token itself",
            "post-norm: the variance divided by 3 instead of 4",
            "post-norm: the gain applied to the bias too",
        ],
    )


@question(section="10.5", points=3)
def a_wider_network(draw: random.Random) -> Number:
    d, ratio = draw.choice([256, 512, 1024]), draw.choice([3, 6, 8])
    weights, length = 4 * d * d + 2 * ratio * d * d, (ratio - 2) * d
    return Number(
        text=f"A block has $d_{{\\text{{model}}}} = {d}$ and a network of $d_{{ff}} = {ratio}\\, "
        f"d_{{\\text{{model}}}}$ neurons. How many numbers are in its matrices, without biases and "
        "norms? And at how many tokens $n$ does attention take as many multiplications as the "
        "network? (Scores and weighted sums count, without a mask; softmax and norms do not.)",
        answers={"numbers": weights, "tokens": length},
        decimals=0,
        solution=f"Four matrices of $d^2$ in attention, two of ${ratio} d^2$ in the network: "
        f"${4 + 2 * ratio}\\, d^2 = {weights}$. For each token attention takes $4 d^2$ "
        "multiplications for its matrices and $2 n d$ for scores and sums, the network "
        f"${2 * ratio} d^2$. They are equal where $2 n d = {2 * ratio - 4} d^2$, so $n = "
        f"{ratio - 2} d = {length}$.",
        mistakes=[
            "three matrices counted in attention: the fourth mixes the heads",
            "$n = 2 d$: that is so only for four times as many neurons",
        ],
    )


@question(section="10.3", points=2)
def which_norm_notices(draw: random.Random) -> Choice:
    shift, factor = draw.choice([5, 10, 20]), draw.choice([3, 4, 5])
    return Choice(
        text="Gain 1, bias 0, and ε is left out. Which change of a token's vector leaves the "
        "result of a LayerNorm as it is, and changes that of an RMSNorm?",
        right=f"{shift} is added to every component",
        wrong={
            f"every component is multiplied by {factor}": "Both divide by a size that grows by the "
            "same factor: neither result changes.",
            "every component changes its sign": "Both results change their sign.",
            "the largest and the smallest component change places": "Mean, variance and mean "
            "square stay, but the two components of the result change places in both.",
        },
        solution=f"LayerNorm subtracts the mean, and so also the {shift} that was added to it. "
        "RMSNorm subtracts nothing: what was added stays, and is divided by another root.",
    )


@question(section="10.5", points=3)
def which_line_it_was(draw: random.Random) -> Choice:
    factor, length = draw.choice([2, 5, 10]), draw.choice([20, 30, 50])
    lines = {
        "x = norm(x + f(x))": "With zeros from `f` this returns the normalised vector, whose "
        "length is not that of `x`.",
        "x = norm(x)\nx = x + f(x)": "`x` is overwritten: with zeros from `f` the normalised "
        "vector comes back.",
        "x = x + norm(f(x))": "With zeros from `f` this returns `x`. But `f` reads `x` itself, so "
        "it would read a longer vector.",
    }
    return Choice(
        text="`norm` is a LayerNorm of gain 1 and bias 0; leave ε out. Two tests of one part of a "
        "block: when `f` is replaced by a function that returns zeros, a vector of 64 components, "
        f"of length {length} and mean 2, comes back as it went in. When the input is multiplied by "
        f"{factor}, `f` reads the same vector as before. Which code passes both tests?",
        right="`x = x + f(norm(x))`",
        wrong={"`" + line.replace("\n", "; ") + "`": reason for line, reason in lines.items()},
        solution="The first test says that nothing stands on the residual path but the sum. The "
        "second says that `f` reads through a norm, which removes the factor. Only pre-norm does "
        "both.",
    )


@question(section="10.4")
def no_relu_please(draw: random.Random) -> Text:
    blocks = draw.choice([2, 6, 12])
    return Text(
        text=f"To save time somebody removes the ReLU from all {blocks} blocks of a model. “The "
        "softmax of attention is not linear, so the model is not, either.” Leave the norms out of "
        "account. What does the whole stack compute of a sentence of one token? Name something "
        "that it therefore cannot compute, and say where the argument about the softmax goes "
        "wrong.",
        solution="A sentence of one token has one weight, and it is 1 whatever the score. So "
        "attention multiplies the token by $W^V W^O$ and adds biases; without the ReLU the network "
        "is a matrix and a bias, too, and so is $x + f(x)$. "
        f"All {blocks} blocks together are one matrix and one bias. The mean of what such a map "
        "makes of $x$ and of $-x$ is its bias. $|x_1 - x_2|$ is the same for both, so it would "
        "have to be the bias, for every token: it is out of reach. The softmax is not linear in "
        "the scores, but it decides only how tokens are mixed; what is done to a token's vector, "
        "at given weights, stays linear.",
        marks=[
            ("says that the only weight of a single token is 1, whatever the score", 1),
            ("says that each part is then a matrix and a bias, and so is the whole stack", 2),
            ("names something out of reach, such as $|x_1 - x_2|$ or a product, with a reason", 1),
            ("says that the softmax acts on the weights and not on what is done to a token", 1),
        ],
    )


@question(section="10.5")
def one_early_curve(draw: random.Random) -> Text:
    blocks, steps = draw.choice([8, 12, 16]), draw.choice([100, 200, 400])
    pre, post = draw.choice([3.3, 3.5, 3.6]), draw.choice([4.6, 4.7, 4.8])
    return Text(
        text=f"Two stacks of {blocks} blocks differ in the place of the norm alone. Both are "
        f"trained once, with one learning rate and without a warm-up. After {steps} steps the loss "
        f"of the pre-norm stack is {pre}, that of the post-norm stack {post}. A report concludes: "
        "“Pre-norm models are better.” Give three reasons why this does not follow, and describe "
        "the comparison that you would make instead.",
        solution="The end of a long training may look different: these are the first steps. A rate "
        "that starts at its full height harms post-norm above all: a warm-up closes most of such a "
        "gap, so the setting favours one side. It is one rate, perhaps good for one of the two "
        "only. And it is one seed: nobody knows how much the losses vary. Compare both with a "
        "warm-up and with a rate chosen for each, from three seeds or more, trained to the end, by "
        "the loss or perplexity of held-out text, and give the spread.",
        marks=[
            ("says that an early loss is not the end of a training", 1),
            ("says that without a warm-up post-norm is at a disadvantage", 1),
            ("names one seed without a spread, one common rate, or a training loss (any one)", 1),
            ("proposes a comparison with a warm-up or a rate of its own for each", 1),
            ("asks for several seeds and for a measure on held-out text", 1),
        ],
    )


@question(section="10.6", points=4)
def a_bigram_that_writes(draw: random.Random) -> Number:
    cat, dog, bird = draw.choice([(6, 3, 2), (5, 4, 2), (6, 2, 2), (4, 3, 2)])
    sleeps, eats = draw.choice([(3, 2), (4, 2), (2, 4), (2, 3)])
    after_the, after_cat = cat + dog + bird, sleeps + eats
    perplexity = math.sqrt(after_the / cat * after_cat / eats)
    squares = cat**2 + dog**2 + bird**2
    return Number(
        text=f"A bigram has counted in its text: after *the* came *cat* {cat} times, *dog* {dog} "
        f"times and *bird* {bird} times; after *cat* came *sleeps* {sleeps} times and *eats* "
        f"{eats} times. Nothing is added to the counts. *The* is given. What is its perplexity on "
        "the two words *cat eats*? It then writes at temperature 0.5: with what probability does "
        "*cat* follow *the*, and with what *bird*?",
        answers={
            "perplexity": perplexity,
            "cat, at temperature 0.5": cat**2 / squares,
            "bird, at temperature 0.5": bird**2 / squares,
        },
        decimals=3,
        solution=f"The chances are {cat}/{after_the} and {eats}/{after_cat}. Perplexity is exp of "
        f"the mean loss, here $\\sqrt{{{after_the}/{cat} · {after_cat}/{eats}}} = "
        f"{perplexity:.3f}$. The temperature divides the logits, so at 0.5 each probability is "
        f"squared and the squares are divided by their sum: {cat}² / ({cat}² + {dog}² + {bird}²) = "
        f"{cat**2 / squares:.3f} and {bird}² / {squares} = {bird**2 / squares:.3f}. What was "
        "likely becomes likelier.",
        mistakes=[
            "no root: the loss is the mean over two words, and not their sum",
            "probabilities divided by 0.5 instead of logits: after the division by their sum "
            "nothing has changed",
        ],
    )


@question(section="10.6")
def accepted_or_stored(draw: random.Random) -> Text:
    accepted, new = draw.choice([(0.97, 0.04), (0.95, 0.06), (0.98, 0.03)])
    shuffled = draw.choice([0.41, 0.48, 0.55])
    return Text(
        text="A model writes 500 sentences. A program that judges grammar accepts a share of "
        f"{accepted} of them; a share of {new} is accepted and does not stand in the training "
        f"text. Of test sentences whose words were shuffled it accepts {shuffled}. “Our model has "
        "learned the grammar”, says the report. What does each of the three numbers say, and what "
        "would you measure before you believe the report?",
        solution=f"That {accepted} are accepted says little alone: a program that copies training "
        "sentences has all of them accepted. Nearly all that is accepted here stands in the "
        f"training text, and only {new} is new, so the model may have stored what it read. And a "
        f"judge that accepts {shuffled} of shuffled sentences cannot tell grammar from its "
        "absence, so the first number would be high for a poor model, too. First mend the judge: "
        "it must accept test sentences and refuse shuffled ones. Then report the share of accepted "
        "and new sentences at several temperatures, since a low one writes the most likely and "
        "often stored sentences, the perplexity on held-out sentences, and both for a 4-gram.",
        marks=[
            ("says that copied training sentences would be accepted, too", 1),
            ("concludes from the share of new ones that the model may have stored its text", 1),
            ("says that a judge which accepts shuffled sentences is not to be relied on", 1),
            ("wants a judge that is checked on test sentences, right and shuffled", 1),
            ("wants new sentences at several temperatures, held-out perplexity or an n-gram", 1),
        ],
    )
