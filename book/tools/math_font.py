"""Make the typeface of the formulas, with the table that tells a browser how brackets grow.

Run it by hand, in an environment of its own:

    npm pack @fontsource/stix-two-math@5.3.0
    python -m venv /tmp/fonts
    /tmp/fonts/bin/pip install fonttools==4.68.0 brotli==1.2.0
    /tmp/fonts/bin/python book/tools/math_font.py fontsource-stix-two-math-5.3.0.tgz

It writes ``book/assets/math-font.css``, which holds the font itself because a page that is read
from the file system may load none. STIX Two is under the SIL Open Font License.
"""

from __future__ import annotations

import base64
import io
import sys
import tarfile
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[2]
FILE = "package/files/stix-two-math-latin-400-normal.woff2"
# letters, Greek, accents, arrows, operators, brackets; then the italic, bold and script alphabets,
# which a browser takes for letters that stand for something
WANTED = [
    *range(0x20, 0x7F), 0xA0, 0xAC, 0xAF, 0xB1, 0xB4, 0xB7, 0xD7, 0xF7, 0x131, 0x237, 0x2C6, 0x2C7,
    0x2D9, 0x2DC, *range(0x300, 0x309), *range(0x391, 0x3D7), 0x3F1, 0x3F5, *range(0x2010, 0x201A),
    0x2026, 0x2032, 0x2033, 0x203E, *range(0x2061, 0x2065), 0x20D7, 0x210E, 0x2112, 0x2113, 0x211D,
    0x2130, *range(0x2190, 0x2196), 0x21A6, 0x21D2, 0x21D4, 0x27F5, 0x27F6, *range(0x2200, 0x2270),
    *range(0x2282, 0x2288), *range(0x2295, 0x229A), 0x22A4, 0x22A5, 0x22C5, *range(0x22EE, 0x22F2),
    *range(0x2308, 0x230C), *range(0x239B, 0x23B5), 0x23DE, 0x23DF, 0x27E8, 0x27E9,
    *range(0x1D400, 0x1D468), *range(0x1D49C, 0x1D4B6), *range(0x1D6E2, 0x1D71C),
]  # fmt: skip


def main() -> None:
    with tarfile.open(sys.argv[1]) as package:
        file = package.extractfile(FILE)
        assert file is not None, f"no {FILE} in it"
        font = TTFont(io.BytesIO(file.read()), recalcTimestamp=False)
    assert "MATH" in font, "without this table brackets do not grow"
    subsetter = Subsetter(Options(layout_features=["ssty"], hinting=False))
    subsetter.populate(unicodes=WANTED)
    subsetter.subset(font)
    font.flavor = "woff2"
    written = io.BytesIO()
    font.save(written)
    data = base64.b64encode(written.getvalue()).decode()
    text = (
        "/* Made by book/tools/math_font.py from STIX Two Math, (c) 2001-2021 The STIX Fonts\n"
        "   Project Authors, SIL Open Font License 1.1 */\n"
        '@font-face { font-family: "Attnbook Math"; font-display: block;'
        f' src: url("data:font/woff2;base64,{data}") format("woff2"); }}  /* codespell:ignore */\n'
    )
    (ROOT / "book" / "assets" / "math-font.css").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
