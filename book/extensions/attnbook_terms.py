"""The glossary: its page, and in a lecture the sentence of a term where it is set in bold.

The page's directive holds a line a term: ``term | sections | sentence``, or ``term / other form |
…`` for a word that lectures set in bold instead. The sections, the first that introduces the term
before others that use it, become links.
"""

from __future__ import annotations

import html
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

BOOK = Path(__file__).resolve().parents[1]
NOTEBOOKS = BOOK.parent / "notebooks"
PAGE = "glossary"
BLOCK = re.compile(r"^```\{terms\}\n(.*?)^```", re.M | re.S)
HEADING = re.compile(r"^## (\d+\.\d+) (.*)$", re.M)
STRONG = re.compile(r"<strong>([^<>]+)</strong>")


class Term(NamedTuple):
    """A term, its other form if any, the numbers of its sections, and its sentence."""

    name: str
    other: str
    sections: tuple[str, ...]
    sentence: str


def terms(text: str) -> list[Term]:
    """Read the lines of a page's directive.

    Raises: ValueError for a line of another form, or a term that stands there twice.
    """
    found: list[Term] = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split("|", 2)]
        if len(parts) != 3 or not all(parts):
            raise ValueError(f"a line must be `term | sections | sentence`: {line!r}")
        name, _, other = (part.strip() for part in parts[0].partition(" / "))
        found.append(Term(name, other, tuple(re.split(r", *", parts[1])), parts[2]))
    names = [form.lower() for term in found for form in (term.name, term.other) if form]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"a term must stand in the glossary once: {', '.join(sorted(twice))}")
    return found


@cache
def sections() -> dict[str, tuple[str, str]]:
    """Return of each section's number its notebook's name and its id on the page."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                for number, title in HEADING.findall("".join(cell["source"])):
                    found[number] = path.stem, nodes.make_id(f"{number} {title}")
    return found


class Terms(SphinxDirective):
    """The list of all terms, each with its sentence and its sections."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        shown = nodes.definition_list()
        for term in sorted(terms("\n".join(self.content)), key=lambda term: term.name.lower()):
            name = nodes.term("", "", nodes.Text(term.name))
            name["ids"].append(nodes.make_id(f"term-{term.name}"))
            body = nodes.definition()
            said = term.sentence[0].upper() + term.sentence[1:]
            self.state.nested_parse(StringList([said], source=PAGE), self.content_offset, body)
            for number in term.sections:
                body[0] += [nodes.Text(" "), self.link(number)]
            shown += nodes.definition_list_item("", name, body)
        return [shown]

    def link(self, number: str) -> nodes.reference:
        """Return a link to a section of a lecture."""
        if number not in sections():
            raise self.error(f"there is no section {number}")
        stem, place = sections()[number]
        here = os.path.dirname(self.env.docname)
        address = os.path.relpath(f"notebooks/{stem}.html", here).replace(os.sep, "/")
        return nodes.reference("", number, refuri=f"{address}#{place}", internal=True)


def plain(sentence: str) -> str:
    """Return a sentence without its marks, for what cannot show them."""
    return re.sub(r"[*`$]", "", sentence)


def explained(page: str, known: dict[str, Term]) -> str:
    """Add to the first bold use of each term its sentence, which shows under pointer and focus."""
    told: set[str] = set()

    def explain(found: re.Match[str]) -> str:
        name = " ".join(found[1].lower().split())
        term = known.get(name) or known.get(name.removesuffix("s"))
        if term is None or term.name in told:
            return found[0]
        told.add(term.name)
        said = html.escape(plain(term.sentence), quote=True)
        return (
            f'<dfn class="attnbook-term" tabindex="0"><strong>{found[1]}</strong>'
            f'<span role="tooltip">{said}</span></dfn>'
        )

    return STRONG.sub(explain, page)


def explain_terms(app: Sphinx, error: Exception | None) -> None:
    """Write the sentences into the lectures' finished pages."""
    source = BOOK / f"{PAGE}.md"
    if error or app.builder.format != "html" or not source.exists():
        return
    block = BLOCK.search(source.read_text(encoding="utf-8"))
    found = terms(block[1] if block else "")
    known = {form.lower(): term for term in found for form in (term.name, term.other) if form}
    for path in sorted((Path(app.outdir) / "notebooks").glob("[0-9]*.html")):
        text = path.read_text(encoding="utf-8")
        if 'class="attnbook-term"' not in text:  # a page that was not written anew has them
            path.write_text(explained(text, known), encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.add_directive("terms", Terms)
    app.add_css_file("terms.css")
    app.connect("build-finished", explain_terms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
