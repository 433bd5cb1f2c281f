"""Questions whose cell does not show the answer, for notebooks that are handed out.

What is sealed can be read by anybody who unpacks it: it keeps an answer from being seen by accident
and is no lock. The notebooks of `make kit` hold such cells.
"""

from __future__ import annotations

import base64
import importlib
import json
import textwrap
import zlib
from collections.abc import Mapping
from typing import Any, cast

from attnlab.widgets.core import checks, markup
from attnlab.widgets.core.base import Widget
from attnlab.widgets.kinds import KINDS

__all__ = ["seal", "sealed"]

CLASSES = {kind: KINDS[kind][0] for kind in ("answer", "bughunt", "checkpoint", "prediction")}
WIDTH = 88  # letters in a line of a sealed text


def seal(state: Mapping[str, Any]) -> str:
    """Return a question as lines of text that nobody reads by looking, for ``sealed``.

    ``state`` is the JSON in the question's HTML: what an ``Answer``, a ``BugHunt``, a
    ``Checkpoint`` or a ``Prediction`` holds.

    Raises: ValueError for any other kind of widget.
    """
    checks.one_of("kind", state.get("kind", ""), choices=list(CLASSES))
    packed = zlib.compress(markup.to_json(dict(state)).encode(), 9)
    return "\n".join(textwrap.wrap(base64.b64encode(packed).decode("ascii"), WIDTH))


def sealed(text: str) -> Widget:
    """Return the question that ``seal`` made a text of: live, and with its answer kept back.

    It answers as any other. Its stored HTML, which is seen until the cell is run again, holds the
    question alone.

    Raises: ValueError for a text that ``seal`` did not make.
    """
    try:
        packed = base64.b64decode("".join(checks.texts("text", [text])[0].split()), validate=True)
        state = json.loads(zlib.decompress(packed))
        kind = state.pop("kind")
        name = CLASSES[kind]
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise ValueError(
            "text must be a question as `make kit` sealed it, whole and unchanged, got"
            f" {checks.one_line(text)}"
        ) from error
    home = importlib.import_module(f"attnlab.widgets.{kind}.widget")
    made = cast("type[Widget]", getattr(home, name))
    # its own constructor takes what a lecture writes; what is sealed was made by it already
    widget = made.__new__(made)
    last = sorted(state, key=lambda trait: trait in made.rules)  # rules look at the other traits
    Widget.__init__(widget, **{trait: state[trait] for trait in last})
    return widget.kept_back()
