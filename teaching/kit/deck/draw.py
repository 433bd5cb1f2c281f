"""Draw slides as HTML for reveal.js: text, code with colours, formulae, figures, live pictures."""

from __future__ import annotations

import html
import json
import re
from functools import cache
from typing import cast

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from attnlab.widgets.core.chunks import kinds_on, stylesheet
from teaching.kit.deck.cut import gaps, half, layout, rows, view
from teaching.kit.deck.lecture import Lecture, Missing
from teaching.kit.deck.read import Shown, Slide

__all__ = ["assets_on", "code_style", "live_kinds", "section"]

# a picture less wide than this for its height has the words beside it and not above
BESIDE = 1.3
STYLES = {"light": "a11y-high-contrast-light", "dark": "a11y-high-contrast-dark"}
# pixels: a live drawing that is taller stands in two columns, where it is not wider
TALL, NARROW = 500, 480
NUMBERED = 12  # keys of a heat map that has numbers in its cells
_DATA = re.compile(r'<script type="application/json">(.*?)</script>', re.S)
_FRAME = re.compile(r'<iframe[^>]* srcdoc="([^"]*)"')
_ASSET = re.compile(r'"asset":"([\w-]+)"')


def section(slide: Slide, lecture: Lecture, where: str, home: str, head: str = "") -> str:
    """Return a slide as a section of the deck.

    ``where`` is the number of the lecture's section that it belongs to, ``home`` the address of
    the lecture's page, ``head`` a line above the title.

    Raises: Missing where the lecture lacks what the slide shows.
    """
    shape, shown = _shown(slide.shown, lecture) if slide.shown else ("words", "")
    link = f"{home}{lecture.anchor(where)}"
    return "\n".join(
        part
        for part in (
            f'<section class="{shape}">',
            f'<p class="head">{html.escape(head)}</p>' if head else "",
            f"<h2>{_markdown().renderInline(slide.title)}</h2>",
            _words(slide.before),
            shown,
            _words(slide.after),
            f'<a class="where" href="{html.escape(link)}" target="_blank" rel="noopener"'
            f' aria-label="section {where} in the book">{where}</a>',
            f'<aside class="notes">{_markdown().render(slide.note)}</aside>' if slide.note else "",
            "</section>",
        )
        if part
    )


def code_style() -> str:
    """Return the colours of code, light and dark, as the book's pages have them."""
    parts = []
    for theme, style in STYLES.items():
        rules = HtmlFormatter(style=style).get_style_defs(f'html[data-theme="{theme}"] .code')
        # the ground is the deck's own
        parts += [rule for rule in rules.splitlines() if f'"{theme}"] .code .' in rule]
    return "\n".join(parts)


def live_kinds(page: str) -> list[tuple[str, ...]]:
    """Return the kinds of each live picture in a deck, once."""
    pages = map(html.unescape, _FRAME.findall(page))
    return sorted({kinds_on(one) for one in pages})


def assets_on(page: str) -> set[str]:
    """Return the names of the data that a deck's live pictures load on demand."""
    return set(_ASSET.findall(html.unescape(page)))


@cache
def _markdown() -> MarkdownIt:
    """Return Markdown in which a line stays a line and $…$ is left to MathJax."""
    reader = MarkdownIt("commonmark", {"breaks": True}).use(dollarmath_plugin)
    reader.renderer.rules["math_inline"] = lambda tokens, at, *_: _tex(tokens[at].content, "()")
    reader.renderer.rules["math_block"] = lambda tokens, at, *_: _tex(tokens[at].content, "[]")
    return reader


def _tex(tex: str, marks: str) -> str:
    return f'<span class="tex">\\{marks[0]}{html.escape(tex.strip())}\\{marks[1]}</span>'


def _words(text: str) -> str:
    return f'<div class="words">{_markdown().render(text)}</div>' if text else ""


def _shown(shown: Shown, lecture: Lecture) -> tuple[str, str]:
    """Return the shape of a slide and the HTML of what it shows."""
    if shown.kind == "formula":
        return "formula", f'<div class="shown">{_tex(shown.where, "[]")}</div>'
    if shown.kind == "code":
        source = lecture.code(shown.where, shown.words)
        return "code", f'<div class="shown"><pre class="code">{_coloured(source)}</pre></div>'
    if shown.kind == "output":
        text = html.escape(lecture.output(shown.where, shown.words))
        return "code", f'<div class="shown"><pre class="printed">{text}</pre></div>'
    if shown.kind == "hunt":
        return "code", _hunt(*lecture.hunt(shown.where))
    return _figure(shown, lecture)


def _hunt(listing: list[str], evidence: str) -> str:
    """Return a listing whose lines are numbered, to be voted on, and what it printed."""
    lines = _coloured("\n".join(listing)).splitlines()
    rows = "".join(f"<li><code>{line or ' '}</code></li>" for line in lines)
    printed = f'<pre class="printed">{html.escape(evidence)}</pre>' if evidence.strip() else ""
    return f'<div class="shown"><ol class="code listing">{rows}</ol>{printed}</div>'


def _coloured(source: str) -> str:
    return highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).rstrip("\n")


def _figure(asked: Shown, lecture: Lecture) -> tuple[str, str]:
    output, caption = lecture.figure(asked.where)
    data, told = output["data"], re.sub(r"[*$`\\]", "", caption)
    page = data.get("text/html", "")
    drawing = page or data.get("image/svg+xml", "")
    kinds = kinds_on(page)
    about = output.get("metadata", {}).get("image/png", {})
    alt = about.get("alt", told)
    if asked.words and (kinds not in ((), ("dataflow",)) or "viewBox" not in drawing):
        png = "".join(data.get("image/png", "").split())
        if not (png and (part := rows(png, asked.words, alt))):
            raise Missing(f"figure {asked.where} is no drawing that can be cut in halves")
        return "figure", f'<div class="shown">{part}</div>'
    if kinds:
        part = _part(page, asked.words) if kinds == ("dataflow",) else ""
        return "live", _live(page, kinds, f"Figure {asked.where}. {told}", part)
    if drawing:
        shape, drawing = layout(half(drawing, asked.words) if asked.words else drawing)
        return shape, f'<div class="shown drawing">{drawing}</div>'
    sizes = about.get("width", 3), about.get("height", 2)
    shape = "beside figure" if sizes[0] < BESIDE * sizes[1] else "figure"
    picture = f"data:image/png;base64,{data['image/png'].strip()}"
    return shape, f'<div class="shown"><img alt="{html.escape(alt)}" src="{picture}"></div>'


def _part(page: str, asked: str) -> str:
    """Return, as attributes, where a live drawing is cut and what is shown of it."""
    drawing = page[page.index("<svg") :]
    _, _, wide, tall = view(drawing)
    if not asked and (tall <= TALL or wide > NARROW):
        return ""
    places = (sum(gap) / 2 for gap in gaps(drawing, 1))
    cut = min(places, key=lambda place: abs(place - tall / 2))  # both parts are live, and alike
    return f' data-cut="{cut:g}" data-half="{asked or "both"}"'


def _live(figure: str, kinds: tuple[str, ...], title: str, part: str = "") -> str:
    """Return a live picture in a page of its own; ``part`` says what is shown of a drawing.

    Reveal scales a slide, and a live picture reads where the pointer is in its page's own pixels:
    in a frame these are the same at any scale. Its arrow keys are its own there, too.
    """
    # the row at the side of a small map says in bars what its cells say in numbers
    state = json.loads(cast("re.Match[str]", _DATA.search(figure))[1])
    bare = kinds == ("heatmap",) and len(state["key_tokens"]) <= NUMBERED
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title>"
        '<link rel="stylesheet" href="shared/fonts.css">'
        f"<style>{stylesheet(*kinds)}</style>"
        '<link rel="stylesheet" href="shared/live.css"></head>'
        f"<body{' data-bare' if bare else ''}{part}>"
        f'{figure}<script src="shared/live.js"></script>'
        f'<script src="shared/{"-".join(("attnbook", *kinds))}.js"></script></body></html>'
    )
    return (
        f'<div class="shown"><iframe title="{html.escape(title)}"'
        f' srcdoc="{html.escape(page)}"></iframe></div>'
    )
