"""The page of the package: everything public is on it, in order, and says what it takes."""

import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import attnbook
import attnlab
from tests.book.lectures import ROOT, load

API = load(ROOT / "book" / "extensions" / "attnbook_api.py")
MODULES = API.LISTED.findall((ROOT / "book" / "api.md").read_text(encoding="utf-8"))
PUBLIC = {
    f"{module}.{name}": thing
    for module in MODULES
    for name, thing in API.members(module).items()
    if inspect.isclass(thing) or inspect.isroutine(thing)
}
# the widgets and the checks of the exercises take lists, and have a style of their own
WITH_SHAPES = [name for name in PUBLIC if not re.match(r"attnlab\.(widgets|exercises)\.", name)]
# a line of its own, or in the sentence: (…, n_q, d), (b,), (n_q, n_k) or the like
NAMES_SHAPES = re.compile(r"[Ss]hapes?(?:, Raises)?: |\((?:…|[a-z]\w*), *(?:[…a-z0-9]|\))")
TAKES_TENSORS = re.compile(r"\b(Tensor|ArrayLike|NDArray|ndarray)\b")


def own_methods(thing: Any) -> dict[str, Any]:
    """A class's public methods that are written in it."""
    if not inspect.isclass(thing):
        return {}
    return {
        name: getattr(thing, name)
        for name, value in vars(thing).items()
        if not name.startswith("_") and inspect.isroutine(getattr(value, "__func__", value))
    }


def takes_tensors(function: Any) -> bool:
    """A function that is called with tensors is no tensor; nor is a dictionary of them."""
    annotations = {k: v for k, v in inspect.get_annotations(function).items() if k != "return"}
    texts = [re.sub(r"(Callable|dict)\[.*\]", "", str(one)) for one in annotations.values()]
    return any(TAKES_TENSORS.search(text) for text in texts)


def place(module: str) -> str:
    """Return the package and the file or folder in it that a module belongs to."""
    return ".".join(module.split(".")[:2])


def test_every_file_is_on_the_page_and_uses_only_those_above_it() -> None:
    found = {
        f"{package.__name__}.{one.name}"
        for package in (attnbook, attnlab)
        for one in pkgutil.iter_modules(package.__path__)
        if one.name[0] != "_"
    }
    assert {place(module) for module in MODULES} == found
    # As the page promises: it can be read from top to bottom.
    above: set[str] = set()
    for module in MODULES:
        above.add(place(module))
        path = Path(importlib.util.find_spec(module).origin)
        for file in path.parent.rglob("*.py") if path.stem == "__init__" else [path]:
            text = file.read_text(encoding="utf-8")
            assert set(re.findall(r"^(?:from|import) (attn\w+\.[a-z]\w*)", text, re.M)) <= above


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_described(name: str) -> None:
    for one in (PUBLIC[name], *own_methods(PUBLIC[name]).values()):
        made_by_python = inspect.isclass(one) and (one.__doc__ or "").startswith(f"{one.__name__}(")
        assert one.__doc__, one
        assert not made_by_python, one


@pytest.mark.parametrize("name", WITH_SHAPES)
def test_what_takes_tensors_names_their_shapes(name: str) -> None:
    thing = PUBLIC[name]
    functions = own_methods(thing).values() if inspect.isclass(thing) else [inspect.unwrap(thing)]
    around = thing.__doc__ if inspect.isclass(thing) else ""
    for one in filter(takes_tensors, functions):
        assert NAMES_SHAPES.search(around + (one.__doc__ or "")), one


def test_the_built_page_holds_every_name_and_leads_on() -> None:
    built = ROOT / "_build" / "html" / "book" / "api.html"
    assert built.exists(), "no built book: run `make book` first"
    page = built.read_text(encoding="utf-8")
    assert [name for name in PUBLIC if f'id="{name}"' not in page] == []
    sections = re.findall(r'id="module-([\w.]+)"', page)
    assert list(dict.fromkeys(sections)) == MODULES
    for wrong in (
        'class="problematic"',
        "Alias for field number",
        "object at 0x",
        "Shapes: ",
        "Raises: ",
        "Source: ",
    ):
        assert wrong not in page
    for place in (
        "https://docs.pytorch.org/docs/stable/tensors.html#torch.Tensor",  # a type elsewhere,
        "#attnbook.attention.Attended",  # one of ours, and a lecture
        "../notebooks/05-self-attention.html",
    ):
        assert f'href="{place}"' in page
