"""The table of kinds: a new widget is one folder and one line here.

A line names the folder and what lectures import from its ``widget.py``. The rest follows: the
folder ``<kind>/`` may hold ``widget.js``, which exports ``widget``, and ``style.css``; `python -m
attnlab.widgets.build` makes ``chunks/<kind>.js`` of it; and a page or a notebook that shows such a
widget loads the core's chunk and this one.
"""

from __future__ import annotations

__all__ = ["KINDS"]

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
