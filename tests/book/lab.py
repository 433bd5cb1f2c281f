"""JupyterLab as the tests drive it: its server, and one lecture open in a browser's tab."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
from playwright.sync_api import Locator, Page

from tests.book.lectures import read
from tests.patience import BROWSER, PROCESS

NO_NEWS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
# the last cell has run, or an error has stopped the run
FINISHED = """() => {
  const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];
  const status = document.querySelector('.jp-Notebook-ExecutionIndicator').dataset.status;
  return status === 'idle' && !prompts.some((prompt) => prompt.textContent.includes('*'))
    && (/\\d/.test(prompts.at(-1).textContent)
      || document.querySelector('.jp-OutputArea [data-mime-type$="error"]'));
}"""
RAN_AGAIN = f"""(before) => ({FINISHED})()
  && [...document.querySelectorAll('.jp-InputPrompt')].at(-1).textContent !== before"""


@dataclass
class Visit:
    """One lecture in a browser's tab: what was seen when it was opened, and the page now."""

    page: Page = field(repr=False)
    file: Path
    stored: nbformat.NotebookNode = field(repr=False)
    outside: list[str] = field(default_factory=list)  # addresses on other hosts
    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    opened: dict[int, str] = field(default_factory=dict, repr=False)  # what cells showed at first
    unfolded: int = 0  # answers that stood open at first

    def __post_init__(self) -> None:
        self.page.set_default_timeout(BROWSER)
        self.page.on("dialog", self.refuse)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("websocket", lambda opened: self.note(opened.url))
        self.page.on("request", lambda asked: self.note(asked.url))

    def refuse(self, dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def note(self, url: str) -> None:
        """Write down an address on another host."""
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob"} and parts.hostname != "127.0.0.1":
            self.outside.append(url)

    def open(self, address: str) -> None:
        """Open the lecture, and note what its code cells show before anything is run."""
        self.page.goto(f"{address}/{self.file.name}?reset")
        count = len(self.stored.cells)
        self.page.wait_for_function(
            f"() => document.querySelectorAll('.jp-Notebook .jp-Cell').length === {count}"
        )
        self.page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        for place, cell in enumerate(self.stored.cells):
            if cell.cell_type == "code" and (cell.outputs or cell.metadata.get("tags")):
                self.opened[place] = self.seen(place)
        self.unfolded = self.page.locator(".jp-Notebook details[open]").count()

    def cell(self, place: int) -> Locator:
        """One cell, scrolled into sight: JupyterLab draws no other."""
        cell = self.page.locator(".jp-Notebook .jp-Cell").nth(place)
        cell.scroll_into_view_if_needed()
        return cell

    def seen(self, place: int) -> str:
        return self.cell(place).inner_text()

    def first(self, kind: str) -> Locator:
        """The first live widget of one kind, scrolled into sight."""
        figure = self.page.locator(f"figure.attnbook-{kind}[data-ready]").first
        figure.scroll_into_view_if_needed()
        return figure

    def run_all(self) -> None:
        self.page.click('.lm-MenuBar-itemLabel:text-is("Run")')
        self.page.click('.lm-Menu-itemLabel:text-is("Run All Cells")')
        self.page.wait_for_function(FINISHED, timeout=1000 * PROCESS)

    def prints(self, code: str, wanted: str) -> None:
        """Find that code prints what is wanted, in the end.

        A page tells Python of one change at a time, and what is run may come between two.
        """
        until = time.monotonic() + BROWSER / 1000
        while (found := self.python(code)) != wanted and time.monotonic() < until:
            pass
        assert found == wanted

    def python(self, code: str) -> str:
        """Run code in the notebook's last cell, as a reader would, and return what it prints."""
        cell = self.cell(len(self.stored.cells) - 1)
        before = cell.locator(".jp-InputPrompt").text_content()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(RAN_AGAIN, arg=before)
        return cell.locator(".jp-Cell-outputArea").inner_text().strip()

    def saved(self) -> nbformat.NotebookNode:
        """The notebook as JupyterLab writes it now."""
        written = self.file.stat().st_mtime_ns
        self.page.click('.lm-MenuBar-itemLabel:text-is("File")')
        self.page.click('.lm-Menu-itemLabel:text-is("Save Notebook")')
        until = time.monotonic() + BROWSER / 1000
        while time.monotonic() < until:
            self.page.wait_for_timeout(100)
            # JupyterLab empties the file before it writes
            if self.file.stat().st_mtime_ns != written and self._is_whole():
                break
        return read(self.file)

    def _is_whole(self) -> bool:
        try:
            json.loads(self.file.read_text(encoding="utf-8"))
        except ValueError:
            return False
        return True


@contextlib.contextmanager
def jupyterlab(home: Path) -> Iterator[tuple[str, Path]]:
    """JupyterLab on this machine alone, with settings of its own: its address and its folder."""
    root = home / "notebooks"
    overrides = home / "CONFIG" / "labconfig" / "default_setting_overrides.json"
    for folder in (root, overrides.parent):
        folder.mkdir(parents=True)
    overrides.write_text(json.dumps(NO_NEWS))
    folders = {f"JUPYTER_{name}_DIR": str(home / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    options += ["--ServerApp.port_retries=0", "--IdentityProvider.token="]
    options += ["--LabApp.news_url=None", f"--ServerApp.root_dir={root}"]
    options += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command = [sys.executable, "-m", "jupyterlab", *options]
    env = {**os.environ, **folders, "IPYTHONDIR": str(home / "ipython")}
    log = home / "log.txt"
    with log.open("w") as sink, subprocess.Popen(command, env=env, stdout=sink, stderr=sink) as lab:
        try:
            wait_for(f"http://127.0.0.1:{port}/api/status", lab, log)
            yield f"http://127.0.0.1:{port}/lab/tree", root
        finally:
            lab.terminate()


def wait_for(url: str, server: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + PROCESS
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")
