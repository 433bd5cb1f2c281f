"""The widgets' JavaScript and style as committed chunks: the core's and one for each kind.

A page and a notebook load the core and the kinds that they show, no more. Each chunk is an ES
module; a kind's imports nothing but names of the core's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from attnlab.pictures import sheets
from attnlab.widgets.kinds import KINDS, folder

__all__ = ["chunk", "kinds_on", "module", "page_script", "stylesheet"]

_HERE = Path(__file__).resolve().parents[1]
_FIGURE = re.compile(r'<figure class="attnbook attnbook-([\w-]+)"')
_IMPORT = re.compile(r'import\{([^{}]*)\}from"[^"]*";')  # as esbuild and terser write them
# how every chunk begins, with its banner, and where it ends
_EXPORTS = re.compile(r"(?://[^\n]*\n)*(.*)export\{([^{}]*)\};?\s*", re.DOTALL)
# style sheets of the core, in this order: a later one may change what an earlier one says
_SHEETS = ("maps", "tables", "steppers", "questions", "planes", "places", "heads")


def chunk(name: str) -> str:
    """Return a chunk as committed: of the core, or of the kind with this name."""
    return (_HERE / "chunks" / f"{name}.js").read_text(encoding="utf-8")


def kinds_on(page: str) -> tuple[str, ...]:
    """Return the kinds of widget that a page's HTML shows, in the order of the table."""
    shown = set(_FIGURE.findall(page))
    return tuple(kind for kind in KINDS if kind in shown)


def module(*kinds: str) -> str:
    """Return the core with these kinds, or with all, as one ES module: what anywidget loads."""
    return (
        f"{_parts(kinds)}export const {{ mount, hydrate, render }} = core.open(kinds);\n"
        "// the mathematics, for tests\n"
        "export const maths = Object.assign({}, core, ...parts.map((part) => part.maths));\n"
        "export { kinds };\n"
        "export default { render };\n"
    )


def page_script(*kinds: str) -> str:
    """Return the core with these kinds, or with all, as the classic script of a static page.

    Browsers refuse modules on ``file://``, and importing them from a Blob comes only after all the
    page's other scripts; so each chunk stands here as a function that returns its exports. The
    page works with no server, asks nobody for anything, and is alive before its formulae are set.
    """
    return (
        '(() => {\n"use strict";\n'
        "globalThis.attnbookPlace = document.currentScript.src;\n"  # its assets lie beside it
        f"{_parts(kinds)}const start = () => core.open(kinds).hydrate(document);\n"
        "if (document.readyState === 'loading')"
        " document.addEventListener('DOMContentLoaded', start);\n"
        "else start();\n"
        "})();\n"
    )


def stylesheet(*kinds: str) -> str:
    """Return the style of these kinds, or of all, without the comments of its sources."""
    core = _HERE / "core" / "style"
    own = (_HERE / folder(kind) / "style.css" for kind in kinds or KINDS)
    ours = (*(core / f"{name}.css" for name in _SHEETS), *(file for file in own if file.exists()))
    return sheets.bare([core / "base.css", *sheets.OWN, *ours])


def _parts(kinds: tuple[str, ...]) -> str:
    """Return the beginning of every script: the core, its parts, and the kinds by name."""
    wanted = kinds or tuple(KINDS)
    parts = ",\n".join(_as_function(chunk(kind)) for kind in wanted)
    named = ", ".join(f"{kind}: parts[{at}].widget" for at, kind in enumerate(wanted))
    return (
        f"const core = {_as_function(chunk('core'))};\n"
        f"const parts = [\n{parts}];\n"
        f"const kinds = {{ {named} }};\n"
    )


def _as_function(text: str) -> str:
    """Return a chunk as a JavaScript function, called at once, with its imports out of ``core``.

    Its banner, a hash that no packing makes shorter, is for those who build it, and no reader's.
    """
    body, exports = cast("re.Match[str]", _EXPORTS.fullmatch(text)).groups()
    bound = _IMPORT.sub(lambda found: f"const{{{found[1].replace(' as ', ':')}}}=core;", body)
    pairs = (part.strip().split(" as ") for part in exports.split(","))
    found = ", ".join(f"{name}: {local}" for local, name in pairs)
    return f"(() => {{\n{bound}\nreturn {{ {found} }};\n}})()"
