"""Previews: what a citation, a figure or a section is, under the pointer and the focus of its link.

In a lecture's text "section 5.4" and "Figure 7.1" become links to them; the notebook keeps its
plain words. In the finished page such a link, and each one whose address stands in the
bibliography, gets what it leads to beside it. Nothing is fetched: sources come from
``references.bib``, sections and captions from the notebooks. Where the window is wide enough, the
style sets the first use of a source and of a term into the margin, as a note.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from urllib.parse import urlsplit

from attnbook_formulas import mathml
from attnbook_terms import BOOK, NOTEBOOKS, sections
from docutils import nodes
from docutils.utils.smartquotes import smartyPants
from pybtex.database import Entry, parse_file
from pybtex.richtext import Text
from sphinx.application import Sphinx

MENTION = re.compile(
    r"\b(?P<kind>section|figure)s?\s+\d+\.\d+(?![.\d]*\d)"
    r"(?:(?:,\s+|\s+and\s+|,\s+and\s+)\d+\.\d+(?![.\d]*\d))*",
    re.I,
)
NUMBER = re.compile(r"(?:\b(?:section|figure)s?\s+)?(\d+\.\d+)", re.I)
CAPTION = re.compile(r"^\*\*Figure (\d+\.\d+)\.\*\* +(.+)$", re.M)
SENTENCE = re.compile(r"(?<=[.?!])(?<!al\.)(?<!\b[A-Z]\.)\s+(?=[A-Z*_\"“$(])")
PROSE = re.compile(r"[A-Z*\"“]")  # a paragraph of text begins so; a Task, a table, a list do not
LINK = re.compile(r'<a class="([^"]*\breference\b[^"]*)" href="([^"]*)"[^>]*>.*?</a>', re.S)
ARTICLE = re.compile(r'<article class="bd-article">.*?</article>', re.S)
TABLE = re.compile(r'<table class="table.*?</table>', re.S)
NAME = re.compile(r'(?<=<span class="pre">)[^<]+')
JOINT = re.compile(r"(?<=[_.])(?=\w)|(?<=[a-z])(?=[A-Z][a-z])")  # where a long name may break
QUESTIONS = re.compile(r'class="attnbook attnbook-(?:answer|checkpoint|prediction)')
CODE_COLUMNS = 70  # what a line of text holds of the code's typeface
TEX_COLUMNS = 62


# ---- what a preview says ----


def source(entry: Entry) -> str:
    """Return an entry as text with its title marked: authors, at most three, year, title, venue."""
    people = [str(Text.from_latex(str(one))) for one in map(full_name, entry.persons["author"])]
    shown = ", ".join(people[:3]) + (" et al." if len(people) > 3 else "")
    year, title = (plain_tex(entry.fields[key]) for key in ("year", "title"))
    said = f"{html.escape(shown)}, {html.escape(year)}. <cite>{html.escape(title)}</cite>"
    end = "" if title.endswith(("?", "!", ".")) else "."
    return f"{said}{end} {html.escape(venue(entry))}."


def full_name(person) -> str:
    """Return a name as it is said, the first name first."""
    parts = (person.first_names, person.middle_names, person.prelast_names, person.last_names)
    return " ".join(name for part in (*parts, person.lineage_names) for name in part)


def plain_tex(said: str) -> str:
    """Return a field of the bibliography without braces, its accents as letters."""
    return str(Text.from_latex(said))


def venue(entry: Entry) -> str:
    """Return where an entry came out: a journal, proceedings, a publisher, or else a site."""
    for key in ("journal", "booktitle", "publisher"):
        if key in entry.fields:
            return plain_tex(entry.fields[key])
    host = urlsplit(address(entry)).hostname or ""
    return "arXiv" if host == "arxiv.org" else host.removeprefix("www.")


def address(entry: Entry) -> str:
    """Return where a lecture's link to an entry leads; empty where it has no address."""
    doi = entry.fields.get("doi")
    return entry.fields.get("url") or (f"https://doi.org/{doi}" if doi else "")


@cache
def sources() -> dict[str, str]:
    """Return what is said of each address that the bibliography holds."""
    entries = parse_file(str(BOOK / "references.bib"), "bibtex").entries.values()
    return {address(entry): source(entry) for entry in entries if address(entry)}


def marked(said: str) -> str:
    """Return a sentence of Markdown as HTML: its words, without links and marks, and its maths."""
    parts = re.split(r"\$([^$]+)\$", re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", said))
    for i, part in enumerate(parts):
        if i % 2:
            set_as = mathml(part, display=False)
            parts[i] = f'<span class="math notranslate nohighlight">{set_as}</span>'
        else:
            text = html.escape(part, quote=False)
            parts[i] = smartyPants(re.sub(r"[*`]", "", text), "qe")
    return "".join(parts)


def sentences(paragraph: str, n: int) -> str:
    """Return the first sentences of a paragraph."""
    return " ".join(SENTENCE.split(" ".join(paragraph.split()))[:n])


def texts(path: Path) -> Iterator[str]:
    """All that a notebook says between its code."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            yield "".join(cell["source"])


@cache
def begun() -> dict[str, str]:
    """Return of each section's number the first sentence of its text."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        for part in re.split(r"^## (?=\d+\.\d+ )", "\n\n".join(texts(path)), flags=re.M)[1:]:
            number = part.split()[0]
            prose = [text for text in part.split("\n\n")[1:] if PROSE.match(text)]
            found[number] = sentences(prose[0], 1) if prose else ""
    return found


@cache
def captions() -> dict[str, tuple[str, str]]:
    """Return of each figure's number its notebook's name and its caption's first two sentences."""
    found = {}
    for path in sorted(NOTEBOOKS.rglob("[0-9]*.ipynb")):
        name = path.relative_to(NOTEBOOKS).with_suffix("").as_posix()
        for text in texts(path):
            found |= {number: (name, sentences(said, 2)) for number, said in CAPTION.findall(text)}
    return found


@cache
def questions() -> dict[str, str]:
    """Return of each page of evidence, and each place on it, what is asked there."""
    found = {}
    for path in sorted((NOTEBOOKS / "evidence").glob("*.ipynb")):
        for part in re.split(r"^## ", "\n\n".join(texts(path)), flags=re.M)[1:]:
            title, _, said = part.partition("\n")
            asked = next(iter(re.findall(r"^\*\*Asked\.\*\* +(.+)$", said, re.M)), "")
            where = f"evidence/{path.stem}.html#{nodes.make_id(title)}"
            found[where] = f"<b>{marked(title)}</b> {marked(sentences(asked, 2))}"
    return found


def about(kind: str, number: str, here: str) -> str:
    """Return what a preview says of a section or a figure, on the page of a lecture."""
    stem = (sections()[number] if kind == "section" else captions()[number])[0]
    lecture = f"Lecture {int(Path(stem).name[:2])}"
    place = "" if stem == here else f"{lecture}{', how we know' * ('/' in stem)}. "
    if kind == "figure":
        return f"{place}<b>Figure {number}.</b> {marked(captions()[number][1])}"
    return f"{place}<b>{number} {marked(sections()[number][2])}.</b> {marked(begun()[number])}"


# ---- links in the text ----


def target(kind: str, number: str, here: str) -> str | None:
    """Return the address of a section or a figure from a lecture's page; None if there is none."""
    if kind == "section":
        stem, place = sections().get(number, ("", ""))[:2]
    else:
        stem, place = captions().get(number, ("",))[0], picture(number)
    if not stem:
        return None
    return f"{'' if stem == here else relpath(f'{stem}.html', dirname(here) or '.')}#{place}"


def picture(number: str) -> str:
    """Return the id of a figure's picture; its caption has the name ``figure-…``."""
    return f"picture-{number.replace('.', '-')}"


def elsewhere(text: nodes.Text, start: int, end: int) -> bool:
    """Tell whether a mention is of a cited work: "[it], section 3.2", "section 3.2 of [it]"."""
    said, family = text.astext(), text.parent
    at = family.index(text)
    before = family[at - 1] if at else None
    after = family[at + 1] if at + 1 < len(family) else None
    cited = isinstance(before, nodes.reference) and re.fullmatch(r",\s*", said[:start])
    cites = isinstance(after, nodes.reference) and re.fullmatch(r"\s+of\s+", said[end:])
    return bool(cited or cites)


def linked(text: nodes.Text, here: str) -> list[nodes.Node]:
    """Return the parts of a text, in which each mention of a section or a figure is a link."""
    said, parts, done = text.astext(), [], 0
    for found in MENTION.finditer(said):
        if elsewhere(text, *found.span()):
            continue
        for one in NUMBER.finditer(said, *found.span()):
            kind = found["kind"].lower()
            if (leads := target(kind, one[1], here)) is None:
                continue
            parts.append(nodes.Text(said[done : one.start()]))
            link = nodes.reference("", one[0], refuri=leads, internal=True)
            link["classes"] += ["attnbook-ref", f"{kind}-{one[1]}"]
            parts.append(link)
            done = one.end()
    return [*parts, nodes.Text(said[done:])] if parts else [text]


def in_prose(text: nodes.Text) -> bool:
    """Tell whether a text stands in a paragraph, in no table, heading, code, link or formula."""
    kinds = []
    node = text.parent
    while node is not None:
        kinds.append(node)
        node = node.parent
    never = (nodes.reference, nodes.title, nodes.literal, nodes.math, nodes.table, nodes.raw)
    if any(isinstance(node, never) for node in kinds):
        return False
    head = isinstance(text.parent, nodes.strong) and re.match(r"Figure [\d.]+$", text.astext())
    return any(isinstance(node, nodes.paragraph) for node in kinds) and not head


# ---- how wide a block is ----


def is_narrow(cell: nodes.Element) -> bool:
    """Tell whether a cell has no picture and no line longer than a line of the text's column."""
    if any(cell.findall(nodes.image)):
        return False
    if any(not QUESTIONS.search(raw.astext()) for raw in cell.findall(nodes.raw)):
        return False
    lines = (
        line for code in cell.findall(nodes.literal_block) for line in code.astext().split("\n")
    )
    return max(map(len, lines), default=0) <= CODE_COLUMNS


def is_short(formula: nodes.math_block) -> bool:
    """Tell whether a displayed formula is surely no wider than the text's column."""
    lines = re.split(r"\\\\", re.sub(r"\\(?:q?quad|[,;! ]|[a-zA-Z]+)", "x", formula.astext()))
    return max(map(len, lines)) <= TEX_COLUMNS


def prepare(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give a lecture's figures ids, its narrow blocks their name, and its mentions links."""
    if app.builder.name != "html" or not docname.startswith("notebooks/"):
        return
    here = docname.partition("/")[2]
    for cell in doctree.findall(
        lambda node: (
            "cell" in node.get("classes", ()) if isinstance(node, nodes.container) else False
        )
    ):
        if is_narrow(cell):
            cell["classes"].append("is-narrow")
    for formula in doctree.findall(nodes.math_block):
        if is_short(formula):
            formula["classes"].append("is-narrow")
    for caption in doctree.findall(nodes.paragraph):
        if "figure-caption" in caption["classes"] and (
            found := re.match(r"Figure (\d+\.\d+)", caption.astext().strip())
        ):
            at = caption.parent.index(caption)
            before = caption.parent[at - 1] if at else caption
            shown = before if "figure-cell" in before.get("classes", ()) else caption
            shown["ids"].insert(0, picture(found[1]))
    for text in list(doctree.findall(nodes.Text)):
        if MENTION.search(text.astext()) and in_prose(text):
            parts = linked(text, here)
            if len(parts) > 1:
                text.parent.replace(text, parts)


# ---- the finished pages ----


def previewed(page: str, here: str) -> str:
    """Put beside each link of a page's article that has a preview what it says."""
    told: set[str] = set()

    def preview(found: re.Match[str], head: bool) -> str:
        link, kinds, leads = found[0], found[1].split(), html.unescape(found[2])
        name = "attnbook-preview"
        if "attnbook-ref" in kinds:
            kind, _, number = next(
                one for one in kinds if re.match(r"(section|figure)-\d", one)
            ).partition("-")
            said = about(kind, number, here)
        elif (where := normpath(join(dirname(here), leads))) in questions():
            said = questions()[where]
        elif leads in sources():
            said = sources()[leads]
            if not head and leads not in told:  # a note in the margin, where there is room
                told.add(leads)
                name += " book-note"
        else:
            return link
        place = f"preview-{next(count)}"
        link = link.replace("<a ", f'<a aria-describedby="{place}" ', 1)
        return f'<span class="{name}">{link}<span role="tooltip" id="{place}">{said}</span></span>'

    def article(found: re.Match[str]) -> str:
        head, mark, rest = found[0].partition("<h2")
        head = LINK.sub(lambda link: preview(link, True), head)
        return head + mark + LINK.sub(lambda link: preview(link, False), rest)

    count = iter(range(1, 10_000))
    return ARTICLE.sub(article, page, count=1)


def breakable(page: str) -> str:
    """Let names of code break at their joints in a table, so that it need not scroll."""

    def table(found: re.Match[str]) -> str:
        return NAME.sub(lambda name: JOINT.sub("<wbr>", name[0]), found[0])

    return TABLE.sub(table, page)


def write_previews(app: Sphinx, error: Exception | None) -> None:
    """Write the previews into the lectures' finished pages, and let all pages' tables wrap."""
    if error or app.builder.name != "html":
        return
    for path in sorted(Path(app.outdir).rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        new = breakable(text)
        # a page that was not written anew has them
        name = path.relative_to(app.outdir).with_suffix("").as_posix()
        if name.startswith("notebooks/") and 'class="attnbook-preview' not in text:
            new = previewed(new, name.removeprefix("notebooks/"))
        if new != text:
            path.write_text(new, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.add_css_file("previews.css")
    app.add_css_file("width.css", priority=900)  # after the theme's and the book's own
    app.add_js_file("previews.js", loading_method="defer")
    app.connect("doctree-resolved", prepare)
    app.connect("build-finished", write_previews)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
