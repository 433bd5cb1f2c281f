"""The live pictures of the book: the same in JupyterLab, in Colab and in a static page."""

from attnbook.widgets.base import Widget, page_script, stylesheet
from attnbook.widgets.checkpoint import Checkpoint
from attnbook.widgets.heatmap import AttentionHeatmap
from attnbook.widgets.prediction import Prediction
from attnbook.widgets.steps import AttentionSteps

__all__ = [
    "AttentionHeatmap",
    "AttentionSteps",
    "Checkpoint",
    "Prediction",
    "Widget",
    "page_script",
    "stylesheet",
]
