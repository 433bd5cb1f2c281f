"""What a lecture costs the reader's processor, beside an earlier build and beside text alone.

    python benchmarks/work.py /path/to/earlier/_build/html

Each page is opened in turn from both builds, and from ours without any script of the book: theme,
text and style alone. Written into benchmarks/README.md; the book must have been built.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from page import ALL_READY, DESK, FELT, README, ROOT, packed, say
from playwright.sync_api import Browser, Route, sync_playwright
from timing import Row, goals, replace

from attnlab._console import any_letter
from tests.browser import launch

HTML = ROOT / "_build" / "html"
PAGES = ("05-self-attention", "11-transformer", "15-what-a-head-shows", "16-what-heads-do-together")
VISITS = 3
OURS = {path.name for path in (ROOT / "book" / "assets").glob("*.js")} | {"formulae.js"}
LONG = """window.blocked = 0;
new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => {
  blocked += duration - 50; })).observe({ type: 'longtask', buffered: true });"""


class Visit(NamedTuple):
    """Seconds of the main thread and blocked, until the first picture; shift; KB that came."""

    work: float
    blocked: float
    first: float
    shift: float
    size: float


def visit(browser: Browser, url: str, slowed: int, *, plain: bool = False) -> Visit:
    """Open a page, wait until it rests, and read what it took."""
    context = browser.new_context(viewport=DESK)
    context.add_init_script(FELT)
    context.add_init_script(LONG)
    page = context.new_page()
    if plain:

        def theme_alone(route: Route) -> None:
            name = route.request.url.rpartition("/")[2].partition("?")[0]
            ours = name in OURS or name.startswith("attnbook") or "mathjax" in route.request.url
            if ours and name.endswith(".js"):
                route.abort()
            else:
                route.continue_()

        page.route("**/*.js*", theme_alone)
    line, came = context.new_cdp_session(page), []
    line.send("Network.enable")
    line.on("Network.loadingFinished", lambda event: came.append(event["encodedDataLength"]))
    line.send("Performance.enable", {"timeDomain": "threadTicks"})
    line.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.goto(url, wait_until="load", timeout=120_000)
    if not plain:
        page.wait_for_function(ALL_READY, timeout=120_000)
        page.wait_for_function("!window.MathJax?.startup || MathJax.startup.promise.then(() => 1)")
    page.wait_for_timeout(2500)  # what comes late
    metrics = line.send("Performance.getMetrics")["metrics"]
    work = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
    blocked, first, shift = page.evaluate("[blocked, felt.first, felt.shift]")
    context.close()
    return Visit(work, blocked / 1000, (first or 0) / 1000, shift, sum(came) / 1000)


def middle(visits: list[Visit]) -> Visit:
    return Visit(*(statistics.median(column) for column in zip(*visits, strict=True)))


def rows_of(browser: Browser, roots: dict[str, str], page: str) -> list[Row]:
    """Compare a lecture's builds at full speed and at a quarter, visits in turn."""
    found: dict[tuple[str, int], list[Visit]] = {}
    for _ in range(VISITS):
        for slowed in (1, 4):
            for name, root in roots.items():
                say(f"{page}, {name}, at 1/{slowed}")
                url = f"{root}/notebooks/{page}.html"
                seen = visit(browser, url, slowed, plain=name == "text alone")
                found.setdefault((name, slowed), []).append(seen)
    now, before, text = (
        {slowed: middle(found[name, slowed]) for slowed in (1, 4)} for name in roots
    )
    rows = []
    for slowed in (1, 4):
        share = now[slowed].work / before[slowed].work
        told = f"{now[slowed].work:.2f} to {before[slowed].work:.2f} s: {share:.2f}"
        told += f" (text alone {text[slowed].work:.2f})"
        rows.append(Row(f"{page}: main thread at 1/{slowed}", told, "≤ 0.50", share <= 0.5))
    share = now[4].blocked / before[4].blocked
    told = f"{now[4].blocked:.2f} to {before[4].blocked:.2f} s: {share:.2f}"
    rows.append(Row(f"{page}: blocked at 1/4", told, "≤ 0.40", share <= 0.4))
    told = f"{now[4].first:.2f} to {before[4].first:.2f} s"
    no_later = now[4].first <= 1.05 * before[4].first
    rows.append(Row(f"{page}: first picture at 1/4", told, "no later", no_later))
    share = now[1].size / before[1].size
    told = f"{now[1].size:.0f} to {before[1].size:.0f} KB: {share:.2f}"
    rows.append(Row(f"{page}: came", told, "≤ 0.65", share <= 0.65))
    rows.append(Row(f"{page}: shift", f"{now[4].shift:.3f}", "≤ 0.005", now[4].shift <= 0.005))
    return rows


def main() -> None:
    earlier = Path(sys.argv[1])
    with packed(HTML) as ours, packed(earlier) as theirs, sync_playwright() as playwright:
        browser = launch(playwright)
        roots = {"now": ours, "before": theirs, "text alone": ours}
        rows = [row for page in PAGES for row in rows_of(browser, roots, page)]
        browser.close()
    told = f"Each the median of {VISITS} visits on {os.cpu_count()} cores, the builds in turn."
    replace(README, "work", goals(rows), told)


if __name__ == "__main__":
    any_letter()
    main()
