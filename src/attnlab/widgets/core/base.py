"""What every widget shares: its scripts and style, and one HTML for all places.

In JupyterLab and Colab a widget is shown by anywidget; in a static page the very same chunks
read the widget's data from its HTML. Where no script runs, the HTML itself shows a table.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

import anywidget
import traitlets

from attnlab.widgets.core import checks, chunks, markup

__all__ = ["Widget"]


class Widget(anywidget.AnyWidget):
    """A live picture; the subclasses say which, and hold its data and its state as traits."""

    _kind = ""

    # of a trait that the reader's hand or Python may change: what makes a new value right, or says
    # what is wrong with it; it stands in the trait's tag "rule"
    rules: ClassVar[dict[str, checks.Rule]] = {}

    kind = traitlets.Unicode("").tag(sync=True)
    caption = traitlets.Unicode("").tag(sync=True)

    _tolerance: float | None = None

    def __init_subclass__(cls, *, kind: str = "", **options: Any) -> None:
        if kind:
            # texts, not paths: anywidget then watches no file
            cls._kind, cls._esm, cls._css = kind, chunks.module(kind), chunks.stylesheet(kind)
        traits = {n: one for n, one in vars(cls).items() if isinstance(one, traitlets.TraitType)}
        if own := {n: one.metadata["rule"] for n, one in traits.items() if "rule" in one.metadata}:
            setattr(cls, f"_check_{cls.__name__}", traitlets.validate(*own)(Widget._by_rule))
            cls.rules = cast("type[Widget]", super(cls, cls)).rules | own
        super().__init_subclass__(**options)

    def __init__(self, *, start: dict[str, Any] | None = None, **traits: Any) -> None:
        """Make a widget of its traits, each checked by its rule, in the order given.

        ``start`` holds those that the reader's hand moves; ``initial``, where there is such a
        trait, keeps what "reset" goes back to.
        """
        for name, value in {"kind": self._kind, **traits, **(start or {})}.items():
            wanted = self.rules.get(name)
            setattr(self, name, value if wanted is None else wanted(self, name, value))
        if start and self.has_trait("initial"):
            self.initial = markup.tidy({name: getattr(self, name) for name in start})
        super().__init__()

    def _by_rule(self, proposal: dict[str, Any]) -> Any:
        name = proposal["trait"].name
        return self.rules[name](self, name, proposal["value"])

    def within(self, tolerance: float) -> Self:
        """State how far this widget's numbers may lie from those of another machine.

        For data of trained models, whose last digits no machine promises: nbval then compares
        the numbers within the tolerance, packed ones relative to their head's range.

        Raises: ValueError for anything but a finite number above 0.
        """
        self._tolerance = checks.number_above_zero("tolerance", tolerance)
        return self

    def asked(self) -> str:
        """Return the HTML without what stands in a fold, and the data: a question, no answer."""
        return markup.without_answer(self._fallback(), self.caption)

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

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        shown = super()._repr_mimebundle_(**kwargs)
        if shown is None:
            return None
        data, metadata = shown
        return {**data, "text/plain": repr(self), "text/html": self.html()}, metadata
