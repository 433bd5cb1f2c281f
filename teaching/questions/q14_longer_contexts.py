"""Exam questions for lecture 14."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from teaching.kit.questions import Choice, Number, Text, question


@question(section="14.2", points=4)
def two_tiles(draw: random.Random) -> Number:
    first = draw.choice([(0, 1), (1, 0), (2, 1), (0, 2)])
    second = draw.choice([(3, 1), (4, 2), (1, 4), (3, 4)])
    values = draw.sample(range(0, 9), 4)
    two = Fraction(2)
    m_1, m = max(first), max(*first, *second)
    sum_1 = sum(two ** (e - m_1) for e in first)
    factor = two ** (m_1 - m)
    new = sum(two ** (e - m) for e in second)
    total = factor * sum_1 + new
    scores = (*first, *second)
    output = sum(two ** (e - m) * v for e, v in zip(scores, values, strict=True)) / total
    return Number(
        text="One query meets four keys in tiles of two, by the online softmax. In units of $\\ln "
        f"2$ the scores are {first[0]} and {first[1]}, then {second[0]} and {second[1]}; the "
        f"values are {values[0]}, {values[1]}, {values[2]} and {values[3]}. What is $\\ell$ after "
        "the first tile, by what is it multiplied when the second comes, what is it then, and "
        "what is the output?",
        answers={
            "ℓ after the first tile": float(sum_1),
            "factor": float(factor),
            "ℓ after the second": float(total),
            "output": float(output),
        },
        decimals=3,
        solution=f"After the first tile $m = {m_1}$ and $\\ell$ = {sum_1}. The second brings the "
        f"maximum {m}, so what there was is multiplied by $2^{{{m_1} - {m}}}$ = {factor}, and "
        f"{new} is added: $\\ell$ = {total}. The sum with values, measured from {m} too, is "
        f"{output * total}, and $o / \\ell$ = {output} = {float(output):.3f}: what the whole row "
        "gives.",
        mistakes=[
            "the old sum kept as it was: it is still measured from the old maximum",
            f"the factor turned round: {1 / factor} instead of {factor}",
        ],
    )


@question(section="14.3", points=4)
def how_far_windows_reach(draw: random.Random) -> Number:
    window, n = draw.choice([4, 5, 6, 8]), draw.choice([30, 40, 50])
    layers = -(-(n - 1) // (window - 1))
    pairs = n * window - window * (window - 1) // 2
    return Number(
        text=f"A text has {n} tokens. In every layer a token sees the last {window} tokens, itself "
        "among them. How many pairs of a query and a key does a layer compute? How many would it "
        "be with the causal mask alone? How many layers are needed at least before the last token "
        "can have heard of the first?",
        answers={"pairs, window": pairs, "pairs, causal": n * (n + 1) // 2, "layers": layers},
        decimals=0,
        solution=f"The first {window - 1} tokens see 1 to {window - 1} keys, the others {window}: "
        f"{window * (window - 1) // 2} + {n - window + 1} · {window} = {pairs}. Causal alone: {n} "
        f"· {n + 1} / 2 = {n * (n + 1) // 2}. Each layer reaches {window - 1} tokens further back, "
        f"and the first stands {n - 1} back: {n - 1} / {window - 1}, rounded up, is {layers}. It "
        "is a bound: what no token in between took up is lost.",
        mistakes=[
            f"{n} · {window}: the first tokens have fewer to see",
            f"{window} tokens a layer: one of them is the token itself",
        ],
    )


@question(section="14.4", points=4)
def which_hands_are_slowed(draw: random.Random) -> Number:
    n, s = draw.choice([256, 512, 1024]), draw.choice([2, 4, 8])
    turns = [n / (2 * math.pi) / 10 ** (i / 2) for i in range(8)]
    stay, slow = sum(t >= 32 for t in turns), sum(t <= 1 for t in turns)
    listed = ", ".join(f"{t:.2f}" for t in turns)
    return Number(
        text="A rotary head has 16 numbers, so 8 pairs, and the base 10,000: pair $i$, counted "
        "from 0, turns by $10000^{-2i/16}$ a token. It was trained on texts of "
        f"{n} tokens and is to read texts {s} times as long. How many pairs does YaRN leave as "
        f"they are, how many does it divide by {s}, and how many lie between? How many does Llama "
        "3's rule leave?",
        answers={
            "YaRN leaves": stay,
            "YaRN divides": slow,
            "between": 8 - stay - slow,
            "Llama 3 leaves": sum(t >= 4 for t in turns),
        },
        decimals=0,
        solution=f"Pair $i$ makes {n} / 2π / $10^{{i/2}}$ turns: {listed}. YaRN leaves those of 32 "
        "turns or more and divides those of one or fewer; Llama 3's rule leaves those of 4 or "
        "more. What lies between is slowed in part.",
        mistakes=[
            "the angle taken for turns: a turn is 2π",
            "the slow pairs left and the fast ones divided: it is the slow ones that come to new "
            "angles",
        ],
    )


@question(section="14.5", points=4)
def keys_that_overlap(draw: random.Random) -> Number:
    near, far = draw.choice([(0.6, 0.8), (0.8, 0.6)])
    one, other = draw.randint(2, 6), draw.randint(7, 12)
    beta = draw.choice([1, 0.5])
    added = one + near * other
    delta = one + near * beta * (other - near * one)
    again = near * one + beta * (other - near * one)
    rate = "β = 1" if beta == 1 else "β = 1 for the first write and ½ for the second"
    return Number(
        text="A state is zero at first, and values are single numbers. Under the key $(1, 0)$ the "
        f"value {one} is written, then under $({near}, {far})$ the value {other}. What does the "
        "key $(1, 0)$ read afterwards if both were added (the sum)? What does it read with the "
        f"delta rule, {rate}? And what does the second key read with the delta rule?",
        answers={"sum, first key": added, "delta, first key": delta, "delta, second key": again},
        decimals=3,
        solution=f"The product of both keys is {near}. Sum: {one} + {near} · {other} = "
        f"{added:.3f}. Delta rule: before the second write its key reads {near} · {one} = "
        f"{near * one:.2f}, so {beta} · ({other} − {near * one:.2f}) = "
        f"{beta * (other - near * one):.3f} is written under it. The first key then reads {one} + "
        f"{near} · {beta * (other - near * one):.3f} = {delta:.3f}, the second {near * one:.2f} + "
        f"{beta * (other - near * one):.3f} = {again:.3f}. The new value is right where β is 1; "
        "the old one has been disturbed, because the keys are not orthogonal.",
        mistakes=[
            "the second value written as it is: what the key reads already must be subtracted",
            "the first key said to read its value unchanged: the keys are not orthogonal",
        ],
    )


@question(section="14.6", points=4)
def uneven_devices(draw: random.Random) -> Number:
    devices, part = draw.choice([2, 3, 4]), draw.choice([2, 3, 5])
    n = 2 * devices * part
    whole = n * (n + 1) // 2
    last = whole - (n - 2 * part) * (n - 2 * part + 1) // 2
    return Number(
        text=f"A causal text of {n} tokens is shared out over {devices} devices. A token's work is "
        "the number of keys that it sees, itself among them. In order, each device takes "
        f"{2 * part} neighbouring tokens. How much work has the first device, and how much the "
        f"last? In zigzag each takes two of {2 * devices} equal parts, the first with the last, "
        "the second with the last but one, and so on. How much work has each then?",
        answers={
            "first, in order": part * (2 * part + 1),
            "last, in order": last,
            "each, zigzag": whole // devices,
        },
        decimals=0,
        solution=f"Token $i$ sees $i$ keys. The first device: 1 + … + {2 * part} = "
        f"{part * (2 * part + 1)}. The last: {n - 2 * part + 1} + … + {n} = {last}. In zigzag a "
        f"part's {part} tokens and those of its partner sum to {n + 1} keys two by two, which "
        f"makes {2 * part // 2} · {n + 1} = {whole // devices} for each: the whole, {whole}, "
        "shared evenly. In order all wait for the last.",
        mistakes=["the tokens counted instead of the keys that they see"],
    )


@question(section="14.2", points=2)
def a_longer_text_in_tiles(draw: random.Random) -> Choice:
    factor = draw.choice([3, 4, 5])
    square = factor**2
    return Choice(
        text=f"A text becomes {factor} times as long. How much more does exact attention in tiles "
        "compute, and how much more memory does it need, if one forward pass keeps what the "
        "backward pass wants?",
        right=f"{square} times the products, {factor} times the memory",
        wrong={
            f"{factor} times the products, {factor} times the "
            "memory": "Every query still meets every key: tiles save no product.",
            f"{square} times the products, {square} times the "
            "memory": "This is attention that stores its scores. In "
            "tiles only the vectors and one number a query are kept.",
            f"{factor} times the products, {square} times the memory": "It is the other way round: "
            "products are not saved, and no matrix is kept.",
        },
        solution="Exactness needs all $n^2$ products. A tile of scores is made, used and "
        "forgotten, and made again in the backward pass, so what is kept are vectors and one "
        "logsumexp for each query: it grows as $n$.",
    )


@question(section="14.3", points=2)
def what_a_sink_repairs(draw: random.Random) -> Choice:
    window = draw.choice([128, 256, 512])
    back = draw.choice([3000, 5000, 8000])
    return Choice(
        text=f"A model trained with full attention is given a window of {window} in every layer. "
        "Its perplexity rises to more than twice what it was. With the first token kept visible "
        f"as well, it is nearly what it was before. A user asks for a number that stood {back} "
        "tokens earlier. What do you expect?",
        right="It is hardly ever found: the sink repairs how weight is spread, not what is out of "
        "sight",
        wrong={
            "It is found: the perplexity shows that the model has the whole text again": "Most "
            "tokens are predicted from near ones, and perplexity is mostly about them.",
            "It is found, as the first token has collected what all later ones said": "Under a "
            "causal mask the first token sees only itself.",
            "It is found at first, and lost when a new token has taken the sink's place": "The "
            "sink's row is kept. It does not hold what is asked for.",
        },
        solution="A head that finds nothing puts its weight on the first token, where it does no "
        "harm. Without it the softmax spreads that weight over tokens that were not meant, and "
        "this is what is repaired. The number stands outside of the window; only many layers "
        f"could bring it {back} tokens on, mixed with all between. A test of recall shows it, a "
        "mean loss does not.",
    )


@question(section="14.4", points=3)
def high_loss_and_high_recall(draw: random.Random) -> Choice:
    factor = draw.choice([4, 8])
    return Choice(
        text=f"A rotary model is tested on texts {factor} times as long as in training. All its "
        f"speeds are divided by {factor}, without training it again. It finds facts that stand far "
        "back, but its loss on the next token is much worse than on short texts before, and the "
        "same happens on short texts. What is the likely reason?",
        right=f"The fast pairs, which tell neighbours apart, turn by 1/{factor} of what they did",
        wrong={
            "The slow pairs come to angles that training did not show": "With all speeds divided, "
            "they stay within the angles of training.",
            "Far tokens draw weight from the near ones, as their slopes are too small": "Slopes "
            "belong to ALiBi; rotary positions have none.",
            "The facts are found by chance: loss and recall measure the same": "They do not: few "
            "tokens need a fact from far back, most need their neighbours.",
        },
        solution="Interpolation slows every pair. The slow ones need it. The fast ones, which turn "
        "many times in a text, now show differences of a fraction of a step between neighbours, "
        "which training never did. YaRN and Llama 3's rule therefore leave the fast pairs as they "
        "are.",
    )


@question(section="14.5")
def a_log_without_end(draw: random.Random) -> Text:
    settings, size = draw.choice([(500, 64), (400, 32), (1000, 128)])
    return Text(
        text="A service reads a log without end. It must say the present value of any of "
        f"{settings} settings, each of which is overwritten often. Now and then it must quote a "
        "line, word by word, that stood somewhere in the last 50,000 tokens. Somebody proposes "
        f"one layer with a state of {size} × {size} numbers and the sum rule. Name two reasons why "
        "this state cannot do the first task, propose a model for both tasks, and say how you "
        "would test it and what would not be a test.",
        solution="The sum adds every new value to the old ones, so a setting reads a mixture of "
        "all its values; the delta rule reads first and writes the difference, so the new value "
        f"replaces the old. And {settings} keys of {size} numbers cannot all be orthogonal, so "
        "what is read is mixed with other settings: more heads, layers or larger keys are needed. "
        "For quotations the lines must be kept: some layers of full attention with a cache "
        "(shared heads or latents make it smaller), or an indexer that chooses keys, over the "
        "last 50,000 tokens, beside layers with a state. Test recall: ask for settings after many "
        "overwritings and for lines at many distances, and count what is right. The mean loss is "
        "no test, because few tokens depend on either.",
        marks=[
            ("says that the sum mixes old and new values, and the delta rule replaces them", 1),
            (
                f"says that {settings} keys of {size} numbers cannot be orthogonal, or exceed the "
                "state",
                1,
            ),
            ("keeps tokens for the quotations: full attention in some layers, or an indexer", 1),
            ("tests recall of settings and of lines at many distances", 1),
            ("says that a low mean loss would not show it", 1),
        ],
    )


@question(section="14.6")
def by_place_or_by_content(draw: random.Random) -> Text:
    k, n = draw.choice([1024, 2048]), draw.choice([65_536, 131_072])
    return Text(
        text=f"Two models read {k} keys for each new token, from a text of {n:,} tokens: one the "
        f"last {k}, the other the {k} that a small indexer scores highest. Compare them: what is "
        "out of reach for this token and for later ones, what must be kept in memory, and how "
        "does the work grow with the text? Why can the indexer not simply be trained by the loss "
        "of the next token through its choice, and how is it trained?",
        solution="With the window all that is further back is out of reach, for this token and for "
        "every later one, but for what layers in between have passed on. With the indexer, what it "
        f"overlooks is lost for this token only: the next one chooses anew. The window needs {k} "
        f"rows of cache; the indexer needs all {n:,}, and its own short keys besides. The window's "
        "work is the same for every token. Attention to the chosen keys is, too, but the indexer "
        "scores all keys before each token, so over the whole text its work is still quadratic, "
        "with a small factor. A choice is true or false and has no gradient, so the indexer is "
        "trained apart, to agree with the weights of full attention.",
        marks=[
            ("window: what is further back is lost for all later tokens as well", 1),
            ("indexer: what is overlooked is lost for this token only", 1),
            ("memory: the window keeps its rows, the indexer needs all of them", 1),
            ("work: the indexer still looks at all keys, with a small factor", 1),
            ("a choice has no gradient; trained to agree with full attention's weights", 1),
        ],
    )


@question(section="14.7", points=2)
def what_changes_nothing(draw: random.Random) -> Choice:
    right, reason = draw.choice(
        [
            (
                "a ring of devices, each with a part of the keys",
                "Parts are merged by their maxima and sums.",
            ),
            (
                "tiles, whose scores are never stored",
                "A running maximum and sum give each row's softmax.",
            ),
        ]
    )
    forgets = {
        "a window of {} with a sink, in every layer": "What is further back is out of sight.",
        "the best {} keys, chosen by an indexer": "The keys that it overlooks count for nothing.",
        "a state with the delta rule, {0} × {0} numbers": "More pairs than it has room for are "
        "lost.",
    }
    size = draw.choice([256, 512, 1024])
    return Choice(
        text="A model with full attention is given texts for which time or memory do not suffice. "
        "Which change leaves its answers as they are, but for the last digits?",
        right=right,
        wrong={one.format(size): why for one, why in forgets.items()},
        solution=f"{reason} Every query still meets every key, so all $n^2$ products remain: the "
        "same price is paid without waste. The other three pay less and forget something.",
    )


@question(section="14.7")
def two_tasks_for_long_texts(draw: random.Random) -> Text:
    pages, tokens = draw.choice([(300, 200_000), (150, 100_000), (600, 400_000)])
    return Text(
        text=f"Task 1: a question on any sentence of a report of {pages} pages, {tokens:,} tokens, "
        "whose cache is larger than a GPU's memory. Task 2: what the people in a meeting that goes "
        "on for days speak about just now, on a small device. Choose for each task a means that "
        "the course has shown, say what it gives up, and name a test that would show it if "
        "your choice were wrong. Why is a low mean loss not this test?",
        solution="Task 1 must keep every token: fewer or shorter keys (shared heads, latents, "
        "fewer bits), or several devices in a ring. The first gives up what heads of their own "
        "could say or some precision, the ring gives up time for travelling and nothing of the "
        "result. The test asks for sentences at many places, also in the middle, and counts right "
        "answers. Task 2 needs what is near: a window with a sink, or a state with the delta rule, "
        "whose memory does not grow. The window gives up what is further back, the state what "
        "exceeds its size. The test runs for far longer than the window and asks what is spoken "
        "about, again and again. A mean loss is mostly about words that their neighbours predict, "
        "so it stays low while far facts are lost.",
        marks=[
            ("task 1: a means that keeps every token, such as shorter keys or a ring", 1),
            ("task 2: a means whose memory does not grow, such as a window with a sink", 1),
            ("says for both what is given up", 1),
            ("names a test of recall at many places, and one that runs beyond the window", 1),
            ("says that most words are predicted by their neighbours", 1),
        ],
    )
