"""Take SmolLM2's induction heads away, and read its residual path block by block.

``python -m experiments.induction`` writes the record of lecture 16. The criterion was fixed before
anything was run: heads are ranked by lecture 15's atlas, by the weight on what came next in its
random tokens said twice, and tested on other ones, drawn here. To remove a head is to put its mean
over other texts of the same kind in its place, at every token. Beside the first k of the ranking
stand draws of k other heads, as many in each layer, none of them among the first ``RANKED`` of
either ranking; beside the second half's loss the first half's, and that of English sentences.

- "loss", "right": mean loss in nats, and the share of tokens that the model names, of the tokens
  of the second half whose turn it is; "first half" is the loss where nothing can be copied yet.
- "english": the mean loss of the book's sentences, one after the other.
- "examples": how probable " old" is after "young ->" without examples, and with two whose answers
  are exchanged, each with nothing removed, without the first ``REMOVED`` heads, and in the draws;
- "rivals": what single layers of lecture 16's small model learn of copying, a share of right
  answers for each of ``SEEDS``: "wide" has 48 numbers, four heads and three times the steps, and in
  "smeared" each key is mixed with the previous symbol's;
- "attributed": what a head adds by itself to the logit of the right token of the second half, above
  the mean of all logits, with the last norm's scale as it is; summed over heads and all the rest it
  is that logit, which stands beside it as "logit".

The record of the lens has for each prompt, after the embeddings and after each block, the ``BEST``
tokens that the last norm and the output matrix name with their probabilities, and how much each
block's attention and its feed-forward network add to the logit of the token that is named at last,
above the mean of all logits. "By last" is the greatest probability where every state is divided by
the last one's size instead of its own; "without" how probable the last token's word is without the
first ``REMOVED`` heads of the ranking by what came next, and without as many others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.resources import as_file
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnlab._console import any_letter
from attnlab.models.copying import ADAMW, AttentionOnly, copy_loss, repeating, share_right
from attnlab.models.recorded import FOLDER, smollm_atlas
from attnlab.pretrained import SmolLM, load_smollm, smollm_file
from attnlab.training import seeded, train
from experiments.atlas import CONTROLS, HALF, sentences

SEED, TEXTS, OTHERS = 1, 8, 16  # the atlas has seed 0
ENGLISH, LENGTH = 6, 96
KINDS = {"next": 3, "previous": 0}  # rankings, and their columns of the atlas
COUNTS = {"next": (1, 2, 5, 10, 20), "previous": (5, 10)}
DRAWN = {("next", 1), ("next", 2), ("next", 5), ("next", 10), ("previous", 5), ("previous", 10)}
DRAWS, RANKED = 20, 20
PROMPTS = (
    "The capital of France is",
    "Our neighbour Marguerite Quillbrook bakes bread. On Sundays Marguerite Quill",
    "hot -> cold\nbig -> small\nyoung ->",
    "The animal didn't cross the street because it was too",
)
EXAMPLES = {"none": "young ->", "exchanged": "hot -> small\nbig -> cold\nyoung ->"}
ANSWER = " old"
BEST, REMOVED = 3, 10
RIVALS: dict[str, tuple[int, dict[str, Any]]] = {  # steps, and options of one layer
    "wide": (2400, {"d": 48, "heads": 4}),
    "smeared": (800, {"smeared": True}),
}
SEEDS = range(3)
Heads = Sequence[tuple[int, int]]


def twice(model: SmolLM, count: int, seed: int) -> Tensor:
    """Return random tokens said twice, (count, 2 · half)."""
    drawn = np.random.default_rng(seed).integers(
        CONTROLS, len(model.embed.tokens.weight), (count, HALF)
    )
    return torch.tensor(drawn).repeat(1, 2)


def english(model: SmolLM) -> Tensor:
    """Return the book's sentences, one after the other, in twice as many texts as are tested."""
    order = np.random.default_rng(SEED).permutation(len(sentences()))
    text = " ".join(sentences()[k] for k in order[:400])
    ids = model.encode(text[:20_000])[0][0]
    return ids[: 2 * ENGLISH * LENGTH].reshape(2 * ENGLISH, LENGTH)


@contextmanager
def hooked(model: SmolLM, layer: int, change: Any) -> Iterator[None]:
    """Let ``change`` see, or replace, what a layer's heads give, (b, h, n, d)."""
    handle = model.decoder.blocks[layer].attention.attend.register_forward_hook(
        lambda _, __, found: change(found)
    )
    try:
        yield
    finally:
        handle.remove()


def means(model: SmolLM, ids: Tensor) -> Tensor:
    """Return each head's mean output over all tokens but the first, (30, 9, 64)."""
    found: dict[int, Tensor] = {}

    def keep(layer: int) -> Any:
        def change(given: Tensor) -> None:
            found[layer] = given[:, :, 1:].mean(dim=(0, 2))

        return change

    with ExitStack() as stack:
        for layer in range(len(model.decoder.blocks)):
            stack.enter_context(hooked(model, layer, keep(layer)))
        model.decoder(model.embed(ids), causal=True)
    return torch.stack([found[layer] for layer in range(len(found))])


class Texts:
    """Texts with the states before each block, so that a run begins where something changes."""

    def __init__(self, model: SmolLM, ids: Tensor, others: Tensor) -> None:
        self.model, self.ids = model, ids
        self.mean = means(model, others)
        self.states = [model.embed(ids)]
        for block in model.decoder.blocks:
            self.states.append(block(self.states[-1], causal=True))

    def logits(self, heads: Heads = (), *, zero: bool = False) -> Tensor:
        """Return logits (b, n - 1, vocabulary) with some heads removed."""
        by_layer: dict[int, list[int]] = {}
        for layer, head in heads:
            by_layer.setdefault(layer, []).append(head)
        first = min(by_layer, default=len(self.states) - 1)
        x = self.states[first]
        with ExitStack() as stack:
            for layer, some in by_layer.items():
                new = self.mean[layer, some][:, None] * (not zero)  # (heads, 1, d)

                def change(given: Tensor, some: list[int] = some, new: Tensor = new) -> Tensor:
                    given = given.clone()
                    given[:, some] = new
                    return given

                stack.enter_context(hooked(self.model, layer, change))
            for block in self.model.decoder.blocks[first:]:
                x = block(x, causal=True)
        return self.model.decoder.norm(x[:, :-1]) @ self.model.embed.tokens.weight.T


def measured(random: Texts, plain: Texts, heads: Heads, *, zero: bool = False) -> dict[str, float]:
    """Return what remains with some heads removed."""
    logits, ids = random.logits(heads, zero=zero), random.ids[:, 1:]
    losses = cross_entropy(logits.mT, ids, reduction="none")  # (b, n - 1)
    # place i predicts token i + 1; the first half's last token is followed by the first again
    first, second = losses[:, : HALF - 1], losses[:, HALF:]
    right = (logits.argmax(-1) == ids)[:, HALF:].float().mean()
    words = plain.logits(heads, zero=zero)
    found = {
        "loss": second.mean(),
        "right": right,
        "first half": first.mean(),
        "english": cross_entropy(words.flatten(0, 1), plain.ids[:, 1:].flatten()),
    }
    return {name: round(value.item(), 3) for name, value in found.items()}


def ranking(kind: str) -> list[tuple[int, int]]:
    """Return the heads from the largest score of the atlas to the smallest."""
    scores = smollm_atlas().scores["random"][..., KINDS[kind]]
    order = np.argsort(-scores, axis=None, kind="stable")
    return [divmod(int(place), scores.shape[1]) for place in order]


def draw(heads: Heads, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return as many other heads of each layer, none of the first of any ranking."""
    barred = {head for kind in KINDS for head in ranking(kind)[:RANKED]}
    found: list[tuple[int, int]] = []
    for layer in sorted({layer for layer, _ in heads}):
        free = [(layer, head) for head in range(9) if (layer, head) not in barred]
        count = sum(one == layer for one, _ in heads)
        found += [free[k] for k in rng.choice(len(free), count, replace=False)]
    return found


def attributed(texts: Texts) -> tuple[Tensor, float]:
    """Return what each head adds to the right token's logit in the second half, (30, 9), and it."""
    model, ids = texts.model, texts.ids
    unembed = model.embed.tokens.weight
    norm = model.decoder.norm
    last = texts.states[-1][:, HALF:-1]
    scale = (last.square().mean(-1, keepdim=True) + norm.eps).rsqrt()  # as it is
    right = unembed[ids[:, HALF + 1 :]] - unembed.mean(0)  # (b, n, d_model)
    direction = right * norm.weight * scale
    whole = (last * direction).sum(-1).mean().item()
    found = []
    for layer, block in enumerate(model.decoder.blocks):
        kept: list[Tensor] = []
        with hooked(model, layer, kept.append):
            block(texts.states[layer], causal=True)
        weight = block.attention.out.weight.unflatten(1, (9, 64))  # (d_model, h, d)
        given = torch.einsum("bhnd,chd->bhnc", kept[0][:, :, HALF:-1], weight)
        found.append((given * direction[:, None]).sum(-1).mean(dim=(0, 2)))
    return torch.stack(found), whole


def tidy(numbers: Tensor, decimals: int = 3) -> list[Any]:
    """Return numbers as lists, rounded."""
    return numbers.double().numpy().round(decimals).tolist()


def lens(model: SmolLM, prompt: str) -> dict[str, Any]:
    """Return what the output would say of each token after each block, and what each block adds."""
    ids, _ = model.encode(prompt)
    unembed, norm = model.embed.tokens.weight, model.decoder.norm
    x = model.embed(ids)
    states, parts = [x], []
    for block in model.decoder.blocks:
        between: list[Tensor] = []
        handle = block.attention.register_forward_hook(
            lambda _, __, out, between=between: between.append(out)
        )
        after = block(x, causal=True)
        handle.remove()
        parts.append(torch.stack([between[0][0], (after - x - between[0])[0]]))  # (2, n, d)
        x = after
        states.append(x)
    at = torch.stack([state[0] for state in states])  # (31, n, d_model)
    scale = (at[-1].square().mean(-1, keepdim=True) + norm.eps).rsqrt()
    chance = (norm(at) @ unembed.T).softmax(-1)  # (31, n, words)
    best = chance.topk(BEST)
    by_last = (at * scale * norm.weight) @ unembed.T  # every block's state by the last one's size
    final = best.indices[-1, :, 0]  # (n,)
    direction = (unembed[final] - unembed.mean(0)) * norm.weight * scale  # (n, d_model)
    adds = torch.einsum("kpnd,nd->kpn", torch.stack(parts), direction)  # (30, 2, n)
    names: dict[int, str] = {}
    for one in best.indices.flatten().tolist():
        names.setdefault(one, model.decode([one]))
    words = list(names)
    return {
        "prompt": prompt,
        "tokens": model.tokens(prompt),
        "names": list(names.values()),
        "best": [[[words.index(k) for k in row] for row in at] for at in best.indices.tolist()],
        "chance": tidy(best.values),  # (31, n, best)
        "last": tidy(chance[:, range(len(final)), final]),  # (31, n), of the word said at last
        "by last": tidy(by_last.softmax(-1).amax(-1)),  # (31, n), the greatest
        "adds": tidy(adds, 2),  # (30, 2, n): attention, feed-forward
    }


def said(
    model: SmolLM, prompt: str, words: Tensor, answer: str | None = None
) -> dict[str, list[float]]:
    """Return how probable an answer, or the word said at last, is without some heads.

    In their place stand their means over ``words``.
    """
    texts = Texts(model, model.encode(prompt + ".")[0], words)  # the last logits are left out
    word = int(texts.logits()[0, -1].argmax())
    if answer is not None:
        word = int(model.encode(prompt + answer)[0][0, -1])
    first, rng = ranking("next")[:REMOVED], np.random.default_rng(REMOVED)
    gone = {"nothing": [()], "next": [first], "drawn": [draw(first, rng) for _ in range(DRAWS)]}
    return {
        name: [round(texts.logits(one)[0, -1].softmax(-1)[word].item(), 3) for one in some]
        for name, some in gone.items()
    }


def rival(seed: int, steps: int, options: dict[str, Any]) -> float:
    """Return the share that one layer has right, trained as lecture 16 trains its models."""
    with seeded(seed):
        model = AttentionOnly(layers=1, **options)
    how = {"steps": steps, "lr": 5e-3, "optimizer": ADAMW, "clip": None, "progress": False}
    train(model, lambda step: [repeating(16, seed=10_000 * seed + step)], copy_loss, **how)
    return round(share_right(model, repeating(500, seed=10**6)).before, 3)


@torch.no_grad()
def run() -> None:
    """Measure all, and write the records into the package."""
    path = smollm_file()
    if path is None:
        print("induction: SmolLM2's file is not here, so the record stays as it is")
        return
    torch.set_num_threads(1)
    with torch.enable_grad():
        rivals = {name: [rival(seed, *how) for seed in SEEDS] for name, how in RIVALS.items()}
    print("rivals", rivals, flush=True)
    model = load_smollm(path)
    words = english(model)
    examples = {name: said(model, one, words, ANSWER) for name, one in EXAMPLES.items()}
    print("examples", examples, flush=True)
    with as_file(FOLDER / "lens.json") as file:
        prompts = [lens(model, one) | {"without": said(model, one, words)} for one in PROMPTS]
        found = {"file": path.name, "prompts": prompts}
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        file.write_text(text + "\n", encoding="utf-8")
    print("lens: written", flush=True)
    random = Texts(model, twice(model, TEXTS, SEED), twice(model, OTHERS, SEED + 1))
    plain = Texts(model, words[:ENGLISH], words[ENGLISH:])
    rows: dict[str, Any] = {"none": measured(random, plain, ())}
    print("none", rows["none"], flush=True)
    adds, whole = attributed(random)
    for kind, counts in COUNTS.items():
        heads = ranking(kind)
        for k in counts:
            rows[f"{kind}, {k}"] = measured(random, plain, heads[:k])
            rows[f"{kind}, {k}, zero"] = measured(random, plain, heads[:k], zero=True)
            print(f"{kind}, {k}", rows[f"{kind}, {k}"], rows[f"{kind}, {k}, zero"], flush=True)
        for k in counts:
            if (kind, k) in DRAWN:
                rng = np.random.default_rng(k)
                drawn = [measured(random, plain, draw(heads[:k], rng)) for _ in range(DRAWS)]
                rows[f"{kind}, {k}, drawn"] = {
                    name: [one[name] for one in drawn] for name in drawn[0]
                }
                print(f"{kind}, {k}, drawn", rows[f"{kind}, {k}, drawn"], flush=True)
    record = {
        "file": path.name,
        "ranked": {kind: ranking(kind)[:RANKED] for kind in KINDS},
        "attributed": tidy(adds),
        "logit": round(whole, 3),
        "rows": rows,
        "examples": examples,
        "rivals": rivals,
    }
    with as_file(FOLDER / "induction.json") as file:
        file.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    any_letter()
    run()
