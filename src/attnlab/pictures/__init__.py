"""Pictures for the page, and for those who cannot see them.

``figures`` draws by matplotlib, with ``draw`` for the strokes and ``describe`` for the words;
``schematic`` draws machines as SVG, of ``parts`` that ``layout`` puts in their places, by ``grid``,
``routes`` and ``labels``; ``slots`` draws vectors as parts that say something, ``fans`` as arrows,
``exchange`` as words that look; ``arcs`` draws dependencies by spaCy's displaCy.
"""

from attnlab import _check

_check.needed("matplotlib", "a figure")

from attnlab.pictures.exchange import Exchange  # noqa: E402
from attnlab.pictures.fans import Fans  # noqa: E402
from attnlab.pictures.figures import (  # noqa: E402
    Picture,
    alignment,
    curves,
    dots,
    head_grid,
    heatmap,
    histograms,
)
from attnlab.pictures.schematic import Schematic  # noqa: E402
from attnlab.pictures.slots import Slots  # noqa: E402

__all__ = [
    "Exchange",
    "Fans",
    "Picture",
    "Schematic",
    "Slots",
    "alignment",
    "curves",
    "dots",
    "head_grid",
    "heatmap",
    "histograms",
]
