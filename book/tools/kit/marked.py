"""Questions' Markdown as HTML, with formulae as \\(…\\) for whichever MathJax reads it."""

from __future__ import annotations

import html
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from mdit_py_plugins.dollarmath import dollarmath_plugin


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").use(dollarmath_plugin)
    assert isinstance(reader.renderer, RendererHTML)
    reader.renderer.rules["math_inline"] = lambda tokens, at, *_: _tex(tokens[at].content, "()")
    reader.renderer.rules["math_block"] = lambda tokens, at, *_: _tex(tokens[at].content, "[]")
    return reader


def _tex(tex: str, marks: str) -> str:
    return f'<span class="tex">\\{marks[0]}{html.escape(tex.strip())}\\{marks[1]}</span>'


def page(markdown: str) -> str:
    """Return HTML of Markdown with ``$…$`` and ``$$…$$``; tags in it are shown as text."""
    return _reader().render(markdown).strip()


def words(markdown: str) -> str:
    """Return the HTML of one line, without a paragraph around it."""
    return _reader().renderInline(markdown)
