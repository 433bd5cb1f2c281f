"""Questions' Markdown as HTML, with formulae as \\(…\\) for whichever MathJax reads it."""

from __future__ import annotations

import html
from functools import cache

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").use(dollarmath_plugin)
    reader.add_render_rule("math_inline", lambda _, tokens, at, *__: _tex(tokens[at].content, "()"))
    reader.add_render_rule("math_block", lambda _, tokens, at, *__: _tex(tokens[at].content, "[]"))
    return reader


def _tex(tex: str, marks: str) -> str:
    return f'<span class="tex">\\{marks[0]}{html.escape(tex.strip())}\\{marks[1]}</span>'


def page(markdown: str) -> str:
    """Return HTML of Markdown with ``$…$`` and ``$$…$$``; tags in it are shown as text."""
    return _reader().render(markdown).strip()


def words(markdown: str) -> str:
    """Return the HTML of one line, without a paragraph around it."""
    return _reader().renderInline(markdown)
