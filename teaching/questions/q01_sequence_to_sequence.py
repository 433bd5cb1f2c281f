"""Exam questions for lecture 1, sequence to sequence."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


@question(section="1.4", points=3)
def two_steps_of_a_gru(draw: random.Random) -> Number:
    old, first, second = draw.sample([-0.8, -0.6, -0.4, 0.2, 0.4, 0.6, 0.8], 3)
    z, later = draw.sample([0.1, 0.25, 0.75, 0.9], 2)
    middle = (1 - z) * first + z * old
    end = (1 - later) * second + later * middle
    return Number(
        text=f"A GRU has a state of one number, ${old}$. At the next word its update gate is "
        f"$z_1 = {z}$ and the candidate $n_1 = {first}$; at the word after that $z_2 = {later}$ "
        f"and $n_2 = {second}$. What are the two new states, and which share of the first state, "
        "from 0 to 1, is in the last by the way past both tanh?",
        answers={"after one word": middle, "after two words": end, "share": z * later},
        decimals=3,
        solution=f"$h_j = (1 - z_j)\\, n_j + z_j\\, h_{{j-1}}$. So $h_1 = {1 - z:g} \\cdot "
        f"({first}) "
        f"+ {z} \\cdot ({old}) = {middle:.3f}$ and $h_2 = {1 - later:g} \\cdot ({second}) + "
        f"{later} "
        f"\\cdot h_1 = {end:.3f}$. Each gate keeps its share: ${z} \\cdot {later} = "
        f"{z * later:.3f}$.",
        mistakes=[
            f"z and 1 − z exchanged: {z * first + (1 - z) * old:.3f} after one word",
            "the two gates added for the share, where they are multiplied",
        ],
    )


@question(section="1.7", points=3)
def loss_and_perplexity(draw: random.Random) -> Number:
    powers = [*draw.sample([1, 2, 3, 4, 5], 3), draw.randint(1, 5)]
    pads = draw.randint(2, 4)
    mean = sum(powers) / len(powers)
    shown = ", ".join(f"1/{2**k}" for k in powers)
    return Number(
        text=f"A model gives the four tokens of a sentence, `<eos>` among them, the probabilities "
        f"{shown}. In its batch the sentence is followed by {pads} places of padding. What is the "
        "loss $J$ of this sentence, by the natural logarithm, and what the perplexity?",
        answers={"loss": mean * math.log(2), "perplexity": 2**mean},
        decimals=3,
        tolerance=0.002,
        solution=f"In powers of ½ the tokens have {', '.join(map(str, powers))}, together "
        f"{sum(powers)}, on average {mean:g}. So $J = {mean:g} \\log 2 = {mean * math.log(2):.3f}$ "
        f"and the perplexity is $e^J = 2^{{{mean:g}}} = {2**mean:.3f}$. Padding counts neither in "
        "the sum nor in the number of tokens.",
        mistakes=[
            f"divided by {4 + pads}, the padding counted: loss "
            f"{sum(powers) * math.log(2) / (4 + pads):.3f}",
            f"the logarithm of base 2: loss {mean:g}",
            "the perplexity of the mean probability instead of the mean logarithm",
        ],
    )


@question(section="1.6", points=2)
def the_vector_of_the_sentence(draw: random.Random) -> Choice:
    n, d = draw.choice([5, 7, 9, 12]), draw.choice([64, 128, 192])
    return Choice(
        text=f"A bidirectional encoder has read a sentence of {n} words; each reader's state has "
        f"{d // 2} numbers. Which vector of {d} numbers has, in both of its halves, seen all "
        f"{n} words?",
        right=f"the left reader's state at word {n} beside the right reader's at word 1",
        wrong={
            f"the annotation of word {n}": "Its second half comes from the reader that begins "
            f"at word {n}, and has seen that word alone.",
            "the annotation of word 1": "Its first half has seen word 1 alone.",
            f"the annotation of word {(n + 1) // 2}, in the middle": "Each half has seen about "
            "half "
            "of the sentence.",
        },
        solution=f"The reader from the left ends at word {n}, the reader from the right at word 1. "
        "The states in which they end have seen everything.",
    )


@question(section="1.5", points=2)
def a_gate_that_keeps(draw: random.Random) -> Choice:
    n = draw.choice([20, 30, 40, 50])
    bias = draw.choice([3, 4])
    factor = 1 / (1 + math.exp(-bias))
    return Choice(
        text=f"All weights of an LSTM are nearly 0. The bias of its forget gate is raised from 0 "
        f"to "
        f"{bias}. Which share of the cell state's gradient remains after {n} steps on the direct "
        "way, before and after?",
        right=f"{0.5**n:.0e} before, {factor**n:.2g} after",
        wrong={
            f"{0.5**n:.0e} before, {0.5 ** (n / bias):.1e} after": "A bias is added inside the "
            "sigmoid. It does not divide the number of steps.",
            f"0 before, {factor**n:.2g} after": "With the bias 0 the gate is σ(0), a half, and not "
            "closed.",
            f"1 before, {(1 - factor) ** n:.0e} after": "The forget gate is the share that is "
            "kept: "
            "a larger one keeps more.",
        },
        solution=f"The factor of each step is $f = \\sigma(\\text{{bias}})$: ½ before, "
        f"$\\sigma({bias}) = {factor:.3f}$ after. The share is $f^{{{n}}}$.",
    )


@question(section="1.9")
def read_late_or_written_late(draw: random.Random) -> Text:
    first, last = draw.choice([(0.9, 0.5), (0.85, 0.45), (0.95, 0.6)])
    what = draw.choice(["melodies, note by note,", "telephone numbers, digit by digit,"])
    return Text(
        text=f"An encoder and a decoder with one vector between them repeat {what} in the order in "
        f"which they were read. Of what stands in the first third {first:.0%} is right, in the "
        f"last "
        f"third {last:.0%}. A colleague concludes: \"The encoder's readers forget what comes "
        'late." '
        "Why does this not follow? Describe an experiment that would decide, and say what each of "
        "two outcomes would mean.",
        solution="What is read late is here also written late, so both causes explain the numbers. "
        "Train the same model to write everything backwards: what is read late is then written "
        "early. If the last third, as read, is now right more often, the loss comes with the "
        "writing; if it is still the worse one, it comes with the reading. The test is best "
        "teacher-forced, so that one mistake does not spoil those that follow.",
        marks=[
            ("says that reading late and writing late go together here", 2),
            ("separates them, as by writing backwards", 2),
            ("says what each outcome means", 2),
        ],
    )


@question(section="1.8")
def room_or_training(draw: random.Random) -> Text:
    d = draw.choice([32, 48, 64])
    return Text(
        text=f"A model with a vector of {d} numbers writes strings of 10 digits backwards. Half of "
        "them come out wrong. Name two different causes that the bottleneck may have here, and an "
        "experiment for each that changes one thing. Why is it not enough to train one model with "
        f"{4 * d} numbers once, and to see that it does better?",
        solution="The vector may be too small to hold ten digits, or training may not have "
        "learned to "
        "use it. For the first: train with more numbers, with the same steps and strings and the "
        "learning rate chosen anew for each size. For the second: the same size, many more steps. "
        "One larger model that does better may owe it to a luckier seed, or to a learning rate "
        "that "
        "suits it better; wanted are several seeds for each setting. And that more room helps does "
        "not show that the small vector could not have been trained to hold as much.",
        marks=[
            ("too little room, with an experiment that changes the size alone", 2),
            ("too little training, with an experiment that changes the steps alone", 2),
            ("several seeds, or the learning rate, or that both causes may count", 2),
        ],
    )
