"""Pictures in words: the text for a reader who cannot see the figure, made from its data."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

LISTED = 8  # queries, words or heads that the text names one by one


def shown(token: str, limit: int = 16) -> str:
    """Return the token on one line and not too long."""
    token = str(token).replace("\n", "\\n").replace("\t", "\\t")
    return token if len(token) <= limit else token[: limit - 1] + "…"


def number(value: float, digits: int) -> str:
    """Return the number as it stands in a cell, with a true minus and no negative zero."""
    if np.isneginf(value):
        return "−∞"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def plain(value: float) -> str:
    """Return a number of a curve with three digits, or whole from a thousand on."""
    text = f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
    return text.replace("-", "−")


def heatmap_alt(
    matrix: NDArray[np.float64],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str | None,
    signed: bool,
    digits: int,
) -> str:
    """Say where each of the first queries attends most, and how many more there are."""
    kind = "scores" if signed else "attention weights"
    n_q, n_k = matrix.shape
    size = f"{_many(n_q, 'query', 'queries')} by {_many(n_k, 'key', 'keys')}"
    sentences = [f"Heatmap of {kind}{f' ({title})' if title else ''}, {size}."]
    rows = [
        _row_alt(row, query, keys, signed, digits)
        for row, query in zip(matrix[:LISTED], queries, strict=False)
    ]
    sentences.append("; ".join(rows) + ".")
    if n_q > LISTED:
        sentences.append(f"{n_q - LISTED} more rows follow.")
    return " ".join(sentences)


def alignment_alt(
    matrix: NDArray[np.float64],
    source: Sequence[str],
    target: Sequence[str],
    gold: Collection[tuple[int, int]] | None,
    title: str | None,
    digits: int,
) -> str:
    """Say where each of the first target words attends most, and how many agree with the gold."""
    n_t, n_s = matrix.shape
    sentences = [
        f"Alignment{f' ({title})' if title else ''} of {_many(n_t, 'target word', 'target words')} "
        f"with {_many(n_s, 'source word', 'source words')}."
    ]
    pairs = list(zip(matrix, target, strict=True))[:LISTED]
    sentences.append("; ".join(_row_alt(*pair, source, False, digits) for pair in pairs) + ".")
    if n_t > LISTED:
        sentences.append(f"{n_t - LISTED} more rows follow.")
    if gold is not None:
        sentences.append(_agreement(matrix, target, gold))
    return " ".join(sentences)


def _agreement(
    matrix: NDArray[np.float64], target: Sequence[str], gold: Collection[tuple[int, int]]
) -> str:
    linked = sorted({j for _, j in gold})
    if not linked:
        return "No word has a gold link."
    best = matrix.argmax(axis=1)
    wrong = [j for j in linked if (best[j], j) not in gold or not matrix[j].any()]
    words = _many(len(linked), "word that has a gold link", "words that have a gold link")
    right = f"{len(linked) - len(wrong)} of {words}"
    text = f"The greatest weight agrees with the gold alignment for {right}"
    named = ", ".join(target[j] for j in wrong[:LISTED])
    more = f" and {len(wrong) - LISTED} more" if len(wrong) > LISTED else ""
    return f"{text}; not for {named}{more}." if wrong else f"{text}."


def head_grid_alt(
    heads: NDArray[np.float64],
    queries: Sequence[str],
    keys: Sequence[str],
    names: Sequence[str],
    title: str | None,
    digits: int,
) -> str:
    """Say which link is the strongest in each of the first heads, and how many more there are."""
    n_heads, n_q, n_k = heads.shape
    sentences = [
        f"Attention weights of {_many(n_heads, 'head', 'heads')}{f' ({title})' if title else ''}, "
        f"{_many(n_q, 'query', 'queries')} by {_many(n_k, 'key', 'keys')} each."
    ]
    listed = zip(heads[:LISTED], names, strict=False)
    links = [_strongest(head, name, queries, keys, digits) for head, name in listed]
    sentences.append("; ".join(links) + ".")
    if n_heads > LISTED:
        sentences.append(f"{_many(n_heads - LISTED, 'more head follows', 'more heads follow')}.")
    return " ".join(sentences)


def _strongest(
    head: NDArray[np.float64],
    name: str,
    queries: Sequence[str],
    keys: Sequence[str],
    digits: int,
) -> str:
    if not head.any():
        return f"{name} attends to nothing"
    top = number(head.max(), digits)
    alike = [(i, j) for (i, j), value in np.ndenumerate(head) if number(value, digits) == top]
    if len(alike) > 3:
        return f"{name} has {len(alike)} links alike ({top} each)"
    words = " and ".join(f"{queries[i]} to {keys[j]}" for i, j in alike)
    return f"{name} is strongest from {words} ({top}{' each' if len(alike) > 1 else ''})"


def _row_alt(
    row: NDArray[np.float64], query: str, keys: Sequence[str], signed: bool, digits: int
) -> str:
    if signed and np.isneginf(row).all():
        return f"{query} is masked throughout"
    if not signed and not row.any():
        return f"{query} attends to nothing"
    top = number(row.max(), digits)
    best = [key for key, value in zip(keys, row, strict=True) if number(value, digits) == top]
    words = " and ".join(best) if len(best) <= 3 else f"{len(best)} keys alike"
    each = " each" if len(best) > 1 else ""
    verb = "scores highest with" if signed else "attends most to"
    return f"{query} {verb} {words} ({top}{each}){_masked(row, keys) if signed else ''}"


def _masked(row: NDArray[np.float64], keys: Sequence[str]) -> str:
    """Name the keys whose score is −∞, or count them."""
    hidden = [key for key, value in zip(keys, row, strict=True) if np.isneginf(value)]
    if not hidden:
        return ""
    return f", {' and '.join(hidden) if len(hidden) <= 3 else f'{len(hidden)} keys'} masked"


def _many(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def curves_alt(
    ends: tuple[str, str],
    values: dict[str, NDArray[np.float64]],
    bars: dict[str, NDArray[np.float64]],
    x_label: str,
    y_label: str,
    title: str | None,
) -> str:
    """Say where each curve starts and ends, and its extremes where they lie in between."""
    start = f"Line chart{f' ({title})' if title else ''}: {y_label} against {x_label}, "
    span = f"{_many(len(values), 'curve', 'curves')} from {ends[0]} to {ends[1]}."
    told = [start + span, "; ".join(_curve_alt(*item) for item in values.items()) + "."]
    if bars:
        widest = ((plain(np.ptp(bar, axis=1).max()), name) for name, bar in bars.items())
        told.append(f"Bars, at the widest: {', '.join(f'{w} of {name}' for w, name in widest)}.")
    return " ".join(told)


def dots_alt(
    rows: dict[str, dict[str, NDArray[np.float64]]], x_label: str, title: str | None
) -> str:
    """Say each row's means, with the least and the greatest."""
    told = (
        f"{name}: {', '.join(_dots_alt(*item) for item in row.items())}"
        for name, row in rows.items()
    )
    return f"Dot chart{f' ({title})' if title else ''}: {x_label}. {'; '.join(told)}."


def _dots_alt(kind: str, runs: NDArray[np.float64]) -> str:
    return f"{kind} {plain(runs.mean())} ({plain(runs.min())} to {plain(runs.max())})"


def _curve_alt(name: str, y: NDArray[np.float64]) -> str:
    first, last, least, most = (plain(one) for one in (y[0], y[-1], y.min(), y.max()))
    if least == most:
        return f"{name} stays at {first}"
    if first == last:
        text = f"{name} starts and ends at {first}"
    else:
        text = f"{name} {'rises' if y[-1] > y[0] else 'falls'} from {first} to {last}"
    return text if {least, most} == {first, last} else f"{text}, between {least} and {most}"


def histograms_alt(
    values: dict[str, NDArray[np.float64]],
    marks: dict[str, dict[str, float]],
    x_label: str,
    y_label: str,
) -> str:
    """Say how far each histogram's values go, and how many of them lie below each mark."""
    start = f"{_many(len(values), 'histogram', 'histograms')} of {y_label} by {x_label}."
    parts = []
    for name, numbers in values.items():
        text = f"{name} goes from {plain(numbers.min())} to {plain(numbers.max())}"
        for mark, at in marks.get(name, {}).items():
            below = f"{100 * float((numbers < at).mean()):.0f} %"
            text += f", {mark} is {plain(at)}, above {below}"
        parts.append(text)
    return f"{start} {'; '.join(parts)}."
