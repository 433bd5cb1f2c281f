"""Exam questions for lecture 15."""

from __future__ import annotations

import random

from teaching.kit.questions import Choice, Number, Text, question


@question(section="15.5", points=3)
def swing_lost_and_carried(draw: random.Random) -> Number:
    one, other = draw.choice([0.42, 0.46, 0.5]), draw.choice([0.1, 0.14, 0.18])
    lost_one, lost_other = draw.choice([0.04, 0.06, 0.08]), draw.choice([0.02, 0.04])
    gone, come = draw.choice([0.08, 0.1, 0.12]), draw.choice([0.04, 0.06])
    swing = one - other
    return Number(
        text=f"In a sentence with *tired*, *it* leans to *animal* by {one:.2f}; with *wide* in its "
        f"place, by {other:.2f}. With one head ablated the leans are {one - lost_one:.2f} and "
        f"{other + lost_other:.2f}. With the head patched, each run from the other, they are "
        f"{one - gone:.2f} and {other + come:.2f}. What is the swing? What share of it is lost by "
        "the ablation? And what share does the patch carry, in the mean of both runs?",
        answers={
            "swing": swing,
            "lost": (lost_one + lost_other) / swing,
            "carried": (gone + come) / (2 * swing),
        },
        decimals=2,
        solution=f"The swing is {one:.2f} − {other:.2f} = {swing:.2f}. Ablated, "
        f"{swing - lost_one - lost_other:.2f} is left, so {lost_one + lost_other:.2f} of "
        f"{swing:.2f}, or {(lost_one + lost_other) / swing:.2f}, is lost. The whole way of a "
        f"lean to the other run's is the swing; the two go {gone:.2f} and {come:.2f} of it, in "
        f"the mean {(gone + come) / 2:.2f}, so {(gone + come) / (2 * swing):.2f} is carried.",
    )


@question(section="15.6", points=2)
def weight_and_norm(draw: random.Random) -> Number:
    weight = draw.choice([0.6, 0.64, 0.7, 0.76])
    first = draw.choice([0.2, 0.25, 0.3, 0.4])
    norm, n = draw.choice([1.6, 2.0, 2.4]), draw.choice([8, 10, 16])
    given, rest = weight * first, (1 - weight) * norm
    return Number(
        text=f"In a text of {n} pieces a head gives [CLS] a weight of {weight}, whose value has, "
        rf"after $W^O$, the norm {first}. All other values have the norm {norm}. What share of the "
        "sum of all norms that are handed over is that of [CLS]? And what would its share be if "
        "all pieces were equal?",
        answers={"by norm": given / (given + rest), "evenly": 1 / n},
        decimals=2,
        solution=f"[CLS] hands over {weight} · {first} = {given:.3f}, the others together "
        f"{1 - weight:.2f} · {norm} = {rest:.3f}: a share of {given / (given + rest):.2f}. "
        f"Evenly it is 1/{n} = {1 / n:.2f}. More than half of the weight is not more than half of "
        "what arrives.",
    )


@question(section="15.4", points=2)
def best_of_many_heads(draw: random.Random) -> Choice:
    heads = draw.choice([72, 144, 270])
    share, pairs = draw.choice([(20, 30), (21, 30), (23, 35), (24, 35)])
    return Choice(
        text=f"Each of {heads} heads is tried on {pairs} pairs of sentences. The best one looks "
        f"more at the noun that the pronoun means in {share} of them, where a coin would get one "
        "half. What follows?",
        right="Not much yet: it must be tried on pairs that did not choose it",
        wrong={
            "This head resolves pronouns, better than by chance": "The best of many is above a "
            "coin by luck alone.",
            f"Pronouns are resolved by all {heads} heads together, by this one "
            "most": "Nothing here was "
            "measured of all together, and nothing shows what the model does with a weight.",
            "Nothing can be learned in this way, for weights say nothing at all": "Weights say "
            "where a head looks, and a search with a test on other pairs can show a habit.",
        },
        solution=f"With {heads} heads and {pairs} pairs some head is well above one half even if "
        "all guess. Choose on one half of the pairs and report on the other, and compare with the "
        "best of as many heads when the meanings are exchanged by a coin.",
    )


@question(section="15.6", points=3)
def weight_and_worth(draw: random.Random) -> Choice:
    looks, also, little = draw.choice([(0.58, 0.52, 0.03), (0.61, 0.47, 0.05), (0.66, 0.55, 0.04)])
    cost, none = draw.choice([0.24, 0.27, 0.31]), draw.choice([0.01, 0.02])
    some = draw.choice([0.18, 0.2, 0.21])
    ranges = [f"{mean - 0.09:.2f} to {mean + 0.11:.2f}" for mean in (cost, some)]
    return Choice(
        text="In a picture of a model's heads each point is a head: across, the pronoun's weight "
        "on the changed word; upwards, the share of the swing that is lost when the head is "
        f"replaced there by its mean over other sentences. Head A stands at {looks} and {cost} "
        f"(range over pairs {ranges[0]}), B at {also} and {none} (−0.05 to {none + 0.05:.2f}), C "
        f"at {little} and {some} ({ranges[1]}). Which conclusion does the picture support?",
        right="To look at the changed word is neither enough to matter for the swing, nor needed",
        wrong={
            "Heads that look at the changed word matter for the swing, C by way of "
            "another": "B looks at it and costs nothing that could be told from 0. And no point "
            "shows that one head reads another.",
            "B is idle, so it can be left out of the model at no cost": "It costs nothing by this "
            "measure, of one vector in these pairs. It may do other work, or others may do its "
            "work once it is gone.",
            "Weight tells worth all the same, for the mean of A and B lies above "
            "C's": f"({cost} + {none}) / 2 is {(cost + none) / 2:.3f}, less than {some}; and a "
            "mean of two heads says nothing of either.",
        },
        solution="If weight told worth, the points would rise from left to right. A and B look at "
        "the same word nearly as much, and only A's range lies above 0; C hardly looks at it, and "
        "its range lies above 0 too. Why, the picture does not say: where C looks instead, and "
        "whether others do B's work, are other questions.",
    )


@question(section="15.5")
def mean_or_zero(draw: random.Random) -> Text:
    layer, head = draw.randint(2, 4), draw.randint(1, 9)
    return Text(
        text=f"To find out whether layer {layer} head {head} matters in a sentence, one colleague "
        "sets its output to zero, another puts its mean over other sentences there, and a third "
        "what it gave in the sentence with one word changed. What does each of the three take "
        "away? What must be reported beside the effect on this one head, so that it can be "
        "judged?",
        solution="Zero takes away all that the head gives, also what it gives in every sentence; "
        "the layers above then read a sum that they never met in training, and an effect may come "
        "from that. The mean keeps what is common to all sentences and takes away only what "
        "depends on this one. The patch from the changed sentence keeps all but what the change of "
        "one word altered, so it asks whether this head carries just that difference. Beside it "
        "belong the same intervention on the other heads of the layer, over many sentences, and a "
        "measure and a criterion that were fixed before, or a choice on one half and a report on "
        "the other.",
        marks=[
            (
                "zero also removes what is the same everywhere, or is an input never met in "
                "training",
                1,
            ),
            ("the mean leaves what is common and removes what depends on the sentence", 1),
            ("the patch replaces only what the changed word altered", 1),
            ("asks for the same on other heads as a control", 1),
            ("asks for many sentences, or for a criterion fixed before the runs", 1),
        ],
    )


@question(section="15.8")
def erased_words(draw: random.Random) -> Text:
    top, other, best = draw.choice([(26, 8, 41), (31, 9, 47), (24, 7, 38)])
    return Text(
        text="Of a classifier's decisions, so many change when one word is erased: the word with "
        f"the most attention, {top} %; another word, on average, {other} %; the word whose erasure "
        f"moves the decision most against what it was, {best} %. “So attention explains the "
        "decisions,” says one; “so it does not,” says another. What do the numbers support on each "
        "side? Name a rival that needs no attention and should be compared, and say why a further "
        "map would not settle the question.",
        solution="For the first: the most attended word changes decisions more often than "
        f"another, {top} against {other} %, so attention is related to what matters. For the "
        f"second: {100 - top} % of the decisions stand without that word, and since {best} % can "
        "be changed by some word, it is often another one that moves them more. A rival: the "
        "longest or the rarest word, or the gradient; if it does as well, the map adds nothing. A "
        "further map shows once more where heads look. What came of it only an intervention "
        "shows.",
        marks=[
            (f"says that {top} against {other} % speaks for a relation", 1),
            ("says that most decisions stand without the most attended word", 1),
            ("says that another word often moves the decision more", 1),
            ("names a rival such as the longest word", 1),
            ("says that a map shows where a head looks and not what came of it", 1),
        ],
    )
