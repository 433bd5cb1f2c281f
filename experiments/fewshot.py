"""Ask SmolLM2 what comes next after none to six examples of a task, and keep what it says.

``python -m experiments.fewshot`` asks each word of lecture 12's two tasks behind the first k of its
examples, and behind the same k, their answers exchanged: each word stands before the answer to the
next. Of each prompt it keeps the most probable next tokens with their probabilities, and what the
model writes, word for word as the lecture asks for it.
"""

from __future__ import annotations

import json
from importlib.resources import as_file
from typing import Any

import torch

from attnlab._console import any_letter
from attnlab.models.recorded import FOLDER
from attnlab.pretrained import SmolLM, load_smollm, smollm_file
from experiments.smollm import DECIMALS, TASKS, answers, in_pairs, with_examples

TOP = 5


def settings(most: int) -> list[tuple[int, bool]]:
    """Return how many examples there are, and whether their answers are exchanged."""
    return [(k, False) for k in range(most + 1)] + [(k, True) for k in range(2, most + 1)]


def prompts(task: str, count: int, exchanged: bool) -> list[str]:
    """Return the prompt of each word that a task asks."""
    known, asked = (in_pairs(text) for text in TASKS[task])
    shown = known[:count]
    if exchanged:
        others = shown[1:] + shown[:1]
        shown = [(one, other) for (one, _), (_, other) in zip(shown, others, strict=True)]
    return [with_examples(shown, word) for word, _ in asked]


@torch.no_grad()
def next_tokens(model: SmolLM, prompt: str) -> list[list[Any]]:
    """Return the most probable next tokens, as [token, probability]."""
    best = model(model.encode(prompt)[0])[0, -1].softmax(-1).topk(TOP)
    tokens = [model.decode([number]) for number in best.indices.tolist()]
    chances = [round(p, DECIMALS) for p in best.values.tolist()]
    return [list(both) for both in zip(tokens, chances, strict=True)]


@torch.no_grad()
def asked(model: SmolLM, task: str, count: int, exchanged: bool) -> list[dict[str, Any]]:
    """Return, for each word of a task, the next tokens and what is written."""
    given = prompts(task, count, exchanged)
    return [
        {"top": next_tokens(model, prompt), "said": said}
        for prompt, said in zip(given, answers(model, given), strict=True)
    ]


def run() -> None:
    """Ask all, and write the record into the package."""
    path = smollm_file()
    if path is None:
        print("fewshot: SmolLM2's file is not here, so the record stays as it is")
        return
    model, found = load_smollm(path), []
    for task, (known, words) in TASKS.items():
        pairs = in_pairs(words)
        rows = [
            {"examples": k, "exchanged": exchanged, "words": asked(model, task, k, exchanged)}
            for k, exchanged in settings(len(in_pairs(known)))
        ]
        first = [model.tokens(f" {wanted}")[0] for _, wanted in pairs]
        about = {"name": task, "shown": in_pairs(known), "asked": pairs, "first": first}
        found.append(about | {"rows": rows})
    with as_file(FOLDER / "fewshot.json") as file:
        text = json.dumps({"tasks": found}, ensure_ascii=False, separators=(",", ":"))
        file.write_text(text.replace('{"examples"', '\n{"examples"') + "\n", encoding="utf-8")
    print(f"fewshot: {sum(len(row['words']) for one in found for row in one['rows'])} prompts")


if __name__ == "__main__":
    any_letter()
    run()
