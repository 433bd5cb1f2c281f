"""Captions: a paragraph that begins with **Figure 7.1.** belongs to the cell before it."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

NUMBER = re.compile(r"Figure \d+\.\d+\.")


def mark_captions(app: Sphinx, doctree: nodes.document) -> None:
    """Give captions and their cells the names by which ``look.css`` sets them apart as one."""
    for paragraph in list(doctree.findall(nodes.paragraph)):
        first = next(filter(len, paragraph), None)  # not the empty text that may stand before it
        if not (isinstance(first, nodes.strong) and NUMBER.fullmatch(first.astext())):
            continue
        paragraph["classes"].append("figure-caption")
        at = paragraph.parent.index(paragraph)
        before = paragraph.parent[at - 1] if at else None
        if isinstance(before, nodes.container) and "cell" in before["classes"]:
            before["classes"].append("figure-cell")


def setup(app: Sphinx) -> dict:
    app.connect("doctree-read", mark_captions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
