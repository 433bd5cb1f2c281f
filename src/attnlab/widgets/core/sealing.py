"""Questions whose cell does not show the answer: the notebooks of `make kit` hold such cells.

Only the script of the live picture opens what is sealed; this package has nothing that does. It
keeps an answer from being read in passing and is no lock.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import ClassVar

import traitlets

from attnlab.widgets.core import checks, chunks
from attnlab.widgets.core.base import Widget

__all__ = ["sealed"]

ASKING = ("answer", "bughunt", "checkpoint", "prediction")
SCRIPT = Path(__file__).resolve().parents[1] / "parts" / "sealed.js"


class Sealed(Widget):
    """A question of which Python holds the sealed text, and what the reader has moved."""

    rules: ClassVar[dict[str, checks.Rule]] = {}
    text = traitlets.Unicode("").tag(sync=True)
    moved = traitlets.Dict().tag(sync=True)

    def __init__(self, kind: str, asked: str, text: str) -> None:
        own = "export default { render };\n"
        code = chunks.module(kind).replace(own, SCRIPT.read_text(encoding="utf-8"))
        self._esm = code + "export default { render: unsealing(render) };\n"
        self._css = chunks.stylesheet(kind)
        self._asked = asked
        super().__init__(kind=f"sealed-{kind}", text=text)

    def html(self) -> str:
        """Return the HTML of the question alone."""
        return self._asked


def sealed(text: str) -> Widget:
    """Return the question that ``seal`` made a text of: live, and with its answer kept back.

    It answers as any other. Its stored HTML, which is seen until the cell is run again, holds the
    question alone.

    Raises: ValueError for a text that ``seal`` did not make.
    """
    try:
        whole = base64.b64decode("".join(checks.texts("text", [text])[0].split()), validate=True)
        parts = json.loads(whole)
        kind, asked, secret = (checks.texts(name, [parts[name]])[0] for name in parts)
        if list(parts) != ["kind", "asked", "text"] or kind not in ASKING:
            raise ValueError(kind)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            "text must be a question as `make kit` sealed it, whole and unchanged, got"
            f" {checks.one_line(text)}"
        ) from error
    return Sealed(kind, asked, secret)
