"""Miniatures of the live pictures on the landing page's cards: a drawing for each kind of widget.

``lecture-cards`` is the list of a part's lectures, the part its argument; each item links to a
lecture, and a miniature of that lecture's live picture is set before its words. It is drawn from
what the lecture stores of the widget, in one colour, ``currentColor``, and has no words: one glance
says what kind of picture waits there. All are 120 wide and 80 high.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attnlab.widgets.core.numbers import softmax

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
WIDGET = re.compile(
    r'<figure class="attnbook attnbook-(\w+)".*?<script type="application/json">(.*?)</script>'
    r"(.*?)</figure>",
    re.S,
)
TIP = re.compile(r'<line x2="([-\d.]+)" y2="([-\d.]+)"')  # of an arrow in pictures/fans.py
LECTURE = re.compile(r"notebooks/(\d\d-[\w-]+)")
TIME, UNITS = re.compile(r">([\d.]+) ?(|s|ms|µs)<"), {"": 0, "s": 1e3, "ms": 1, "µs": 1e-3}
ROW = re.compile(r"<tr>.*?</tr>", re.S)
SHADE = re.compile(r'style="--w:([\d.]+)')


def rect(x: float, y: float, w: float, h: float, shade: float = 1.0) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" opacity="{shade:.2f}"/>'


def line(points: Iterable[tuple[float, float]], width: float = 1.5, shade: float = 1.0) -> str:
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{way}" fill="none" stroke="currentColor" stroke-width="{width:.1f}"'
        f' stroke-linecap="round" opacity="{shade:.2f}"/>'
    )


def ring(x: float, y: float, r: float) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="none" stroke="currentColor"'
        ' stroke-width="1.5"/>'
    )


def weights(rows: Sequence[Sequence[float]], left: float, top: float, w: float, h: float) -> str:
    """Return a map of weights in a box; the least shade still shows that a cell is there."""
    high, wide = h / len(rows), w / len(rows[0])
    return "".join(
        rect(left + j * wide, top + i * high, wide - 1, high - 1, 0.1 + 0.9 * weight)
        for i, row in enumerate(rows)
        for j, weight in enumerate(row)
    )


def shades(table: str) -> list[list[float]]:
    """Return the weights that a widget's own table shows without a script."""
    rows = (SHADE.findall(row) for row in ROW.findall(table))
    return [[float(weight) for weight in row] for row in rows if row]


def unrolled(state: dict[str, Any], _: str) -> str:
    """A chain that reads, one vector, a chain that writes."""
    n = min(len(state["sentence"]), 6)
    read = [(6 + 42 * i / (n - 1), 60) for i in range(n)]
    write = [(72 + 42 * i / (n - 1), 20) for i in range(n)]
    boxes = "".join(rect(x - 3, y - 4, 6, 8) for x, y in read + write)
    return line([*read, (60, 40), *write]) + boxes + rect(54, 30, 12, 20)


def beam(state: dict[str, Any], _: str) -> str:
    """The tree of prefixes, the greedy path in bold."""
    rows = {tuple(prefix): row for row, prefix in enumerate(state["prefixes"])}
    drawn, leaf = [], iter(range(99))

    def grow(row: int, depth: int, greedy: bool) -> float:
        best = max(range(len(state["logs"][row])), key=lambda k: state["logs"][row][k])
        places = []
        for k, word in enumerate(state["words_of"][row]):
            following = rows.get((row, word))
            on = greedy and k == best
            y = next(leaf) if following is None else grow(following, depth + 1, on)
            places.append((y, on))
        here = sum(y for y, _ in places) / len(places)
        drawn.extend(((depth, here), (depth + 1, y), on) for y, on in places)
        return here

    grow(0, 0, True)
    deep, last = max(end[0] for _, end, _ in drawn), max(end[1] for _, end, _ in drawn)
    at = lambda depth, y: (8 + 104 * depth / deep, 8 + 64 * y / last)  # noqa: E731
    return "".join(
        line([at(*one), at(*other)], 3 if on else 1.2) + ring(*at(*other), 1.6 + on)
        for one, other, on in drawn
    )


def shaded(_: dict[str, Any], table: str) -> str:
    """A map of weights, as the widget's table has them."""
    rows = shades(table)
    return weights(rows, 8, 4, 104, 72)


def fan(ends: Sequence[Sequence[float]], bold: int) -> tuple[str, list[tuple[float, float]]]:
    """Return arrows from one point, one of them bold, and where their tips are."""
    by = min(34 / max(abs(y) for _, y in ends), 50 / max(abs(x) for x, _ in ends))
    low = min(0, *(y for _, y in ends))
    zero = (60, 74 + by * low)
    found, tips = [], []
    for place, (x, y) in enumerate(ends):
        tip, turn = (zero[0] + by * x, zero[1] - by * y), math.atan2(y, x)
        barbs = [
            (tip[0] - 7 * math.cos(turn + a), tip[1] + 7 * math.sin(turn + a)) for a in (0.5, -0.5)
        ]
        width = 3.5 if place == bold else 1.5
        found += [line([zero, tip], width), line([barbs[0], tip, barbs[1]], width)]
        tips.append(tip)
    return line([(4, zero[1]), (116, zero[1])], 1, 0.35) + "".join(found), tips


def scores(state: dict[str, Any], _: str) -> str:
    """A query and its keys as arrows from one point."""
    return fan([*state["key"], state["query"]], len(state["key"]))[0]


def asks(state: dict[str, Any], _: str) -> str:
    """The arrow that asks, and the points where words are found."""
    *keys, tip = fan([*state["key"], state["query"]], 0)[1]
    zero = fan([*state["key"], [0, 0]], 0)[1][-1]
    arrow = line([zero, tip], 3.5) + ring(*tip, 3.5)
    return arrow + "".join(rect(x - 4, y - 4, 8, 8, 0.6) for x, y in keys)


def arrows(state: dict[str, Any], _: str) -> str:
    """Three arrows, and the average of their tips."""
    x = np.array(state["vectors"], dtype=float)
    shares = softmax(x @ x[state["query"]] / math.sqrt(2))
    drawn, tips = fan(x.tolist(), state["query"])
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in tips)
    made = shares @ np.array(tips)
    return f'<polygon points="{corners}" opacity="0.25"/>' + drawn + ring(*made, 3.5)


def fans(state: dict[str, Any], _: str) -> str:
    """Three arrows at first, and after the last layer: of the first way, and of the last."""
    tips, drawn = state["tips"], ""
    for k, first in enumerate((0, state["row"] - 3, len(tips) - state["row"], len(tips) - 3)):
        x, y = 32 + 56 * (k % 2), 36 + 40 * (k // 2)
        for a, b in tips[first : first + 3]:
            drawn += line([(x, y), (x + 0.6 * a, y + 0.6 * b)], 2) + rect(
                x + 0.6 * a - 2, y + 0.6 * b - 2, 4, 4
            )
    return drawn


def steps(state: dict[str, Any], _: str) -> str:
    """Each vector as cells, and its weight as a bar."""
    x = np.array(state["vectors"], dtype=float)
    bars = softmax(x @ x[state["query"]] / math.sqrt(x.shape[1]))
    high = 72 / len(x)
    cells = weights(abs(x) / abs(x).max(), 6, 4, 48, 72)
    ends = ((4 + (i + 0.2) * high, 54 * bar) for i, bar in enumerate(bars))
    return cells + "".join(
        rect(60, y, 54, 0.6 * high, 0.12) + rect(60, y, w, 0.6 * high) for y, w in ends
    )


def roles(state: dict[str, Any], _: str) -> str:
    """One token's vector, three matrices, three vectors."""
    x = np.array(state["vectors"][state["token"]], dtype=float)
    parts = [weights(abs(x)[:, None] / abs(x).max(), 6, 22, 13, 36)]
    for k, name in enumerate(("w_q", "w_k", "w_v")):
        w = np.array(state[name], dtype=float)
        top = 3 + 26 * k
        parts.append(line([(20, 40), (44, top + 11)], 1.2))
        parts.append(weights(abs(w) / abs(w).max(), 48, top, 22, 22))
        parts.append(line([(72, top + 11), (90, top + 11)], 1.2))
        out = abs(x @ w)
        parts.append(weights(out[None] / out.max(), 92, top + 6, 24, 10))
    return "".join(parts)


def heads(state: dict[str, Any], _: str) -> str:
    """The heads' maps side by side."""
    count, n_q, n_k = state["shape"]
    maps = softmax(np.array(state["scores"], dtype=float).reshape(count, n_q, n_k))
    side = min(72.0, 112 / count - 4)
    left = (120 - count * (side + 4) + 4) / 2
    drawn = (
        weights(one, left + k * (side + 4), 40 - side / 2, side, side)
        for k, one in enumerate(maps.tolist())
    )
    return "".join(drawn)


def positions(state: dict[str, Any], _: str) -> str:
    """Clocks of several speeds, all at the same position."""
    at, pairs, found = state["shift"], state["d"] // 2, []
    for k in range(6):
        turn = at / state["base"] ** (k * 2 / pairs)
        x, y = 22 + 38 * (k % 3), 21 + 38 * (k // 3)
        found.append(ring(x, y, 15))
        found.append(line([(x, y), (x + 12 * math.sin(turn), y - 12 * math.cos(turn))], 2.5))
    return "".join(found)


def block(_: dict[str, Any], __: str) -> str:
    """The residual path with its two branches and sums."""
    found = [line([(4, 58), (116, 58)], 3)]
    for x in (14, 66):
        found.append(line([(x, 58), (x, 22), (x + 36, 22), (x + 36, 54)], 1.5))
        found += [rect(x + 7, 12, 22, 20), ring(x + 36, 58, 6)]
        found.append(line([(x + 36, 54), (x + 36, 62)], 1.5))
    return "".join(found)


def translator(_: dict[str, Any], table: str) -> str:
    """Two sentences, and from each word that is written a line to where the model looks."""
    rows = shades(table)
    wide = [104 / len(rows), 104 / len(rows[0])]
    middle = lambda side, k: 8 + (k + 0.5) * wide[side]  # noqa: E731
    links = (
        line([(middle(0, i), 68), (middle(1, j), 12)], 0.5 + 3 * w, 0.25 + 0.75 * w)
        for i, row in enumerate(rows)
        for j, w in enumerate(row)
        if w >= 0.1
    )
    words = (
        rect(8 + k * wide[side] + 1, top, wide[side] - 2, 6)
        for side, top, count in ((1, 4, len(rows[0])), (0, 70, len(rows)))
        for k in range(count)
    )
    return "".join([*links, *words])


def browser(state: dict[str, Any], _: str) -> str:
    """All layers and heads, one of them chosen."""
    layers, count = state["shape"]
    chosen = (state["layer"], state["head"])
    rows = [[0.9 * ((k, h) == chosen) + 0.08 for h in range(count)] for k in range(layers)]
    return weights(rows, 4, 12, 112, 56)


def own(state: dict[str, Any], _: str) -> str:
    """All layers and heads, one of them chosen, and those that are off left empty."""
    layers, count = state["sizes"]["layers"], state["sizes"]["heads"]
    off = {(layer, head) for layer, head in state["off"]}
    cells = []
    for k in range(layers):
        for h in range(count):
            shade = 1.0 if (k, h) == (state["layer"], state["head"]) else 0.16
            size = (3, 3) if (k, h) in off else (8.2, 8.2)
            cells.append(rect(4 + h * 112 / count, 12 + k * 56 / layers, *size, shade))
    return "".join(cells)


def ways(_: dict[str, Any], table: str) -> str:
    """The time of a token by each way of writing but the first, which runs on, part by part."""
    rows = [[float(n) * UNITS[unit] for n, unit in TIME.findall(row)] for row in ROW.findall(table)]
    bars = []
    for k, parts in enumerate(rows[2:]):
        x = 6.0
        for part, shade in zip(parts[:-1], (1, 0.45, 0.3, 0.2), strict=True):
            bars.append(rect(x, 8 + 18 * k, 108 * part / rows[2][-1], 11, shade))
            x += 108 * part / rows[2][-1]
    return "".join(bars)


def lens(state: dict[str, Any], _: str) -> str:
    """How probable the word that is said at last is, layer by layer, for each token."""
    one = state["prompts"][state["prompt"]]
    n = len(one["tokens"])
    steps = [row for k, row in enumerate(one["chance"]) if k % 3 == 0]
    final = one["best"][-1]
    cells = []
    for k, row in enumerate(steps):
        named = one["best"][3 * k]
        for token in range(n):
            same = named[3 * token] == final[3 * token]
            shade = 0.12 + 0.88 * (row[3 * token] / 100 if same else 0)
            cells.append(rect(6 + 108 * token / n, 5 + 70 * k / len(steps), 96 / n, 5.4, shade))
    return "".join(cells)


def visibility(state: dict[str, Any], _: str) -> str:
    """Which earlier tokens each token still sees."""
    n, window, first = 14, state["window"], state["first"]
    cells = (
        rect(24 + 5.2 * j, 4 + 5.2 * i, 4.4, 4.4, 1.0 if i - j < window or j < first else 0.16)
        for i in range(n)
        for j in range(i + 1)
    )
    return "".join(cells)


def exchange(state: dict[str, Any], _: str) -> str:
    """The words that are read, a bar for the weight of each, and the word that is written."""
    wide = 112 / len(state["weights"])
    bars = [
        rect(4 + k * wide, 38, wide - 3, 8, 0.4) + rect(4 + k * wide, 34 - 30 * w, wide - 3, 30 * w)
        for k, w in enumerate(state["weights"])
    ]
    return "".join(bars) + line([(4, 62), (76, 62)], 8, 0.15) + rect(84, 58, 24, 8)


def fewshot(state: dict[str, Any], _: str) -> str:
    """The lines of a prompt, the question in bold, and the next tokens as bars."""
    task, count = state["tasks"][state["task"]], state["count"]
    pairs = [*task["shown"][:count], task["asked"][state["word"]]]
    high = min(16, 72 / len(pairs))
    top = 4 + (72 - high * len(pairs)) / 2
    lines = []
    for k, (one, other) in enumerate(pairs):
        y, asked = top + k * high, k == count
        lines.append(rect(6, y, min(26, 4 * len(one)), high - 6, 1.0 if asked else 0.35))
        lines.append(line([(34, y + high / 2 - 3), (40, y + high / 2 - 3)], 1.2))
        if not asked:
            lines.append(rect(44, y, min(26, 4 * len(other)), high - 6, 0.35))
    best = task["rows"][count]
    bars = (
        rect(74, 6 + 14 * k, 42, 8, 0.12)
        + rect(
            74, 6 + 14 * k, max(1, 42 * p), 8, 1 if token == task["first"][state["word"]] else 0.4
        )
        for k, (token, p) in enumerate(best[state["word"]]["top"][:5])
    )
    return "".join([*lines, *bars])


KINDS: dict[str, Callable[[dict[str, Any], str], str]] = {
    "unrolled": unrolled, "beam": beam, "player": shaded, "scores": scores, "asks": asks,
    "exchange": exchange, "arrows": arrows, "fans": fans, "steps": steps,
    "roles": roles, "heatmap": shaded, "heads": heads, "positions": positions, "block": block,
    "translator": translator, "browser": browser, "own": own, "roof": ways,
    "visibility": visibility, "fewshot": fewshot, "lens": lens,
}  # fmt: skip


@cache
def widgets(stem: str) -> list[tuple[str, str, str]]:
    """Return kind, JSON and table of the widgets that a lecture's stored output holds."""
    cells = json.loads((NOTEBOOKS / f"{stem}.ipynb").read_text(encoding="utf-8"))["cells"]
    pages = [
        "".join(o.get("data", {}).get("text/html", "")) for c in cells for o in c.get("outputs", [])
    ]
    live = [found.groups() for page in pages for found in WIDGET.finditer(page)]
    # one plane of the four is a picture of its own
    live = [("asks", *rest) if '"alone":true' in rest[0] else (kind, *rest) for kind, *rest in live]
    for page in pages:  # the pictures without a script that one changes by hand
        if "attnbook-fans" in page and "radio" in page:
            tips = [(float(a), float(b)) for a, b in TIP.findall(page)]
            row = 3 * page.split("attnbook-panels")[-1].count("<svg")
            live.append(("fans", json.dumps({"tips": tips, "row": row}), ""))
        if row := re.findall(r'-way-0"><i style="--w:([\d.]+)', page):
            live.append(("exchange", json.dumps({"weights": [float(w) for w in row]}), ""))
    return live


def chosen(stems: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Return a picture for each lecture: the first of a kind that stands for no other.

    Lectures with few kinds choose first, so that what is their only one is left to them.

    Raises: ValueError for a lecture without a live picture that can be drawn small.
    """
    free = {stem: [one for one in widgets(stem) if one[0] in KINDS] for stem in stems}
    found: dict[str, tuple[str, str, str]] = {}
    for stem in sorted(stems, key=lambda stem: len({kind for kind, _, _ in free[stem]})):
        if not free[stem]:
            raise ValueError(
                f"the lecture {stem} has no live picture of these kinds: {', '.join(KINDS)}"
            )
        taken = {one[0] for one in found.values()}
        found[stem] = next((one for one in free[stem] if one[0] not in taken), free[stem][0])
    return {stem: found[stem] for stem in stems}


def drawing(kind: str, state: str, table: str) -> str:
    """Return a miniature as SVG; who cannot see it has the words beside it."""
    inner = KINDS[kind](json.loads(state), table)
    opening = f'<svg class="miniature is-{kind}" viewBox="0 0 120 80" fill="currentColor"'
    return f'{opening} aria-hidden="true">{inner}</svg>'


class LectureCards(SphinxDirective):
    """A part's lectures, each with its miniature."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        pictures = chosen([path.stem for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))])
        around = nodes.container(classes=["lecture-cards", f"part-{self.arguments[0]}"])
        self.state.nested_parse(self.content, self.content_offset, around)
        for item in around.findall(nodes.list_item):
            if not (found := LECTURE.search(str(item))):
                raise self.error(f"each item must link to a lecture: {item.astext()!r}")
            item.insert(0, nodes.raw("", drawing(*pictures[found[1]]), format="html"))
        return [around]


def setup(app: Sphinx) -> dict:
    app.add_directive("lecture-cards", LectureCards)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
