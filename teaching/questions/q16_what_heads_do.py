"""Exam questions for lecture 16."""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


@question(section="16.2", points=3)
def numbers_of_a_circuit(draw: random.Random) -> Number:
    d_model, d = draw.choice([(512, 64), (768, 64), (1024, 128), (2048, 128)])
    thin, full = 4 * d_model * d, 2 * d_model * d_model
    return Number(
        text=f"A head has $d_k = d_v = {d}$ in a model with "
        f"$d_{{\\text{{model}}}} = {d_model}$. How many numbers does it learn for "
        "$W^{QK}$ and $W^{OV}$ together? How many would two full matrices of that shape "
        "have? And what is the highest rank that $W^{QK}$ can have?",
        answers={"learned": thin, "full": full, "rank": d},
        decimals=0,
        solution=f"$W^Q$, $W^K$, $W^V$ and the head's rows of $W^O$ have {d_model} · {d} numbers "
        f"each: 4 · {d_model} · {d} = {thin:,}. Two full matrices have 2 · {d_model}² = {full:,}. "
        f"A product through {d} numbers has at most the rank {d}.",
    )


@question(section="16.3", points=2)
def weight_of_a_match(draw: random.Random) -> Number:
    n, score = draw.choice([8, 16, 40, 100]), draw.choice([3.0, 4.0, 6.0])
    wanted = draw.choice([0.9, 0.95])
    weight = math.exp(score) / (math.exp(score) + n - 1)
    needed = math.log(wanted / (1 - wanted) * (n - 1))
    return Number(
        text=f"An induction head looks over {n} tokens. One matches, with a score of "
        f"{score:g}; the others have 0. What is the weight of the one that "
        f"matches? Which score would give it a weight of {wanted}?",
        answers={"weight": weight, "score": needed},
        decimals=2,
        solution=f"The weight is $e^{{{score:g}}} / (e^{{{score:g}}} + {n - 1}) = "
        f"{weight:.2f}$. For {wanted} the exponential must be "
        f"{wanted / (1 - wanted):.0f} times that of all others together, so "
        f"the score is ln({wanted / (1 - wanted):.0f} · {n - 1}) = {needed:.2f}.",
    )


@question(section="16.3")
def why_not_one_layer(draw: random.Random) -> Text:
    a, b = draw.choice([("A", "B"), ("red", "book"), ("7", "3")])
    return Text(
        text=f"In *{a} {b} … {a}* a model of one attention layer is to say *{b}*. Why can its head "
        f"not look for the token that follows an earlier *{a}*, wherever that stood? Say what a "
        "first layer must write, and where, so that a head of the second layer can. And name one "
        "kind of text on which one layer would do well all the same.",
        solution=f"A score depends on what stands at the two places, and on their distance. At "
        f"*{b}* stand the embedding of *{b}* and its position; neither tells that *{a}* stood "
        f"before it. A head of the first layer looks one place back at each token, and writes whom "
        f"it finds into a part of the path that is free: at *{b}*, that it stands after *{a}*. The "
        f"second layer's query at the last *{a}* asks that part, and hands over who *{b}* is. "
        "Where all texts repeat after the same distance one layer can look that many places back.",
        marks=[
            ("a score sees what stands at both places and their distance only", 1),
            ("nothing at the second token tells which token stood before it", 1),
            ("the first head writes the previous token at each place", 1),
            ("the second head asks for that part of the path and hands over the token itself", 1),
            ("a fixed period or distance", 1),
        ],
    )


@question(section="16.5", points=3)
def two_measures_of_a_head(draw: random.Random) -> Choice:
    adds = draw.choice([0.0, 0.1])
    before, after = draw.choice([(0.82, 0.21), (0.91, 0.3), (0.78, 0.19)])
    return Choice(
        text=f"A head of the first layer adds {adds:.1f} to the logit of the right symbol, where "
        f"the others add up to 3.6. Without it the share of right answers falls from {before} to "
        f"{after}. What do both numbers together say?",
        right="What it writes is needed, and reaches the output through something that reads it",
        wrong={
            "It does nothing for the right answer, and its removal does harm by an unusual "
            "input": "Possible for a small fall. Here most of the right answers go; the same "
            "removal of other heads would show whether any removal does that.",
            "It writes the right answer to the output, in a direction that no one can read "
            "off": "What reaches the logit directly is just what was measured, and is about 0.",
            "One of the two numbers must be wrong": "They answer two questions, so both may be "
            "right.",
        },
        solution="Attribution counts what a part says to the output itself. Ablation counts also "
        "what goes through other parts. A head of the first layer that writes what a later head "
        "asks for has hardly any of the one and much of the other.",
    )


@question(section="16.5", points=2)
def read_as_what(draw: random.Random) -> Choice:
    parts = ["queries", "keys", "values"]
    reads = draw.choice(parts)
    whole, fallen = draw.choice([(0.82, 0.38), (0.88, 0.41), (0.77, 0.33)])
    shares = ", ".join(
        f"{fallen if part == reads else whole - 0.01:.2f} without it in the {part}"
        for part in parts
    )
    told = {
        "queries": "what the first wrote at the token that looks, to choose whom it asks",
        "keys": "what the first wrote at the tokens that are looked at, to choose among them",
        "values": "what the first wrote at the tokens that are looked at, to hand it on",
    }
    others = [part for part in parts if part != reads]
    return Choice(
        text="Of a model with one head in each of two layers, the output of the first head is "
        "taken away from what the second one's queries are made of, or its keys, or its values; "
        f"the rest of the model still reads it. Right are {whole:.2f} as it is; {shares}. What "
        "does the second head use?",
        right=f"Mostly {told[reads]}",
        wrong={
            **{
                f"Mostly {told[part]}": f"Without it in the {part} nearly as much is right."
                for part in others
            },
            "Nothing of the first head, since two of the three cuts change hardly "
            "anything": "The third cut takes more than a third away.",
        },
        solution=f"Only the cut from the {reads} costs much. A query is made at the token that "
        "looks, keys and values at those that are looked at; keys decide who is chosen, values "
        "what is handed over.",
    )


@question(section="16.6")
def a_control_for_removed_heads(draw: random.Random) -> Text:
    k, heads = draw.choice([(5, 144), (8, 270), (12, 384)])
    before, after = draw.choice([(2.4, 8.9), (3.1, 9.6), (1.9, 7.7)])
    return Text(
        text=f"In a model of {heads} heads, {k} are found that look at what came next in random "
        f"tokens said twice. With them removed, the loss on the second half of the same texts "
        f"rises from {before} to {after} nats. “These {k} heads do the copying,” says the report. "
        "Name three things that must stand beside these numbers before you believe it, each with "
        "the other explanation that it would rule out.",
        solution=f"The heads were chosen on the texts on which they are tested: take other texts. "
        f"Any {k} heads of these layers might do as much harm: remove many draws of {k} others, "
        "matched by layer. The removal might harm everything the model does: report the loss of "
        "the first half, and of text where nothing is repeated. (Also: another replacement, such "
        "as zero beside the mean; and texts that are no random tokens.)",
        marks=[
            ("other texts than those that chose the heads", 1),
            ("many draws of as many other heads", 1),
            ("matched by layer", 1),
            ("the loss where nothing can be copied, or of ordinary text", 1),
            ("says for each which explanation it rules out", 1),
        ],
    )


@question(section="16.7", points=2)
def what_a_lens_shows(draw: random.Random) -> Choice:
    layer = draw.choice([12, 16, 20])
    word = draw.choice(["Paris", "brook", "old"])
    return Choice(
        text=f"A model of 30 layers says *{word}* with a probability of 0.8. By the logit lens the "
        f"word is not among the ten most probable until after layer {layer + 6}. What follows?",
        right="Up to there the output matrix cannot read the word off the path",
        wrong={
            f"Up to layer {layer + 6} the model has not computed which word it will "
            "be": "It may be written in directions that later layers read and the output does not.",
            f"Layer {layer + 6} alone computes the word": "It may only turn what earlier layers "
            "have written into what the output reads. An ablation could tell.",
            "The lens is in error, since a word must become more probable from layer to "
            "layer": "Nothing makes it do so. A layer may write its opposite.",
        },
        solution="The lens asks one reader, the last norm with the output matrix, too early. What "
        "this reader cannot see, another may. To say which layers are needed, change them.",
    )
