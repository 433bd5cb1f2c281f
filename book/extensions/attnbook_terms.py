"""The glossary and the index: their pages, and in a lecture the sentence of a term set in bold.

The glossary's directive holds a line a term: ``term | sections | sentence``, or ``term / other form
| …`` for a word that lectures set in bold instead. The sections, the first that introduces the term
before others that use it, become links. The index holds all of these terms and, in its directive, a
line for what else it names, ``name | sections``, or for a term's further sections. The role
``{section}`5.2` `` is such a link in any page around the lectures.
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
from sphinx.util.docutils import SphinxDirective, SphinxRole

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
def sections() -> dict[str, tuple[str, str, str]]:
    """Return of each section's number its notebook's name, its id on the page and its title."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                for number, title in HEADING.findall("".join(cell["source"])):
                    found[number] = path.stem, nodes.make_id(f"{number} {title}"), title
    return found


def glossary() -> list[Term]:
    """Read the terms of the book's glossary; none where it has no such page."""
    source = BOOK / f"{PAGE}.md"
    block = BLOCK.search(source.read_text(encoding="utf-8")) if source.exists() else None
    return terms(block[1]) if block else []


def concepts(text: str, known: list[Term]) -> dict[str, tuple[str, ...]]:
    """Return of each concept its sections, the main one first, in the alphabet's order.

    Raises: ValueError for a line of another form, and for a name or a section that stands twice.
    """
    found = {term.name: term.sections for term in known}
    lines: set[str] = set()
    for line in text.splitlines():
        name, _, listed = (part.strip() for part in line.partition(" | "))
        if not name or not listed or "|" in listed:
            raise ValueError(f"a line must be `name | sections`: {line!r}")
        if name in lines:
            raise ValueError(f"a concept must stand in the index once: {name}")
        lines.add(name)
        found[name] = found.get(name, ()) + tuple(re.split(r", *", listed))
        if len(set(found[name])) < len(found[name]):
            raise ValueError(f"a section stands twice at {name}: {', '.join(found[name])}")
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def link(number: str, page: str) -> nodes.reference:
    """Return a link from a page to a section of a lecture, with its title under the pointer.

    Raises: ValueError where no lecture has the section.
    """
    if number not in sections():
        raise ValueError(f"there is no section {number}")
    stem, place, title = sections()[number]
    address = os.path.relpath(f"notebooks/{stem}.html", os.path.dirname(page)).replace(os.sep, "/")
    made = nodes.reference("", number, refuri=f"{address}#{place}", internal=True)
    made["reftitle"] = title
    return made


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
        try:
            return link(number, self.env.docname)
        except ValueError as error:
            raise self.error(str(error)) from error


class Concepts(Terms):
    """The index: each concept once, a list a letter; the section that teaches it in bold."""

    def run(self) -> list[nodes.Node]:
        shown: list[nodes.Node] = []
        letter = ""
        for name, numbers in concepts("\n".join(self.content), glossary()).items():
            if name[0].upper() != letter:
                letter = name[0].upper()
                shown += [nodes.rubric("", letter), nodes.bullet_list(bullet="-")]
            line = nodes.paragraph("", "", nodes.Text(name), nodes.Text(" "))
            line += nodes.strong("", "", self.link(numbers[0]))
            exercises = [n for n in numbers[1:] if sections()[n][2] == "Exercises"]
            for number in [n for n in numbers[1:] if n not in exercises]:
                line += [nodes.Text(", "), self.link(number)]
            for i, number in enumerate(exercises):
                line += [nodes.Text(", " if i else "; exercises "), self.link(number)]
            shown[-1] += nodes.list_item("", line)
        return shown


class Section(SphinxRole):
    """The number of a lecture's section, as a link to it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            return [link(self.text, self.env.docname)], []
        except ValueError as error:
            said = self.inliner.reporter.error(str(error), line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, said)], [said]


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
        said, name = (html.escape(plain(text)) for text in (term.sentence, term.name))
        place = f"term-{len(told)}"
        return (
            f'<dfn class="attnbook-term book-note" tabindex="0" aria-describedby="{place}">'
            f"<strong>{found[1]}</strong>"
            f'<span role="tooltip" id="{place}" data-term="{name}">{said}</span></dfn>'
        )

    return STRONG.sub(explain, page)


def explain_terms(app: Sphinx, error: Exception | None) -> None:
    """Write the sentences into the lectures' finished pages."""
    if error or app.builder.format != "html":
        return
    known = {form.lower(): term for term in glossary() for form in (term.name, term.other) if form}
    for path in sorted((Path(app.outdir) / "notebooks").glob("[0-9]*.html")):
        text = path.read_text(encoding="utf-8")
        if 'class="attnbook-term ' not in text:  # a page that was not written anew has them
            path.write_text(explained(text, known), encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.add_directive("terms", Terms)
    app.add_directive("concepts", Concepts)
    app.add_role("section", Section())
    app.add_css_file("terms.css")
    app.connect("build-finished", explain_terms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
