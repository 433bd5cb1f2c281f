"""A small corpus in files, and a recipe that is done with it in a second."""

import gzip
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnlab.language import english_french
from attnlab.training.resume import read_checkpoint
from attnlab.translation.recipe import Recipe
from attnlab.translation.run import train

SMALL = Recipe(
    pair="en-fr",
    vocabulary=120,
    d_model=16,
    n_heads=2,
    n_layers=1,
    d_ff=32,
    tokens=200,
    warmup=4,
    steps=12,
    cooldown=0.0,  # so that a run of fewer steps begins as a longer one does
    snapshot_every=4,
    averaged=2,
    validate_every=6,
    beam=2,
)
Texts = tuple[list[str], list[str]]
# where a text may name a control token: before, after and between words, doubled, glued to one
PLACES = ("{0}", "{0} a dog", "a dog {0}", "a {0} dog", "a {0}{0} dog", "a{0}dog", "{0}s", "a{0}.")


def recipe(**choices: Any) -> Recipe:
    return replace(SMALL, **choices)


@cache
def texts(n: int = 150) -> Texts:
    """Return n pairs of the book's own corpus, as text."""
    pairs = english_french(200, held_out=2).train[:n]
    return [" ".join(pair.source) for pair in pairs], [" ".join(pair.target) for pair in pairs]


def naming(*names: str) -> list[str]:
    """Return texts that name control tokens: each at each place, and all in one."""
    return [*(place.format(name) for name in names for place in PLACES), " ".join(names)]


def write(folder: Path, name: str, sides: Sequence[list[str]], *, gz: bool = False) -> None:
    """Write two files, name.en and name.fr."""
    folder.mkdir(exist_ok=True)
    for language, lines in zip(("en", "fr"), sides, strict=True):
        data = "".join(f"{line}\n" for line in lines).encode()
        path = folder / f"{name}.{language}{'.gz' if gz else ''}"
        path.write_bytes(gzip.compress(data) if gz else data)


def multi30k(folder: Path, *, gz: bool = False, validated: int = 4) -> Path:
    """Write 130 pairs to train on and a few to validate on, named as Multi30k's files are.

    A translation by a model that has learnt nothing is as long as it may be: few cost enough.
    """
    english, french = texts()
    write(folder, "train", (english[20:], french[20:]), gz=gz)
    write(folder, "val", (english[:validated], french[:validated]), gz=gz)
    return folder


def weights(run: Path) -> dict[str, Tensor]:
    """Return all that a run's last checkpoint holds of weights and Adam's numbers."""
    saved = read_checkpoint(run)
    return saved.weights | {f"Adam's {name}": tensor for name, tensor in saved.optimizer.items()}


def trained(data: Path, run: Path, **choices: Any) -> dict[str, Tensor]:
    """Train in a folder, and return what the last checkpoint holds."""
    train(recipe(**choices), data, run)
    return weights(run)


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
