"""What every widget shares: its JavaScript bundle, one style sheet, one HTML for all places.

In JupyterLab and Colab a widget is shown by anywidget; in a static page the very same bundle
reads the widget's data from its HTML. Where no script runs, the HTML itself shows a table.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import Any, Self

import anywidget
import traitlets

from attnbook.widgets import checks, markup

__all__ = ["BUNDLES", "Widget", "bundle", "bundles_for", "page_script", "stylesheet"]

_KIND = re.compile(r'<figure class="attnbook attnbook-([\w-]+)"')

_EVERYWHERE = ("checkpoint", "heads", "heatmap", "prediction", "steps")
# which kinds of widget a bundle has; a page loads no more than it needs
BUNDLES = {
    "bundle": (
        *_EVERYWHERE,
        *("beam", "painter", "player", "roles", "scores", "unrolled"),
    ),
    "bundle-transformers": (*_EVERYWHERE, "block", "browser", "positions", "translator"),
}

_EXPORTS = re.compile(r"(.*)export\{([^{}]*)\};?\s*", re.DOTALL)  # where every bundle ends

# style sheets, in this order: a later one may change what an earlier one says
_SHEETS = ("base", "heatmap", "tables", "steps", "questions", "places", "heads")
_SHEETS_OF = {
    "bundle": ("roles", "painter", "beam", "scores", "player", "unrolled"),
    "bundle-transformers": ("block", "browser", "positions", "translator"),
}


def _text(name: str) -> str:
    return resources.files("attnbook.widgets").joinpath(name).read_text(encoding="utf-8")


def bundle(name: str = "bundle") -> str:
    """Return a bundle of the widgets' JavaScript: one ES module, as committed."""
    return _text(f"{name}.js")


def bundles_for(page: str) -> tuple[str, ...]:
    """Return the names of the bundles that a page needs; none where it has no widget."""
    wanted = set(_KIND.findall(page))
    alone = [name for name, has in BUNDLES.items() if wanted <= set(has)]
    return tuple(alone[:1] if alone else BUNDLES) if wanted else ()


def stylesheet(*names: str) -> str:
    """Return the style sheet for bundles, without the comments and spaces of its sources."""
    own = [sheet for name in names or ("bundle",) for sheet in _SHEETS_OF[name]]
    text = "\n".join(_text(f"css/{sheet}.css") for sheet in (*_SHEETS, *own))
    bare = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
    return re.sub(r" ?([{};,]) ?", r"\1", bare)


def page_script(*names: str) -> str:
    """Return bundles as a classic script that brings a static page's widgets to life.

    Browsers refuse modules on file://, and importing them from a Blob comes only after all the
    page's other scripts; so each bundle stands here as a function that returns its exports. The
    page works with no server, asks nobody for anything, and is alive before its formulae are set.
    """
    made = ",\n".join(_as_function(bundle(name)) for name in names or ("bundle",))
    return (
        '(() => {\n"use strict";\n'
        "globalThis.attnbookPlace = document.currentScript.src;\n"  # its assets lie beside it
        f"const all = [\n{made}];\n"
        "const start = () => all[0].hydrate(document,\n"
        "  Object.assign({}, ...all.map((one) => one.kinds)));\n"
        "if (document.readyState === 'loading')"
        " document.addEventListener('DOMContentLoaded', start);\n"
        "else start();\n"
        "})();\n"
    )


def _as_function(module: str) -> str:
    """Return a module without imports as a JavaScript function, called at once."""
    body, exports = _EXPORTS.fullmatch(module).groups()
    pairs = (part.strip().split(" as ") for part in exports.split(","))
    found = ", ".join(f"{name}: {local}" for local, name in pairs)
    return f"(() => {{\n{body}\nreturn {{ {found} }};\n}})()"


class Widget(anywidget.AnyWidget):
    """A live picture; the subclasses say which, and hold its data and its state as traits."""

    # Texts, not paths: anywidget then watches no file.
    _esm = bundle()
    _css = stylesheet()

    kind = traitlets.Unicode("").tag(sync=True)
    caption = traitlets.Unicode("").tag(sync=True)

    _tolerance: float | None = None

    def within(self, tolerance: float) -> Self:
        """State how far this widget's numbers may lie from those of another machine.

        For data of trained models, whose last digits no machine promises: nbval then compares
        the numbers within the tolerance, packed ones relative to their head's range.

        Raises:
            ValueError: not a finite number above 0.
        """
        self._tolerance = checks.number_above_zero("tolerance", tolerance)
        return self

    def html(self) -> str:
        """Return the widget's HTML: its data as JSON and a picture that needs no script."""
        parts = (self.kind, self.state(), self._fallback(), self.caption)
        return markup.figure(*parts, self._tolerance)

    def state(self) -> dict[str, Any]:
        """Return every synced trait of data and state, as the page's JSON holds them."""
        inherited = set(anywidget.AnyWidget.class_trait_names())
        names = (name for name in self.trait_names(sync=True) if not name.startswith("_"))
        return {name: getattr(self, name) for name in sorted(set(names) - inherited)}

    def _fallback(self) -> str:
        raise NotImplementedError(f"{type(self).__name__} must say what is seen without a script")

    def _summary(self) -> str:
        return self.kind

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict] | None:
        shown = super()._repr_mimebundle_(**kwargs)
        if shown is None:
            return None
        data, metadata = shown
        return {**data, "text/plain": repr(self), "text/html": self.html()}, metadata
