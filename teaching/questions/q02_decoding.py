"""Exam questions for lecture 2, decoding."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


@question(section="2.3", points=4)
def greedy_and_a_beam(draw: random.Random) -> Number:
    """A table in which greedy decoding is led astray, and a beam of two is not."""
    a = draw.choice([0.5, 0.52, 0.55])
    b = draw.choice([0.35, 0.38, 0.4])
    after_a = draw.sample([0.3, 0.35, 0.4], 2)
    after_b = draw.choice([0.8, 0.85, 0.9])
    best_a = max(after_a)
    return Number(
        text=f"A model's first word is A with probability {a} or B with {b}. After A come C with "
        f"{after_a[0]} and D with {after_a[1]}; after B comes E with {after_b}. C, D and E are "
        f"each "
        "followed by `<eos>` with 0.9. (What is missing up to 1 belongs to other words, each very "
        "improbable.) How probable is the sentence that greedy decoding finds, how probable the "
        "best "
        "of a beam of two, and how much larger is log p, by the natural logarithm, of the second?",
        answers={
            "greedy": a * best_a * 0.9,
            "beam of two": b * after_b * 0.9,
            "difference of log p": math.log(b * after_b / (a * best_a)),
        },
        decimals=3,
        tolerance=0.001,
        solution=f"Greedy decoding takes A, then the better of C and D: ${a} \\cdot {best_a} "
        f"\\cdot "
        f"0.9 = {a * best_a * 0.9:.3f}$. The beam keeps A and B; of the three continuations B E is "
        f"best, ${b} \\cdot {after_b} \\cdot 0.9 = {b * after_b * 0.9:.3f}$. The difference is the "
        f"logarithm of their ratio, {math.log(b * after_b / (a * best_a)):.3f}.",
        mistakes=[
            f"the factor of <eos> left out: {a * best_a:.3f} and {b * after_b:.3f}",
            "the logarithm of the difference instead of the difference of the logarithms",
        ],
    )


@question(section="2.5", points=4)
def the_tie_of_two_lengths(draw: random.Random) -> Number:
    n, m = draw.choice([(2, 4), (2, 5), (3, 6), (3, 5)])
    short = -draw.choice([1.5, 1.6, 1.8, 2.0])
    long = round(short * draw.choice([1.2, 1.25, 1.3, 1.4]), 2)
    tie = math.log(long / short) / math.log(m / n)
    return Number(
        text=f"A search has ended two sentences: one of {n} words with log p = ${short}$, one of "
        f"{m} "
        f"words with log p = ${long}$, `<eos>` counted. They are ranked by "
        "$\\log p / n^\\alpha$. What are their scores at $\\alpha = 1$? At which $\\alpha$ have "
        "they "
        "the same score?",
        answers={f"{n} words": short / n, f"{m} words": long / m, "α": tie},
        decimals=3,
        tolerance=0.001,
        solution=f"At $\\alpha = 1$: ${short} / {n} = {short / n:.3f}$ and ${long} / {m} = "
        f"{long / m:.3f}$. Equal where $({m}/{n})^\\alpha = {long} / {short} = "
        f"{long / short:.3f}$, so "
        f"$\\alpha = \\log {long / short:.3f} / \\log {m / n:.3f} = {tie:.3f}$. Above it the "
        f"longer "
        "sentence wins.",
        mistakes=[f"the fraction turned round: {1 / tie:.3f}", "<eos> not counted"],
    )


@question(section="2.6", points=3)
def a_small_bleu(draw: random.Random) -> Number:
    n = draw.choice([7, 8, 9])
    r = n + draw.choice([1, 2, 3])
    parts = [n - k for k in range(4)]
    # those that do not hold place 2, the wrong word's
    matches = [n - 1, *(sum(not s <= 2 < s + k for s in range(n - k + 1)) for k in (2, 3, 4))]
    mean = math.prod(a / b for a, b in zip(matches, parts, strict=True)) ** (1 / 4)
    brevity = math.exp(1 - r / n)
    return Number(
        text=f"An output has {n} different words, its reference {r}. The output is the reference's "
        "beginning, but for its third word, which the reference does not contain. What is its "
        "precision of 2-grams, its brevity factor, and its BLEU from 0 to 100?",
        answers={
            "precision of 2-grams": matches[1] / parts[1],
            "brevity factor": brevity,
            "BLEU": 100 * brevity * mean,
        },
        decimals=2,
        tolerance=0.02,
        solution=f"The third word spoils 1 of {parts[0]} 1-grams, 2 of {parts[1]} 2-grams; of the "
        f"3-grams {matches[2]} of {parts[2]} are left, of the 4-grams {matches[3]} of {parts[3]}. "
        f"The "
        f"geometric mean of the four precisions is {mean:.4f}, the brevity factor "
        f"$e^{{1 - {r}/{n}}} "
        f"= {brevity:.4f}$, so BLEU is {100 * brevity * mean:.2f}.",
        mistakes=[
            "precisions divided by the reference's n-grams, which is recall",
            f"without the brevity factor: {100 * mean:.2f}",
            "the arithmetic mean of the precisions",
        ],
    )


@question(section="2.7", points=2)
def the_temperature(draw: random.Random) -> Choice:
    p, q = draw.choice([(0.6, 0.2), (0.8, 0.2), (0.4, 0.1), (0.75, 0.25)])
    ratio = p / q
    return Choice(
        text=f"At temperature 1 a word has probability {p}, another {q}. What is their ratio at "
        "temperature ½?",
        right=f"{ratio**2:g}",
        wrong={
            f"{ratio:g}": "Dividing all logits by the same number changes their differences, and "
            "so "
            "the ratios.",
            f"{ratio**0.5:.3g}": "That is temperature 2, which makes the distribution flatter.",
            f"{2 * ratio:g}": "The logits' difference is doubled, not the ratio: a ratio is its "
            "exponential.",
        },
        solution="The ratio is the exponential of the difference of the logits. At ½ the "
        "difference "
        f"is twice as large, so the ratio is squared: ${ratio:g}^2 = {ratio**2:g}$.",
    )


@question(section="2.5", points=2)
def whose_fault(draw: random.Random) -> Choice:
    reference = -draw.choice([5.1, 6.2, 7.3])
    found = round(reference + draw.choice([0.8, 1.1, 1.4]), 1)
    k = draw.choice([4, 8])
    return Choice(
        text=f"A beam of {k} finds a wrong translation with log p = ${found}$. The right one has "
        f"log p = ${reference}$ under the same model. Which change can make the model's search, "
        "ranked by log p, return the right one?",
        right="none of the search: the model must be trained better",
        wrong={
            f"a beam of {8 * k}, which keeps both to the end": "Then the wrong one, which is more "
            "probable, is returned.",
            "an exact search": "It returns the most probable sentence; the right one is less "
            "probable than one that is known.",
            "a sum of logarithms in float64": "The difference is far larger than rounding.",
        },
        solution=f"The wrong sentence is more probable, ${found} > {reference}$: a model error. "
        f"Any "
        "search that finds both returns the wrong one.",
    )


@question(section="2.4")
def a_log_p_that_is_claimed(draw: random.Random) -> Text:
    claimed = -draw.choice([3.1, 4.2, 5.3])
    read = round(claimed - draw.choice([1.2, 1.7, 2.3]), 1)
    return Text(
        text=f"A beam search returns its translations with log p = ${claimed}$ on average. When "
        f"the "
        f"model reads the same translations word by word, their log p is ${read}$. With $k = 1$ "
        f"both "
        "numbers agree. Which part of the search is most likely wrong, and how does the fault come "
        "about? Why does $k = 1$ not show it? Would you expect the translations to be good?",
        solution="The states do not follow their parents: after the best $k$ continuations are "
        "chosen, "
        "each new hypothesis has its parent's words, but the state of whatever stood in its place. "
        "So the next word's probability is that of another beginning, and the sum belongs to no "
        "sentence. With $k = 1$ there is one hypothesis, which is its own parent. The translations "
        "may still be fair, because the hypotheses of a beam resemble each other; that is why the "
        "fault is easily missed.",
        marks=[
            ("names the reordering of the states (or of the words)", 2),
            ("says how words and state come to belong to different beginnings", 2),
            ("k = 1 has one hypothesis, its own parent", 1),
            ("translations may be fair, since beginnings resemble each other", 1),
        ],
    )


@question(section="2.5")
def a_wider_beam_is_worse(draw: random.Random) -> Text:
    k = draw.choice([32, 64, 100])
    return Text(
        text=f"Somebody widens the beam from 4 to {k}, ranks by log p, and sees the mean log p "
        f"rise "
        "and BLEU fall. Is the search at fault? What would you measure next, and what would you "
        "change first?",
        solution="No: the search finds what the model finds more probable, so it works. A "
        "sentence's "
        "probability falls with every word, so a better search finds shorter sentences, which "
        "leave "
        "words out. Measure the number of words of the outputs, the brevity factor, and how often "
        "the reference is less probable than what was found (a model error). First divide log p "
        "by a "
        "power of the length, chosen on held-out sentences; and a narrow beam is cheaper as well.",
        marks=[
            ("the search is better, the model's preference is at fault", 2),
            ("measures the length, the brevity factor, or log p of the references", 2),
            ("divides by the length, or keeps the narrow beam", 2),
        ],
    )
