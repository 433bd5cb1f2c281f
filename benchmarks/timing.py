"""What the benchmarks of the package share: fair rounds, fresh processes, one kind of table.

Times are CPU time on one thread. On an idle machine that is the time on the clock; on a busy one
it is steadier. The variants of a comparison take turns, in another order each round, and what
counts are medians of the ratios within a round: so a slow minute slows all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
# glibc gives large buffers back to the system and gets them anew, page by page; with these it
# keeps them, so that arithmetic is measured and not the kernel
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(4 << 30), "MALLOC_TRIM_THRESHOLD_": str(16 << 30)}
# gives each buffer of more than 64 kB back as soon as it is free, so that a peak is what was in use
EXACT = {"MALLOC_MMAP_THRESHOLD_": str(1 << 16)}
Times = dict[str, list[float]]

checked: list[str] = []  # the equalities that held


class Row(NamedTuple):
    """A goal: what, the number found, the goal in words, whether it is met, and why not.

    Without a goal ``met`` is None. ``why`` is shown only where the goal is missed.
    """

    what: str
    found: str
    goal: str = "–"
    met: bool | None = None
    why: str = ""

    def line(self) -> str:
        met = {None: "–", True: "yes", False: f"**no**{': ' + self.why if self.why else ''}"}
        return f"| {self.what} | {self.found} | {self.goal} | {met[self.met]} |"


def digits(number: float, goal: float, decimals: int) -> str:
    """Return the number with as many decimals as show on which side of the goal it lies."""
    while round(number, decimals) == goal != number and decimals < 6:
        decimals += 1
    return f"{number:.{decimals}f}"


def at_most(what: str, number: float, goal: float, of: str = "", *, why: str = "") -> Row:
    """Return the row of a ratio that must not be greater than the goal."""
    return Row(what, f"{digits(number, goal, 2)} ×", f"≤ {goal:g} ×{of}", number <= goal, why)


def at_least(what: str, number: float, goal: float, of: str = "", *, why: str = "") -> Row:
    """Return the row of a ratio that must not be smaller than the goal."""
    return Row(what, f"{digits(number, goal, 1)} ×", f"≥ {goal:g} ×{of}", number >= goal, why)


def options(description: str) -> argparse.ArgumentParser:
    """Return a parser with what every benchmark takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does the script run?")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the page that gets the table")
    return parser


def settle(*, keep_memory: bool = True) -> None:
    """Keep to one thread, and to an allocator that keeps its memory; start anew if need be."""
    wanted = {"OMP_NUM_THREADS": "1", **(ALLOCATOR if keep_memory else {})}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **wanted})
    torch.set_num_threads(1)


def same(what: str, found: Any, wanted: Any, *, tolerance: float = 2e-5) -> None:
    """Stop unless two results are equal, tensors within ``tolerance``: no wrong program is timed.

    Raises: ValueError that names what differs.
    """
    if isinstance(wanted, Tensor):
        apart = (found - wanted).abs().max().item() if found.shape == wanted.shape else torch.inf
        equal = apart <= tolerance * max(1.0, wanted.abs().max().item())
    else:
        apart, equal = torch.inf, found == wanted
    if not equal:
        raise ValueError(f"{what} must give the same result, or timing it says nothing: {apart}")
    checked.append(what)


def interleaved(
    variants: Mapping[str, Callable[[], object]], rounds: int, *, warm_up: int = 1, repeat: int = 1
) -> Times:
    """Run the variants in turn; return the seconds of each, one number for each round."""
    names, seconds = list(variants), {name: [] for name in variants}
    for number in range(-warm_up, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            run = variants[name]
            began = time.process_time()
            for _ in range(repeat):
                run()
            if number >= 0:
                seconds[name].append((time.process_time() - began) / repeat)
    return seconds


def ratio(times: Times, name: str, unit: str) -> float:
    """Return the median of one variant's time over another's, round by round."""
    pairs = zip(times[name], times[unit], strict=True)
    return statistics.median(one / other for one, other in pairs)


def milliseconds(times: Times, name: str) -> float:
    return 1000 * statistics.median(times[name])


def product(n: int) -> Callable[[], object]:
    """Return a matrix product in float32, the machine's own unit of arithmetic: 2 n³ operations."""
    one, other = torch.randn(n, n), torch.randn(n, n)
    return lambda: one @ other


def exponent(sizes: list[int], numbers: list[float]) -> float:
    """Fit number ∝ size^x to the measurements and return x."""
    x, y = (torch.tensor(each, dtype=torch.float64).log() for each in (sizes, numbers))
    x, y = x - x.mean(), y - y.mean()
    return ((x * y).sum() / (x * x).sum()).item()


def peak_memory(run: Callable[[], object], *, warm_up: bool = False) -> float | None:
    """Return the MB by which ``run`` raises the peak of this process; None but on Linux.

    It is VmHWM after minus VmRSS before. What is free is given back first, as far as the allocator
    can, so this should come early in the process; with ``warm_up``, ``run`` is run once before.
    """
    if not Path("/proc/self/status").exists():
        return None
    if warm_up:
        run()
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # glibc has it
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):  # forget the peak of the imports
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _status("VmRSS")
    run()
    return (_status("VmHWM") - before) / 1000


def fresh(*arguments: object, allocator: bool = False, exact: bool = False) -> Any:
    """Run this script again with other arguments; return what its last line says in JSON.

    The allocator is glibc's own, the one that keeps its memory, or, for an ``exact`` peak, one
    that keeps nothing.
    """
    mine = {**os.environ, "OMP_NUM_THREADS": "1"}
    if not allocator:
        mine = {name: value for name, value in mine.items() if name not in ALLOCATOR}
    if exact:
        mine |= EXACT
    command = [sys.executable, sys.argv[0], *map(str, arguments)]
    done = subprocess.run(command, env=mine, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> str:
    """Say in words what was measured on."""
    gpu = "a GPU that was not used" if torch.cuda.is_available() else "no GPU"
    kind = torch.backends.cpu.get_cpu_capability()
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    versions = f"torch {torch.__version__.split('+')[0]}, Python {platform.python_version()}"
    return (
        f"{os.cpu_count()} cores, {gpu}; one thread, float32, {kind} instructions; {versions}; "
        f"other work on the machine (load average at the end): {load}"
    )


def table(head: list[str], lines: list[list[str]]) -> str:
    """Return a table, its first column to the left and the others to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *lines])


def goals(rows: list[Row]) -> str:
    head = "| what | measured | goal | met |\n|---|---:|---:|---|\n"
    return head + "\n".join(row.line() for row in rows)


def write(out: Path, name: str, title: str, *parts: str) -> None:
    """Put a section into the page, in place of the one of this name, and print it."""
    equal = f"{len(checked)} results were compared and found equal before anything was timed."
    replace(out, name, f"## {title}", *parts, f"Measured on {machine()}. {equal}")


def replace(out: Path, name: str, *parts: str) -> None:
    """Put parts between the markers of this name in a page, or at its end; print them."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    section = "\n\n".join([begin, *parts, end])
    text = out.read_text(encoding="utf-8") if out.exists() else ""
    if begin in text:
        before, after = text.split(begin)[0], text.split(end)[1]
    else:
        before, after = f"{text.rstrip()}\n\n" if text.strip() else "", "\n"
    out.write_text(f"{before}{section}{after}", encoding="utf-8", newline="\n")
    print(section)


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])  # kB
    raise OSError(f"/proc/self/status has no {field}")
