"""Ask SmolLM2 what lectures 12 to 14 ask it, and keep the answers for machines without its file.

The functions are the lectures' own, to the letter: an answer is given only to the same code.
``python -m experiments.smollm`` asks where a question is new, ``--again`` asks all anew.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import as_file
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnbook.cache import KVCache
from attnbook.decoding import sample
from attnbook.further.speculation import look_up, speculate
from attnbook.masks import window_mask
from attnbook.record import record_attention
from attnlab._console import any_letter
from attnlab.language import PronounPair, minimal_pairs, pronouns
from attnlab.models.recorded import FOLDER, code_of, key_of, smollm_visible
from attnlab.pretrained import SmolLM, load_smollm, smollm_file

PROMPTS = ("My grandmother always told me that", "The capital of France is", "Water boils at")
SEEDS = (1, 3, 5)  # whose draws are the same where logits are rounded otherwise
SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The trophy would not fit in the brown suitcase because it was too big.",
    "The trophy would not fit in the brown suitcase because it was too small.",
)
SHOWN = pronouns()[:2]
SIZES = (1, 7, 64)  # of chunks
OFFSETS = (225, 64, 16, 1)  # the same, of which 225 is the whole text
# of a cache's keys and values, and whether keys have a scale for each column
BITS = (((8, 8), False), ((8, 4), False), ((4, 8), False), ((4, 4), False), ((4, 4), True))
DECIMALS = 4
# what stays visible: first tokens, last tokens, and of these the keys of the largest scores
VISIBLE = ((0, 1_072, 0), (0, 256, 0), (1, 255, 0), (0, 1_072, 64))
COMMON = (
    "lamp coat clock piano knife spoon chair ladder guitar mirror bicycle umbrella"
    " river bread horse window garden silver apple doctor winter pencil castle pepper"
)
WORDS = COMMON.split()  # of one token each
# what is shown, and what is asked, in pairs
TASKS = {
    "opposites": (
        "hot cold big small early late rich poor happy sad empty full",
        "fast slow young old cheap expensive wet dry dark light strong weak easy hard long short",
    ),
    "plurals": (
        "house houses child children city cities leaf leaves box boxes tooth teeth",
        "mouse mice wolf wolves baby babies foot feet knife knives woman women bus buses story"
        " stories",
    ),
}
GUESSED = {
    "a story": "My grandmother always told me that",
    "a list": (
        '[{"name": "Anna", "age": 31, "city": "Paris"},\n'
        ' {"name": "Ben", "age": 27, "city": "Rome"},\n {"name": "Clara", "age":'
    ),
    "a rewriting": (
        "<|im_start|>user\nWrite this again, with a dog instead of the cat: The cat sat by the"
        " window and looked at the rain. When the rain stopped, the cat went out and the cat was"
        " happy.<|im_end|>\n<|im_start|>assistant\n"
    ),
}


def answers(model, prompts):
    texts = model.continue_text(prompts, max_length=4)
    return [text.split("\n")[0].strip() for text in texts]


def write(model, prompt):
    yield from model.stream(prompt, max_length=13)


def draw(model, prompt, seed):
    chance = torch.Generator().manual_seed(seed)
    by_chance = partial(sample, temperature=0.8, generator=chance)
    return model.continue_text(prompt, max_length=13, write=by_chance)[0]


def log_p(model, text, given="<|endoftext|>"):
    ids, _ = model.encode(given + text)  # (1, n)
    each = model(ids)[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])
    return each[len(model.tokens(given)) - 1 :].sum().item()


def log_p_by_last(model, text):
    ids = model.encode("<|endoftext|>" + text)[0][0]  # (n,)
    alone = torch.stack([ids[:1].expand(len(ids) - 1), ids[:-1]], dim=1)  # (n - 1, 2)
    return model(alone)[:, -1].log_softmax(-1).gather(1, ids[1:, None]).sum().item()


def guessed(model, prompt, guesses):
    ids, _ = model.encode(prompt)
    at_most = {"guesses": guesses, "max_length": 48}
    found = speculate(model, ids[0], look_up, eos=model.eos, **at_most)
    alone = model.continue_text(prompt, max_length=48)[0]
    same = model.decode(found.tokens) == alone
    return [alone, same, len(found.tokens), found.calls]


def by_call(model, prompt, guesses):
    ids, starts = model.encode(prompt)[0][0], []

    def noting(text, n, generator):
        starts.append(len(text) - len(ids))
        return look_up(text, n)

    at_most = {"guesses": guesses, "max_length": 48}
    tokens = speculate(model, ids, noting, eos=model.eos, **at_most).tokens
    ends = [start - 1 for start in (*starts[1:], len(tokens) + 1)]  # the model's own
    parts = [(tokens[a:b], tokens[b : b + 1]) for a, b in zip(starts, ends, strict=True)]
    return [[model.decode(part) for part in both] for both in parts]


def in_chunks(model, size):
    ids, _ = model.encode(" ".join(pair.right for pair in minimal_pairs()))
    caches = [KVCache() for _ in model.decoder.blocks]
    parts = [model.embed(part) for part in ids.split(size, dim=1)]
    rows = [model.decoder(part, causal=True, caches=caches) for part in parts]
    logits = torch.cat(rows, dim=1) @ model.embed.tokens.weight.T
    same = torch.allclose(logits, model(ids), atol=0.001)
    return [len(parts), caches[0].length, same]


def loss_without_offset(model, size):
    def forget(rope, inputs):
        return inputs[0], 0

    ropes = {one.attention.rope for one in model.decoder.blocks}
    hooks = [rope.register_forward_pre_hook(forget) for rope in ropes]
    ids, _ = model.encode(" ".join(pair.right for pair in minimal_pairs()))
    caches = [KVCache() for _ in model.decoder.blocks]
    parts = [model.embed(part) for part in ids.split(size, dim=1)]
    rows = [model.decoder(part, causal=True, caches=caches) for part in parts]
    for hook in hooks:
        hook.remove()
    logits = torch.cat(rows, dim=1) @ model.embed.tokens.weight.T
    log_p = logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])
    return -log_p.mean().item()


def mean_loss(model, repeated):
    def regroup(attend, inputs):
        query, key, value, *rest = inputs
        return query, *(part.repeat(1, 3, 1, 1) for part in (key, value)), *rest

    blocks = model.decoder.blocks if repeated else []
    attends = [one.attention.attend for one in blocks]
    hooks = [attend.register_forward_pre_hook(regroup) for attend in attends]
    ids, _ = model.encode(" ".join(pair.right for pair in minimal_pairs()))
    log_p = model(ids)[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])
    for hook in hooks:
        hook.remove()
    return -log_p.mean().item()


def rounded(x, bits):
    most = 2 ** (bits - 1) - 1  # 127 of 8 bits, 7 of 4
    scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-12) / most
    return (x / scale).round() * scale  # what comes back


def rounding(model, read, bits, by_column):
    class Rounded(KVCache):
        def append(self, key, value):  # by column: a scale for each column of the keys
            key = rounded(key.mT, bits[0]).mT if by_column else rounded(key, bits[0])
            return super().append(key, rounded(value, bits[1]))

    sentences = " ".join(pair.right for pair in minimal_pairs())
    ids, _ = model.encode({"prose": smollm_visible().text}.get(read, sentences)[:4_000])
    lost = []
    for kind in (KVCache, Rounded):
        caches = [kind() for _ in model.decoder.blocks]
        rows = model.decoder(model.embed(ids), causal=True, caches=caches)
        logits = (rows @ model.embed.tokens.weight.T)[0, :-1]
        lost.append(torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="none"))
    more = (lost[1] - lost[0]).double()  # of each token
    error = 1.96 * more.std().item() / len(more) ** 0.5
    mean = more.mean().item()
    factors = (torch.tensor([mean, mean - error, mean + error])).exp().tolist()
    return [len(more), lost[0].mean().exp().item(), *factors]


def sizes_of_keys(model, layer, head):
    ids, _ = model.encode(" ".join(pair.right for pair in minimal_pairs()[:4]))
    caches = [KVCache() for _ in model.decoder.blocks]
    model.decoder(model.embed(ids), causal=True, caches=caches)
    none = torch.empty(1, 3, 0, 64)
    keys, _ = caches[layer].append(none, none)
    return [[round(size, 1) for size in row] for row in keys[0, head].abs().tolist()]


def largest_in_rows(model):
    ids, _ = model.encode(" ".join(pair.right for pair in minimal_pairs()))
    caches, answers = [KVCache() for _ in model.decoder.blocks], []
    model.decoder(model.embed(ids), causal=True, caches=caches)
    none = torch.empty(1, 3, 0, 64)
    for kept in zip(*(cache.append(none, none) for cache in caches), strict=True):
        size = torch.cat(kept).abs()  # (30, 3, n, 64)
        large = size.mean(2).topk(4).indices[:, :, None]  # (30, 3, 1, 4)
        found = (size.argmax(-1, keepdim=True) == large).any(-1)
        times = size.amax(-1) / size.mean(-1)
        answers.append([found.float().mean().item(), times.median().item()])
    return answers


def loss_and_recall(model, first, last, best, seed):
    """Prose with a list of words in it, and the list once more at the end."""
    order = torch.randperm(24, generator=torch.Generator().manual_seed(seed)).tolist()
    said = model.encode("".join(f" {WORDS[i]}" for i in order))[0][0]
    prose = model.encode(smollm_visible().text)[0][0]
    ids = torch.cat([prose[:256], said, prose[256:1024], said])[None]
    mask = window_mask(ids.shape[1], ids.shape[1], first + last, sinks=first)

    def choose(attend, inputs):
        query, key, value, _, *rest = inputs
        scores = query @ key.repeat_interleave(3, dim=1).mT
        scores = scores.masked_fill(~mask, -math.inf)
        least = scores.topk(best, dim=-1).values[..., -1:]
        return query, key, value, mask & (scores >= least), *rest

    attends = [one.attention.attend for one in model.decoder.blocks if best]
    hooks = [attend.register_forward_pre_hook(choose) for attend in attends]
    rows = model.decoder(model.embed(ids), mask)[0]
    for hook in hooks:
        hook.remove()
    logits, table = rows[:-1], model.embed.tokens.weight.T
    lost = torch.nn.functional.cross_entropy(logits[535:1047] @ table, ids[0, 536:1048])
    named = (logits[1048:] @ table).argmax(-1) == said[1:]
    return [lost.exp().item(), named.float().mean().item()]


def questions() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Return each function with the arguments that it is asked with."""
    sentences = [text for pair in minimal_pairs() for text in (pair.right, pair.wrong)]
    return [
        *((answers, ([prompt],)) for prompt in by_count("plurals", "mouse")),
        *((answers, (prompts,)) for prompts in few_shots()),
        *((write, (prompt,)) for prompt in PROMPTS),
        *((draw, (PROMPTS[0], seed)) for seed in SEEDS),
        *((of, (text,)) for of in (log_p, log_p_by_last) for text in sentences),
        *((log_p, reading) for pair in SHOWN for both in readings(pair) for reading in both),
        *((guessed, (prompt, 7)) for prompt in GUESSED.values()),
        (by_call, (GUESSED["a rewriting"], 7)),
        *((in_chunks, (size,)) for size in SIZES),
        *((loss_without_offset, (size,)) for size in OFFSETS),
        *((mean_loss, (repeated,)) for repeated in (False, True)),
        *((rounding, (read, *way)) for read in ("prose", "sentences") for way in BITS),
        (sizes_of_keys, (15, 0)),
        (largest_in_rows, ()),
        *((loss_and_recall, (*way, seed)) for way in VISIBLE for seed in range(3)),
    ]


def with_examples(examples: list[tuple[str, str]], asked: str) -> str:
    """Return a prompt: a line for each example, and one that lacks its answer."""
    return "".join(f"{one} -> {other}\n" for one, other in examples) + f"{asked} ->"


def in_pairs(text: str) -> list[tuple[str, str]]:
    """Return the words of a text two by two."""
    words = text.split()
    return list(zip(words[::2], words[1::2], strict=True))


def by_count(task: str, asked: str) -> list[str]:
    """Return the prompts with none, one and three of a task's examples."""
    return [with_examples(in_pairs(TASKS[task][0])[:k], asked) for k in (0, 1, 3)]


def few_shots() -> Iterator[list[str]]:
    """Yield, for each task, count of examples and draw of them, the prompts of all its words.

    The examples are also shown with other answers: from two on exchanged, each word before the
    answer to the next, and with those of the other task.
    """
    for task, (shown, asked) in TASKS.items():
        known, words = in_pairs(shown), [one for one, _ in in_pairs(asked)]
        (elsewhere,) = (in_pairs(texts[0]) for name, texts in TASKS.items() if name != task)
        drawn: list[list[tuple[str, str]]] = [[]]
        for k, draw in itertools.product(range(1, 7), range(3)):
            own, others = ((some + some)[2 * draw : 2 * draw + k] for some in (known, elsewhere))
            drawn.append(own)
            for answers_of in (own[1:] + own[:1], others)[k == 1 :]:
                both = zip(own, answers_of, strict=True)
                drawn.append([(one, other) for (one, _), (_, other) in both])
        for examples in drawn:
            yield [with_examples(examples, word) for word in words]


def readings(pair: PronounPair, *, alone: bool = False) -> list[list[tuple[str, str]]]:
    """Return, for each of a pair's sentences, its end after the noun meant and after the other.

    The pronoun is replaced by the noun, the end is what follows it. ``alone``: nothing else stands
    before the noun, so that only what noun and end have to do with each other can help.
    """
    found = []
    for sentences in (pair.sentences, pair.turned):
        for k, sentence in enumerate(sentences):
            before, end = sentence.split(f" {pair.pronoun} ")
            nouns = [f"the {noun}" for noun in (pair.meant[k], pair.meant[1 - k])]
            given = [noun.capitalize() if alone else f"{before} {noun}" for noun in nouns]
            found.append([(f" {end}", start) for start in given])
    return found


@torch.no_grad()
def leans(model: SmolLM, pair: PronounPair, *, alone: bool = False) -> list[float]:
    """Return log p(end | … noun meant) − log p(end | … other noun) of each of four sentences."""
    both = [[log_p(model, *one) for one in each] for each in readings(pair, alone=alone)]
    return [round(meant - other, DECIMALS) for meant, other in both]


@torch.no_grad()
def answer(model: SmolLM, of: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Ask one question."""
    found = of(model, *arguments)
    found = list(found) if inspect.isgenerator(found) else found
    if isinstance(found, dict):
        return {name: round(number, DECIMALS) for name, number in found.items()}
    return round(found, DECIMALS) if isinstance(found, float) else found


@torch.no_grad()
def heads(model: SmolLM, text: str) -> tuple[list[str], Tensor]:
    """Return the tokens of a sentence, and all heads' weights below the diagonal, (30, 9, …)."""
    ids, _ = model.encode(text)
    with record_attention(model.decoder) as seen:
        model(ids)
    weights = torch.cat([seen.weights(name) for name in seen.names])  # (30, 9, n, n)
    rows, columns = torch.tril_indices(*weights.shape[-2:])
    return words(model.tokens(text)), weights[..., rows, columns]


def words(tokens: list[str]) -> list[str]:
    """Write pieces as a reader knows them: ## begins what goes on a word."""
    inside = [k > 0 and token[0].isalpha() for k, token in enumerate(tokens)]
    return ["##" * goes_on + token.strip() for goes_on, token in zip(inside, tokens, strict=True)]


def stored() -> dict[str, Any]:
    """Return what is recorded now; nothing where there is no record."""
    file = FOLDER / "answers.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else {"functions": {}}


def missing() -> list[str]:
    """Name the questions that have no answer of the code as it is."""
    known, found = stored()["functions"], []
    for of, arguments in questions():
        own = known.get(of.__name__, {"code": "", "answers": {}})
        if own["code"] != code_of(of) or key_of(arguments) not in own["answers"]:
            found.append(f"{of.__name__}{key_of(arguments)}")
    return found


def run() -> None:
    """Ask what is missing, or all, and write the record into the package."""
    again, before = "--again" in sys.argv, stored()
    if not (missing() or again):
        print("smollm: every question has its answer")
        return
    path = smollm_file()
    if path is None:
        print("smollm: SmolLM2's file is not here, so the answers stay as they are")
        return
    model = load_smollm(path)
    functions: dict[str, Any] = {}
    for of, arguments in questions():
        own = functions.setdefault(of.__name__, {"code": code_of(of), "answers": {}})
        key, known = key_of(arguments), before["functions"].get(of.__name__, {})
        if again or known.get("code") != own["code"] or key not in known["answers"]:
            own["answers"][key] = answer(model, of, arguments)
        else:
            own["answers"][key] = known["answers"][key]
    record = before | {
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "torch": torch.__version__.split("+")[0],
        "functions": functions,
    }
    if again or "pronouns" not in before:
        both = [[leans(model, pair), leans(model, pair, alone=True)] for pair in pronouns()]
        record["pronouns"] = both
        keep_heads(model)
    with as_file(FOLDER / "answers.json") as file:
        text = json.dumps(record, ensure_ascii=False, indent=1)
        file.write_text(text + "\n", encoding="utf-8")
    print(f"smollm: {len(questions())} questions have their answers")


def keep_heads(model: SmolLM) -> None:
    """Write the heads' weights on the shown sentences into the package."""
    arrays = {}
    for k, sentence in enumerate(SENTENCES):
        tokens, lower = heads(model, sentence)
        arrays |= {f"tokens_{k}": np.array(tokens), f"weights_{k}": lower.half().numpy()}
    with as_file(FOLDER) as folder:
        np.savez_compressed(folder / "heads.npz", **arrays)


if __name__ == "__main__":
    any_letter()
    run()
