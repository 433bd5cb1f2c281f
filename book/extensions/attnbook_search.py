"""What the search looks through: every section of every page, so that a result leads to a section.

Sphinx's own search knows pages alone, and a lecture is thirty screens long. The list of sections is
a script, ``_static/sections.js``, because ``fetch`` is refused on file://; only the page of the
search loads it. ``search.js`` ranks and shows.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from attnbook_head import plain
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

FILE = "sections.js"
SPHINX = re.compile(
    r'\s*<script[^>]* src="(?:_static/(?:searchtools|language_data)|searchindex)\.js[^>]*></script>'
)
OUTPUT = {"cell_code_output", "cell_output", "mime_bundle"}


@dataclass
class Section:
    """A place that a result can lead to: its title, what stands there, and where it sends on."""

    place: str
    title: str
    text: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    taught: list[str] = field(default_factory=list)  # of a term: the sections that teach it


def sections(doctree: nodes.document, name: str) -> list[Section]:
    """Return the sections of a page, its documented names and its terms, in their order."""
    found: list[Section] = []

    def below(node: nodes.Element, here: Section | None) -> None:
        for child in node.children:
            if isinstance(child, nodes.section):
                title = child.next_node(nodes.title)
                found.append(Section(child["ids"][0], title.astext() if title else ""))
                below(child, found[-1])
            elif isinstance(child, addnodes.desc):
                for signature in child.findall(addnodes.desc_signature):
                    if signature.parent is child and signature["ids"]:
                        found.append(Section(signature["ids"][0], signature["ids"][0]))
                below(child, found[-1] if found else here)
            elif isinstance(child, nodes.definition_list_item) and child[0]["ids"]:
                found.append(Section(child[0]["ids"][0], child[0].astext()))
                found[-1].text.append(plain(child[-1].astext()))
                found[-1].taught += [target(link, name) for link in child.findall(nodes.reference)]
            elif skipped(child) or here is None:
                continue
            elif isinstance(child, nodes.literal_block):
                here.code.append(child.astext())
            elif isinstance(child, nodes.TextElement):
                here.text.append(plain(child.astext()))
            else:
                below(child, here)

    below(doctree, None)
    return found


def skipped(node: nodes.Node) -> bool:
    """Say whether a node is no text of the page, or a title that is known already."""
    if isinstance(node, nodes.raw | nodes.Invisible | nodes.title | addnodes.desc_signature):
        return True
    return isinstance(node, nodes.container) and node.get("nb_element") in OUTPUT


def target(link: nodes.reference, name: str) -> str:
    """Return where a link leads, from the book's root: ``notebooks/05-self-attention.html#x``."""
    at = os.path.join(os.path.dirname(name), link.get("refuri", ""))
    return os.path.normpath(at).replace(os.sep, "/")


def write_list(app: Sphinx, error: Exception | None) -> None:
    """Write the list of all sections, and lead the page of the search to it."""
    page = Path(app.outdir) / "search.html"
    if error or app.builder.format != "html" or not page.exists():
        return
    pages = []
    for name in sorted(app.env.found_docs):
        found = sections(app.env.get_doctree(name), name)
        rows = [[s.place, s.title, " ".join(s.text), " ".join(s.code), s.taught] for s in found]
        pages.append([f"{name}.html", rows])
    text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
    script = f"globalThis.attnbookSections = {text};\n"
    (Path(app.outdir) / "_static" / FILE).write_text(script, encoding="utf-8")
    ours = "".join(
        f'\n  <script defer src="_static/{one}"></script>' for one in (FILE, "search.js")
    )
    text = page.read_text(encoding="utf-8")
    text = SPHINX.sub("", text)
    if ours not in text:
        text = text.replace("</head>", f"{ours}\n  </head>", 1)
    page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.add_css_file("search.css")
    app.connect("build-finished", write_list)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
