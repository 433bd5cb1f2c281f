"""A translator of real captions, and the record of the runs that it was chosen from.

    translate(["a man in a blue shirt is standing on a ladder."])  # into German
    runs()[0].test["tokens"]  # its BLEU on test 2016

It was trained on Multi30k, 29,000 captions of photographs in English and German, by the program
``attnlab.translation``. ``experiments/multi30k.py`` trained, scored and wrote all that
lies here: captions.js, the weights at 8 bits each, as a page loads them, and runs.json.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files
from typing import Any, NamedTuple

from attnlab import _check
from attnlab.models.stored import StoredTranslator, load_translator
from attnlab.translation.pieces import Pieces
from attnlab.translation.recipe import Recipe
from attnlab.translation.scoring import translate as translate_by

__all__ = [
    "Mark",
    "Run",
    "load",
    "long_run",
    "page_run",
    "rounded_scores",
    "runs",
    "translate",
    "trials",
]

FOLDER = files("attnlab.models.captions")


class Mark(NamedTuple):
    """A validation on the way: after ``step`` steps, translated greedily.

    ``loss`` is −log p a piece; ``cased`` and ``tokens`` are BLEU as in ``Run``.
    """

    step: int
    loss: float
    cased: float
    tokens: float


class Run(NamedTuple):
    """One run: ``command`` trained it on ``pairs`` pairs, for ``steps`` updates.

    ``validation`` and ``test`` (test 2016) hold BLEU by beam search: "cased", of plain text in
    sacrebleu's 13a, with its "signature", and "tokens", of lower-cased Moses tokens, as published
    marks are. Recipes were chosen on validation; the test set was scored once for each run.
    ``minutes`` are those at the marks of ``curve``, of the long run, which had a quiet machine. Of
    a trial, on one core beside another run on the other, it is one number: what all steps take at
    the pace that a quarter of them kept. A trial on the release's tokens has no "cased": its
    command reads a folder TOKENS.
    """

    name: str
    command: str
    model: str
    pairs: int
    parameters: int
    steps: int
    curve: list[Mark]
    validation: dict[str, float]
    test: dict[str, float]
    signature: str
    minutes: Sequence[float] = ()


@cache
def runs() -> list[Run]:
    """Return the record of the runs of 8,000 steps, as it was written when they were trained."""
    return [_run(**run) for run in _record()["runs"]]


@cache
def long_run() -> Run:
    """Return the record of the Transformer that was trained for an hour on two processes."""
    (run,) = _record()["long"]
    return _run(**run)


@cache
def trials() -> dict[str, list[Run]]:
    """Return the record of other recipes, each by its name as the runs of seeds 0, 1, ….

    Each differs from the first of ``runs`` by what its command says.
    """
    found: dict[str, list[Run]] = {}
    for run in _record()["trials"]:
        name, _, _ = run["name"].rpartition(", seed ")
        found.setdefault(name, []).append(_run(**run))
    return found


def page_run() -> Run:
    """Return the record of the run whose weights the page has."""
    record = _record()
    everything = [*record["runs"], *record["long"], *record["trials"]]
    (run,) = (one for one in everything if one["name"] == record["page"])
    return _run(**run)


def rounded_scores() -> dict[str, float]:
    """Return BLEU on validation of the weights at 8 bits each, which ``load`` returns."""
    return _record()["rounded"]


@cache
def load() -> StoredTranslator:
    """Return the translator as a page has it: model, tokenizer, and that it reads lower case.

    Raises: ImportError where ``tokenizers`` is missing.
    """
    _check.needed("tokenizers", "the translator's pieces", "pretrained")
    with as_file(FOLDER / "captions.js") as path:
        return load_translator(path)


def translate(sentences: Sequence[str], *, beam: int = 5) -> list[str]:
    """Translate English sentences into German by beam search; a beam of 1 is greedy.

    Raises: TypeError where ``sentences`` is a text and no list of texts; ValueError for a beam that
    is no whole number above 0; ImportError as ``load``.
    """
    _check.must(
        not isinstance(sentences, str),
        "sentences",
        "be a list of texts",
        but="it is one text",
        error=TypeError,
    )
    _check.whole_number("beam", beam, at_least=1)
    stored = load()
    recipe = Recipe(lower="source" if stored.lower else "none")
    return translate_by(stored.model, Pieces(stored.tokenizer), list(sentences), recipe, beam=beam)


def _run(curve: list[list[Any]], **rest: Any) -> Run:
    return Run(curve=[Mark(*mark) for mark in curve], **rest)


@cache
def _record() -> dict[str, Any]:
    return json.loads((FOLDER / "runs.json").read_text(encoding="utf-8"))
