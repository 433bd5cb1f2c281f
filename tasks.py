#!/usr/bin/env python3
"""Every task of the book, with the standard library only: `python tasks.py book`.

Makes `.venv` from requirements.txt where it is missing or out of date, then runs the real tool.
`make TASK` calls this file; there is no second list of commands.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
HTML = ROOT / "_build" / "html"
IN_CI = bool(os.environ.get("CI"))
OLDEST = "3.11.5"  # what a pinned package asks for
PINS_HEAD = "# Exact versions for every system, resolved from requirements.in by `make pins`."

# one thread and one hash seed: the same machine gives the same bytes; a model that two lectures
# train by the same call is trained once for each state of the code
QUIET = {
    "TQDM_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "ATTNBOOK_CACHE": str(ROOT / "_build" / "models"),
}


def say(text: str) -> None:
    print(f"\n==> {text}", flush=True)


def stop(text: str) -> None:
    sys.exit(f"\nstopped: {text}")


def run(*command: object, **env: str) -> None:
    """Run a command in the repository's root, and stop with its name where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **env}, check=False)
    if done.returncode:
        shown = " ".join(Path(words[0]).name if i == 0 else w for i, w in enumerate(words))
        stop(f"`{shown}` failed with exit code {done.returncode}; its message stands above")


def python(*arguments: object, **env: str) -> None:
    run(PYTHON, *arguments, **env)


# ---- set-up ------------------------------------------------------------------------------------


def set_up() -> None:
    """Make `.venv` from requirements.txt, once for each version of the two files that define it."""
    if sys.version_info < (3, 11):  # noqa: UP036 (this file meets older ones)
        found = ".".join(map(str, sys.version_info[:3]))
        stop(f"Python 3.11 or later is needed, this is {found}; try `make PYTHON=python3.12 …`")
    wanted = hashlib.sha256()
    for name in ("requirements.txt", "pyproject.toml"):
        wanted.update((ROOT / name).read_bytes().replace(b"\r\n", b"\n"))
    stamp = VENV / ".made-from"
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted.hexdigest():
        return
    say("set-up: making .venv from requirements.txt (some 1.5 GB, one to five minutes, once)")
    if not PYTHON.exists():
        run(sys.executable, "-m", "venv", VENV)
    pip = ("-m", "pip", "install", "--disable-pip-version-check", "-q")
    python(*pip, "-r", "requirements.txt")
    python(*pip, "--no-deps", "--no-build-isolation", "-e", ".")
    stamp.write_text(wanted.hexdigest())


def chromium() -> None:
    """Find Chromium, or install it: Debian's where apt and root are at hand, else Playwright's."""
    find = "from tests.browser import find_chromium; import sys; sys.exit(not find_chromium())"

    def found() -> bool:
        return subprocess.run([str(PYTHON), "-c", find], cwd=ROOT, check=False).returncode == 0

    if found():
        return
    say("set-up: no Chromium found, installing one for the browser tests")
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=False)
    if not found():
        subprocess.run([str(PYTHON), "-m", "playwright", "install", "chromium"], check=False)
    if not found():
        stop(
            "the browser tests need Chromium and none could be installed. Install it with your "
            "system's package manager (Debian: `apt install chromium`), or set CHROMIUM to its path"
        )


# ---- tasks -------------------------------------------------------------------------------------


def build() -> None:
    """Build the static book from the stored notebooks; any warning fails."""
    say(
        "building the book into _build/html (nothing is executed: the notebooks hold their outputs)"
    )
    for old in ("html", ".doctrees"):  # Sphinx would keep back what it calls unchanged
        shutil.rmtree(ROOT / "_build" / old, ignore_errors=True)
    run(BIN / "jupyter-book", "build", ".", "-n", "-W", "--keep-going", "-q")


def book() -> None:
    """Build the static book; outside CI, serve it too."""
    began = time.perf_counter()
    build()
    seconds = time.perf_counter() - began
    print(f"\nbook: built in {seconds:.0f} s: {HTML / 'index.html'}")
    if not IN_CI:
        serve()


def serve() -> None:
    """Serve the built book on this machine alone, and print its address."""
    if not (HTML / "index.html").exists():
        stop("there is no book yet: run `make book` (or `python tasks.py book`) first")
    handler = functools.partial(QuietHandler, directory=str(HTML))
    server = None
    for port in range(8000, 8050):
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
            break
        except OSError:
            continue
    if server is None:
        stop("no free port between 8000 and 8049")
    print(f"serve: http://127.0.0.1:{server.server_port}/ (Ctrl-C stops it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nserve: stopped")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing: a line per picture would hide the address."""


def notebooks() -> None:
    """Re-execute the lectures whose text, package or versions changed."""
    say("executing the lectures that changed")
    python("book/tools/notebooks.py", *sys.argv[2:], **QUIET)


def lint() -> None:
    """Check style, spelling and types."""
    say("lint: ruff, codespell, pyright")
    python("-m", "ruff", "check", ".")
    python("-m", "ruff", "format", "--check", ".")
    run(BIN / "codespell")
    python("-m", "pyright", "--pythonpath", PYTHON)


def unit() -> None:
    """Test the package and its widgets."""
    chromium()
    say("unit tests: the package and its widgets")
    shared = ("-n", "auto", "--dist", "loadfile")
    python("-m", "pytest", "tests", "--ignore", "tests/book", "-q", *shared, **QUIET)


def nbval(**env: str) -> None:
    """Re-run every lecture and compare every output with what is stored."""
    say("nbval: every cell of every lecture, every output compared")
    python("-m", "pytest", "--nbval", "--nbval-current-env", "notebooks", "-q", **{**QUIET, **env})


def test_cpus() -> None:
    """Run nbval under other instruction sets: other machines, imitated on this one."""
    for capability in ("default", "avx2"):
        say(f"the lectures on a processor of kind '{capability}'")
        nbval(ATEN_CPU_CAPABILITY=capability)
    print("\ntest-cpus: every lecture prints the same numbers under both instruction sets")


def test() -> None:
    """Everything that CI checks."""
    began = time.perf_counter()
    chromium()
    lint()
    unit()
    nbval()
    build()
    say("the book: lectures, pages in a browser, JupyterLab, Colab's bootstrap")
    python("-m", "pytest", "tests/book", "-q", **QUIET)
    minutes = (time.perf_counter() - began) / 60
    print(f"\ntest: everything passed in {minutes:.1f} minutes")


def widgets() -> None:
    """Bundle the widgets' JavaScript (needs Node; readers never do)."""
    python("-m", "attnbook.widgets.build")


def address() -> None:
    """Carry the repository's address from _config.yml to every place that names it."""
    python("book/tools/address.py", *sys.argv[2:])


def bench() -> None:
    """Measure the page and the package (some half an hour), and rewrite the tables."""
    chromium()
    for name in ("page", "frames", "attention", "growth", "layers", "decoding", "training"):
        python(f"benchmarks/{name}.py")


def experiments() -> None:
    """Train again, over all seeds, what has changed since its table was made (an hour for all)."""
    for script in sorted((ROOT / "experiments").glob("*.py")):
        if script.name != "harness.py":
            python("-m", f"experiments.{script.stem}", *sys.argv[2:], **QUIET)


def mutants() -> None:
    """Mutate the package and see that its tests notice (some half an hour)."""
    python("benchmarks/mutation.py", *sys.argv[2:])


def pins() -> None:
    """Resolve requirements.in for every system; `--upgrade` takes the newest versions."""
    path = ROOT / "requirements.txt"
    resolve = ("pip", "compile", "--universal", "--python-version", OLDEST, "--no-config", "-q")
    quiet = ("--no-annotate", "--no-header", "requirements.in", "-o", path)
    run(BIN / "uv", *resolve, *quiet, *sys.argv[2:])
    lines = path.read_text(encoding="utf-8").splitlines()
    # what PyTorch's default build for Linux brings with it, and its CPU build must not get
    kept = [line for line in lines if not re.match("cuda-|nvidia-|triton=", line)]
    path.write_text("\n".join([PINS_HEAD, *kept, ""]), encoding="utf-8")
    print(f"pins: {len(kept)} versions written to requirements.txt")


def newest() -> None:
    """Upgrade .venv to the newest release of everything chosen in requirements.in."""
    python("-m", "pip", "install", "-q", "-U", "-r", "requirements.in")
    print("newest: .venv now holds the newest releases; `make test` tries the book on them")


def clean() -> None:
    """Remove what was built; the notebooks stay, they are committed."""
    shutil.rmtree(ROOT / "_build", ignore_errors=True)
    print("clean: _build removed (.venv stays; delete it by hand to start afresh)")


TASKS = {
    "book": book,
    "test": test,
    "notebooks": notebooks,
    "serve": serve,
    "unit": unit,
    "nbval": nbval,
    "test-cpus": test_cpus,
    "lint": lint,
    "widgets": widgets,
    "address": address,
    "bench": bench,
    "experiments": experiments,
    "mutants": mutants,
    "pins": pins,
    "newest": newest,
    "clean": clean,
}
NEEDS_NOTHING = {"serve", "clean"}


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "help"
    if name not in TASKS:
        width = max(map(len, TASKS))
        print("usage: python tasks.py TASK   (or: make TASK)\n")
        for task, function in TASKS.items():
            print(f"  {task:<{width}}  {(function.__doc__ or '').splitlines()[0]}")
        sys.exit(0 if name in {"help", "-h", "--help"} else f"\nno task named {name!r}")
    if name not in NEEDS_NOTHING:
        set_up()
    TASKS[name]()


if __name__ == "__main__":
    main()
