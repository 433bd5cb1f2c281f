"""A trained translator, read back from its run's folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from attnlab import _check
from attnlab.translation.average import Snapshots, load_distinct
from attnlab.translation.model import Translator, build
from attnlab.translation.pieces import Pieces
from attnlab.translation.recipe import Recipe


@dataclass(frozen=True)
class Saved:
    """A model in eval mode, its pieces, and the recipe that made it."""

    model: Translator
    pieces: Pieces
    recipe: Recipe


def load(folder: str | Path, device: torch.device | str = "cpu") -> Saved:
    """Read the translator of a run: its averaged weights, of the steps so far if it goes on.

    Raises: FileNotFoundError for a folder without a run, or a run without weights yet; ValueError
    for files that cannot be read, or that do not belong together.
    """
    folder = Path(folder)
    for name in ("recipe.json", "pieces.json"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} must hold a run: there is no {name}")
    recipe = Recipe.read(folder / "recipe.json")
    pieces = Pieces.from_json((folder / "pieces.json").read_text(encoding="utf-8"))
    model = build(recipe, len(pieces))
    load_distinct(model, _weights(folder, recipe, model))
    return Saved(model.to(device).eval(), pieces, recipe)


def _weights(folder: Path, recipe: Recipe, model: Translator) -> dict[str, Any]:
    whole = folder / "model.safetensors"
    if whole.exists():
        try:
            return _check.needed("safetensors.torch", "a translator").load(whole.read_bytes())
        except Exception as error:
            raise ValueError(f"{whole} cannot be read: {error}") from error
    snapshots = Snapshots(folder / "weights", recipe.averaged)
    snapshots.read(recipe.steps)
    if not snapshots.sets:
        raise FileNotFoundError(f"{folder} must hold weights: its run has written none yet")
    return snapshots.mean(model)
