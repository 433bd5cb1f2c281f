"""Exam questions for lecture 13."""

from __future__ import annotations

import random

from teaching.kit.questions import Choice, Number, Text, question


@question(section="13.4", points=4)
def texts_that_fit(draw: random.Random) -> Number:
    layers, sets, d = draw.choice([24, 32, 40]), draw.choice([4, 8]), 128
    length, weights = draw.choice([4096, 8192]), draw.choice([16, 24])
    token, room = 2 * layers * sets * d * 2, (80 - weights) * 10**9
    own = token * 32 // sets
    return Number(
        text=f"A model of {layers} layers has 32 heads of {d} numbers, which read {sets} sets of "
        f"keys and values. Every number has 2 bytes. Its weights take {weights} GB of a GPU's 80 "
        "GB; the rest is for caches (1 GB is $10^9$ bytes). How many bytes does a token add to "
        f"its text's cache? How many texts of {length} tokens fit at once? And how many if each "
        "head had keys and values of its own?",
        answers={
            "bytes a token": token,
            "texts": room // (token * length),
            "texts, nothing shared": room // (own * length),
        },
        decimals=0,
        solution=f"Keys and values, {layers} layers, {sets} sets of {d} numbers of 2 bytes: 2 · "
        f"{layers} · {sets} · {d} · 2 = {token} bytes. A text takes {token * length / 1e9:.3f} GB, "
        f"and {80 - weights} GB hold {room // (token * length)} of them. With 32 sets a text takes "
        f"{32 // sets} times as much, {own * length / 1e9:.3f} GB: {room // (own * length)} fit.",
        mistakes=[
            "keys counted and values forgotten",
            "the number of heads used where the number of sets is asked for",
            "a part of a text counted: the number is rounded down",
        ],
    )


@question(section="13.3", points=4)
def under_the_roof(draw: random.Random) -> Number:
    billions, bits = draw.choice([4, 8, 10]), draw.choice([8, 16])
    products, memory = draw.choice([(200, 2), (400, 2), (450, 3)])
    size = bits // 8
    corner = size * products / memory
    short, long = draw.choice([8, 16, 20]), draw.choice([800, 1000, 1200])
    read, work = billions * size / memory, billions * long / products
    return Number(
        text=f"A GPU computes {products} trillion products a second (each with its addition) and "
        f"reads {memory} trillion bytes a second. A model has {billions} billion weights of {bits} "
        f"bits. Leave caches out of account. What is the least time of a pass over {short} tokens, "
        f"and of one over {long} tokens, in milliseconds? At how many tokens are the two limits "
        "equal?",
        answers={f"{short} tokens": read, f"{long} tokens": work, "tokens where they meet": corner},
        decimals=2,
        solution=f"To read all weights once takes {billions} · {size} / {memory} = {read:.2f} ms, "
        f"for any number of tokens. The products of $m$ tokens take {billions} · $m$ / {products} "
        f"ms: {billions * short / products:.2f} ms for {short}, less than the reading, and "
        f"{work:.2f} ms for {long}, more. They are equal at {size} · {products} / {memory} = "
        f"{corner:.2f} tokens.",
        mistakes=[
            "both times added: the least time is the greater of the two",
            f"the reading counted {short} times: one pass reads each weight once",
            "bits taken for bytes",
        ],
    )


@question(section="13.7", points=5)
def a_draft_and_its_worth(draw: random.Random) -> Number:
    p = draw.choice([(5, 3, 2), (6, 3, 1), (4, 4, 2)])
    q = draw.choice([(2, 3, 5), (3, 1, 6), (2, 2, 6)])
    kept = sum(min(a, b) for a, b in zip(p, q, strict=True)) / 10
    more = [max(a - b, 0) for a, b in zip(p, q, strict=True)]
    first, guesses = more[0] / sum(more), draw.choice([2, 3])
    worth = sum(kept**i for i in range(guesses + 1))

    def row(parts: tuple[int, ...]) -> str:
        return "(" + ", ".join(f"{one / 10:.1f}" for one in parts) + ")"

    return Number(
        text=f"A model gives three tokens the probabilities $p = {row(p)}$, its draft $q = "
        f"{row(q)}$. How often is a guess kept, in all? With what probability is the first token "
        "written after a refusal? If every guess is kept as often as this one, how many tokens "
        f"does a call with {guesses} guesses write on average?",
        answers={"kept": kept, "first token, after a refusal": first, "tokens a call": worth},
        decimals=3,
        solution="Kept is the sum of the smaller of $p$ and $q$: "
        + " + ".join(f"{min(a, b) / 10:.1f}" for a, b in zip(p, q, strict=True))
        + f" = {kept:.1f}. After a refusal the token comes from $(p - q)_+$ = "
        f"{row(tuple(more))}, divided by "
        f"its sum {sum(more) / 10:.1f}: {first:.3f}. A call writes "
        + " + ".join(
            ["1"] + [f"{kept:.1f}" + (f"^{i}" if i > 1 else "") for i in range(1, guesses + 1)]
        )
        + f" = {worth:.3f} tokens.",
        mistakes=[
            "after a refusal drawn from the whole of $p$",
            "the token that the model itself writes at the end not counted: the sum begins with 1",
        ],
    )


@question(section="13.6", points=4)
def pages_of_one_prompt(draw: random.Random) -> Number:
    page, texts = draw.choice([8, 16]), draw.choice([3, 4, 5])
    full, rest = draw.randint(3, 6), draw.randint(2, 5)
    new = draw.randint(page, 2 * page)
    prompt = page * full + rest
    own = -(-(rest + new) // page)
    shared, apart = full + texts * own, texts * -(-(prompt + new) // page)
    idle = texts * (own * page - rest - new)
    return Number(
        text=f"A cache has pages of {page} rows. {texts} texts go on in different ways after one "
        f"prompt of {prompt} tokens, and each adds {new} tokens. Pages are shared as long as they "
        "are equal, and only the page that is not full is copied when a text writes into it; the "
        "prompt itself is no longer needed. How many pages are in use, and how many if nothing is "
        "shared? How many rows of the pages in use are idle, with sharing?",
        answers={
            "pages, shared": shared,
            "pages, nothing shared": apart,
            "idle rows, shared": idle,
        },
        decimals=0,
        solution=f"The prompt fills {full} pages, which all share, and {rest} rows of a further "
        f"one, of which each text needs a copy of its own. From there a text has {rest} + {new} = "
        f"{rest + new} rows, {own} pages: {full} + {texts} · {own} = {shared}. Without sharing a "
        f"text has {prompt + new} rows, {full + own} pages: {apart} in all. Idle are {own} · "
        f"{page} − {rest + new} rows of each text: {idle}.",
        mistakes=[
            "the page that is not full counted as shared",
            "the new tokens begun on a page of their own: the copied page has room",
        ],
    )


@question(section="13.6", points=4)
def a_step_before_and_after(draw: random.Random) -> Number:
    weights, cache = draw.choice([12, 16, 20]), draw.choice([1, 2])
    rate, texts = draw.choice([2, 4]), draw.choice([16, 24, 32])

    def step(of_weights: float, of_caches: float, n: int) -> float:
        return (weights * of_weights + n * cache * of_caches) / rate

    return Number(
        text=f"A step of a model reads {weights} GB of weights, and {cache} GB of cache for each "
        f"text; a GPU reads {rate} TB a second, and arithmetic never takes longer. How many "
        f"milliseconds does a step take for one text, and for {texts} side by side? Then weights "
        "are stored in a quarter of the bits: how long is a step for one text? And if instead the "
        f"caches are a quarter as large: how long is one for {texts}?",
        answers={
            "one text": step(1, 1, 1),
            f"{texts} texts": step(1, 1, texts),
            "one text, weights a quarter": step(0.25, 1, 1),
            f"{texts} texts, caches a quarter": step(1, 0.25, texts),
        },
        decimals=2,
        solution=f"Step time is (weights + caches) / rate. One text: ({weights} + {cache}) / "
        f"{rate} = {step(1, 1, 1):.2f} ms; {texts} texts share the weights, and each has a cache "
        f"of its own: ({weights} + {texts} · {cache}) / {rate} = {step(1, 1, texts):.2f} ms. "
        f"Weights of a quarter: ({weights / 4:g} + {cache}) / {rate} = {step(0.25, 1, 1):.2f} ms. "
        f"Caches of a quarter: ({weights} + {texts * cache / 4:g}) / {rate} = "
        f"{step(1, 0.25, texts):.2f} ms. Each helps where its term is the larger one.",
        mistakes=[
            "the weights counted once for each text",
            "one cache counted for all texts",
        ],
    )


@question(section="13.2", points=2)
def what_a_new_token_sees(draw: random.Random) -> Choice:
    old, new = draw.randint(5, 9), draw.choice([3, 4])
    place = draw.randint(2, new - 1)
    return Choice(
        text=f"A chat goes on: {old} tokens are in the cache, and {new} new ones come in one call. "
        f"Which keys must the new token number {place} see, counted from the first that was ever "
        "read?",
        right=f"1 to {old + place}",
        wrong={
            f"1 to {place}": "That mask is counted from the first key; the queries begin later.",
            f"{old + 1} to {old + place}": "The tokens in the cache belong to the same text.",
            f"1 to {old + new}": f"Those after {old + place} are later than this token.",
        },
        solution=f"New and old tokens end together: query $i$ of {new} sees the keys up to "
        f"$i + n_k - n_q = {place} + {old + new} - {new} = {old + place}$.",
    )


@question(section="13.3", points=3)
def what_makes_one_text_faster(draw: random.Random) -> Choice:
    weights, cache = draw.choice([14, 16, 18]), draw.choice([0.1, 0.2])
    batch = draw.choice([4, 8])
    return Choice(
        text=f"A GPU writes a single text. The model has {weights} GB of weights, the cache of "
        f"this text {cache} GB, and the GPU could compute a hundred times as many products in the "
        "time that a step takes. Which change makes the time of a step much shorter?",
        right="Weights stored in half as many bytes",
        wrong={
            "A GPU that computes twice as much, with the same memory": "Arithmetic is not what the "
            "step waits for.",
            f"Keys and values of which {batch} heads share "
            "each": f"It saves a part of {cache} GB, beside {weights} GB that are read as before.",
            f"{batch} texts that are written side by "
            "side": "Each step then writes more tokens, but it is no shorter for any one text.",
        },
        solution=f"A step reads {weights + cache:g} GB for one token, and reading is what takes "
        f"the time. With half the bytes a weight it reads {weights / 2 + cache:g} GB, not much "
        "more than half. The cache counts where texts are long or many.",
    )


@question(section="13.2")
def wrong_in_chunks(draw: random.Random) -> Text:
    positions = draw.choice([True, False])
    n, half = draw.choice([(6, 3), (8, 4), (12, 6)])
    alone = "0.83" if positions else "0.00"
    fault = (
        "The positions begin anew in each call. One token at a time, every token has the position "
        f"0, and two chunks of {half} both begin at 0. A mask that begins at the wrong corner "
        "would do no harm to single tokens, which have none: it cannot explain the second number."
        if positions
        else "The mask is counted from the first key, and not so that both ends meet: a chunk "
        "after others sees too few keys. A single token may see all keys, so the mask does no harm "
        "there. If the positions began anew in each call, single tokens would all have the "
        "position 0, and the second number would not be 0."
    )
    return Text(
        text="A layer with causal attention, rotary positions and a cache is compared with one "
        f"pass over the whole text of {n} tokens. The largest difference is 0.00 for all at once, "
        f"{alone} for one token at a time, and 0.91 for {half} and then {half}. Single tokens are "
        "given no mask. One of two faults is suspected: the mask of a chunk is counted from the "
        "first key instead of the last, or positions begin at 0 in each call. Which one is it, "
        "and why can it not be the other alone? How is it mended, and why does no error message "
        "report it?",
        solution=fault
        + (
            " Mended: the first new token has the position of the cache's length."
            if positions
            else " Mended: query $i$ sees key $j$ where $j \\le i + n_k - n_q$."
        )
        + " All shapes are right, and every number is finite, so nothing is reported: only "
        "a comparison "
        "with the single pass shows it.",
        marks=[
            ("names the right fault", 1),
            ("explains both chunked results by it", 1),
            ("excludes the other by the result of one token at a time", 1),
            ("says how it is mended", 1),
            ("says that shapes are right, so that only a comparison shows it", 1),
        ],
    )


@question(section="13.7")
def a_poor_draft(draw: random.Random) -> Text:
    alpha, batch = draw.choice([0.3, 0.4]), draw.choice([256, 384, 512])
    return Text(
        text=f"A team guesses with a small draft, of whose guesses a share of {alpha} is kept; a "
        "refused one is replaced by a token from $(p - q)_+$, divided by its sum. Colleague A: "
        "“With so poor a draft the texts become worse.” Colleague B: “For one text we gained "
        f"little, but with {batch} short texts side by side we shall gain much, for then the GPU "
        "is used better.” Judge both. What would you change first to gain more, and what number "
        "would you measure?",
        solution="A is wrong: what is guessed and kept has the probabilities $\\min(p, q)$, and "
        "what a refusal writes adds just what is missing from $p$. The written text has the "
        "model's distribution for any draft; a poor one costs time. B is wrong, too: guesses are "
        "cheap because a pass over a few tokens reads the weights only once and arithmetic is "
        f"idle. With {batch} texts the weights already serve as many tokens, arithmetic becomes "
        "the limit, and with so few guesses kept a call costs more time than it saves. (Were the "
        "texts long, reading their caches would take longer than the arithmetic, and judging "
        "could stay free.) A "
        "better draft helps, a smaller model trained on the same text: measure the share kept, "
        "$\\alpha = \\sum \\min(p, q)$, "
        "together with the cost of a guess; or make fewer guesses, since later ones are seldom "
        "reached.",
        marks=[
            ("says that the distribution does not depend on the draft", 1),
            ("gives the reason: min(p, q) and what is missing from p", 1),
            ("says that guesses use arithmetic that is idle for one text", 1),
            ("says that with many short texts arithmetic is the limit: the gain disappears", 1),
            ("proposes a better draft or fewer guesses, and measures α, its cost or both", 1),
        ],
    )


@question(section="13.7", points=4)
def guesses_and_experts(draw: random.Random) -> Number:
    weights, rate, one_in = draw.choice([200, 400, 600]), draw.choice([2, 4]), draw.choice([4, 8])
    kept, guesses = draw.choice([0.7, 0.8]), draw.choice([2, 3, 4])
    tokens = sum(kept**i for i in range(guesses + 1))
    share = 1 - (1 - 1 / one_in) ** (guesses + 1)
    alone, judged = weights / one_in / rate, weights * share / rate
    return Number(
        text=f"All {weights} GB of a model's weights are experts', of which each token uses one in "
        f"{one_in}, chosen evenly and independently. A GPU reads {rate} TB a second; caches, the "
        "draft and arithmetic take no time. One text is written. How many milliseconds does a "
        f"token take one by one? And with {guesses} guesses a step, each kept with probability "
        f"{kept}? How many times as fast do the guesses make it? And how many times as fast would "
        "they make a dense model?",
        answers={
            "ms a token": alone,
            "ms a token, with guesses": judged / tokens,
            "gain with experts": alone / (judged / tokens),
            "gain, dense": tokens,
        },
        decimals=2,
        solution=f"One token reads {weights} / {one_in} GB: {alone:.2f} ms. A step with guesses "
        f"judges {guesses + 1} tokens. None of them asks for an expert with probability "
        f"(1 − 1/{one_in})^{guesses + 1}, so a share of {share:.3f} is read: {judged:.2f} ms. It "
        f"writes 1 + … + {kept}^{guesses} = {tokens:.3f} tokens: {judged / tokens:.2f} ms each, "
        f"{alone / (judged / tokens):.2f} times as fast. A dense model reads all its weights for "
        f"one token or for {guesses + 1}, so it gains {tokens:.2f} times.",
        mistakes=[
            "judging taken to be free: each guess reads experts of its own",
            f"{guesses + 1} times the weights of one token: some tokens choose the same experts",
            f"{guesses} tokens judged: the last token of the text is read, too",
        ],
    )


@question(section="13.5", points=5)
def what_a_latent_costs(draw: random.Random) -> Number:
    heads, d = draw.choice([8, 16]), draw.choice([32, 64])
    d_c, n = draw.choice([100, 120]), draw.choice([500, 1000])
    own = 2 * heads * d
    written_out = n * d_c * own + n * own
    absorbed = 2 * heads * d * d_c + 2 * n * heads * d_c
    return Number(
        text=f"A layer has {heads} heads, whose keys and values have {d} numbers each, and no "
        f"positions. It keeps a latent of {d_c} numbers for each token. How many numbers would be "
        "kept for a token if each head kept its own key and value? One new token meets a cache of "
        f"{n} latents. How many products does the layer take if it first writes out the keys and "
        "values of all of them, and how many if the query absorbs $U^K$ and the sum of the latents "
        "is multiplied by $U^V$ at the end? (Count those with $U^K$ and $U^V$, scores and sums.)",
        answers={
            "numbers a token": own,
            "products, written out": written_out,
            "products, absorbed": absorbed,
        },
        decimals=0,
        solution=f"Own keys and values: 2 · {heads} · {d} = {own} numbers a token. Written out: "
        f"each of the {n} latents is multiplied by {d_c} × {own} numbers, {n * d_c * own:,}, and "
        f"scores and sums take {n} · {own} = {n * own:,}: {written_out:,}. Absorbed: each head "
        f"multiplies its query by {d} × {d_c} numbers and its sum by {d_c} × {d}, in all "
        f"{2 * heads * d * d_c:,}; a score and a sum now take {d_c} products for each token and "
        f"head, 2 · {n} · {heads} · {d_c} = {2 * n * heads * d_c:,}: {absorbed:,}.",
        mistakes=[
            "absorbed, with scores of "
            f"{d} products: query and latent that meet have {d_c} numbers each",
            f"the absorbed query counted for each of the {n} tokens: it is made once",
        ],
    )


@question(section="13.1", points=4)
def windows_in_most_layers(draw: random.Random) -> Number:
    every, groups = draw.choice([4, 6]), draw.choice([4, 6, 8])
    layers, sets, d = every * groups, draw.choice([2, 4, 8]), 128
    window, n = draw.choice([1024, 2048]), draw.choice([32_768, 65_536])
    row = 2 * sets * d * 2
    whole = groups * n + (layers - groups) * window
    return Number(
        text=f"Of the {layers} layers of a model every {every}th keeps all tokens; the others "
        f"keep the last {window}. A layer has {sets} sets of keys and values of {d} numbers, each "
        f"of 2 bytes. A text has {n:,} tokens. How many bytes does its next token add to the "
        "cache? How large is the cache, in MB ($10^6$ bytes)? How many times as large would it be "
        "if every layer kept all tokens?",
        answers={
            "bytes a token": groups * row,
            "MB": whole * row / 1e6,
            "times as large": layers * n / whole,
        },
        decimals=2,
        solution=f"A row takes 2 · {sets} · {d} · 2 = {row} bytes. The windows are full and grow "
        f"by nothing, so a token adds {groups} · {row} = {groups * row} bytes. The cache has "
        f"{groups} · {n} + {layers - groups} · {window} = {whole} rows: {whole * row / 1e6:.2f} "
        f"MB. With all tokens in every layer it has {layers} · {n} = {layers * n} rows, "
        f"{layers * n / whole:.2f} times as many.",
        mistakes=[
            "all layers counted for the next token: a full window drops a row for each new one",
            f"{every} times given: the windows take room, too",
            "keys counted and values forgotten",
        ],
    )
