"""A lecture's two pages: which is which, what follows which, and what is not in form (form.py).

The next page of a lesson is the next lesson: *How we know* is opened by whoever doubts, and leads
back to its lesson.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = "notebooks/evidence/"
SPOKEN = "How do we know"  # so a link to the evidence begins
PART = re.compile(r"(Asked|Run|Derived|Verdict|Not measured)\.$")

logger = logging.getLogger(__name__)


def warn(app: Sphinx) -> None:
    """Warn of each complaint, with file, line and number; a build with warnings fails."""
    sys.path.insert(0, str(ROOT / "book" / "tools"))
    import form

    for complaint in form.complaints():
        place = f"{complaint.path}:{complaint.line}"
        logger.warning(complaint.said, location=place, type="attnbook", subtype="form")


def dress(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give a lesson's quiet links and its last words, and the parts of evidence, their classes."""
    if not docname.startswith("notebooks/"):
        return
    for link in doctree.findall(nodes.reference):
        if "evidence/" in link.get("refuri", "") and link.astext().startswith(SPOKEN):
            link["classes"].append("how-we-know")
    for paragraph in doctree.findall(nodes.paragraph):
        if paragraph.astext().startswith(("One sentence.", "One number.")):
            paragraph["classes"].append("napkin")
    if not docname.startswith(EVIDENCE):
        return
    next(doctree.findall(nodes.section))["classes"].append("evidence")
    for paragraph in doctree.findall(nodes.paragraph):
        first = next(filter(len, paragraph), None)
        if isinstance(first, nodes.strong) and (part := PART.match(first.astext())):
            paragraph["classes"] += ["evidence-part", f"evidence-{part[1].split()[0].lower()}"]
        elif paragraph.astext().startswith("Back to "):
            paragraph["classes"].append("evidence-back")


def follow(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Lead from lesson to lesson; on a page of evidence back to the lesson, and on."""
    relations = app.builder.relations  # of each page: the page above, the one before, the next
    for key, step in (("prev", 1), ("next", 2)):
        found = relations.get(pagename, [None] * 3)[step]
        while found and found.startswith(EVIDENCE):
            found = relations[found][step]
        if context.get(key) and found and found not in context[key]["link"]:
            context[key] = {
                "link": app.builder.get_relative_uri(pagename, found),
                "title": app.builder.render_partial(app.env.titles[found])["title"],
            }


def setup(app: Sphinx) -> dict:
    app.add_css_file("evidence.css")
    app.connect("builder-inited", warn)
    app.connect("doctree-resolved", dress)
    app.connect("html-page-context", follow, priority=100)  # before the theme's own foot
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
