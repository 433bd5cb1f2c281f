"""Formulas are set when the book is built, as MathML: a page runs no script for them.

math-core sets them and refuses what it does not know; such a formula fails the build with its
place. Each keeps its TeX as an annotation, which book/assets/formulas.js gives to the clipboard.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

log = logging.getLogger(__name__)
SETTER = LatexToMathML(annotation=True)
MATHS = (nodes.math, nodes.math_block)
TAIL = re.compile(r"\S{1,4}(?!\S)|[^\s\w]+")
COLOURS = re.compile(r"\x1b\[[\d;]*m")
SPACED = re.compile(r"(\\\\)\s*\[[\d.]+(?:pt|em|ex)\]")  # math-core would print the length


def mathml(tex: str, *, display: bool) -> str:
    """Return a formula as MathML; raises ``LatexError`` where a command is not known."""
    set_as = SETTER.convert_with_local_state(SPACED.sub(r"\1", tex.strip()), displaystyle=display)
    # which Firefox would draw as large as a sum
    return re.sub("<mo([^>]*)>⊙</mo>", r'<mo\1 largeop="false">⊙</mo>', set_as)


def shown(self: HTML5Translator, node: nodes.math | nodes.math_block, *, display: bool) -> None:
    tag, tex = "div" if display else "span", node.astext()
    if node.get("number"):
        log.warning("a formula has a number, which the book does not print", location=node)
    try:
        set_as = mathml(tex, display=display)
    except LatexError as error:
        told = COLOURS.sub("", str(error)).strip().splitlines()[0]
        log.warning("the formula %s cannot be set: %s", tex.strip(), told, location=node)
        set_as = ""
    self.body.append(self.starttag(node, tag, "", CLASS="math notranslate nohighlight"))
    self.body.append(f"{set_as}</{tag}>" + "\n" * display)
    raise nodes.SkipNode


def inline(self: HTML5Translator, node: nodes.math) -> None:
    shown(self, node, display=False)


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    shown(self, node, display=True)


def keep(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Keep a formula in one line with what follows it closely: a full stop, an ending."""
    for node in list(tree.findall(nodes.math)) if app.builder.format == "html" else []:
        after = node.next_node(descend=False, siblings=True)
        if isinstance(after, nodes.Text) and (tail := TAIL.match(after)):
            after.parent.replace(after, nodes.Text(after[tail.end() :]))
            kept = nodes.inline("", "", classes=["formula-kept"])
            node.replace_self(kept)
            kept += [node, nodes.Text(tail[0])]


def load(app: Sphinx, page: str, template: str, context: dict, tree: nodes.document | None) -> None:
    """Give a page with a formula the typeface, the style and the copying of TeX."""
    if tree is not None and any(tree.findall(lambda node: isinstance(node, MATHS))):
        app.add_css_file("math-font.css")
        app.add_css_file("formulas.css")
        app.add_js_file("formulas.js", loading_method="defer", priority=110)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("doctree-resolved", keep, priority=950)  # when all else has read the page
    app.connect("html-page-context", load)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
