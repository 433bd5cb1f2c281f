"""What the marks of done questions need to know: which questions each page asks.

They are found in the finished pages, so that a page which was not written anew counts as well, and
left in ``_static/questions.js``, which every page loads before ``progress.js``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from sphinx.application import Sphinx

KINDS = ("answer", "bughunt", "checkpoint", "prediction")  # those that progress.js knows
QUESTION = re.compile(
    rf'<figure class="attnbook attnbook-(?:{"|".join(KINDS)})"[^>]*>'
    r'\s*<script type="application/json">(.*?)</script>',
    re.DOTALL,
)
FILE = "questions.js"


def question_id(text: str) -> str:
    """Return the FNV-1a hash of a text's UTF-16 units in hexadecimal, as ``progress.js`` does."""
    found = 0x811C9DC5
    raw = text.encode("utf-16-le")
    for low, high in zip(raw[::2], raw[1::2], strict=True):
        found = ((found ^ (low + 256 * high)) * 0x01000193) & 0xFFFFFFFF
    return f"{found:x}"


def questions(page: str) -> list[str]:
    """Return the ids of a page's questions in their order, each once."""
    texts = (json.loads(state)["question"] for state in QUESTION.findall(page))
    return list(dict.fromkeys(question_id(text) for text in texts))


def add_files(app: Sphinx) -> None:
    """Load the list, the script and its style on every page."""
    if app.builder.format != "html":
        return
    for name in (FILE, "progress.js"):  # before the pictures live, for it puts answers into them
        app.add_js_file(name, loading_method="defer", priority=95)
    app.add_css_file("progress.css")


def write_list(app: Sphinx, error: Exception | None) -> None:
    """Write which questions there are, page by page."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    pages = {}
    for name in sorted(app.env.found_docs):
        file = out / f"{name}.html"
        if file.exists() and (found := questions(file.read_text(encoding="utf-8"))):
            pages[name] = found
    text = json.dumps(pages, separators=(",", ":"))
    script = f"globalThis.attnbookQuestions = {text};\n"
    (out / "_static" / FILE).write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.connect("builder-inited", add_files)
    app.connect("build-finished", write_list)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
