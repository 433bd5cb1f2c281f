"""The page of the package: everything public is on it, in order, and says what it takes."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import attnbook
from tests.book.lectures import ROOT

HTML = ROOT / "_build" / "html" / "book" / "api.html"
SOURCE = (ROOT / "book" / "api.md").read_text(encoding="utf-8")
# a line of its own, or in the sentence: (…, n_q, d), (b,), (n_q, n_k) or the like
NAMES_SHAPES = re.compile(r"[Ss]hapes?(?:, Raises)?: |\((?:…|[a-z]\w*), *(?:[…a-z0-9]|\))")
TAKES_TENSORS = re.compile(r"\b(Tensor|ArrayLike|NDArray|ndarray)\b")


def extension() -> Any:
    path = ROOT / "book" / "extensions" / "attnbook_api.py"
    spec = importlib.util.spec_from_file_location("attnbook_api", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


API = extension()
ENTRIES = API.read_entries(
    "attnbook", re.search(r"\{package\} attnbook\n(.*?)```", SOURCE, re.S)[1]
)
MODULES = [entry.module for entry in ENTRIES]
PUBLIC = {
    (module, name): thing for module in MODULES for name, thing in API.members(module).items()
}
# the widgets and the checks of the exercises take lists, and have a style of their own
WITH_SHAPES = [key for key in PUBLIC if key[0] not in {"attnbook.widgets", "attnbook.exercises"}]


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


# --- what the page names --------------------------------------------------------------------------


def test_every_public_module_has_its_line() -> None:
    there = {
        f"attnbook.{found.name}"
        for found in pkgutil.iter_modules(attnbook.__path__)
        if not found.name.startswith("_")
    }
    assert sorted(MODULES) == sorted(there)


def test_a_module_uses_only_those_above_it() -> None:
    """As the page promises: it can be read from top to bottom."""
    for place, module in enumerate(MODULES):
        path = Path(importlib.util.find_spec(module).origin)
        files = path.parent.rglob("*.py") if path.stem == "__init__" else [path]
        for file in files:
            used = re.findall(r"^(?:from|import) (attnbook\.[a-z]\w*)", file.read_text(), re.M)
            assert set(used) <= set(MODULES[: place + 1]), file


def test_each_line_has_a_paragraph_and_lectures_that_there_are() -> None:
    for entry in ENTRIES:
        assert len(entry.text.split()) >= 5
        assert entry.text.endswith(".")
        assert entry.lectures == sorted(set(entry.lectures))
        assert set(entry.lectures) <= set(range(1, 15))


def test_a_line_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="a module must be written"):
        API.read_entries("attnbook", "masks: no lectures")


# --- what the docstrings say ----------------------------------------------------------------------


@pytest.mark.parametrize("key", PUBLIC, ids=".".join)
def test_every_public_name_is_described(key: tuple[str, str]) -> None:
    thing = PUBLIC[key]
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return  # a constant or a type
    described = {key[1]: thing, **own_methods(thing)}
    assert [name for name, one in described.items() if not vars_doc(one)] == []


def vars_doc(thing: Any) -> str:
    """A docstring of its own, not the one that Python or a base class gives."""
    doc = thing.__doc__ or ""
    made = inspect.isclass(thing) and doc.startswith(f"{thing.__name__}(")
    return "" if made else doc


@pytest.mark.parametrize("key", WITH_SHAPES, ids=".".join)
def test_what_takes_tensors_names_their_shapes(key: tuple[str, str]) -> None:
    thing = PUBLIC[key]
    if inspect.isclass(thing):
        doc = thing.__doc__ or ""
        silent = [
            name
            for name, method in own_methods(thing).items()
            if takes_tensors(method) and not NAMES_SHAPES.search(doc + (method.__doc__ or ""))
        ]
        assert silent == []
    elif inspect.isroutine(thing) and takes_tensors(inspect.unwrap(thing)):
        assert NAMES_SHAPES.search(thing.__doc__)


# --- how a docstring becomes a page ---------------------------------------------------------------


def rst(text: str) -> str:
    return "\n".join(API.as_rst(text.split("\n"), {"dot": "attnbook.scores.dot"}))


def test_labels_become_fields_and_what_looks_like_markup_stays_text() -> None:
    assert rst("Sum.\n\nShapes: x (n, d),\ny (n).\n\nSource: Luong et al. (2015).") == (
        "Sum.\n\n:Shapes:\n   x (n, d),\n   y (n).\n\n:Source:\n   Luong et al. (2015)."
    )
    assert rst("1/|T| Σ_(t) of n_ and 2 * 3") == r"1/\|T\| Σ\_(t) of n\_ and 2 \* 3"
    assert rst("one *and* the other, 4*b*h*n") == r"one *and* the other, 4\*b\*h\*n"


def test_literals_stay_and_names_of_the_page_become_links() -> None:
    assert rst("as ``dot`` of ``a_`` or `b`") == (
        "as :py:obj:`dot <attnbook.scores.dot>` of ``a_`` or ``b``"
    )


def test_lists_of_names_become_lists() -> None:
    assert rst("Args:\n    x: one\n        line more.\n    y: two.") == (
        ":Args:\n   - ``x``: one\n     line more.\n   - ``y``: two."
    )
    assert rst("x: one\n    more.\ny: two.") == "- ``x``: one\n  more.\n- ``y``: two."
    assert rst("Text:\n\n    with ``seeded``(0):") == "Text:\n\n::\n\n       with seeded(0):"


def test_a_signature_keeps_the_names_of_its_types() -> None:
    source = "def f(self, x: Chosen = 2**3, *, y: int | None = None) -> Score: ...\n"
    (node,) = ast.parse(source).body
    assert API.arguments(node, bound=True) == "(x: Chosen=2 ** 3, *, y: int | None=None)"
    (node,) = ast.parse("class A(NamedTuple):\n    x: Tensor\n    y: int = 3").body
    assert API.class_arguments(node, None) == "(x: Tensor, y: int = 3)"


# --- the built page -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page() -> str:
    assert HTML.exists(), "no built book: run `make book` first"
    return HTML.read_text(encoding="utf-8")


def test_every_public_name_stands_on_the_page(page: str) -> None:
    missing = [
        f"{module}.{name}"
        for (module, name), thing in PUBLIC.items()
        if (inspect.isclass(thing) or inspect.isroutine(thing))
        and f'id="{module}.{name}"' not in page
    ]
    assert missing == []


def test_the_page_is_made_of_sections_in_our_order(page: str) -> None:
    sections = re.findall(r'<section id="([\w-]+)">', page)
    assert [name for name in sections if f"attnbook.{name}" in MODULES] == [
        module.removeprefix("attnbook.") for module in MODULES
    ]
    assert 'class="problematic"' not in page
    assert "Alias for field number" not in page
    assert "object at 0x" not in page


def test_types_lead_to_their_documentation_and_ours_to_their_place(page: str) -> None:
    assert f'href="{API.ELSEWHERE["Tensor"]}"' in page
    assert 'href="#attnbook.attention.Attended"' in page
    assert 'href="../notebooks/05-self-attention.html"' in page
