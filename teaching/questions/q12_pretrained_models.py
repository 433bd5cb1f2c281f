"""Exam questions for lecture 12."""

from __future__ import annotations

import itertools
import random
from collections import Counter

from teaching.kit.questions import Choice, Number, Text, question


@question(section="12.2", points=4)
def two_perplexities(draw: random.Random) -> Number:
    causal = draw.choice([(1, 2, 3, 2, 2), (3, 4, 1, 4, 3), (2, 5, 3, 1, 4), (4, 1, 2, 1, 2)])
    hidden = sorted(draw.sample(range(5), 2))
    masked = draw.choice([(1, 3), (2, 4), (1, 1), (3, 1)])
    listed = ", ".join(f"1/{2**one}" for one in causal)
    by_causal, by_masked = sum(causal) / 5, sum(masked) / 2
    chosen = sum(causal[one] for one in hidden) / 2
    return Number(
        text="A text has five words. A causal model gives them, each after those before it, the "
        f"probabilities {listed}. A masked model reads the text with words {hidden[0] + 1} and "
        f"{hidden[1] + 1} hidden, and gives the right words 1/{2 ** masked[0]} and "
        f"1/{2 ** masked[1]}. Perplexity is exp of the loss. What is that of the causal model's "
        "loss, and of the masked model's? And that of the causal model, if only the two hidden "
        "words are counted?",
        answers={
            "causal": 2**by_causal,
            "masked": 2**by_masked,
            "causal, the two words": 2**chosen,
        },
        decimals=2,
        solution="A probability $2^{-k}$ costs $k \\ln 2$, so exp of the mean cost is 2 to the "
        f"mean of the $k$. Causal: ({' + '.join(map(str, causal))}) / 5 = {by_causal:g}, and "
        f"$2^{{{by_causal:g}}} = {2**by_causal:g}$. Masked, only hidden places count: ({masked[0]} "
        f"+ {masked[1]}) / 2 = {by_masked:g}, so {2**by_masked:g}. The causal model at the same "
        f"two words: ({causal[hidden[0]]} + {causal[hidden[1]]}) / 2 = {chosen:g}, so "
        f"{2**chosen:.2f}.",
        mistakes=[
            "the probabilities averaged, and not their logarithms",
            "the masked loss divided by five: only hidden places are asked for",
        ],
    )


def cut(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Cut a word into letters and merge them, in the merges' order."""
    pieces = list(word)
    for pair in merges:
        found: list[str] = []
        for piece in pieces:
            if found and (found[-1], piece) == pair:
                found[-1] += piece
            else:
                found.append(piece)
        pieces = found
    return pieces


@question(section="12.3", points=4)
def two_merges(draw: random.Random) -> Number:
    words = ("art", "cart", "tart", "car")
    times = draw.choice([(2, 4, 3, 1), (1, 2, 2, 9), (5, 1, 2, 3), (1, 3, 1, 7), (3, 2, 4, 5)])
    counts, merges, met = dict(zip(words, times, strict=True)), [], []
    for _ in range(2):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, n in counts.items():
            for pair in itertools.pairwise(cut(word, merges)):
                pairs[pair] += n
        best, n = pairs.most_common(1)[0]
        merges.append(best)
        met.append(n)
    pieces = cut("tartcar", merges)
    listed = ", ".join(f"*{word}* {n}" for word, n in counts.items())
    told = " and ".join(f"*{a}* + *{b}*" for a, b in merges)
    return Number(
        text=f"A text has these words, each so many times: {listed}. Byte-pair encoding begins "
        "with letters. How often does the pair of the first merge meet, and how often that of the "
        "second? Into how many pieces do these two merges cut *tartcar*?",
        answers={"first merge": met[0], "second merge": met[1], "pieces": len(pieces)},
        decimals=0,
        solution=f"*a* and *r* meet in every word, {met[0]} times. Then *ar* + *t* meets "
        f"{sum(times[:3])} times, *c* + *ar* {times[1] + times[3]} times and *t* + *ar* {times[2]} "
        f"times. So the merges are {told}, and the word becomes "
        + " ".join(f"*{piece}*" for piece in pieces)
        + f": {len(pieces)} pieces.",
        mistakes=[
            "a word's count forgotten: a pair counts as often as its word stands in the text",
            "the second pair counted before the first merge was made",
        ],
    )


@question(section="12.7", points=3)
def adapters_in_all_blocks(draw: random.Random) -> Number:
    d, rank, blocks = draw.choice([384, 512, 768]), draw.choice([2, 4, 16]), draw.choice([6, 12])
    one = rank * (3 * d + d)
    return Number(
        text=f"In each of {blocks} blocks a matrix $W$ of shape $({3 * d}, {d})$ makes queries, "
        f"keys and values. Beside it stands an adapter $B A$ of rank {rank}; $W$ is frozen. How "
        "many numbers are trained in one block, and how many in all? What percentage of the "
        "frozen numbers of $W$ is that?",
        answers={
            "one block": one,
            "all blocks": one * blocks,
            "percentage": 100 * one / (3 * d * d),
        },
        decimals=2,
        solution=f"$B$ has {3 * d} · {rank} numbers and $A$ {rank} · {d}: {one}. In {blocks} "
        f"blocks {one * blocks}. $W$ has {3 * d * d}: {100 * one / (3 * d * d):.2f} %, the same "
        "for one block as for all.",
        mistakes=[
            "the sizes of $A$ and $B$ multiplied instead of added",
            "only one of the two matrices counted",
        ],
    )


@question(section="12.4", points=4)
def a_block_of_today(draw: random.Random) -> Number:
    heads, shared, ratio = draw.choice([(8, 2, 3), (8, 4, 3), (12, 4, 3), (12, 3, 4), (16, 4, 3)])
    d, sets = 64 * heads, heads // shared
    kv, hidden = 64 * sets, ratio * d
    attention, network = 2 * d * d + 2 * d * kv, 3 * d * hidden
    return Number(
        text=f"A block has $d_{{\\text{{model}}}} = {d}$, {heads} heads of 64 numbers, of which "
        f"{shared} at a time share keys and values, and a SwiGLU network with $d_{{ff}} = "
        f"{hidden}$. There are no biases. How many parameters have its attention, its network, and "
        "its two RMSNorms?",
        answers={"attention": attention, "network": network, "both norms": 2 * d},
        decimals=0,
        solution=f"$W^Q$ and $W^O$ have {d} · {d} each. There are {heads} / {shared} = {sets} sets "
        f"of keys and values, so $W^K$ and $W^V$ have {d} · {kv} each: {attention} in all. SwiGLU "
        f"has three matrices, 3 · {d} · {hidden} = {network}. An RMSNorm has a gain and no bias: 2 "
        f"· {d}.",
        mistakes=[
            "keys and values counted for every head",
            "two matrices counted in the network: a SwiGLU has a third",
            "a bias counted in the norm",
        ],
    )


@question(section="12.5", points=2)
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


@question(section="12.6", points=3)
def two_heads_turned_off(draw: random.Random) -> Choice:
    looks, little = draw.choice([0.62, 0.68, 0.71]), draw.choice([0.08, 0.11, 0.14])
    cost, none = draw.choice([0.18, 0.21, 0.24]), draw.choice([0.01, 0.02])
    return Choice(
        text=f"In a map, head A gives {looks} of a pronoun's weight to a noun, head B only "
        f"{little}. Replaced at the pronoun by its mean over other sentences, A costs {none} of "
        f"the measured effect, and B {cost}. The other heads of both layers cost from 0.00 to "
        "0.03. Which conclusion do the numbers support?",
        right="For this effect, what B gives matters, and A cannot be told from the others",
        wrong={
            "A matters more, since the pronoun looks at the noun through it": "A weight says where "
            "a head looks. What it gave could be replaced at hardly any cost.",
            "B resolves the pronoun, and A only repeats what B has found": "The effect lost with B "
            "may come from the changed word alone, and nothing shows that one head reads the "
            "other.",
            "Neither matters, since the greater part of the effect is left": "B's loss stands far "
            "outside of what the others of its layer cost.",
        },
        solution="Whether what a head found mattered is shown by an intervention, beside the same "
        "intervention on other heads. A is within their range, B far outside. What B carries, the "
        "numbers do not say.",
    )


@question(section="12.6")
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


@question(section="12.8")
def erased_words(draw: random.Random) -> Text:
    top, other, best = draw.choice([(26, 8, 41), (31, 9, 47), (24, 7, 38)])
    return Text(
        text="Of a classifier's decisions, so many change when one word is erased: the word with "
        f"the most attention, {top} %; another word, on average, {other} %; the word whose erasure "
        f"moves the decision most, {best} %. “So attention explains the decisions,” says one; “so "
        "it does not,” says another. What do the numbers support on each side? Name a rival that "
        "needs no attention and should be compared, and say why a further map would not settle "
        "the question.",
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
