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


@question(section="12.5", points=3)
def exchanged_answers(draw: random.Random) -> Choice:
    task, line = draw.choice([
        ("countries and their capitals", "`Italy -> Rome`"),
        ("verbs and their past", "`sing -> sang`"),
        ("animals and their young", "`dog -> puppy`"),
    ])  # fmt: skip
    right, exchanged = draw.choice([(18, 3), (17, 2), (19, 4)])
    return Choice(
        text=f"A language model reads five lines of {task}, such as {line}, and then a word and an "
        f"arrow. It answers {right} of 20 words rightly. With the five answers exchanged among the "
        f"five words, it answers {exchanged} of 20 rightly. What do the two numbers support?",
        right="That it uses which answer stands beside which word, and not the lines' form alone",
        wrong={
            "That five lines have changed its weights, and so taught it the task": "No weight "
            "changes while a model reads: only what it reads is another.",
            "That the lines' form alone is enough, since the same words stood in both": "With the "
            "same form and the same words most answers were lost.",
            "That it has never read of this task, and learnt it from five lines": "The numbers "
            "cannot tell that: what it had read before is the same in both.",
        },
        solution="Form and words are the same in both runs; only the pairing differs. So the "
        "pairing is used. Where the knowledge comes from, neither number says.",
    )


@question(section="12.6", points=3)
def tokens_and_a_power(draw: random.Random) -> Number:
    tokens, size = draw.choice([(2e12, 4e8), (15e12, 8e9), (6e11, 3e8), (4e12, 2e9)])
    power, times = draw.choice([0.05, 0.08, 0.1]), draw.choice([10, 100])
    each = tokens / size
    return Number(
        text=f"A model of {size / 1e9:g} billion parameters has read {tokens / 1e12:g} trillion "
        "tokens. How many tokens is that for each parameter? How many times Chinchilla's 20 is it? "
        f"And if a loss falls as the number of parameters to the power $-{power:g}$, with text in "
        f"plenty, which share of it is left with {times} times the parameters?",
        answers={
            "tokens for each parameter": each,
            "times Chinchilla's": each / 20,
            "share of the loss left": times**-power,
        },
        decimals=2,
        solution=f"{tokens:.3g} / {size:.3g} = {each:g}, which is {each / 20:g} times 20. "
        f"$({times})^{{-{power:g}}} = {times**-power:.3f}$.",
        mistakes=[
            "parameters divided by tokens",
            "the power taken as a share that is lost each time",
        ],
    )


@question(section="12.7", points=4)
def which_control(draw: random.Random) -> Text:
    tuned, linear = draw.choice([(91, 74), (94, 78), (89, 71)])
    letters = draw.choice([400, 600, 800])
    return Text(
        text=f"An encoder, pretrained and then fine-tuned in every weight on {letters} letters, "
        f"sorts {tuned} % of other letters rightly; a linear layer on its frozen vectors sorts "
        f"{linear} %. “Pretraining brought {tuned - linear} points,” says the report. What does "
        "this difference show instead? Which control is missing, and how would you make it fair? "
        "What could a result of low-rank adapters add?",
        solution=f"Both rows are pretrained: the {tuned - linear} points are what tuning adds to "
        "frozen vectors. For pretraining, train the same network from random weights on the same "
        "letters, over several seeds, with a learning rate of its own and with more steps, so that "
        "neither rate nor time is the reason; a bag of words shows what the words alone give. "
        "Adapters show whether a few trained numbers in all blocks reach nearly the same, so that "
        "one copy of the model serves many tasks.",
        marks=[
            ("says that the difference is due to tuning, since both rows are pretrained", 1),
            ("names the same network from random weights", 1),
            ("gives it a rate of its own, more steps or several seeds", 1),
            ("says that adapters train few numbers, or keep one copy for many tasks", 1),
        ],
    )


@question(section="12.2", points=4)
def which_model_for_it(draw: random.Random) -> Text:
    gap, writing = draw.choice([
        ("restore the words that a stain covers in old letters", "suggest how a letter goes on"),
        ("say which word of a finished sentence is a misprint", "write the answer to a letter"),
        ("fill the gap in a printed form", "end a line of verse while it is typed"),
    ])  # fmt: skip
    return Text(
        text=f"You have many letters, no labels. One program must {gap}; another must {writing}. "
        "Which of the two models of section 12.2 do you train for each? Say for both which mask it "
        "needs, which words it is asked for, and what would go wrong with the other model.",
        solution="The first: a masked model. Every place sees both sides (only padding is hidden); "
        "it is asked for the words that were taken away. A causal model would see the left side "
        "alone and ignore what follows the gap. The second: a causal model. A place sees itself "
        "and what stands before it; it is asked for the next word everywhere. A masked model was "
        "never asked to go on where nothing follows, and gives a text no probability.",
        marks=[
            ("a masked model for the first, with both sides visible", 1),
            ("it is asked for the words that were taken away", 1),
            ("a causal model for the second, with a causal mask, asked for the next word", 1),
            ("names what the other model lacks, in one of the cases", 1),
        ],
    )


@question(section="12.7", points=3)
def what_is_left_of_an_adapter(draw: random.Random) -> Choice:
    out, inside, r = draw.choice([(1_152, 384, 8), (512, 512, 4), (2_048, 512, 16)])
    return Choice(
        text=f"Beside a frozen matrix W of shape ({out:,}, {inside}) an adapter of rank {r} was "
        "trained, A and B. Before it is used, W + BA is formed once and stored in place of W. What "
        "is true of the layer from then on?",
        right="It costs as many products as before the adapter, and taking BA away gives W back",
        wrong={
            f"Each token costs it {r * (out + inside):,} products more": "That is so while A and B "
            "stand beside W. Now one matrix is left, of W's shape.",
            f"Only {r} rows of W have changed": f"BA has rank {r}, but it may change every number.",
            f"Its matrix has rank {r}": "BA has, but W + BA keeps what W had.",
        },
        solution=f"W + BA has W's shape, so nothing is added to what a token costs. While A and B "
        f"stand beside W, they add {r} · ({out:,} + {inside}) = {r * (out + inside):,} products.",
    )
