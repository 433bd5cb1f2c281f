"""The live pictures of the book: the same in JupyterLab, in Colab and in a static page."""

from attnbook.widgets.base import Widget, page_script, stylesheet
from attnbook.widgets.checkpoint import Checkpoint
from attnbook.widgets.heads import HeadGrid
from attnbook.widgets.heatmap import AttentionHeatmap
from attnbook.widgets.painter import MaskPainter
from attnbook.widgets.prediction import Prediction
from attnbook.widgets.roles import RoleProjection
from attnbook.widgets.steps import AttentionSteps

__all__ = [
    "AttentionHeatmap",
    "AttentionSteps",
    "Checkpoint",
    "HeadGrid",
    "MaskPainter",
    "Prediction",
    "RoleProjection",
    "Widget",
    "page_script",
    "stylesheet",
]
