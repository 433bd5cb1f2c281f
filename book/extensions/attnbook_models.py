"""The table of released models: what each keeps of a text, counted from ``caches.json``."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attnlab.models import caches

ARXIV = re.compile(r"arXiv:(\d{4}\.\d{5})")
LINK = r"[arXiv:\1](https://arxiv.org/abs/\1)"
HEAD = (
    "| Model | Year | Attention | Bytes a token | Longest text, tokens | Its cache, GB "
    "| Times less |\n| :-- | --: | :-- | --: | --: | --: | --: |"
)


def rows() -> list[str]:
    """Return a line of the table for each model, at 16 bits a number."""
    return [
        f"| {name} | {model.year} | {model.attention} | {model.bytes_per_token():,.0f} "
        f"| {model.context:,} | {model.cache_bytes(model.context) / 1e9:,.2f} "
        f"| {model.saving(model.context):.0f} |"
        for name, model in caches.cached_models().items()
    ]


def sources() -> list[str]:
    """Return a line for each model: where its shapes were read, and what is counted how."""
    return [
        f"- *{name}*: {ARXIV.sub(LINK, model.source)}."
        for name, model in caches.cached_models().items()
    ]


class Models(SphinxDirective):
    """All models that the book counts, the oldest first; with ``sources``, where they were read."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(Path(caches.__file__).with_suffix(".json")))
        lines = sources() if self.arguments == ["sources"] else [*HEAD.split("\n"), *rows()]
        shown = nodes.container(classes=["models"])
        self.state.nested_parse(StringList(lines, source="models"), self.content_offset, shown)
        return [shown]


def setup(app: Sphinx) -> dict:
    app.add_directive("models", Models)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
