"""Firefox and WebKit as they are installed, driven by the W3C's protocols with little between.

Firefox speaks WebDriver BiDi by itself, so that it needs no geckodriver, without which Selenium
drives no Firefox and which neither Debian nor PyPI has; WebKitGTK has a driver of its own, which
speaks the classic protocol. Both take the same list of hands and keys, and both
answer JavaScript with JSON, which is all that the tests ask of them.
"""

import contextlib
import http.server
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import websocket

from tests.patience import BROWSER

SIZE = {"width": 1280, "height": 900}
RIGHT = "\ue014"  # a key without a letter, as WebDriver numbers it
# what a page runs first where its driver does not tell of the console
HEAR = """<script>globalThis.heard = [];
addEventListener("error", (event) => heard.push(event.message ?? `no ${event.target.src}`), true);
addEventListener("unhandledrejection", (event) => heard.push(`${event.reason}`));
for (const kind of ["error", "warn"]) console[kind] = (...said) => heard.push(said.join(" "));
</script>"""
LIBRARIES = Path("/usr/lib")
PACKAGES = {"firefox": "firefox-esr", "webkit": "webkit2gtk-driver xvfb"}
SECONDS = BROWSER / 1000


def listening(folder: Path, copy: Path) -> None:
    """Copy a built book whose pages keep the errors of their console, from the first script on."""
    shutil.copytree(folder, copy)
    for page in copy.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("<head>", f"<head>{HEAR}", 1), encoding="utf-8")


def lacking(name: str) -> str | None:
    """Say what must be installed for an engine to run, or None where all is."""
    if name == "firefox":
        found = _firefox()
    else:
        found = shutil.which("WebKitWebDriver") and shutil.which("Xvfb") and _minibrowser()
    return None if found else f"{name} is not installed (Debian: `apt install {PACKAGES[name]}`)"


class Engine:
    """A browser with one window.

    `logged` holds the errors of its console, `outside` the addresses on other hosts it asked for.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.logged: list[str] = []
        self.outside: list[str] = []

    def open(self, url: str) -> None:
        raise NotImplementedError

    def perform(self, actions: list[dict]) -> None:
        """Play hands and keys: a list of sources as the W3C's `Perform Actions` takes them."""
        raise NotImplementedError

    def _ask(self, script: str) -> dict:
        raise NotImplementedError

    def js(self, expression: str) -> Any:
        """Return what an expression gives, awaited, as JSON can say it."""
        answer = self._ask(
            f"(async () => {{ let said; try {{ said = {{ value: await ({expression}) }}; }}"
            " catch (error) { said = { error: `${error}` }; }"
            " return JSON.stringify({ ...said, heard: globalThis.heard?.splice(0) ?? [] }); })()"
        )
        self.logged += answer["heard"]
        assert "error" not in answer, f"{expression}: {answer['error']}"
        return answer.get("value")

    def wait(self, expression: str, wanted: object = True) -> None:
        """Wait until an expression gives what is wanted."""
        end = time.monotonic() + SECONDS
        while (found := self.js(expression)) != wanted:
            assert time.monotonic() < end, f"{expression}: {found!r}, not {wanted!r}"
            time.sleep(0.1)

    def click(self, element: str) -> None:
        """Press an element, which an expression finds, in its middle."""
        self.drag(element, 0)

    def drag(self, element: str, along: int) -> None:
        """Press an element in its middle, move by pixels to the right, and let go."""
        x, y = self.js(
            f"(() => {{ const e = {element}; e.scrollIntoView({{ block: 'center',"
            " behavior: 'instant' }); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2].map(Math.round); })()"
        )
        moves: list[dict] = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
        ]
        if along:
            moves.append({"type": "pointerMove", "x": x + along, "y": y, "duration": 200})
        moves.append({"type": "pointerUp", "button": 0})
        self.perform([{"type": "pointer", "id": "mouse", "actions": moves}])

    def press(self, keys: str) -> None:
        """Type keys one after another into what has the focus."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.perform([{"type": "key", "id": "keys", "actions": strokes}])


class Firefox(Engine):
    """Firefox over the WebSocket that it opens itself."""

    def __init__(self, address: str) -> None:
        super().__init__("firefox")
        # an Origin would be taken for a page's attempt, and refused
        self.socket = websocket.create_connection(
            f"{address}/session", timeout=SECONDS, suppress_origin=True
        )
        self.numbers = itertools.count(1)
        self.send("session.new", capabilities={})
        events = ["log.entryAdded", "network.beforeRequestSent"]
        self.send("session.subscribe", events=events)
        self.context = self.send("browsingContext.getTree")["contexts"][0]["context"]
        self.send("browsingContext.setViewport", context=self.context, viewport=SIZE)
        self.host = ""

    def send(self, method: str, **params: object) -> dict:
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (said := json.loads(self.socket.recv())).get("id") != number:
            self.hear(said.get("method"), said.get("params", {}))
        assert said["type"] == "success", f"{method}: {said}"
        return said["result"]

    def hear(self, method: str | None, params: dict) -> None:
        if method == "log.entryAdded" and params["level"] in {"error", "warn"}:
            self.logged.append(f"{params.get('text')}")
        if method == "network.beforeRequestSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "blob:", "data:", "about:", "http://127.0.0.1:")):
                self.outside.append(url)

    def open(self, url: str) -> None:
        self.send("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def perform(self, actions: list[dict]) -> None:
        self.send("input.performActions", context=self.context, actions=actions)

    def _ask(self, script: str) -> dict:
        target = {"context": self.context}
        answer = self.send("script.evaluate", expression=script, target=target, awaitPromise=True)
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])


class WebKit(Engine):
    """WebKitGTK over its driver's HTTP."""

    def __init__(self, address: str, options: dict, outside: list[str]) -> None:
        super().__init__("webkit")
        self.outside, self.address = outside, address
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        session = self.send("POST", "/session", capabilities=wanted)
        self.address = f"{address}/session/{session['sessionId']}"
        self.send("POST", "/window/rect", **SIZE)
        limits = {"script": BROWSER, "pageLoad": BROWSER}
        self.send("POST", "/timeouts", **limits)

    def send(self, method: str, path: str, **params: object) -> Any:
        data = json.dumps(params).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=2 * SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.read().decode()[:600]}") from None

    def open(self, url: str) -> None:
        self.send("POST", "/url", url=url)

    def perform(self, actions: list[dict]) -> None:
        self.send("POST", "/actions", actions=actions)

    def _ask(self, script: str) -> dict:
        waiting = f"{script}.then(arguments[arguments.length - 1])"
        return json.loads(self.send("POST", "/execute/async", script=waiting, args=[]))


@contextlib.contextmanager
def firefox() -> Iterator[Firefox]:
    """A Firefox without a window, in a profile of its own."""
    found = _firefox()
    assert found, lacking("firefox")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        command = [found, "--headless", "--no-remote", "--profile", folder]
        with _running([*command, "--remote-debugging-port", "0"], place / "log"):
            yield Firefox(_said(place / "log", r"BiDi listening on (\S+)\s"))


@contextlib.contextmanager
def webkit() -> Iterator[WebKit]:
    """A MiniBrowser on a screen that nobody sees; what it asks of other hosts meets a recorder."""
    asked: list[str] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, _proxy(asked) as proxy:
        place = Path(folder)
        screen = ["Xvfb", "-displayfd", "1", "-screen", "0", "1400x1100x24", "-nolisten", "tcp"]
        with _running(screen, place / "screen"):
            display = _said(place / "screen", r"^(\d+)\n")
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            driver = ["WebKitWebDriver", f"--port={port}"]
            env = {"DISPLAY": f":{display}", "HOME": folder, "WEBKIT_DISABLE_DMABUF_RENDERER": "1"}
            with _running(driver, place / "log", env):
                _answers(port)
                args = ["--automation", f"--proxy={proxy}", "--ignore-host=127.0.0.1"]
                options = {"binary": _minibrowser(), "args": args}
                yield WebKit(f"http://127.0.0.1:{port}", options, asked)


ENGINES: dict[str, Callable[[], contextlib.AbstractContextManager[Engine]]] = {
    "firefox": firefox,
    "webkit": webkit,
}


@contextlib.contextmanager
def _running(command: list[str], log: Path, env: dict[str, str] | None = None) -> Iterator[None]:
    """Run a program, what it says in a file, and end it with all that it started."""
    with log.open("wb") as said:
        done = subprocess.Popen(
            command,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(done.pid, signal.SIGTERM)
            try:
                done.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(done.pid, signal.SIGKILL)
                done.wait()


def _said(log: Path, pattern: str) -> str:
    """Wait until a log holds a pattern; return its group."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text(errors="replace"), re.M):
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"it did not start: {log.read_text(errors='replace')[-600:]}")


def _answers(port: int) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError("WebKitWebDriver did not start")


@contextlib.contextmanager
def _proxy(asked: list[str]) -> Iterator[str]:
    """A proxy that writes down what it is asked for, and gives nothing."""

    class Recorder(http.server.BaseHTTPRequestHandler):
        def refuse(self) -> None:
            asked.append(self.path)
            self.send_error(502)

        do_GET = do_POST = do_HEAD = do_CONNECT = refuse

        def log_message(self, *_: object) -> None:
            """Say nothing of what is asked for."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def _firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


def _minibrowser() -> str | None:
    found = sorted(LIBRARIES.glob("**/webkit2gtk-4.*/MiniBrowser"))
    return str(found[-1]) if found else None
