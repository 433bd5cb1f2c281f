"""What autodoc has to know of our docstrings and types; the rest is configuration in `_config.yml`.

A line that begins with "Shapes:", "Raises:" or "Source:" begins a field, names of the page
become links, and a signature keeps its types as the source writes them.
"""

import ast
import contextlib
import functools
import importlib
import inspect
import re
import sys
import textwrap
import types
from pathlib import Path

LISTED = re.compile(r"^\.\. automodule:: (\S+)", re.M)  # the modules of a page
LABEL = re.compile(r"^\s*(Shapes, Raises|Shapes|Raises|Source): ")
BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:Shapes, Raises|Shapes|Raises|Source): )")
# what signatures shorten; any other name of another package fails the build (`-n`)
SHORT = {"Tensor": "torch.Tensor", "Optimizer": "torch.optim.Optimizer", "nn.": "torch.nn."} | {
    "ArrayLike": "numpy.typing.ArrayLike", "NDArray": "numpy.typing.NDArray", "np.": "numpy.",
    "Figure": "matplotlib.figure.Figure", "Doc": "spacy.tokens.Doc", "Path": "pathlib.Path",
    "Any": "typing.Any", **{name: f"collections.abc.{name}" for name in (
        "Callable", "Collection", "Generator", "Iterable", "Iterator", "Mapping", "Sequence",
    )},
}  # fmt: skip
LINES = re.compile(r'<dl>\s*((?:<dd><em class="sig-param">.*?</dd>\s*)+)</dl>', re.S)


def members(module: str) -> dict[str, object]:
    """Return a module's public names: ``__all__``, or its own functions and classes."""
    loaded = importlib.import_module(module)
    if hasattr(loaded, "__all__"):
        return {name: getattr(loaded, name) for name in loaded.__all__}
    made = {k: v for k, v in vars(loaded).items() if isinstance(v, type | types.FunctionType)}
    return {k: v for k, v in made.items() if v.__module__ == module and not k.startswith("_")}


@functools.cache
def places() -> dict[str, str]:
    """Say where each public name stands on the page; the first place wins."""
    page = (Path(__file__).parents[1] / "api.md").read_text(encoding="utf-8")
    modules = reversed(LISTED.findall(page))
    return {name: f"{module}.{name}" for module in modules for name in members(module)}


def write_fields(app, what, name, obj, options, lines) -> None:
    paragraphs = BREAK.split("\n".join(lines))
    for i, text in enumerate(paragraphs):
        if LABEL.match(text):
            paragraphs[i] = LABEL.sub(r":\1: ", text).replace("\n", "\n   ")
    own = {name.rpartition(".")[2]}  # a function's name and its arguments mean themselves
    with contextlib.suppress(TypeError, ValueError):  # a module, a property, a type of Python's
        own |= set(inspect.signature(obj).parameters)
    known = {word: place for word, place in places().items() if word not in own}

    def mark(found: re.Match) -> str:
        place = known.get(found[0].strip("`"))
        return (
            f":py:obj:`{found[0].strip('`')} <{place}>`" if place else found[0].replace("|", r"\|")
        )

    text = re.sub(r"``\w+``|(?<!`)\|(?!`)", mark, "\n\n".join(paragraphs))
    # napoleon takes what stands before a colon in a property's first line for its type: a comment
    lines[:] = (["..", ""] if what == "property" else []) + text.split("\n")


def write_signature(app, what, name, obj, options, signature, returns):
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(obj)))).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return None
    if isinstance(node, ast.ClassDef):  # what makes an instance: its `__init__`, or its fields
        fields = [ast.unparse(part) for part in node.body if isinstance(part, ast.AnnAssign)]
        node = next((part for part in node.body if getattr(part, "name", "") == "__init__"), None)
        if node is None:
            return (f"({', '.join(fields)})" if fields else signature), None
        node.returns = None
    if not isinstance(node, ast.FunctionDef):
        return None
    if node.args.args and node.args.args[0].arg in ("self", "cls"):
        del node.args.args[0]
    return f"({ast.unparse(node.args)})", ast.unparse(node.returns) if node.returns else None


def skip_fields(app, what, name, obj, skip, options) -> bool | None:
    """Leave out what Python says of each field of a NamedTuple; the signature has them."""
    return True if (getattr(obj, "__doc__", "") or "").startswith("Alias for field") else None


def resolve(app, env, node, contnode):
    """Lead a short name to its place here, or give intersphinx the name in full."""
    target = node.get("reftarget", "")
    if target in places():
        python = env.get_domain("py")
        full = places()[target]
        return python.resolve_xref(env, node["refdoc"], app.builder, "obj", full, node, contnode)
    start = re.match(r"\w*\.?", target)[0]
    node["reftarget"] = SHORT.get(start, start) + target[len(start) :]
    modules = [
        vars(one) for key, one in sys.modules.items() if key.startswith(("attnbook.", "attnlab."))
    ]
    things = [one[target] for one in modules if target in one and start not in SHORT]
    # a type that the package names so, and that has no place on the page
    ours = [
        not isinstance(one, type) or one.__module__.startswith(("attnbook", "attnlab"))
        for one in things
    ]
    return contnode if any(ours) else None


def finish_page(app, pagename, templatename, context, doctree) -> None:
    """Load the page's style; a signature's lines become plain lines, for a list has no terms."""
    if pagename == "book/api":
        app.add_css_file("api.css")
        context["body"] = LINES.sub(plain_lines, context["body"])


def plain_lines(found: re.Match) -> str:
    lines = found[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">{lines}</span>'


def setup(app) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", write_fields, priority=400)  # before napoleon
    app.connect("autodoc-process-signature", write_signature)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("missing-reference", resolve, priority=400)  # before intersphinx
    app.connect("html-page-context", finish_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
