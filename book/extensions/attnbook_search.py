"""What the search looks through: every section of every page, so that a result leads to a section.

Sphinx's own search knows pages alone, and a lecture is thirty screens long. The list of sections is
a script, ``_static/sections.js``, because ``fetch`` is refused on file://; a page loads it when its
reader begins to search. ``search.js`` ranks and shows. Students' words for what the book calls
otherwise, and what the book leaves out, stand in ``search.toml``; other languages' in
``tongues.toml``; what readers call a section, and ask of it, in ``asked.toml``.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from attnbook_terms import BOOK, concepts, glossary
from attnbook_terms import sections as numbered
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

FILE = "sections.js"
DATA, TONGUES, ASKED = (
    tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    for name in ("search", "tongues", "asked")
)
SPHINX = re.compile(
    r'\s*<script[^>]* src="(?:_static/(?:searchtools|language_data)|searchindex)\.js[^>]*></script>'
)
OUTPUT = {"cell_code_output", "cell_output", "mime_bundle"}
# of code, the names that one may ask for
CALLED = re.compile(r"(?<=\.)[a-z]\w{3,}(?=\()|[A-Za-z]\w*(?:_\w+|[a-z][A-Z]\w+)")
NUMBER = re.compile(r"[\dE]+(?:\.\d+)?(?=\.? )")
CONCEPTS = re.compile(r"^```\{concepts\}\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\[(.+)\]\((https://.+)\)")
LONGEST = 32  # letters of a formula in a line
SIGNS: dict[str, str] = DATA["signs"]
ASKS = "The question"


@dataclass
class Section:
    """A place that a result can lead to: its title, the number above it, and what stands there."""

    place: str
    title: str
    above: str = ""
    text: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    terms: list[tuple[str, int]] = field(default_factory=list)
    asked: str = ""


def formula(tex: str) -> str:
    """Return a formula as a line can show it, or dots for what no line can."""
    text = re.sub(r"\\(?:text|mathrm|operatorname|mathbf)\s*\{(\w*)\}", r"\1", tex)
    text = re.sub(r"\\sqrt\s*\{([^{}]*)\}|\\sqrt\s*(\w)", r"√\1\2", text)
    text = re.sub(r"\\[,;! ]|\\(?:left|right)\b", "", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda m: SIGNS.get(m[1], m[0]), text)
    text = re.sub(r"\{([^{}]*)\}", r"\1", text)
    return "…" if len(text) > LONGEST or re.search(r"[\\{}&]", text) else text


def plain(node: nodes.Node) -> str:
    """Return what a reader sees of a node, in one line and without markup."""
    if isinstance(node, nodes.raw | nodes.Invisible | nodes.image):
        return ""
    if isinstance(node, nodes.math):
        return formula(node.astext())
    if isinstance(node, nodes.Text):
        return node.astext()
    return "".join(plain(child) for child in node.children)


def sections(doctree: nodes.document, name: str) -> list[Section]:
    """Return the sections of a page, its documented names and its terms, in their order."""
    found: list[Section] = []

    def below(node: nodes.Element, here: Section | None, above: str = "") -> None:
        for child in node.children:
            if isinstance(child, nodes.section):
                title = child.next_node(nodes.title)
                found.append(Section(child["ids"][0], plain(title) if title else "", above))
                number = NUMBER.match(found[-1].title)
                below(child, found[-1], number[0] if number else above)
            elif isinstance(child, addnodes.desc):
                for signature in child.findall(addnodes.desc_signature):
                    if signature.parent is child and signature["ids"]:
                        found.append(Section(signature["ids"][0], signature["ids"][0]))
                        found[-1].text += [first(child)]
                below(child, None)  # its members have entries of their own
            elif isinstance(child, nodes.definition_list_item) and child[0]["ids"]:
                found.append(Section(child[0]["ids"][0], plain(child[0])))
                found[-1].text.append(re.sub(r"(?: \d+\.\d+)+$", "", line(child[-1])))
            elif skipped(child) or (here is None and not isinstance(child, addnodes.desc_content)):
                continue
            elif isinstance(child, nodes.literal_block):
                here.code += CALLED.findall(child.astext())
            elif isinstance(child, nodes.row):
                here.text.append(" · ".join(filter(None, (line(entry) for entry in child))))
            elif isinstance(child, nodes.TextElement):
                here.text.append(line(child))
            else:
                below(child, here, above)

    below(doctree, None)
    return found


def line(node: nodes.Node) -> str:
    """Return a text's words with one space between two."""
    return " ".join(plain(node).split())


def first(entry: nodes.Element) -> str:
    """Return the first sentence of what documents a name."""
    said = next((line(one) for one in entry.findall(nodes.paragraph)), "")
    return re.split(r"(?<=[.:]) (?=[A-Z])", said)[0]


def skipped(node: nodes.Node) -> bool:
    """Say whether a node is no text of the page, or one that names other sections only."""
    no_words = nodes.raw | nodes.Invisible | nodes.title | nodes.math_block
    if isinstance(node, no_words | addnodes.desc_signature):
        return True
    if node.astext().startswith(("Plan, ", "Builds on ", "# @title Set-up")):
        return isinstance(node, nodes.TextElement)
    return isinstance(node, nodes.container) and node.get("nb_element") in OUTPUT


def teach(pages: dict[str, list[Section]]) -> None:
    """Tell each section of a lecture its terms: 0 where it introduces one, or its place after."""
    source = BOOK / "concepts.md"
    block = CONCEPTS.search(source.read_text(encoding="utf-8")) if source.exists() else None
    known = glossary()
    forms = {term.name: [term.name, term.other] for term in known}
    at = {(name, one.place): one for name, found in pages.items() for one in found}
    for name, listed in concepts(block[1] if block else "", known).items():
        # where a lecture asks for a thing, a later section has it
        for place, number in enumerate(sorted(listed, key=lambda n: numbered()[n][2] == ASKS)):
            stem, anchor, _ = numbered()[number]
            if one := at.get((f"notebooks/{stem}", anchor)):
                one.terms += [(form, place) for form in forms.get(name, [name]) if form]


def asked(page: str, place: str, title: str) -> str:
    """Return what readers call a section, or that part of each page like this one of its title."""
    alike = ASKED.get(re.sub(r"/\d\d-.*", "/NN", page), {}).get(place, "")
    said = ASKED.get(page, {}).get(place, alike)
    return " ".join(said.replace("{}", re.sub(r"^.*?\d[.:] ", "", title)).split())


def reading(places: list[str]) -> list[list[str]]:
    """Return links of section numbers and of works, each as its words and its address.

    Raises: ValueError where no lecture has the section.
    """
    links = []
    for one in places:
        if work := LINK.fullmatch(one):
            links.append([work[1], work[2]])
        elif one in numbered():
            stem, place, title = numbered()[one]
            links.append([f"{one} {title}", f"notebooks/{stem}.html#{place}"])
        else:
            raise ValueError(f"search.toml names the section {one}, which no lecture has")
    return links


def write_list(app: Sphinx, error: Exception | None) -> None:
    """Write the list of all sections, and take Sphinx's own search from its page."""
    page = Path(app.outdir) / "search.html"
    if error or app.builder.format != "html" or not page.exists():
        return
    names = sorted(app.env.found_docs)
    pages = {name: sections(app.env.get_doctree(name), name) for name in names}
    teach(pages)
    for name, found in pages.items():
        for one in found:
            one.asked = asked(name, one.place, found[0].title)
    absent = [one | {"read": reading(one["read"])} for one in DATA["absent"]]
    rows = [[f"{name}.html", [row(one) for one in found]] for name, found in pages.items()]
    words = {name: ours for ours, names in TONGUES["words"].items() for name in names}
    data = {"pages": rows, "words": DATA["words"] | words, "alike": DATA["alike"], "absent": absent}
    data |= DATA["small"] | TONGUES["small"]
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    script = f"globalThis.attnbookSearch = {text};\n"
    (Path(app.outdir) / "_static" / FILE).write_text(script, encoding="utf-8")
    page.write_text(SPHINX.sub("", page.read_text(encoding="utf-8")), encoding="utf-8")


def row(one: Section) -> list:
    """Return a section as the list holds it: its paragraphs as lines, each name of code once."""
    text = "\n".join(filter(None, one.text))
    code = " ".join(sorted({name for name in one.code if name not in text}))
    return [one.place, one.title, one.above, text, code, one.terms, one.asked]


# the page is seen before its scripts are there: what is typed into the search until then is kept
EARLY = """(() => {
  let typed = null;
  const early = (event) => {
    const { type, key, target, altKey } = event;
    const [press, held] = [type === "click", event.ctrlKey || event.metaKey];
    if (press ? target.closest(".search-button__button") : held && /^k$/i.test(key)) typed ??= "";
    else if (press || key === "Escape") return (typed = null);
    else if (typed === null || held || altKey) return;
    else if (key === "Backspace") typed = typed.slice(0, -1);
    else if (key.length === 1) typed += key;
    else return;
    event.preventDefault();
  };
  for (const type of ["click", "keydown"]) addEventListener(type, early, true);
  globalThis.attnbookTyped = () => {
    for (const type of ["click", "keydown"]) removeEventListener(type, early, true);
    return typed;
  };
})();"""


def setup(app: Sphinx) -> dict:
    app.add_css_file("search.css")
    app.add_js_file(None, body=EARLY, priority=10)
    app.add_js_file("search.js", loading_method="defer")
    app.connect("build-finished", write_list)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
