"""The HTML of a widget: its data as JSON, and a picture that needs no JavaScript."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

__all__ = [
    "bracket",
    "cited",
    "escape",
    "figure",
    "fixed",
    "inline",
    "numbers_asked",
    "plain",
    "short",
    "table",
    "tidy",
    "to_json",
    "without_answer",
]

_LINK = re.compile(r"\[([^\[\]]+)\]\((https://[^\s()<>\"]+)\)")
_DECIMALS = 8  # more would tie the page to one processor's last digits


def escape(text: str) -> str:
    """Return ``text`` as HTML in which nothing is markup."""
    return html.escape(text, quote=True)


def inline(text: str) -> str:
    """Return ``text`` as HTML in which ``backticks`` make code and nothing else is markup."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(
        f"<code>{escape(part)}</code>" if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )


def cited(text: str) -> str:
    """Return ``text`` as ``inline`` does, with ``[words](https://…)`` as a link to a source."""
    parts = _LINK.split(text)  # text, words, address, text, …
    drawn = [inline(parts[0])]
    for words, address, after in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        drawn.append(f'<a href="{escape(address)}" rel="noopener">{inline(words)}</a>')
        drawn.append(inline(after))
    return "".join(drawn)


def fixed(value: float, decimals: int = 3) -> str:
    """Return a number with exactly ``decimals`` decimals, as the book prints it: −12,345.678."""
    text = f"{value:,.{decimals}f}"
    if round(value, decimals) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def plain(value: float, decimals: int = 3) -> str:
    """Return a number with at most ``decimals`` decimals and no trailing zeros."""
    text = fixed(value, decimals)
    return text.rstrip("0").rstrip(".") if "." in text else text


def short(value: float) -> str:
    """Return a number with four digits that count."""
    return plain(float(f"{value:.4g}"), 9)


def bracket(values: Iterable[float], show: Callable[[float], str] = plain) -> str:
    """Return a vector as text: (1, −0.5)."""
    return "(" + ", ".join(show(float(x)) for x in values) + ")"


def tidy(value: Any) -> Any:
    """Return ``value`` with floats rounded to 8 decimals, whole floats as ints, and no −0."""
    if isinstance(value, dict):
        return {str(key): tidy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [tidy(item) for item in value]
    if isinstance(value, np.ndarray):
        return tidy(value.tolist())
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return _rounded(float(value))
    return value


def to_json(value: Any) -> str:
    """Return ``value`` as JSON that can stand inside a script element: no <, > or & in it."""
    text = json.dumps(tidy(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    label: str,
    shades: Sequence[Sequence[float | None]] | None = None,
) -> str:
    """Return a table in a box of its own that scrolls; every text given is already HTML."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = []
    for place, (first, *cells) in enumerate(rows):
        tints = shades[place] if shades is not None else [None] * len(cells)
        drawn = "".join(_cell(*pair) for pair in zip(cells, tints, strict=True))
        body.append(f'<tr><th scope="row">{first}</th>{drawn}</tr>')
    return (
        f'<div class="attnbook-scroll" role="group" tabindex="0" aria-label="{escape(label)}">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def numbers_asked(
    question: str, order: str, rows: Iterable[tuple[str, str]], *, what: str, head: str, reason: str
) -> str:
    """Return a question for numbers, and in a fold the numbers with the reason.

    ``order`` says what to do with the labels, ``rows`` holds (label, number), ``what`` names the
    numbers and ``head`` heads their column; ``reason`` is already HTML.
    """
    pairs = [(inline(label), number) for label, number in rows]
    asked = ", ".join(label for label, _ in pairs)
    drawn = table(["asked", head], pairs, label=f"The {what}")
    why = f"<p>{reason}</p>" if reason else ""
    return (
        f"<p><b>{inline(question)}</b></p><p>{order}: {asked}.</p>"
        f"<details><summary>the {what}</summary>{drawn}{why}</details>"
    )


def figure(
    kind: str,
    state: dict[str, Any],
    fallback: str,
    caption: str,
    tolerance: float | None = None,
) -> str:
    """Return a widget's whole HTML: data, fallback, caption, and its tolerance where it has one."""
    stated = "" if tolerance is None else f' data-tolerance="{tolerance:g}"'
    ending = f"<figcaption>{inline(caption)}</figcaption>" if caption else ""
    return (
        f'<figure class="attnbook attnbook-{escape(kind)}"{stated}>'
        f'<script type="application/json">{to_json(state)}</script>'
        f'<div class="attnbook-fallback">{fallback}</div>{ending}</figure>'
    )


def without_answer(fallback: str, caption: str) -> str:
    """Return a question's HTML with nothing of its data, and nothing of what is folded up."""
    asked = re.sub(r"<details>.*?</details>", "", fallback, flags=re.DOTALL)
    ending = f"<figcaption>{inline(caption)}</figcaption>" if caption else ""
    return f'<figure class="attnbook-asked">{asked}<p>Run this cell to answer.</p>{ending}</figure>'


def _cell(text: str, tint: float | None) -> str:
    # the style sheet turns --w into a tint of the accent
    return f"<td>{text}</td>" if tint is None else f'<td style="--w:{tint:.3f}">{text}</td>'


def _rounded(value: float) -> float | int:
    if not math.isfinite(value):
        raise ValueError(f"a widget's data must be finite, got {value!r}")
    number = round(value, _DECIMALS)
    return int(number) if number == int(number) and abs(number) < 2**53 else number
