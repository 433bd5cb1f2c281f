"""What the experiments found: tables over seeds, made by the scripts in ``experiments/``.

    table = read("attention")
    print(spread(table["bahdanau"]["exact match"]))  # such as "0.96 (0.95–0.97)"

They lie in the package, so that a lecture has them wherever it runs.
"""

import json
from collections.abc import Sequence
from importlib.resources import files

Table = dict[str, dict[str, list[float]]]


def names() -> list[str]:
    """Return the names of all tables."""
    found = (file.name for file in files("attnlab.models.results").iterdir())
    return sorted(name.removesuffix(".json") for name in found if name.endswith(".json"))


def read(name: str) -> Table:
    """Return a table: for each model each measure, with one number for each seed.

    Raises: ValueError for a name that is not one of ``names()``.
    """
    if name not in names():
        raise ValueError(f"name must be one of {', '.join(names())}: it is {name!r}")
    text = (files("attnlab.models.results") / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)["rows"]


def spread(numbers: Sequence[float], digits: int = 2) -> str:
    """Write the mean of some runs, and the least and greatest in brackets.

    Raises: ValueError for no number at all.
    """
    if len(numbers) == 0:
        raise ValueError("numbers must hold at least one: there is none")
    mean = sum(numbers) / len(numbers)
    return f"{mean:.{digits}f} ({min(numbers):.{digits}f}–{max(numbers):.{digits}f})"
