"""The live pictures of the book: the same in JupyterLab, in Colab and in a static page."""

from attnbook.widgets.base import Widget, page_script, stylesheet
from attnbook.widgets.beam import BeamTree
from attnbook.widgets.beam_table import prefix_table
from attnbook.widgets.block import BlockFlow
from attnbook.widgets.browser import HeadBrowser
from attnbook.widgets.checkpoint import Checkpoint
from attnbook.widgets.heads import HeadGrid
from attnbook.widgets.heatmap import AttentionHeatmap
from attnbook.widgets.painter import MaskPainter
from attnbook.widgets.player import AlignmentPlayer
from attnbook.widgets.position_explorer import PositionExplorer
from attnbook.widgets.prediction import Prediction
from attnbook.widgets.roles import RoleProjection
from attnbook.widgets.scores import ScoreExplorer
from attnbook.widgets.steps import AttentionSteps
from attnbook.widgets.translator import Translator, rounded
from attnbook.widgets.unrolled import UnrolledModel

__all__ = [
    "AlignmentPlayer",
    "AttentionHeatmap",
    "AttentionSteps",
    "BeamTree",
    "BlockFlow",
    "Checkpoint",
    "HeadBrowser",
    "HeadGrid",
    "MaskPainter",
    "PositionExplorer",
    "Prediction",
    "RoleProjection",
    "ScoreExplorer",
    "Translator",
    "UnrolledModel",
    "Widget",
    "page_script",
    "prefix_table",
    "rounded",
    "stylesheet",
]
