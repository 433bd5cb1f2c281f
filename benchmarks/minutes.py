"""Where `make test` spends the processor, by part and by file; needs Linux.

    python -m benchmarks.minutes                # `make test` here, and write the table
    python -m benchmarks.minutes --before DIR   # then the same in an earlier checkout, same hour
    python -m benchmarks.minutes unit nbval     # only these tasks; nothing is written

Counted are seconds of the processor, of the tests and all that they start: a kernel, a browser.
These hardly change when something else runs; minutes on the clock do. The measured run is the real
one, with this file beside it as a plugin of pytest.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RECORD = "ATTNBOOK_MINUTES"  # the plugin appends to this file


# ---- in the tests: a plugin of pytest ----------------------------------------------------------


def spent(process: str) -> float:
    """Return the processor's seconds of a process and of all below it, gone or alive."""
    own = Path("/proc", process)
    try:
        words = own.joinpath("stat").read_text().rpartition(")")[2].split()
        below = " ".join(path.read_text() for path in own.glob("task/*/children")).split()
    except OSError:  # it ended meanwhile
        return 0.0
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(spent, below))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Measure where tests run, and not in a pytest that a test starts."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        record = os.environ.pop(RECORD, None)
        if record:
            config.pluginmanager.register(Meter(Path(record)))


class Meter:
    """Appends what each test took, with the fixtures that it made."""

    def __init__(self, record: Path) -> None:
        self.record = record

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = spent("self")
        result = yield
        # a browser that was closed meanwhile takes its seconds with it
        line = json.dumps([item.nodeid.partition("::")[0], max(0.0, spent("self") - before)])
        with self.record.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        return result


# ---- around the tests --------------------------------------------------------------------------


def measure(tree: Path, tasks: list[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Run tasks of a checkout; return seconds by part (``clock``, ``processor``) and by file."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record")
        record.touch()
        shutil.copy(__file__, folder)  # alone: its neighbours have names of other packages
        env = {**os.environ, RECORD: str(record), "PYTHONPATH": folder}
        env["PYTEST_ADDOPTS"] = f"{env.get('PYTEST_ADDOPTS', '')} -p minutes".strip()
        began, before = time.perf_counter(), spent("self")
        for task in tasks:
            subprocess.run([sys.executable, "tasks.py", task], cwd=tree, env=env, check=True)
        whole = {"clock": time.perf_counter() - began, "processor": spent("self") - before}
        files: defaultdict[str, float] = defaultdict(float)
        for line in record.read_text(encoding="utf-8").splitlines():
            name, seconds = json.loads(line)
            files[name] += seconds
    whole["processor"] = max(whole["processor"], sum(files.values()))  # so, too
    return whole, dict(files)


def rooms(files: dict[str, float]) -> dict[str, float]:
    """Add files up by the folder that `make test` gives them in."""
    found: defaultdict[str, float] = defaultdict(float)
    for name, seconds in files.items():
        parts = name.split("/")
        found["/".join(parts[: 2 if parts[0] == "tests" else 1])] += seconds
    return dict(found)


def table(whole: dict[str, float], files: dict[str, float], most: int = 25) -> str:
    """Return the table: all of it, by room, and the files that take most."""
    rest = whole["processor"] - sum(files.values())
    lines = ["| where | processor, s |", "|---|---:|"]
    lines += [f"| **all, {whole['clock'] / 60:.1f} minutes** | **{whole['processor']:,.0f}** |"]
    by_size = sorted(rooms(files).items(), key=lambda row: -row[1])
    lines += [f"| `{name}` | {seconds:,.0f} |" for name, seconds in by_size]
    lines += [f"| lint, build, starts of processes | {rest:,.0f} |", "", "| file | processor, s |"]
    lines += ["|---|---:|"]
    largest = sorted(files.items(), key=lambda row: -row[1])[:most]
    lines += [f"| `{name}` | {seconds:,.0f} |" for name, seconds in largest]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=["test"], help="of tasks.py (default: test)")
    parser.add_argument("--before", type=Path, help="an earlier checkout, run after this one")
    options = parser.parse_args()
    whole, files = measure(ROOT, options.tasks)
    text = table(whole, files)
    if options.before is not None:
        old, _ = measure(options.before, options.tasks)
        share = whole["processor"] / old["processor"]
        text += (
            f"\n\nThe earlier checkout, run after it: {old['clock'] / 60:.1f} minutes and "
            f"{old['processor']:,.0f} s of the processor, so this is {share:.2f} × of that."
        )
    print(text)
    if options.tasks == ["test"]:
        from benchmarks.timing import machine, replace  # has torch: not needed in the tests

        replace(ROOT / "benchmarks" / "README.md", "minutes", text, f"Measured on {machine()}.")


if __name__ == "__main__":
    from attnlab._console import any_letter  # not above: the tests of attention have no lab

    any_letter()
    main()
