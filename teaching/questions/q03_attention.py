"""Exam questions for lecture 3, attention."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


def softmax(scores: list[float]) -> list[float]:
    exponentials = [math.exp(score) for score in scores]
    return [one / sum(exponentials) for one in exponentials]


@question(section="3.2", points=4)
def a_look_by_hand(draw: random.Random) -> Number:
    """The scores are logarithms, so that the weights are simple fractions."""
    shares = draw.sample([1, 2, 3, 4, 6], 3)
    rows = [[draw.randint(-3, 3), draw.randint(-3, 3)] for _ in shares]
    while len({tuple(row) for row in rows}) < 3:
        rows = [[draw.randint(-3, 3), draw.randint(-3, 3)] for _ in shares]
    weights = softmax([math.log(share) for share in shares])
    context = [sum(w * row[k] for w, row in zip(weights, rows, strict=True)) for k in (0, 1)]
    scores = ", ".join(rf"\log {share}" for share in shares)
    vectors = ", ".join(f"({a}, {b})" for a, b in rows)
    return Number(
        text=f"At one step the scores of three source words are ${scores}$ (natural logarithms), "
        f"and their annotations are ${vectors}$, in this order. What is the weight of the first "
        "word, and what are the two numbers of the context?",
        answers={
            "weight of the first word": weights[0],
            "first number of the context": context[0],
            "second number of the context": context[1],
        },
        decimals=3,
        tolerance=0.002,
        solution=f"The exponentials of the scores are {', '.join(map(str, shares))}, together "
        f"{sum(shares)}, so the weights are {', '.join(f'{w:.3f}' for w in weights)}. The context "
        f"is the sum of the annotations with these weights, $({context[0]:.3f}, "
        f"{context[1]:.3f})$.",
        mistakes=[
            "the scores divided by their sum, without the exponential",
            f"the annotations' plain mean: {sum(row[0] for row in rows) / 3:.3f} comes first",
        ],
    )


@question(section="3.3", points=4)
def what_padding_takes(draw: random.Random) -> Number:
    words = draw.sample([2, 3, 4, 5, 6], 3)
    pads = draw.choice([5, 8, 10, 20])
    share = sum(words) / (sum(words) + pads)
    scores = ", ".join(rf"\log {one}" for one in words)
    return Number(
        text=f"A sentence of three words has the scores ${scores}$ at one step. In its batch "
        f"{pads} places of padding follow, and each has the score 0. Without a mask, which weight "
        "have the three words together? Somebody then sets the *weights* of the padding to 0 after "
        "the softmax and changes nothing else: by which factor is the context shorter than the "
        "right one? And which weight does a mask before the softmax give the first word?",
        answers={
            "three words together": share,
            "factor": share,
            "first word, masked": words[0] / sum(words),
        },
        decimals=3,
        tolerance=0.002,
        solution=f"A score of 0 has the exponential 1. The words have {sum(words)} of "
        f"{sum(words) + pads}, that is {share:.3f}. With the padding's weights at 0 the three "
        f"others keep their values, whose sum is {share:.3f} and not 1: the context is the right "
        f"one times {share:.3f}. With $-\\infty$ before the softmax the first word has "
        f"{words[0]}/{sum(words)} = {words[0] / sum(words):.3f}.",
        mistakes=["a score of 0 taken for a weight of 0", "the factor given as its inverse"],
    )


@question(section="3.6", points=3)
def an_error_rate(draw: random.Random) -> Number:
    right, wrong, missed = draw.randint(4, 8), draw.randint(1, 3), draw.randint(1, 4)
    predicted, gold = right + wrong, right + missed
    return Number(
        text=f"In a corpus there are {gold} gold links. A model predicts {predicted} links, of "
        f"which {right} are gold. What are precision, recall and the alignment error rate?",
        answers={
            "precision": right / predicted,
            "recall": right / gold,
            "error rate": 1 - 2 * right / (predicted + gold),
        },
        decimals=3,
        tolerance=0.001,
        solution=f"$|A \\cap S| = {right}$, $|A| = {predicted}$, $|S| = {gold}$: precision "
        f"{right}/{predicted} = {right / predicted:.3f}, recall {right}/{gold} = "
        f"{right / gold:.3f}, error rate $1 - {2 * right}/{predicted + gold} = "
        f"{1 - 2 * right / (predicted + gold):.3f}$.",
        mistakes=["precision and recall exchanged", "the factor 2 of the error rate left out"],
    )


@question(section="3.2", points=2)
def sizes_of_a_step(draw: random.Random) -> Choice:
    n, d, m = draw.choice([(9, 200, 6), (12, 128, 15), (30, 64, 25), (7, 256, 10)])
    return Choice(
        text=f"A source of {n} words has annotations of {d} numbers each, and the decoder writes "
        f"{m} words. How many weights does it compute for the whole sentence, and how many numbers "
        "has each context?",
        right=f"{n * m} weights, {d} numbers",
        wrong={
            f"{n} weights, {d} numbers": "That is one step. Each step asks anew.",
            f"{d * m} weights, {n} numbers": "A weight belongs to a source word, and multiplies "
            "its whole annotation.",
            f"{n * m} weights, {n * d} numbers": "The context is a weighted sum of annotations, "
            "and has the size of one.",
        },
        solution=f"One weight for each of {n} words at each of {m} steps; a sum of vectors of {d} "
        f"numbers has {d} numbers.",
    )


@question(section="3.7", points=2)
def which_exchange_tells(draw: random.Random) -> Choice:
    share = draw.choice([90, 92, 95])
    return Choice(
        text=f"While a decoder writes the French article, {share} of 100 parts of its weight are "
        f"on "
        "the English *the*. Which observation shows that the gender of the noun reaches it through "
        "the annotation of *the*?",
        right="with that annotation alone taken from a sentence with another noun, the article "
        "changes",
        wrong={
            f"the weight of {share} parts itself": "It says where the decoder looks, and not what "
            "it "
            "reads there.",
            "the right article is written in nearly all test sentences": "The gender does arrive. "
            "By "
            "which way is left open.",
            "with another noun in the whole source, the article changes": "Then all annotations "
            "and "
            "the summary differ: any of them may have told it.",
        },
        solution="An intervention on one annotation, with all else kept, tells what is read from "
        "it. "
        "The backward reader has seen the noun before it comes to *the*, so its annotation can "
        "hold "
        "the gender.",
    )


@question(section="3.5")
def a_fair_comparison(draw: random.Random) -> Text:
    with_, without = draw.choice([(94, 71), (90, 62), (88, 60)])
    return Text(
        text=f'A report says: "With attention {with_} sentences of a hundred come out right, '
        f"without "
        f'it {without}. So attention helps." The model with attention has a third more parameters; '
        "each was trained once. Name two other explanations of the difference, and for each a run "
        "that would test it. Which further measurement would support that attention helps because "
        "it "
        "is a way round the fixed vector?",
        solution="The difference may come from size: train a model without attention that is wider "
        "and has as many parameters. It may come from chance: train both with several seeds and "
        "compare the ranges. (Steps, data and learning rate have to be the same, or tuned for "
        "each.) "
        "The fixed vector should hurt long sentences most: split the test by length; without "
        "attention the curve should fall, with it stay flat.",
        marks=[
            ("size, with a wider model without attention", 2),
            ("chance, with several seeds", 2),
            ("by length: the difference grows with it", 2),
        ],
    )


@question(section="3.3")
def depends_on_its_neighbours(draw: random.Random) -> Text:
    short, long = draw.choice([(4, 15), (5, 20), (6, 25)])
    return Text(
        text=f"A sentence of {short} words is translated well when it is alone, and badly in a "
        f"batch "
        f"beside one of {long} words. What is the cause? Where can it sit in an encoder and "
        f"decoder "
        "with attention (two places)? Write a test that finds it for any model, without reading "
        "its "
        "code.",
        solution=f"The {long - short} places of padding are read as if they were words. First "
        f"place: "
        "the softmax of the look gives padding a weight, because its scores were not set to −∞. "
        "Second: the encoder reads on over the padding, so that its summary and the backward "
        "reader's states begin in it. Test: run the model on a sentence alone and in a batch "
        "beside "
        "a longer one, and compare the logits of the sentence's own places; they must agree up to "
        "rounding.",
        marks=[
            ("padding is treated as words", 1),
            ("the softmax without a mask", 2),
            ("the encoder that does not know the lengths", 1),
            ("alone against beside a longer sentence, outputs compared", 2),
        ],
    )
