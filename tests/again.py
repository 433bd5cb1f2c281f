"""Leaves out tests that passed as they are: a plugin of `make test`, not of pytest run by hand.

Tests come in groups, each with a name and the places that its result hangs on:
- a lecture under nbval, on its cells and on all of `src`;
- a file of tests/attnbook or tests/attnlab, on its package and on that folder, and on what the
  file names in HANGS_ON besides;
- of the built book a file that names all its places in HANGS_ON, or makes groups by a function
  ``hangs_on(item) -> (name, places)``, as the pages do; no other.

A group whose tests all ran and passed is noted under its key (tests/passed.py). A file that reads
of the repository what it does not hang on fails; what its subprocesses read, nobody sees.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import passed

LECTURE = ("src", "notebooks/assets", "tests/nbval")
ROOMS = {"attnbook": ("src/attnbook",), "attnlab": ("src", "experiments", "tests/attnbook")}
# made by runs, or of no consequence to a test
MADE = [f"_build/{name}" for name in ("models", "passed", "bare")]
FREE = (*MADE, ".venv", ".git", ".hypothesis", ".pytest_cache", ".ruff_cache", *passed.PINS)


@cache
def helpers() -> tuple[str, ...]:
    """Name the files beside the rooms of tests, which all share."""
    return tuple(f"tests/{path.name}" for path in sorted((passed.ROOT / "tests").glob("*.py")))


def group(item: pytest.Item | pytest.Module) -> tuple[str, tuple[str, ...]] | None:
    """Return the name of a test's group with what it hangs on, or none: then it always runs."""
    where = item.path.relative_to(passed.ROOT)
    name = "--".join(where.with_suffix("").parts)
    if item.path.suffix == ".ipynb":
        return name, (where.as_posix(), *LECTURE)
    module = item.obj if isinstance(item, pytest.Module) else getattr(item, "module", None)
    if hasattr(module, "hangs_on"):
        if module is getattr(item, "obj", None):
            return None  # a file of several groups
        which, places = module.hangs_on(item)
        return f"{name}--{which.replace('/', '--')}", places
    own = ROOMS.get(where.parts[1]) if where.parts[0] == "tests" else None
    more = getattr(module, "HANGS_ON", None)
    if own is None and more is None:
        return None
    return name, (f"tests/{where.parts[1]}", *(own or ()), *(more or ()))


def written(path: Path) -> Path:
    """Return the source of a compiled module; any other file as it is."""
    compiled = path.parent.name == "__pycache__"
    return path.parents[1] / f"{path.name.partition('.')[0]}.py" if compiled else path


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Again())


class Again:
    """Leaves out what passed, and notes what passes."""

    def __init__(self) -> None:
        self.contents = cache(passed.contents)
        self.of: dict[str, str] = {}  # the group of each test
        self.keys: dict[str, str] = {}  # of each group
        self.left, self.bad, self.known = Counter[str](), set[str](), set[str]()
        self.reads = set[str]()
        self.watched = False
        sys.addaudithook(self.heard)

    @pytest.hookimpl(trylast=True)  # after -m
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        out = set()
        for item in items:
            found = group(item)
            if found is None:
                continue
            name, places = found
            if name not in self.keys:
                self.keys[name] = passed.key(*places, *helpers(), read=self.contents)
            if passed.before(name, self.keys[name]):
                self.known.add(name)
                out.add(item)
            else:
                self.of[item.nodeid] = name
        if out:
            config.hook.pytest_deselected(items=list(out))
            items[:] = [item for item in items if item not in out]
        self.left = Counter(self.of.values())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = self.of.get(report.nodeid)  # a controller of xdist knows none: its workers note
        if name is None:
            return
        if report.failed or (report.skipped and not hasattr(report, "wasxfail")):
            self.bad.add(name)
        if report.when == "teardown":
            self.left[name] -= 1
            if not self.left[name] and name not in self.bad:
                passed.keep(name, self.keys[name])

    # ---- what was left out, told at the end

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):  # of xdist
            session.config.workeroutput["known"] = sorted(self.known)
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.known:
            session.exitstatus = pytest.ExitCode.OK

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.known |= set(getattr(node, "workeroutput", {}).get("known", ()))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.known:
            names = ", ".join(sorted(name.rpartition("--")[2] for name in self.known))
            told = f"not run, as they passed as they are: {names}"
            terminalreporter.write_line(f"{told} ({passed.EVERY}=1 runs all)")

    # ---- what a test reads

    def heard(self, event: str, args: tuple[Any, ...]) -> None:
        """Note what is opened or listed in the repository."""
        if not self.watched or event not in ("open", "os.listdir", "os.scandir"):
            return
        looking = event == "os.listdir" and "importlib" in sys._getframe(1).f_code.co_filename
        if isinstance(args[0], bytes | str | Path) and not looking:  # for a module, anywhere
            self.reads.add(os.fsdecode(args[0]))

    def only(self, of: pytest.Item | pytest.Module) -> None:
        """Fail where more was read than the group of a test, or of a file, hangs on."""
        _, places = group(of) or ("", ())
        fine = [passed.ROOT / place for place in (*places, *helpers(), *FREE)]
        read = (written(Path(os.path.abspath(path))) for path in self.reads)
        inside = [path for path in read if passed.ROOT in path.parents]
        self.reads.clear()
        strange = [
            path.relative_to(passed.ROOT).as_posix()
            for path in inside
            if not any(one == path or one in path.parents for one in fine)
            and not any(path in one.parents for one in fine)  # a folder on the way to a place
        ]
        if places and strange:
            told = f"{of.path.name} reads {min(strange)} and does not say so in HANGS_ON"
            pytest.fail(told, pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makemodule(self) -> Iterator[None]:
        """Watch a file of tests being imported."""
        self.watched = True
        module = yield
        assert module.obj  # which imports it
        self.watched = False
        self.only(module)
        return module

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        self.watched = True
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        result = yield
        self.watched = False
        self.only(item)
        return result
