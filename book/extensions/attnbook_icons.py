"""The theme's icons as drawings in the page: some twenty of Font Awesome's two thousand.

The theme loads the whole collection, 540 kB gzipped, to put an ``<svg>`` where an ``<i>`` stands.
The build does so instead, with the paths of that same file, which is left out of the book.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from sphinx.application import Sphinx

FOLDER = "_static/vendor/fontawesome"
STYLE = "icons.css"
LOADED = re.compile(r"\s*<(?:script|link)[^>]*/fontawesome/[^>]*>(?:</script>)?")
TAG = re.compile(r'<(i|span) class="([^"]*)"([^>]*)></\1>')
STYLES = {"fas": "fas", "fa-solid": "fas", "fab": "fab", "fa-brands": "fab"}
# in the script each style is an object `p` of lines name:[width,height,[other names],code,path]
ICON = re.compile(r'"?([\w-]+)"?:\[(\d+),(\d+),\[([^]]*)\],"[^"]*","([^"]*)"\]')


class Icon(NamedTuple):
    """What of an icon is drawn."""

    width: str
    height: str
    path: str


def collection(script: str) -> dict[tuple[str, str], Icon]:
    """Return the icons of Font Awesome's script by style and name, other names among them."""
    found = {}
    for part in script.split("var p={")[1:]:
        style = re.search(r'\("(fa[brs])",p\)', part)
        for name, width, height, others, path in ICON.findall(part):
            for one in (name, *re.findall(r'"([\w-]+)"', others)):
                found[style[1] if style else "", one] = Icon(width, height, path)
    return found


def drawn(page: str, icons: dict[tuple[str, str], Icon]) -> str:
    """Return a page with a drawing in each icon's place.

    Raises: KeyError where the collection has no such icon.
    """

    def draw(tag: re.Match[str]) -> str:
        classes = tag[2].split()
        style = next((STYLES[one] for one in classes if one in STYLES), None)
        if style is None:
            return tag[0]
        name = next(one for one in classes if one.startswith("fa-") and one not in STYLES)
        icon = icons[style, name.removeprefix("fa-")]
        return (
            f'<svg class="svg-inline--fa {tag[2]}"{tag[3]} aria-hidden="true"'
            f' viewBox="0 0 {icon.width} {icon.height}">'
            f'<path fill="currentColor" d="{icon.path}"/></svg>'
        )

    return TAG.sub(draw, LOADED.sub("", page))


def draw_icons(app: Sphinx, error: Exception | None) -> None:
    """Draw the icons of all finished pages, and leave their collection out."""
    folder = Path(app.outdir) / FOLDER
    scripts = sorted(folder.glob("*/js/all.min.js"))
    if error or app.builder.format != "html" or not scripts:
        return
    icons = collection(scripts[-1].read_text(encoding="utf-8"))
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        path.write_text(drawn(text, icons), encoding="utf-8")
    shutil.rmtree(folder)


def setup(app: Sphinx) -> dict:
    app.add_css_file(STYLE)
    app.connect("build-finished", draw_icons)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
