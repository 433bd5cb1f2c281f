"""The page of the package: its modules in order, each with a paragraph of ours and its docstrings.

Our docstrings are plain prose with paragraphs that begin with "Shapes:", "Raises:" or "Source:".
Here they become reStructuredText, signatures keep the types as they are written, and names of
other packages lead to their documentation, from a table, so that nothing is fetched.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from typing import Any, NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_id, make_refnode

TORCH = "https://docs.pytorch.org/docs/stable/"
PYTHON = "https://docs.python.org/3/library/"
NUMPY = "https://numpy.org/doc/stable/reference/"
MATPLOTLIB = "https://matplotlib.org/stable/api/"
# what signatures and docstrings name from elsewhere; a name that is missing here fails the build
ELSEWHERE = {
    "Tensor": TORCH + "tensors.html#torch.Tensor",
    "torch.dtype": TORCH + "tensor_attributes.html#torch.dtype",
    "torch.device": TORCH + "tensor_attributes.html#torch.device",
    "torch.Generator": TORCH + "generated/torch.Generator.html#torch.Generator",
    "nn.Module": TORCH + "generated/torch.nn.Module.html#torch.nn.Module",
    "nn.MultiheadAttention": TORCH
    + "generated/torch.nn.MultiheadAttention.html#torch.nn.MultiheadAttention",
    "Optimizer": TORCH + "optim.html#torch.optim.Optimizer",
    "ArrayLike": NUMPY + "typing.html#numpy.typing.ArrayLike",
    "NDArray": NUMPY + "typing.html#numpy.typing.NDArray",
    "np.floating": NUMPY + "arrays.scalars.html#numpy.floating",
    "np.ndarray": NUMPY + "generated/numpy.ndarray.html#numpy.ndarray",
    "numpy.ndarray": NUMPY + "generated/numpy.ndarray.html#numpy.ndarray",
    "Figure": MATPLOTLIB + "figure_api.html#matplotlib.figure.Figure",
    "Doc": "https://spacy.io/api/doc",
    "Path": PYTHON + "pathlib.html#pathlib.Path",
    "Any": PYTHON + "typing.html#typing.Any",
} | {
    name: f"{PYTHON}collections.abc.html#collections.abc.{name}"
    for name in (
        "Callable", "Collection", "Iterable", "Iterator", "Mapping", "Sequence",
    )
}  # fmt: skip
LABELS = re.compile(r"(Shapes, Raises|Shapes|Raises|Source|Args|Returns|Attributes): *(.*)", re.S)
LITERAL = re.compile(r"(``.+?``|`[^`]+`|(?<![\w*])\*\w[\w -]*\*(?![\w*]))", re.S)  # and *emphasis*
ENTRY = re.compile(r"([\w.]+) \(([\d, ]*)\): (.+)", re.S)
SIGNATURE = re.compile(r'<dl>\s*((?:<dd><em class="sig-param">.*?</dd>\s*)+)</dl>', re.S)
SKIPPED = "Alias for field number"  # what Python says of each field of a NamedTuple


class Entry(NamedTuple):
    """A module of the page, the lectures that use it, and the paragraph that introduces it."""

    module: str
    lectures: list[int]
    text: str


class Package(SphinxDirective):
    """A section for each module: ``name (lectures): paragraph``, further lines indented."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        entries = read_entries(self.arguments[0], "\n".join(self.content))
        self.env.temp_data["attnbook_names"] = public_names([entry.module for entry in entries])
        return [self.section(entry) for entry in entries]

    def section(self, entry: Entry) -> nodes.section:
        name = entry.module.split(".", 1)[1]
        section = nodes.section(ids=[make_id(self.env, self.state.document, "", name)])
        section += nodes.title("", "", nodes.literal("", name))
        lines = f"{entry.text} {self.where(entry.lectures)}\n\n```{{eval-rst}}\n"
        lines += f".. automodule:: {entry.module}\n   :members:\n   :member-order: bysource\n```\n"
        source, _ = self.get_source_info()
        self.state.nested_parse(
            StringList(lines.splitlines(), source), self.content_offset, section
        )
        return section

    def where(self, lectures: list[int]) -> str:
        """Name the lectures, with a link to each that is in the book."""
        pages = sorted(self.env.found_docs)
        links = []
        for number in lectures:
            page = next((p for p in pages if p.startswith(f"notebooks/{number:02d}-")), None)
            links.append(f"{{doc}}`{number} </{page}>`" if page else str(number))
        if not links:
            return ""
        *most, last = links
        named = f"{', '.join(most)} and {last}" if most else last
        return f"*Lecture{'s' if most else ''} {named}.*"


def read_entries(package: str, text: str) -> list[Entry]:
    """Read the lines of the directive; an indented line goes on with the one above."""
    found = []
    for line in re.sub(r"\n\s+", " ", text).splitlines():
        match = ENTRY.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"a module must be written `name (lectures): paragraph`: {line!r}")
        name, lectures, paragraph = match.groups()
        numbers = [int(number) for number in re.findall(r"\d+", lectures)]
        found.append(Entry(f"{package}.{name}", numbers, paragraph))
    return found


def members(module: str) -> dict[str, Any]:
    """Return a module's public names: ``__all__``, or its own functions and classes."""
    loaded = importlib.import_module(module)
    if hasattr(loaded, "__all__"):
        return {name: getattr(loaded, name) for name in loaded.__all__}
    return {
        name: thing
        for name, thing in vars(loaded).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module
    }


def public_names(modules: list[str]) -> dict[str, str]:
    """Say where each public name stands, the modules among them; the first place wins."""
    places = {module: module for module in modules}
    for module in modules:
        for name in members(module):
            places.setdefault(name, f"{module}.{name}")
    return places


def as_rst(lines: list[str], names: dict[str, str]) -> list[str]:
    """Turn a docstring of ours into reStructuredText."""
    paragraphs = re.split(r"\n\s*\n", textwrap.dedent("\n".join(lines)).strip("\n"))
    return "\n\n".join(paragraph_rst(paragraph, names) for paragraph in paragraphs).split("\n")


def paragraph_rst(paragraph: str, names: dict[str, str]) -> str:
    label = LABELS.match(paragraph)
    if label is None:
        if paragraph.startswith((" ", ">>>")):
            return "::\n\n" + textwrap.indent(paragraph.replace("``", ""), "   ")
        return inline_rst(as_list(paragraph), names)
    first, _, rest = label[2].partition("\n")
    rest = textwrap.dedent(rest)
    body = f"{first}\n{rest}".strip() if first else as_list(rest)
    return f":{label[1]}:\n" + textwrap.indent(inline_rst(body, names), "   ")


def as_list(text: str) -> str:
    """Make list items of lines ``name: …`` with further lines indented; leave other text alone."""
    lines = text.split("\n")
    if not all(re.match(r"\s|[\w.]+: ", line) for line in lines):
        return text
    lines = [re.sub(r"^([\w.]+): ", r"- ``\1``: ", line) for line in lines]
    return "\n".join(re.sub(r"^\s+", "  ", line) for line in lines)


def inline_rst(text: str, names: dict[str, str]) -> str:
    """Escape what would be markup; link the names that the page documents."""
    parts = LITERAL.split(text)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.sub(r"([\\*|`]|_(?!\w))", r"\\\1", part)
            continue
        if part.startswith("*"):
            continue
        word = " ".join(part.strip("`").split())
        parts[i] = f":py:obj:`{word} <{names[word]}>`" if word in names else f"``{word}``"
    return "".join(parts)


def process_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]):
    names = dict(app.env.temp_data.get("attnbook_names", {}))
    own = name.rpartition(".")[2]
    for word in [own, *parameters(obj)]:  # here they mean themselves
        names.pop(word, None)
    lines[:] = as_rst(lines, names)


def parameters(obj: Any) -> list[str]:
    try:
        return list(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return []


def process_signature(app, what, name, obj, options, signature, returns):
    """Write the signature as its source does: with the names of types, not what they stand for."""
    if what == "module":
        return None
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(obj)))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return signature, returns
    if isinstance(node, ast.ClassDef):
        return class_arguments(node, signature), None
    if not isinstance(node, ast.FunctionDef):
        return signature, returns
    bound = what == "method" and not isinstance(inspect.getattr_static(*owner(name)), staticmethod)
    return arguments(node, bound=bound), ast.unparse(node.returns) if node.returns else None


def owner(name: str) -> tuple[Any, str]:
    """Return the class in which a method stands, and the method's name."""
    place, _, method = name.rpartition(".")
    module, _, cls = place.rpartition(".")
    return getattr(importlib.import_module(module), cls), method


def class_arguments(node: ast.ClassDef, signature: str | None) -> str | None:
    """What makes an instance: its ``__init__``, or its fields."""
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            return arguments(part, bound=True)
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    return f"({', '.join(map(ast.unparse, fields))})" if fields else signature


def arguments(node: ast.FunctionDef, *, bound: bool) -> str:
    if bound:
        node.args.args = node.args.args[1:]
    return f"({ast.unparse(node.args)})"


def skip_member(app, what, name, obj, skip, options) -> bool | None:
    return True if (getattr(obj, "__doc__", None) or "").startswith(SKIPPED) else None


def resolve(app: Sphinx, env, node, contnode) -> nodes.Node | None:
    """Lead a name to its place on the page or in another package's documentation."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py":
        return None
    if target in ELSEWHERE:
        return nodes.reference("", "", contnode, internal=False, refuri=ELSEWHERE[target])
    for full, place in env.domaindata["py"]["objects"].items():
        if full.endswith(f".{target}"):
            return make_refnode(
                app.builder, node["refdoc"], place.docname, place.node_id, contnode, full
            )
    return contnode if is_alias(node.get("py:module"), target) else None


def is_alias(module: str | None, name: str) -> bool:
    """Tell whether the package names a type of its own so: it is shown, and has no place."""
    package = (module or "").partition(".")[0]
    modules = [loaded for path, loaded in sys.modules.items() if path.split(".")[0] == package]
    things = [vars(loaded)[name] for loaded in modules if name in vars(loaded)]
    return any(
        not inspect.isclass(thing) or thing.__module__.split(".")[0] == package for thing in things
    )


def finish_page(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Load the page's style; a signature's lines become plain lines, for a list has no terms."""
    if any(place.docname == pagename for place in app.env.domaindata["py"]["objects"].values()):
        app.add_css_file("api.css")
        context["body"] = SIGNATURE.sub(plain_lines, context["body"])


def plain_lines(found: re.Match) -> str:
    lines = found[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">{lines}</span>'


def configure(app: Sphinx, config) -> None:
    config.autodoc_inherit_docstrings = False
    config.autodoc_preserve_defaults = True
    config.python_maximum_signature_line_length = 60


def setup(app: Sphinx) -> dict:
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("package", Package)
    app.connect("config-inited", configure)
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("missing-reference", resolve)
    app.connect("html-page-context", finish_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
