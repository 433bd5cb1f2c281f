"""The book's Sphinx extension: widgets live in the page, "edit" leads to text, pages are trim."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attnbook.widgets import AttentionSteps, page_script, stylesheet
from attnbook.widgets.base import BUNDLES, bundles_for

ASSETS = Path(__file__).resolve().parents[2] / "notebooks" / "assets"  # loaded on demand
# what the theme brings to every page and this book does not use: thebe (it would load from a CDN),
# and icon fonts, whose loading is refused on file:// and which the icon script replaces anyway
UNUSED = re.compile(
    r"""\s*(<script>const\ THEBE_JS_URL.*?</script>
        |<script\ type="text/x-thebe-config">.*?</script>
        |<script>kernelName\ =.*?</script>
        |<script[^>]*sphinx-thebe[^>]*></script>
        |<link[^>]*sphinx-thebe\.css[^>]*/>
        |<link[^>]*fontawesome[^>]*/>)""",
    re.X | re.S,
)
BIBLIOGRAPHY = '<div role="list" class="citation-list">'  # its children are no list items
ICONS = re.compile(r'\s*<script (src="[^"]*fontawesome/[^"]*")></script>')


class Steps(SphinxDirective):
    """A live step-through on a page that is no notebook: one line a token, its name and numbers."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        tokens, vectors = zip(*(line.split(maxsplit=1) for line in self.content), strict=True)
        rows = [[float(number) for number in vector.split()] for vector in vectors]
        widget = AttentionSteps(rows, list(tokens), step=4)
        return [nodes.raw("", widget.html(), format="html")]


def write_assets(app: Sphinx) -> None:
    """Put the widgets' script and style beside the theme's: the bytes that Jupyter loads too."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    for names in {*((name,) for name in BUNDLES), tuple(BUNDLES)}:
        place = folder / file_name(names)
        place.with_suffix(".js").write_text(page_script(*names), encoding="utf-8")
        place.with_suffix(".css").write_text(stylesheet(*names), encoding="utf-8")
    if ASSETS.is_dir():
        shutil.copytree(ASSETS, folder / ASSETS.name, dirs_exist_ok=True)


def file_name(names: tuple[str, ...]) -> str:
    return "attnbook-all" if len(names) > 1 else names[0].replace("bundle", "attnbook")


def raw_html(doctree: nodes.document | None) -> str:
    """All that a page holds as ready HTML, its widgets among it."""
    return "".join(raw.astext() for raw in doctree.findall(nodes.raw)) if doctree else ""


def page_context(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Load the widgets where a page has some; send "edit this page" to a lecture's text."""
    if names := bundles_for(raw_html(doctree)):
        app.add_css_file(f"{file_name(names)}.css")
        # before MathJax
        app.add_js_file(f"{file_name(names)}.js", loading_method="defer", priority=100)
    if pagename.startswith("notebooks/"):
        for button in flat(context.get("header_buttons", [])):
            url = button.get("url", "")
            if "/edit/" in url or "/blob/" in url:
                button["url"] = lecture_address(url)


def lecture_address(url: str) -> str:
    """The repository's address of a lecture's text, from that of the notebook made from it."""
    if "colab.research" in url:
        return url
    return url.replace("/notebooks/", "/book/lectures/").replace(".ipynb", ".md")


def flat(buttons: list) -> list:
    """All buttons, those in groups too."""
    found = []
    for button in buttons:
        found += [button, *flat(button.get("buttons", []))]
    return found


def trim_pages(app: Sphinx, error: Exception | None) -> None:
    """Take out what no page uses, and let the icons wait for everything else."""
    if error or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = UNUSED.sub("", text)
        if icons := ICONS.search(text):
            last = f"<script defer {icons[1]}></script>\n  </head>"
            text = ICONS.sub("", text).replace("</head>", last, 1)
        text = text.replace(BIBLIOGRAPHY, BIBLIOGRAPHY.replace(' role="list"', ""))
        page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.add_directive("attention-steps", Steps)
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", page_context, priority=900)
    app.connect("build-finished", trim_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
