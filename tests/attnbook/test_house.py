"""The plan of the package: a file imports those before it alone, and a door checks once."""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
import torch

import attnbook
from attnbook import _check
from attnbook.attention import attention

HOUSE = Path(attnbook.__file__).parent
ORDER = ["_ask", "_check", "masks", "_core", "scores", "attention", "positions", "cache"]
ORDER += ["multihead", "record", "latent", "embeddings", "layers", "rnn", "transformer", "decoding"]
ROOMS = ["caches", "tiles", "sparse", "linear", "longer", "speculation"]


def imported(path: Path) -> set[str]:
    """Return the full names of all that a file imports, wherever it does."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def files(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")} - {"__init__"}


def test_every_file_has_its_place() -> None:
    assert files(HOUSE) == set(ORDER)
    assert files(HOUSE / "further") == set(ROOMS)


@pytest.mark.parametrize("name", [*ORDER, *(f"further/{room}" for room in ROOMS)])
def test_a_file_imports_those_before_it_torch_and_numpy_alone(name: str) -> None:
    names = imported(HOUSE / f"{name}.py")
    others = {one.split(".")[0] for one in names} - sys.stdlib_module_names
    assert others <= {"attnbook", "numpy", "torch"}
    own = {one.split(".")[1] for one in names if one.startswith("attnbook.")}
    assert own <= set(ORDER[: ORDER.index(name)] if name in ORDER else ORDER)


def test_a_name_is_of_one_thing() -> None:
    paths = [path for path in HOUSE.rglob("*.py") if not path.stem.startswith("_")]
    defined = [
        node.name
        for path in paths
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    ]
    assert len(set(defined)) == len(defined)


def checks(call: Callable[[], object]) -> int:
    """Count the calls of functions that check, while this is called."""
    count = 0

    def watch(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        code = frame.f_code
        named = code.co_name.startswith(("_check", "check"))
        own = code.co_filename == _check.__file__ and not code.co_name.startswith("<")
        count += event == "call" and (named or own)

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def test_attention_trusts_what_its_door_has_checked() -> None:
    x, mask = torch.zeros(2, 5, 8), torch.ones(5, 5, dtype=torch.bool)
    assert 0 < checks(lambda: attention(x, x, x, mask)) <= 6
