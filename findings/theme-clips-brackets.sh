#!/usr/bin/env bash
# A theme for Sphinx turns [x] into floor brackets where formulas within a line are MathML.
#
# Guess before it was run: the theme's rules for `span.math` are for MathJax, and leave MathML whole.
# Seen: pydata-sphinx-theme 0.15.4 gives every `span.math` `overflow: hidden`, and a MathML formula
# is as high as its line and not as its signs: set in STIX Two Math, the bar at the top of "[" is cut
# off in Chromium at two dots a pixel, and what is left is read as the floor of x. With `overflow:
# visible` the bar is there. No tool says a word.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
browser=$(command -v chromium || command -v chromium-browser) || { echo "needs a Chromium"; exit 1; }
python3 -m venv env
env/bin/pip install -q --disable-pip-version-check pydata-sphinx-theme==0.15.4 \
    math-core==0.9.0 playwright==1.65.2 pillow==13.0.0
npm pack --silent @fontsource/stix-two-math@5.3.0 > /dev/null && tar xzf fontsource-*.tgz
BROWSER=$browser env/bin/python - <<'PYTHON'
import io
import os
from pathlib import Path

import pydata_sphinx_theme
from math_core import LatexToMathML
from PIL import Image
from playwright.sync_api import sync_playwright

theme = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/styles"
rules = (theme / "pydata-sphinx-theme.css").as_uri()
formula = LatexToMathML().convert_with_local_state("[x]", displaystyle=False)
page = f"""<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="{rules}"><style>
@font-face {{ font-family: stix; src: url(package/files/stix-two-math-latin-400-normal.woff2) }}
math {{ font-family: stix; font-size: 16.96px }}
.whole span.math {{ overflow: visible }}</style>
<p class="cut">so <span class="math notranslate nohighlight">{formula}</span> is
<p class="whole">so <span class="math notranslate nohighlight">{formula}</span> is"""
Path("page.html").write_text(page, encoding="utf-8")
with sync_playwright() as play:
    browser = play.chromium.launch(executable_path=os.environ["BROWSER"], args=["--no-sandbox"])
    view = browser.new_page(device_scale_factor=2)
    view.goto(Path("page.html").absolute().as_uri())
    view.evaluate("document.fonts.ready")
    tops = {}
    for name in ("cut", "whole"):
        box = view.locator(f".{name} mo").first.bounding_box()
        clip = {"x": box["x"], "y": box["y"] - 6, "width": box["width"], "height": box["height"] + 12}
        ink = Image.open(io.BytesIO(view.screenshot(clip=clip))).convert("L").point(lambda v: v < 128)
        rows = [sum(ink.crop((0, y, ink.width, y + 1)).get_flattened_data()) for y in range(ink.height)]
        inked = [row for row in rows if row]
        tops[name] = (len(inked), max(inked[:3]))
        print(f"{name:6} {len(inked)} rows with ink, the widest of the upper three: {max(inked[:3])}")
    print("overflow:", view.locator(".cut span.math").evaluate("e => getComputedStyle(e).overflow"))
    browser.close()
assert tops["cut"][1] < tops["whole"][1] and tops["cut"][0] < tops["whole"][0], "this has changed"
PYTHON
