"""The pairs of a run: found in a folder or a file, checked, shared out and held back."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from unicodedata import normalize

import torch

from attnlab import _check
from attnlab.language.readers import TextPair, read_aligned, read_tab_separated
from attnlab.translation.recipe import Recipe

TRAIN, VALIDATION = ("train", "europarl"), ("val", "valid", "dev")


@dataclass(frozen=True)
class Text:
    """What is trained on and what is validated on."""

    train: list[TextPair]
    validation: list[TextPair]


def read_text(data: str | Path, recipe: Recipe) -> Text:
    """Read the pairs of ``recipe.pair`` from a folder, or from one file with tabs.

    In a folder the training files are train.en and train.de, or with more between the dots, packed
    by gzip or not; where there are none, europarl's, or the only two files that share a name.
    Validation is val, valid or dev. Where it is missing, and in a tab-separated file, ``held_out``
    pairs are drawn from the training pairs and left out there.

    Raises: FileNotFoundError that names what was looked for and what there is, or the other side of
    a text to validate on; ValueError for an empty file, files of unequal length, what is not UTF-8,
    or too few pairs.
    """
    data = Path(data)
    if data.is_file():
        train, validation = list(read_tab_separated(data)), None
        sources = str(data)
    else:
        if not data.is_dir():
            raise FileNotFoundError(f"there is neither a folder nor a file {data}")
        files = find(data, recipe.languages, TRAIN, alone=True)
        if files is None:
            raise _no_pair(data, recipe.languages)
        other = find(data, recipe.languages, VALIDATION)
        if other is None:
            _check_none_alone(data, recipe.languages)
        train = list(read_aligned(*files))
        validation = None if other is None else list(read_aligned(*other))
        sources = f"{files[0].name} and {files[1].name} in {data}"
        if validation is not None and not validation:
            raise ValueError(f"{other[0]} must hold pairs: it is empty" if other else "")
    if not train:
        raise ValueError(f"{sources} must hold pairs: there is none")
    train = [_cleaned(pair, recipe.lower) for pair in train]
    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(recipe.seed))
    rows: list[int] = order.tolist()
    if validation is None:
        fewer = recipe.held_out < len(rows)
        told = f"it is {recipe.held_out}, and {sources} has {len(rows)} pairs in all"
        _check.must(fewer, "held_out", "leave pairs to train on", but=told)
        held, rows = rows[: recipe.held_out], rows[recipe.held_out :]
        validation = [train[row] for row in held]
    else:
        validation = [_cleaned(pair, recipe.lower) for pair in validation]
    kept = sorted(rows[: max(1, round(recipe.share * len(rows)))])
    return Text([train[row] for row in kept], validation)


def find(
    folder: Path, languages: tuple[str, str], names: Iterable[str], *, alone: bool = False
) -> tuple[Path, Path] | None:
    """Find two files of a folder that share a name, one in each language; None where none is.

    The name begins with the first of ``names`` that leads to one, or is the only one there, where
    ``alone``.

    Raises: ValueError where several would do.
    """
    stems = _stems(folder, languages[0]), _stems(folder, languages[1])
    common = sorted(stems[0].keys() & stems[1].keys())
    beginnings = [re.compile(rf"{name}(?![a-zA-Z])") for name in names]
    fits = [[stem for stem in common if name.match(stem)] for name in beginnings]
    if alone:
        others = re.compile("|".join(f"(?:{name})" for name in (*VALIDATION, "test")))
        fits.append([stem for stem in common if not others.match(stem)])
    found = next((some for some in fits if some), None)
    if found is None:
        return None
    told = f"there are {', '.join(found)}: leave one in the folder"
    _check.must(len(found) == 1, "data", f"hold one such text, not {len(found)}", but=told)
    return stems[0][found[0]], stems[1][found[0]]


def _stems(folder: Path, language: str) -> dict[str, Path]:
    ends = (f".{language}.gz", f".{language}")
    return {
        path.name.removesuffix(end): path
        for end in ends  # the plain file, where there are both
        for path in sorted(folder.iterdir())
        if path.name.endswith(end) and path.is_file()
    }


def _check_none_alone(folder: Path, languages: tuple[str, str]) -> None:
    """Find no text to validate on in one of the languages only."""
    for language, missing in (languages, languages[::-1]):
        for stem, path in _stems(folder, language).items():
            if any(re.match(rf"{name}(?![a-zA-Z])", stem) for name in VALIDATION):
                raise FileNotFoundError(f"there is {path} and no {stem}.{missing}")


def _no_pair(folder: Path, languages: tuple[str, str]) -> FileNotFoundError:
    here = sorted(path.name for path in folder.iterdir() if path.is_file())
    shown = ", ".join(here[:8]) + (", …" if len(here) > 8 else "") if here else "nothing"
    wanted = " and ".join(f"train.{language}" for language in languages)
    return FileNotFoundError(f"there is no {wanted} (or .gz) in {folder}: it holds {shown}")


def _cleaned(pair: TextPair, lower: str) -> TextPair:
    """Spaces become one, letters one code point each; lower case where it is asked for."""
    source, target = (normalize("NFC", " ".join(side.split())) for side in pair)
    return TextPair(
        source.lower() if lower != "none" else source, target.lower() if lower == "both" else target
    )


def cleaned_source(text: str, lower: str) -> str:
    """Return a source as the model was trained to read it."""
    return _cleaned(TextPair(text, ""), lower).source


def sides(pairs: list[TextPair]) -> Iterable[str]:
    """Chain all sources and all targets."""
    return chain((pair.source for pair in pairs), (pair.target for pair in pairs))
