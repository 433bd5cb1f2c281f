"""The first screen of a lecture: its question, who wrote it, its plan as a bar, its first picture.

A lecture's text has them in this order: title, question, story, set-up, imports, the cells of the
opening picture, outcomes, and a fold with the plan in words, what it builds on and its sources. On
the page all code that shows nothing goes into that fold, the plan becomes a bar as well, and a line
says who wrote the lecture, when, under which licence, and where it can be run.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
LECTURE = re.compile(r"notebooks/\d\d-")
PLANNED = re.compile(r"(\d+\.\d+) ([^·]*?) (\d+)(?: ·|\.?$)")
RELEASED = re.compile(r'^date-released: "(.*)"$', re.M)
NO_OWNER = "/OWNER/"  # the placeholder for an address that there is not yet
FOLD, FOLDED = "<details>", "</details>"


def open_lecture(app: Sphinx, doctree: nodes.document) -> None:
    """Lay a lecture's opening out for the page.

    Raises: ValueError for a lecture whose opening lacks a part.
    """
    if not LECTURE.match(app.env.docname):
        return
    section = next(doctree.findall(nodes.section))
    opening = [node for node in section if not isinstance(node, nodes.section)]
    question, story = (node for node in opening[1:3] if isinstance(node, nodes.paragraph))
    question["classes"].append("lecture-question")
    story["classes"].append("lecture-story")
    inner = fold_of(opening, app.env.docname)
    for cell in [node for node in opening if "cell" in node.get("classes", ())]:
        if any("cell_output" in part.get("classes", ()) for part in cell):
            cell["classes"].append("lecture-opening")
        else:
            inner.insert(len(inner) - 1, cell)
    plan = next(node for node in inner if node.astext().startswith("Plan, "))
    data = nodes.container("", classes=["lecture-data"])
    section.insert(section.index(inner[0]), data)
    for node in inner:
        section.remove(node)
    data += inner
    at = section.index(story) + 1
    section[at:at] = [byline(app), bar(plan.astext(), section)]
    mark(section)


def mark(section: nodes.section) -> None:
    """Set the numbers of headings and the tasks apart, for the style sheet to show."""
    for title in [one[0] for one in section.findall(nodes.section) if one is not section]:
        number = title.astext().split()[0]
        if isinstance(title[0], nodes.Text) and re.fullmatch(r"\d+\.\d+", number):
            words = nodes.Text(title[0].astext().removeprefix(number))
            title[:1] = [nodes.inline("", number, classes=["lecture-number"]), words]
    for paragraph in section.findall(nodes.paragraph):
        if paragraph.astext().startswith("Task. "):
            paragraph["classes"].append("lecture-task")


def fold_of(opening: list[nodes.Node], name: str) -> list[nodes.Node]:
    """Return the fold of plan and sources, from its first node to its last.

    Raises: ValueError where there is none.
    """
    raws = [node for node in opening if isinstance(node, nodes.raw)]
    begins = [node for node in raws if node.astext().startswith(FOLD)]
    ends = [node for node in raws if node.astext().strip() == FOLDED]
    if len(begins) != 1 or len(ends) != 1:
        raise ValueError(f"{name}: one fold must stand before the first section")
    return opening[opening.index(begins[0]) : opening.index(ends[0]) + 1]


def bar(text: str, section: nodes.section) -> nodes.raw:
    """Return the plan as a bar: a link for each section, as wide as its minutes are many."""
    found = {one[0].astext().split()[0]: one for one in section if isinstance(one, nodes.section)}
    rows = []
    for number, title, minutes in PLANNED.findall(text.split(":", 1)[1].strip()):
        told = escape(f"{number} {title}, {minutes} minutes")
        rows.append(
            f'<li style="flex-grow:{minutes}"><a href="#{found[number]["ids"][0]}" title="{told}">'
            f'<span aria-hidden="true">{number}</span>'
            f'<span class="visually-hidden">{told}</span></a></li>'
        )
    head = f'<nav class="lecture-plan" aria-label="{escape(text.split(":")[0])}"><ol>'
    return nodes.raw("", f"{head}{''.join(rows)}</ol></nav>", format="html")


def byline(app: Sphinx) -> nodes.raw:
    """Return who wrote the book, when, under which licence, and where the lecture runs.

    Until the repository has an address its link is left out, and Colab's leads to the page that
    says how a downloaded lecture is opened there.
    """
    name = app.env.docname
    root = "../" * name.count("/")
    home = str(app.config.html_theme_options.get("repository_url", ""))
    branch = app.config.html_theme_options.get("repository_branch", "main")
    colab = home.replace("https://github.com/", "https://colab.research.google.com/github/")
    if NO_OWNER in f"{home}/" or not home:
        links = [(f"{root}book/how-to-use.html#run-it-in-colab", "Open in Colab")]
    else:
        where = f"{colab}/blob/{branch}/{name}.ipynb"
        links = [(where, "Open in Colab"), (home, "Repository")]
    shown = [f'<a href="{escape(url)}">{text}</a>' for url, text in links]
    released = RELEASED.search((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    date = f'<time datetime="{released[1]}">{released[1]}</time>' if released else ""
    licence = f'<a href="{root}book/credits.html">text CC BY 4.0, code Apache 2.0</a>'
    words = " · ".join([*shown, escape(str(app.config.author)), date, licence])
    return nodes.raw("", f'<p class="lecture-byline">{words}</p>', format="html")


def setup(app: Sphinx) -> dict:
    app.connect("doctree-read", open_lecture)
    app.add_css_file("opening.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
