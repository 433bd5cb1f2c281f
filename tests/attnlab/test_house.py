"""The plan of the package: a file is attention, a folder is what the book needs around it."""

import ast
import subprocess
import sys
from pathlib import Path
from types import FrameType

import pytest
import torch

import attnbook
from attnbook import _check
from attnbook.transformer import Seq2Seq

HOUSE = Path(attnbook.__file__).parent
HEART = sorted(HOUSE.glob("*.py"))
FOLDERS = {path.name for path in HOUSE.iterdir() if (path / "__init__.py").exists()}
MAY_BRING = {"attnbook", "numpy", "torch"}


def imported(path: Path, *, at_import: bool = True) -> set[str]:
    """Return the full names of the modules that a file imports, when it is itself imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if at_import else ast.walk(tree)
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", HEART, ids=lambda path: path.stem)
def test_a_file_of_the_heart_imports_no_folder(path: Path) -> None:
    second = {name.split(".")[1] for name in imported(path, at_import=False) if "attnbook." in name}
    assert second.isdisjoint(FOLDERS)


@pytest.mark.parametrize("path", HEART, ids=lambda path: path.stem)
def test_a_file_of_the_heart_needs_torch_and_numpy_alone(path: Path) -> None:
    first = {name.split(".")[0] for name in imported(path)}
    assert first - sys.stdlib_module_names <= MAY_BRING


def test_the_heart_is_imported_without_anything_else() -> None:
    """With all other packages hidden, as after `pip install attnbook`; a pretrained model too."""
    hidden = ["anywidget", "gguf", "matplotlib", "safetensors", "sacrebleu", "scipy", "spacy"]
    hidden += ["huggingface_hub", "tokenizers"]
    names = [f"attnbook.{path.stem}" for path in HEART if path.stem != "__init__"]
    names += ["attnlab.pretrained"]
    code = "import sys\n" + "".join(f"sys.modules[{name!r}] = None\n" for name in (*hidden, "tqdm"))
    code += "".join(f"import {name}\n" for name in names)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_plan_fits_on_a_screen() -> None:
    entries = {path.name for path in HOUSE.iterdir() if path.name != "__pycache__"}
    assert len(entries) <= 27


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("import attnlab.pictures", "matplotlib"),
        ("import attnlab.pictures.arcs", "spacy"),
        ("from attnlab.widgets import AttentionHeatmap", "anywidget"),
    ],
)
def test_what_is_missing_is_named_with_the_extra_that_brings_it(code: str, missing: str) -> None:
    hide = f"import sys; sys.modules[{missing!r}] = None; {code}"
    done = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True)
    *_, last = done.stderr.splitlines()
    assert missing in last
    assert 'pip install "attnlab"' in last


def test_what_is_inside_trusts_what_the_door_has_checked() -> None:
    """One forward of a 2 + 2 layer translator calls 86 functions that check; it was 175."""
    model = Seq2Seq(9, 9, d_model=8, n_heads=2, n_layers=2).eval()
    tokens, calls = torch.ones(2, 3, dtype=torch.long), []

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        checks = code.co_filename == _check.__file__ or code.co_name.startswith("_check")
        if event == "call" and checks and not code.co_name.startswith("<"):
            calls.append(code.co_name)

    sys.setprofile(watch)
    try:
        model(tokens, tokens, source_lengths=torch.tensor([3, 2]))
    finally:
        sys.setprofile(None)
    assert 10 < len(calls) <= 90
