"""The first screen of a lecture: its question, who wrote it, its first picture; and its plan.

A lecture's text has them in this order: title, question, story, set-up, imports, the cells of the
opening picture, outcomes, and a fold with the plan in words, what it builds on and its sources. On
the page all code that shows nothing goes into that fold, and a line says who wrote the lecture,
when, under which licence, and where it can be run. The plan is also a rail, in the place of the
theme's list of contents: every section by its name, its bar as long as its minutes are many.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from attnbook_head import day
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[2]
LECTURE = re.compile(r"notebooks/\d\d-")
PLANNED = re.compile(r"(\d+\.\d+) ([^·]*?) (\d+)(?: ·|\.?$)")
RELEASED = re.compile(r'^date-released: "(.*)"$', re.M)
NO_OWNER = "/OWNER/"  # the placeholder for an address that there is not yet
TEMPLATES = ROOT / "book" / "templates"
AIMS = "After this lecture you can"
# by lecture, how wide its opening picture must be to lose nothing, in rem: opening.css sets it
# beside the question where there is so much room
NATURAL = dict.fromkeys(["03", "05", "06", "08", "09", "12", "13", "16"], 40)
NATURAL |= dict.fromkeys(["01", "02", "04", "10", "11", "14", "15"], 45)
PLAN = "lecture-plan"  # where a page's metadata keep it
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
    section.insert(section.index(story) + 1, byline(app))
    app.env.metadata[app.env.docname][PLAN] = rail(plan.astext(), section)
    mark(section)
    columns(section, data, app.env.docname)


def columns(section: nodes.section, data: nodes.container, name: str) -> None:
    """Put question, picture and aims into boxes, which a wide window sets in columns."""
    first = section[1 : section.index(data)]
    aims = next(at for at, node in enumerate(first) if node.astext().startswith(AIMS))
    picture = next(at for at, node in enumerate(first) if "cell" in node.get("classes", ()))
    grid = nodes.container("", classes=["lecture-columns"])
    if wide := NATURAL.get(Path(name).name[:2]):
        grid["classes"].append(f"is-{wide}")
    section[1 : section.index(data)] = [nodes.container("", grid, classes=["lecture-first"])]
    parts = {"asks": first[:picture], "shows": first[picture:aims], "aims": first[aims:]}
    for part, held in parts.items():
        grid += nodes.container("", *held, classes=[f"lecture-{part}"])


def order_as_seen(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Put an opening picture before the fold of its code, as it is seen, for the Tab key too."""
    for cell in doctree.findall(nodes.container):
        if "lecture-opening" in cell["classes"]:
            cell.children.sort(key=lambda part: "cell_output" not in part.get("classes", ()))


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


def rail(text: str, section: nodes.section) -> str:
    """Return the plan as a list of all sections, those with minutes as long as these are many.

    Raises: ValueError for a planned section that the lecture has not.
    """
    planned = PLANNED.findall(text.split(":", 1)[1].strip())
    minutes = {number: int(some) for number, _, some in planned}
    rows = []
    for one in (part for part in section if isinstance(part, nodes.section)):
        number, _, name = one[0].astext().partition(" ")
        some = minutes.pop(number, 0)
        told = f'<span class="plan-minutes">{some} min</span>' if some else ""
        rows.append(
            f"<li{f' style=--minutes:{some}' if some else ''}>"
            f'<a href="#{one["ids"][0]}"><b>{number}</b> {escape(name)} {told}</a></li>'
        )
    if minutes:
        raise ValueError(f"the plan names sections that there are not: {', '.join(minutes)}")
    return (
        f'<nav class="lecture-plan bd-toc-nav" aria-labelledby="lecture-plan">'
        f'<p id="lecture-plan">{escape(text.split(":")[0])}</p><ol>{"".join(rows)}</ol>'
        '<p class="plan-key">Bars are filled down to where you are.'
        "<span> The counts are of questions done.</span></p></nav>"
    )


def place_plan(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Let a lecture's plan stand where other pages have the theme's list of contents."""
    if plan := app.env.metadata.get(page, {}).get(PLAN):
        context["lecture_plan"] = plan
        context["secondary_sidebar_items"] = ["lecture-plan.html"]


def own_templates(app: Sphinx, config: Config) -> None:
    """Let Sphinx find this book's templates."""
    config.templates_path.append(str(TEMPLATES))


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
    date = f'<time datetime="{released[1]}">{day(released[1])}</time>' if released else ""
    licence = f'<a href="{root}book/credits.html">text CC BY 4.0, code Apache 2.0</a>'
    pressed = (
        f'<span class="d-print-none">{" · ".join(shown)} · </span>'  # on paper they do nothing
    )
    words = pressed + " · ".join([escape(str(app.config.author)), date, licence])
    return nodes.raw("", f'<p class="lecture-byline">{words}</p>', format="html")


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", own_templates)
    app.connect("doctree-read", open_lecture)
    app.connect("doctree-resolved", order_as_seen)
    app.connect("html-page-context", place_plan, priority=900)  # after the theme's own items
    app.add_css_file("opening.css")
    app.add_css_file("plan.css")
    app.add_js_file("opening.js", loading_method="defer", priority=120)
    app.add_js_file("plan.js", loading_method="defer", priority=120)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
