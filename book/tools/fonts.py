"""Make the book's one typeface from the pinned package that has it: for the page and for figures.

Run it by hand after a new version of the package, in an environment of its own, for neither the
build nor a reader needs what it needs:

    python -m venv /tmp/fonts
    /tmp/fonts/bin/pip install fontpkg-source-serif-4==4.4 fonttools==4.68.0 brotli==1.2.0
    /tmp/fonts/bin/python book/tools/fonts.py

It writes ``book/assets/fonts.css``, which holds the fonts itself because a page that is read from
the file system may load none, and ``attnbook-serif.ttf`` beside the figures' code. Source Serif is
under the SIL Open Font License, which lets nobody call a changed font by its reserved name.
"""

from __future__ import annotations

import base64
import io
from pathlib import Path

from fontpkg_source_serif_4 import ROOT as SOURCE
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

ROOT = Path(__file__).resolve().parents[2]
FAMILY = "Attnbook Serif"
SIZE = 14  # in points, of the optical sizes
FACES = (("normal", 400, ""), ("normal", 600, ""), ("italic", 400, "-Italic"))
# what stands in until they are there: (name, fonts of the machine, their letters' size in %)
FALLBACKS = (
    ("Georgia", ["Georgia"], 107.7),
    ("Times", ["Times New Roman", "Liberation Serif"], 118.3),
    ("DejaVu", ["DejaVu Serif"], 92.5),
)
NOTE = (
    "/* until they are there, what the machine has, as wide and as high: "
    "nothing moves when they come */"
)
ASCENT, DESCENT = 103.6, 33.5  # Source Serif's, in % of its size
# western Europe's letters, Greek, and what mathematics needs
WANTED = [
    *range(0x20, 0x7F), *range(0xA0, 0x100), 0x152, 0x153, *range(0x391, 0x3CA),
    *range(0x2010, 0x2030), 0x2032, 0x2039, 0x203A, *range(0x2070, 0x208F), 0x20AC, 0x2122,
    *range(0x2190, 0x2194), *range(0x2200, 0x2270),
]  # fmt: skip


def face(suffix: str, weight: int) -> TTFont:
    """One weight of the variable font, with the letters that the book needs and another name."""
    font = TTFont(SOURCE / "files" / f"SourceSerif4{suffix}[opsz,wght].ttf", recalcTimestamp=False)
    font = instantiateVariableFont(font, {"opsz": SIZE, "wght": weight})
    options = Options(layout_features=["kern", "tnum"], hinting=False)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=WANTED)
    subsetter.subset(font)
    for record in list(font["name"].names):
        if record.nameID in (1, 3, 4, 6, 16):
            font["name"].setName(FAMILY, record.nameID, *_place(record))
        elif record.nameID in (7, 17, 25):  # trademark, and names of the variable font
            font["name"].removeNames(nameID=record.nameID)
    return font


def _place(record) -> tuple[int, int, int]:
    return record.platformID, record.platEncID, record.langID


def woff2(font: TTFont) -> str:
    """A font as a ``data:`` address."""
    font.flavor = "woff2"
    file = io.BytesIO()
    font.save(file)
    return f"data:font/woff2;base64,{base64.b64encode(file.getvalue()).decode()}"


def fallback(name: str, fonts: list[str], size: float) -> str:
    """A font of the reader's machine, its letters as wide and its lines as high as ours."""
    places = ", ".join(f'local("{one}")' for one in fonts)
    return (
        f'@font-face {{ font-family: "Attnbook {name}"; src: {places}; size-adjust: {size}%;'
        f" ascent-override: {100 * ASCENT / size:.1f}%; descent-override:"
        f" {100 * DESCENT / size:.1f}%; line-gap-override: 0%; }}"
    )


def main() -> None:
    rules = [
        f'@font-face {{ font-family: "{FAMILY}"; font-style: {style}; font-weight: {weight};'
        f' font-display: swap; src: url("{woff2(face(suffix, weight))}") format("woff2"); }}'
        "  /* codespell:ignore */"
        for style, weight, suffix in FACES
    ]
    head = (
        "/* Made by book/tools/fonts.py from Source Serif 4, (c) 2014 The Source Serif 4 Project\n"
        "   Authors, SIL Open Font License 1.1: src/attnlab/pictures/FONT-LICENSE.txt */\n"
    )
    text = "\n".join([*rules, NOTE, *(fallback(*one) for one in FALLBACKS)])
    (ROOT / "book/assets/fonts.css").write_text(head + text + "\n", encoding="utf-8")
    pictures = ROOT / "src/attnlab/pictures"
    face("", 400).save(pictures / "attnbook-serif.ttf")
    licence = (SOURCE / "LICENSE").read_text(encoding="utf-8")
    (pictures / "FONT-LICENSE.txt").write_text(licence, encoding="utf-8")


if __name__ == "__main__":
    main()
