"""The live pictures of the book: the same in JupyterLab, in Colab and in a static page."""

from __future__ import annotations

import importlib
from typing import Any

from attnlab.widgets.kinds import KINDS, folder

# where each public name is; loaded when it is asked for, so that the parts of `core` that are
# plain mathematics and markup work without anywidget
_HOMES = {"Widget": "core.base", "page_script": "core.chunks", "stylesheet": "core.chunks"}
_HOMES["sealed"] = "core.sealing"
for _kind, _names in KINDS.items():
    _HOMES.update(dict.fromkeys(_names, f"{folder(_kind)}.widget".replace("/", ".")))

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name not in {"anywidget", "ipywidgets", "traitlets"}:
            raise
        raise ModuleNotFoundError(
            f'attnlab.widgets.{name} needs the package {error.name}: pip install "attnlab"',
            name=error.name,
        ) from error


def __dir__() -> list[str]:
    return __all__
