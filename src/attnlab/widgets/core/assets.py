"""Large data of a widget, kept out of the page and loaded when the reader asks for it.

In JupyterLab and Colab it travels with the widget. A static page has it in a file of its own, a
classic script, for that is what a page on file:// may load. ``make notebooks`` writes these files
beside the notebooks, and the book's build copies them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import traitlets

from attnlab.models.stored.script import asset_script
from attnlab.widgets.core import checks
from attnlab.widgets.core.base import Widget
from attnlab.widgets.core.checks import ruled

__all__ = ["FOLDER", "WithAsset"]

FOLDER = "ATTNBOOK_ASSETS"  # the environment's name for the folder to write to


def _name(name: str, value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9-]+", value):
        raise ValueError(
            f"{name} must be a name of lower-case letters, digits and hyphens, got"
            f" {checks.one_line(value)}"
        )
    return value


class WithAsset(Widget):
    """A widget whose ``carried`` data a page loads on demand, from the asset that ``asset``
    names."""

    asset = ruled(traitlets.Unicode(""), _name)  # lower case, digits and hyphens
    size = traitlets.Int(0).tag(sync=True)  # of the asset's file, in bytes
    carried = traitlets.Bytes(b"").tag(sync=True)

    def state(self) -> dict[str, Any]:
        """Return what the page's JSON holds: all but the data of the asset."""
        return {name: value for name, value in super().state().items() if name != "carried"}

    def html(self) -> str:
        """Return the widget's HTML; save its asset where the environment names a folder.

        A lecture's cell shows the widget and says nothing of files, in JupyterLab and Colab there
        are none, and only the HTML that is stored needs one: so it is ``make notebooks`` that asks
        for it, by the environment of its kernels.
        """
        if folder := os.environ.get(FOLDER):
            self.save_asset(Path(folder))
        return super().html()

    def save_asset(self, folder: Path) -> None:
        """Write the script that a page loads the data from into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        text = asset_script(self.asset, self.carried)
        (folder / f"{self.asset}.js").write_text(text, encoding="ascii", newline="\n")
