"""Exam questions for lecture 11."""

from __future__ import annotations

import random
from fractions import Fraction

from teaching.kit.questions import Choice, Number, Text, question


@question(section="11.2", points=4)
def one_row_of_cross_attention(draw: random.Random) -> Number:
    parts = draw.choice([(1, 2, 5), (2, 5, 1), (3, 6, 1), (1, 3, 4), (4, 3, 1)])
    values = draw.sample(range(0, 9), 3)
    old = draw.randint(1, 5)
    weights = [Fraction(one, sum(parts)) for one in parts]
    mixed = sum(w * v for w, v in zip(weights, values, strict=True))
    masked = Fraction(parts[1], parts[0] + parts[1])
    logs = ", ".join(f"\\ln {one}" if one > 1 else "0" for one in parts)
    return Number(
        text="A decoder's token asks the memory of three source words. Its scores, already divided "
        f"by $\\sqrt{{d_k}}$, are ${logs}$. The first numbers of the three values are "
        f"{values[0]}, {values[1]} and {values[2]}; the first number of the decoder's own vector "
        f"is {old}. $W^O$ changes nothing, and there is no norm. What is the weight of the second "
        "word, and the first number of the decoder's vector after the sum? What is the weight of "
        "the second word if the third is padding and is masked?",
        answers={
            "weight of the second word": float(weights[1]),
            "first number after the sum": float(old + mixed),
            "weight of the second word, third masked": float(masked),
        },
        decimals=3,
        solution=f"The exponentials are {parts[0]}, {parts[1]} and {parts[2]}, in all "
        f"{sum(parts)}: the weight is {weights[1]}. The values give "
        + " + ".join(f"{w} · {v}" for w, v in zip(weights, values, strict=True))
        + f" = {mixed}, which is added to {old}: {float(old + mixed):.3f}. A masked word has the "
        f"exponential 0, so {parts[1]} / {parts[0] + parts[1]} = {float(masked):.3f} is left for "
        "the second: masking changes the other weights, too.",
        mistakes=[
            "the scores taken as weights, without exponentials",
            "the result given without the decoder's own number: the sum is missing",
            "the masked word's weight set to 0 and the others left as they were: they no longer "
            "sum to 1",
        ],
    )


@question(section="11.6", points=4)
def two_sentences_side_by_side(draw: random.Random) -> Number:
    short, long = draw.randint(4, 7), draw.randint(9, 13)
    calls = long + 1
    return Number(
        text=f"Two sentences are translated side by side. The translations have {short} and {long} "
        "words, each followed by `<eos>`. Every call of the decoder works on both sentences, "
        "until both are finished. How many calls are there? How many rows are computed in all "
        "with a cache, and how many of them after the shorter one's `<eos>` was written? How many "
        "rows are computed without a cache, when each call reads both beginnings again?",
        answers={
            "calls": calls,
            "rows with a cache": 2 * calls,
            "of them idle": long - short,
            "rows without a cache": calls * (calls + 1),
        },
        decimals=0,
        solution=f"The longer one needs {long} + 1 calls. With a cache each call computes one row "
        f"for each sentence, 2 · {calls} = {2 * calls}. The shorter one is finished after "
        f"{short + 1} calls, so {calls} − {short + 1} = {long - short} of its rows are idle. "
        f"Without a cache the calls read 1, 2, … {calls} tokens of each sentence: 2 · {calls} · "
        f"{calls + 1} / 2 = {calls * (calls + 1)}.",
        mistakes=[
            "`<eos>` not counted: it is written by a call, too",
            "the calls of both sentences added: they are made together",
        ],
    )


@question(section="11.3", points=4)
def sizes_of_a_translator(draw: random.Random) -> Number:
    d, layers, words = draw.choice([256, 512]), draw.choice([3, 4, 6]), draw.choice([8000, 10000])
    encoder, decoder = 12 * d * d * layers, 16 * d * d * layers
    return Number(
        text=f"A transformer has {layers} blocks a side, $d_{{\\text{{model}}}} = {d}$ and "
        f"$d_{{ff}} = 4\\, d_{{\\text{{model}}}}$. Both languages share a vocabulary of {words} "
        "words. Leave out biases, norms and positions. How many numbers are in the matrices of "
        "the encoder's blocks, and how many in those of the decoder's? How many numbers are saved "
        "if the source's embedding, the target's and the output matrix are one table instead of "
        "three?",
        answers={"encoder": encoder, "decoder": decoder, "saved": 2 * words * d},
        decimals=0,
        solution="An encoder block has $4 d^2$ in its attention and $8 d^2$ in its network, "
        f"{layers} times that is {encoder}. A decoder block has the four matrices of "
        f"cross-attention besides: $16 d^2$, in all {decoder}. Each table has {words} · {d} "
        f"numbers, and two of three are saved: {2 * words * d}.",
        mistakes=[
            "cross-attention forgotten in the decoder: it has four matrices of its own",
            "all three tables counted as saved: one is still needed",
        ],
    )


SYMPTOMS = {
    "the encoder's padding mask": "When a longer sentence joins the batch, the memory's rows of "
    "the shorter sentence's real words move.",
    "the padding mask of the cross-attention": "When a longer sentence joins the batch, the logits "
    "of the shorter one move, but the memory's rows of its real words do not.",
    "the decoder's causal mask": "When the last token that the decoder reads is exchanged, the "
    "logits of earlier rows move. In company or alone, a sentence gives the same logits.",
}


@question(section="11.4", points=2)
def which_mask_is_missing(draw: random.Random) -> Choice:
    right = draw.choice(list(SYMPTOMS))
    reasons = {
        "the encoder's padding mask": "Without it the memory's rows of real words would mix with "
        "padding, and move in company.",
        "the padding mask of the cross-attention": "Without it the decoder would read the memory "
        "at padded places: logits would move in company, and the memory would not.",
        "the decoder's causal mask": "Without it earlier rows would move when a later token is "
        "exchanged, and company would change nothing.",
    }
    wrong = {one: why for one, why in reasons.items() if one != right}
    wrong["the shift of the target"] = (
        "What the loss asks for moves no logits when company or a later token changes."
    )
    return Choice(
        text=f"An untrained translator is tested in evaluation mode. {SYMPTOMS[right]} "
        "What is missing?",
        right=right,
        wrong=wrong,
        solution="The encoder's mask is the only one that can move the memory. The cross-attention "
        "comes after it and can move only what the decoder makes of it. Only the causal mask "
        f"stands between a row and later tokens. Here it is {right}.",
    )


@question(section="11.6", points=3)
def what_must_wait(draw: random.Random) -> Choice:
    up, down = draw.choice([(6, 6), (12, 3), (6, 2), (4, 4)])
    source, target = draw.randint(18, 24), draw.randint(26, 34)
    one, steps = up + down, target + 1
    return Choice(
        text=f"An encoder of {up} blocks and a decoder of {down} blocks translate {source} words "
        f"into {target} words and `<eos>`. Count only passes through a block that must wait for "
        "one another; whatever can be computed at the same time counts once. How many are there "
        "in a forward pass of training, and how many when the translation is written with a "
        "cache?",
        right=f"{one} in training, {up + steps * down} in writing",
        wrong={
            f"{one} in training, {steps * one} in "
            "writing": "The encoder runs once: the memory does not depend on what is written.",
            f"{up + steps * down} in training, {up + steps * down} in "
            "writing": "In training the whole "
            "target is known, and the causal mask lets all rows go through together.",
            f"{source * up + steps * down} in training, {source * up + steps * down} in "
            "writing": "This is "
            "what a recurrent model would wait for: self-attention reads all words together.",
        },
        solution=f"In training each block works on all words at once: {up} + {down} = {one}. In "
        f"writing the encoder's {up} come once, and then each of {steps} tokens goes through the "
        f"decoder's {down}, since it must be known before the next can be asked for: "
        f"{up} + {steps} · {down} = {up + steps * down}.",
    )


@question(section="11.7")
def a_report_on_two_translators(draw: random.Random) -> Text:
    steps = draw.choice([800, 1200, 2000])
    ours, theirs = draw.choice([(97.4, 96.0), (96.8, 95.5), (95.9, 94.9)])
    heads = draw.choice([32, 48, 64])
    return Text(
        text=f"A report: “After {steps} steps at the same learning rate our transformer translates "
        f"{ours} % of the test sentences exactly, the recurrent model {theirs} %. So attention "
        f"alone translates better. Of its {heads} heads, the one with the lowest alignment error "
        "on the test set has 0.12: this head has learned which words belong together.” "
        "What must be known or done before you believe the first claim, and what before the "
        "second?",
        solution="First claim: how far the numbers vary over seeds, since a difference of this "
        "size can be chance; a learning rate and a width chosen for each model, as one rate may "
        "suit one of them; what happens with more steps, for the order of the two may change; and "
        "whether anything else differs, such as tied weights, so that it is not attention that was "
        f"compared. Second claim: the best of {heads} heads on the data by which it was chosen is "
        "better than it really is. Choose it on one half and report it on the other, beside "
        "the other heads or their mean and beside a rule that looks at places alone. And a "
        "weight says where a head looks, not what it has learned or what is used.",
        marks=[
            ("asks for several seeds and the spread", 1),
            (
                "asks for settings of its own for each model, or for more than one number of steps",
                1,
            ),
            ("says that something other than attention may differ, or asks what does", 1),
            ("says that a head chosen on the test set must be reported on other data", 1),
            ("asks for a baseline: other heads, their mean, or a rule without a model", 1),
        ],
    )


@question(section="11.6")
def a_norm_over_places(draw: random.Random) -> Text:
    blocks = draw.choice([2, 4, 6])
    return Text(
        text=f"In each of the {blocks} blocks of a decoder somebody replaces the LayerNorms by a "
        "norm that takes, for each component, the mean and the variance over all places of the "
        "target. The causal mask stays. Does one parallel pass still compute what the decoder "
        "computes when it writes word by word? Which step of the proof fails? Name a test that "
        "shows it.",
        solution="No. The proof uses that norms act on each row alone, so that row $t$ above a "
        "norm depends on row $t$ below it. The new norm mixes all places: in the parallel pass the "
        "mean at row $t$ contains rows after $t$, which are not there when the text is written. "
        "The causal mask works only inside attention and cannot prevent it. A test: exchange the "
        "last target token and compare the earlier rows of the logits, which must not move; or "
        "compare the parallel logits with those computed step by step.",
        marks=[
            ("says that the two no longer agree", 1),
            ("names the step: norms act on each row alone", 1),
            ("says that later rows come in through mean and variance, past the causal mask", 1),
            ("names a test: a changed last token, or stepwise against parallel logits", 1),
        ],
    )


@question(section="11.4")
def padding_on_the_left(draw: random.Random) -> Text:
    n = draw.choice([2, 3, 4])
    return Text(
        text="In lecture 11 the target's padding stands on the right and has no mask of its own. "
        f"A colleague pads targets on the left instead, so that a short one begins with {n} padded "
        "places. Explain why no mask was needed before, and what goes wrong now. What must be "
        "changed?",
        solution="On the right, padding is later than every real token, so the causal mask hides "
        "it; what its own rows compute is never read, because the loss leaves them out. On the "
        "left it is earlier than every real token: the causal mask lets all of them see it, and "
        "their rows change with the company in the batch. So the decoder's self-attention needs a "
        "padding mask joined with the causal one. The first real token must also have the position "
        f"0 and not {n}, and a padded row now sees no key at all, which the softmax must bear.",
        marks=[
            ("says that the causal mask hides padding on the right from real tokens", 1),
            ("says that the rows of padding are left out of the loss", 1),
            ("says that real tokens now see the padding before them", 1),
            ("asks for a padding mask in the decoder's self-attention, with the causal one", 1),
            ("notices the positions or the empty rows of padding", 1),
        ],
    )


@question(section="11.5", points=3)
def a_loss_far_too_low(draw: random.Random) -> Choice:
    row = draw.randint(3, 5)
    later, shifted = row + draw.randint(1, 3), draw.choice([True, False])
    sound, low = draw.choice([3.1, 3.3, 3.6]), draw.choice([0.02, 0.05])
    loss, moves = (sound / 2, "changes, too") if shifted else (low, "stays as it was")
    copies = "The target is not shifted: each row is asked for the token that it has read"
    looks = "The causal mask lets the future through"
    missing = {
        copies: f"Then no earlier row would change: row {row} would still not see token {later}.",
        looks: f"Then row {row} would see token {later}, and would change with it.",
    }
    right, other = (looks, copies) if shifted else (copies, looks)
    return Choice(
        text=f"After 200 steps a decoder's loss is {loss:.2f}; that of a sound model was "
        f"{sound:.2f} at the same step, with the same data, sizes and rate. Neither "
        f"translates yet. In the trained model token {later} of what the decoder reads is "
        f"exchanged: the output at the earlier row {row} {moves}. What is wrong?",
        right=right,
        wrong={
            other: missing[other],
            "The padding of the source is not masked": "The model reads noise then, which makes "
            "its task harder: the loss would not be far below a sound model's.",
            "Nothing: some seeds learn in half the steps": "A loss so far below a sound model's at "
            "the same step, with nothing else changed, says that the model sees its answer.",
        },
        solution="Both faults give the answer away, and a lower loss does not tell which one it "
        "is. The exchange does: only where the mask lets the future through does a later token "
        "change an earlier row. Without the shift the answer is the token that the row itself has "
        "read, so no earlier row moves.",
    )
