"""Seal a question, so that its cell does not show the answer.

Only the live picture's script opens it again. That is no lock, and keeps an answer from being read
in passing.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import textwrap
from collections.abc import Mapping
from typing import Any, cast

from attnlab.widgets import Widget
from attnlab.widgets.core import markup
from attnlab.widgets.kinds import KINDS

WIDTH = 88  # letters in a line of a sealed text


def seal(state: Mapping[str, Any]) -> str:
    """Return a question as lines of text for ``attnlab.widgets.sealed``.

    ``state`` is the JSON in the question's HTML: what an ``Answer``, a ``BugHunt``, a
    ``Checkpoint`` or a ``Prediction`` holds.
    """
    kind = state["kind"]
    asked = _made(kind, state).asked()
    secret = markup.to_json(dict(state)).encode()
    key = hashlib.sha256(secret).hexdigest()[:8]
    text = key + base64.b64encode(scrambled(key, secret)).decode("ascii")
    whole = json.dumps({"kind": kind, "asked": asked, "text": text}, ensure_ascii=False)
    return "\n".join(textwrap.wrap(base64.b64encode(whole.encode()).decode("ascii"), WIDTH))


def _made(kind: str, state: Mapping[str, Any]) -> Widget:
    """The question's own widget, of what its constructor once made of a lecture's words."""
    home = importlib.import_module(f"attnlab.widgets.{kind}.widget")
    made = cast("type[Widget]", getattr(home, KINDS[kind][0]))
    widget = made.__new__(made)
    traits = {name: value for name, value in state.items() if name != "kind"}
    last = sorted(traits, key=lambda trait: trait in made.rules)  # rules look at the other traits
    Widget.__init__(widget, **{trait: traits[trait] for trait in last})
    return widget


def scrambled(key: str, secret: bytes) -> bytes:
    """Return bytes under a stream of Marsaglia's xorshift32; the same again takes it off."""
    x, found = int(key, 16) | 1, bytearray()
    for byte in secret:
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        found.append(byte ^ x & 255)
    return bytes(found)
