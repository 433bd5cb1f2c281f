"""A template of your own exam questions: one of each kind, and what every field means.

Copy this folder to a place that is not published, change the questions, write others below them,
and add files: every *.py of the folder is read, except names that begin with _. Then

    .venv/bin/python -m teaching.kit.bank --check FOLDER

tries each question with twenty seeds and says what is wrong, by file, line and question.

A question is a function under `@question`. Its name is the question's name. It gets `draw`, a
`random.Random`: take every number and word that is to vary from it, and from nothing else, so that
the same seed gives the same question. A question that never varies does not use it.

Texts are Markdown, with `code` and with formulae as $…$. They must mean the same to somebody who
sees this question alone. In a text that begins with f, write {{ and }} for the braces of formulae.
"""

from __future__ import annotations

import math
import random

from teaching.kit.questions import Choice, Number, Text, question


# section: where the book teaches it; it decides for which lectures the question is asked
# points: whole or half ones; they are shared among the answers, in whole points where there are
# enough of them, and what is left over goes to the last answers
@question(section="5.2", points=3)
def weights_of_two_tokens(draw: random.Random) -> Number:
    first, second = draw.sample([0.0, 0.5, 1.0, 1.5, 2.0], 2)
    weight = math.exp(first) / (math.exp(first) + math.exp(second))
    return Number(
        # what is asked
        text=f"A query has the scores {first} and {second} with two keys, already divided by the "
        "root. Their values are 1 and 0. Which weight does the first key get, and which number is "
        "the output?",
        # what is to be filled in: a label, and the right number. Compute it: a number that is
        # typed in is wrong for the next seed. A whole number, of type int, is asked for as such
        answers={"weight of the first key": weight, "output": weight},
        # how many decimals are asked for (default: 3)
        decimals=3,
        # how far from the answer is still right (default: half a unit of the last decimal)
        tolerance=0.002,
        # the model answer, for those who mark
        solution=f"$e^{{{first}}} / (e^{{{first}}} + e^{{{second}}}) = {weight:.3f}$, and the "
        f"output is ${weight:.3f} \\cdot 1 + {1 - weight:.3f} \\cdot 0 = {weight:.3f}$.",
        # what a marker will see, and where it comes from; may be left out
        mistakes=["the scores divided by their sum, without the exponential"],
    )


@question(section="7.5", points=2)
def who_sees_whom(draw: random.Random) -> Choice:
    n = draw.randint(5, 9)
    row = draw.randint(2, n - 2)
    return Choice(
        text=f"A causal mask of {n} tokens is used. Which keys does query {row} see, counted "
        "from 1?",
        # the one right option
        right=f"1 to {row}",
        # every other option, and why it is wrong; the order is drawn by the seed
        wrong={
            f"1 to {row - 1}": "A token sees itself, too.",
            f"{row} to {n}": "These are the tokens that come later.",
            f"1 to {n}": "That is what it sees without a mask.",
        },
        solution=f"Query {row} sees the keys up to its own place.",
    )


# a Text needs no points: they are those of its marks
@question(section="6.4")
def one_matrix_less(draw: random.Random) -> Text:
    which = draw.choice(["queries and keys", "keys and values"])
    return Text(
        text=f"A colleague uses one matrix for both {which}, to save parameters. What can the "
        "layer no longer do? Give an example.",
        solution="With one matrix for queries and keys, what a token asks for is what it answers "
        "to: it cannot look for something unlike itself. With one for keys and values, what a "
        "token is found by is all that it hands over. A verb that looks for its subject is an "
        "example of the first, a title whose name is handed over one of the second.",
        # what earns points, and how many, in whole or half points; a marker reads these
        marks=[
            ("says what the two roles are", 1),
            ("says what is lost when one matrix has both", 1.5),
            ("gives an example that fits", 1.5),
        ],
    )
