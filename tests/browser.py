"""Finding and starting the browser that the page tests drive."""

import contextlib
import functools
import http.server
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MACOS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
WINDOWS = (
    r"Google\Chrome\Application\chrome.exe",
    r"Chromium\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # no other host is found, so that what is asked of one need not be stopped on its way
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
# what the Tab key stops at; of the answers to one question at one alone
STOPS = """() => {
  const boxes = [...document.querySelectorAll(
    'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable="true"]')];
  const stops = boxes.filter((box) => box.tabIndex >= 0 && !box.disabled && box.checkVisibility(
    { visibilityProperty: true, contentVisibilityAuto: true }));
  const groups = stops.filter((box) => box.type === 'radio').map((box) => box.name);
  return stops.length - groups.length + new Set(groups).size;
}"""
MISSING = (
    "no Chromium was found: install it (Debian and Ubuntu: `apt install chromium`; elsewhere:"
    " `python -m playwright install chromium`), or name one in the variable CHROMIUM"
)


def find_chromium() -> str | None:
    """Return the path of a Chromium or Chrome on this machine, or None.

    Looks at the variable CHROMIUM, the PATH, Playwright's own browsers, and the usual
    folders of macOS and Windows, in this order.
    """
    chosen = os.environ.get("CHROMIUM")
    if chosen:
        return shutil.which(chosen)
    on_path = (shutil.which(name) for name in NAMES)
    installed = (str(path) for path in [*_playwright(), *_usual()] if path.is_file())
    return next((path for path in [*on_path, *installed] if path), None)


def launch(playwright, path: str | None = None):
    """Return a headless browser, started from `path` or from what `find_chromium` finds.

    Raises:
        RuntimeError: there is none.
    """
    found = path or find_chromium()
    if found is None:
        raise RuntimeError(MISSING)
    return playwright.chromium.launch(executable_path=found, args=list(FLAGS))


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine: the address that leads to it."""
    handler = functools.partial(_Silent, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of what is asked for."""


def _playwright() -> list[Path]:
    home = Path.home()
    usual = {
        "darwin": home / "Library/Caches/ms-playwright",
        "win32": home / "AppData/Local/ms-playwright",
    }.get(sys.platform, home / ".cache/ms-playwright")
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or usual)
    names = ("chrome", "chrome.exe", "Chromium", "Google Chrome for Testing")
    builds = sorted(folder.glob("chromium-*"), reverse=True)
    return [path for build in builds for name in names for path in build.rglob(name)]


def _usual() -> list[Path]:
    if sys.platform == "darwin":
        return [Path(path) for path in MACOS]
    roots = [os.environ.get(name) for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")]
    return [Path(root) / tail for root in roots if root for tail in WINDOWS]
