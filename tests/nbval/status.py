"""What a run of nbval took, notebook by notebook, for the page that tells it.

Where the environment's ``ATTNBOOK_STATUS`` names a file, a run in which every cell passed writes
it: of each notebook that was not skipped the seconds and a digest of the code that ran. A run with
a failure leaves the file as it was. `make status` is such a run.
"""

import datetime
import json
import os
from collections import Counter
from pathlib import Path

import pytest

FILE = "ATTNBOOK_STATUS"


def pytest_configure(config: pytest.Config) -> None:
    where = os.environ.get(FILE)
    if where and not hasattr(config, "workerinput"):  # under xdist the workers' reports come here
        config.pluginmanager.register(Status(Path(where), config.rootpath))


class Status:
    """Adds up the seconds of each notebook's cells, its kernel's start and end among them."""

    def __init__(self, target: Path, root: Path) -> None:
        self.target, self.root = target, root
        self.seconds: Counter[str] = Counter()
        self.ran: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.partition("::")[0]
        if name.endswith(".ipynb"):
            self.seconds[name] += report.duration
            if report.when == "call" and report.passed:
                self.ran.add(name)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus or not self.ran:
            return
        # imported here: a run that writes nothing needs neither Sphinx nor torch
        from benchmarks.timing import machine
        from book.extensions.attnbook_status import digest

        found = {
            name.removeprefix("notebooks/").removesuffix(".ipynb"): {
                "seconds": round(self.seconds[name], 1),
                "code": digest(self.root / name),
            }
            for name in sorted(self.ran)
        }
        told = {"day": f"{datetime.date.today()}", "machine": machine(), "notebooks": found}
        text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
        self.target.write_text(text, encoding="utf-8", newline="\n")
