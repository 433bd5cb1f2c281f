"""Which lectures nbval leaves out: those that passed with these cells, this `src` and these pins.

Keys are read once, before anything runs, and handed to xdist's workers. A lecture whose cells all
ran and passed is noted; one with a cell that was skipped, left out or red is not.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests import passed

ON_ALL = ("src", "notebooks/assets", "tests/nbval", "tests/patience.py")  # besides the lecture


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "nbval", False):
        told = getattr(config, "workerinput", {}).get("again")
        config.pluginmanager.register(Again(told or keys(config.rootpath)))


def keys(root: Path) -> dict[str, tuple[str, bool]]:
    """Return for each notebook of the book its key, and whether it passed under it."""
    common = passed.key(*ON_ALL)
    found = {}
    for path in sorted((root / "notebooks").rglob("*.ipynb")):
        now = passed.key(path) + common
        found[str(path)] = now, passed.before(path.stem, now)
    return found


class Again:
    """Leaves out what passed, and notes what passes."""

    def __init__(self, keys: dict[str, tuple[str, bool]]) -> None:
        self.keys, self.left, self.out = keys, Counter[str](), set[str]()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["again"] = self.keys

    @pytest.hookimpl(tryfirst=True)  # before -k and -m: what those leave out was not run
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        gone = [item for item in items if self.keys.get(str(item.path), ("", False))[1]]
        if gone:
            config.hook.pytest_deselected(items=gone)
            items[:] = [item for item in items if item not in set(gone)]
        self.left = Counter(item.nodeid.partition("::")[0] for item in items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.partition("::")[0]
        if not report.passed:
            self.out.add(name)
        if report.when == "teardown":
            self.left[name] -= 1
            path = str(passed.ROOT / name)
            if not self.left[name] and name not in self.out and path in self.keys:
                passed.keep(Path(name).stem, self.keys[path][0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.known():
            session.exitstatus = pytest.ExitCode.OK

    def known(self) -> list[str]:
        return [Path(path).stem[:2] for path, (_, before) in self.keys.items() if before]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if known := ", ".join(self.known()):
            told = f"not run, as they passed as they are: {known}"
            terminalreporter.write_line(f"{told} ({passed.EVERY}=1 runs all)")
