"""The table of kinds: a new widget is one folder and one line here.

A line names the kind and what lectures import from its ``widget.py``. The rest follows: its
folder, ``<kind>/`` or ``applications/<kind>/``, may hold ``widget.js``, which exports ``widget``,
and ``style.css``; `python -m attnlab.widgets.build` makes ``chunks/<kind>.js`` of it; and a page or
a notebook that shows such a widget loads the core's chunk and this one.
"""

from __future__ import annotations

__all__ = ["KINDS", "folder"]

KINDS = {
    "answer": ("Answer",),
    "arrows": ("ThreeArrows",),
    "atlas": ("Atlas",),
    "beam": ("BeamTree", "prefix_table"),
    "block": ("BlockFlow",),
    "browser": ("HeadBrowser",),
    "bughunt": ("BugHunt",),
    "cache": ("CacheCalculator",),
    "checkpoint": ("Checkpoint",),
    "clocks": ("RotaryClocks",),
    "dataflow": ("DataFlow", "Count"),
    "fewshot": ("FewShot",),
    "heads": ("HeadGrid",),
    "heatmap": ("AttentionHeatmap",),
    "lens": ("LogitLens",),
    "memory": ("Memory",),
    "own": ("OwnSentence",),
    "pages": ("PageTable",),
    "painter": ("MaskPainter",),
    "player": ("AlignmentPlayer",),
    "positions": ("PositionExplorer",),
    "prediction": ("Prediction",),
    "roles": ("RoleProjection",),
    "roof": ("Roof",),
    "scores": ("ScoreExplorer",),
    "speculation": ("Speculation",),
    "steps": ("AttentionSteps",),
    "tiles": ("TileSteps",),
    "trainer": ("TrainHere",),
    "translator": ("Translator",),
    "unrolled": ("UnrolledModel",),
    "visibility": ("Visibility",),
}

# larger than a picture of one idea: a program of its own
_APPLICATIONS = ("browser", "own", "trainer", "translator")


def folder(kind: str) -> str:
    """Return where a kind lies, as a path from here."""
    return f"applications/{kind}" if kind in _APPLICATIONS else kind
