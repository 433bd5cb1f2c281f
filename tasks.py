#!/usr/bin/env python3
"""Every task of the book, with the standard library only: `python tasks.py book`.

Makes `.venv` from requirements.txt where it is missing or out of date, then runs the real tool.
`make TASK` calls this file; there is no second list of commands.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
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
# train by the same call is trained once, until it would come out otherwise
QUIET = {
    "TQDM_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "ATTNBOOK_CACHE": str(ROOT / "_build" / "models"),
}

# other processors, imitated on this one. torch's own kernels follow the first three; the matrix
# products of MKL and the GELU of oneDNN keep their bits under those, and follow the fourth. Of
# MKL's branches COMPATIBLE is the only one that AMD's processors have, too
CPUS = {
    "default": {"ATEN_CPU_CAPABILITY": "default"},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "avx512": {"ATEN_CPU_CAPABILITY": "avx512"},
    "sse": {"MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"},
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


def pytest(*arguments: object, **env: str) -> None:
    """Run tests on all processors, a file's tests on one."""
    python("-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile", *arguments, **{**QUIET, **env})


# not what passed as it is
AGAIN = ("-p", "tests.again")
# the longest files first, in the order that tests/nbval and tests/book give them
SORTED = "--no-loadscope-reorder"


def timed(*steps: Callable[[], None]) -> None:
    """Run one step after another; then say how long each took, also where one failed."""
    took = []
    try:
        for step in steps:
            began = time.perf_counter()
            try:
                step()
            finally:
                took.append((step.__name__.replace("_", " "), time.perf_counter() - began))
    finally:
        say("minutes taken")
        took.append(("in all", sum(seconds for _, seconds in took)))
        for name, seconds in took:
            print(f"  {name:<20} {seconds / 60:5.1f}", flush=True)


# ---- set-up ------------------------------------------------------------------------------------


def set_up() -> None:
    """Make `.venv` from requirements.txt, once for each version of the files that define it."""
    if sys.version_info < (3, 11):  # noqa: UP036 (this file meets older ones)
        found = ".".join(map(str, sys.version_info[:3]))
        stop(f"Python 3.11 or later is needed, this is {found}; try `make PYTHON=python3.12 …`")
    wanted = hashlib.sha256()
    for name in ("requirements.txt", "pyproject.toml", "src/attnlab/pyproject.toml"):
        wanted.update((ROOT / name).read_bytes().replace(b"\r\n", b"\n"))
    stamp = VENV / ".made-from"
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted.hexdigest():
        return
    say("set-up: making .venv from requirements.txt (some gigabytes, one to five minutes, once)")
    if not PYTHON.exists():
        run(sys.executable, "-m", "venv", VENV)
    pip = ("-m", "pip", "install", "--disable-pip-version-check", "-q")
    python(*pip, "-r", "requirements.txt")
    python(*pip, "--no-deps", "--no-build-isolation", "-e", ".", "-e", "src/attnlab")
    stamp.write_text(wanted.hexdigest())


def grading() -> Path:
    """Make `.venv-grading`: nbgrader and Otter over the book's packages; return its Python."""
    folder = ROOT / ".venv-grading"
    found = folder / PYTHON.relative_to(VENV)
    wanted = (ROOT / "teaching" / "grading.txt").read_text(encoding="utf-8")
    stamp = folder / ".made-from"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return found
    say("set-up: making .venv-grading, which has nbgrader and Otter beside the book's packages")
    run(PYTHON, "-m", "venv", folder)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    ours, its = (
        subprocess.run([one, "-c", ask], stdout=subprocess.PIPE, text=True, check=True).stdout
        for one in (PYTHON, found)
    )
    also = f"import site; site.addsitedir({ours.strip()!r})\n"  # with the book's own two packages
    Path(its.strip(), "book.pth").write_text(also, encoding="utf-8")
    run(
        found,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "-q",
        "-r",
        "teaching/grading.txt",
    )
    # nbgrader's feedback is made from nbconvert's templates, which are sought below its Python
    templates = Path("share", "jupyter", "nbconvert")
    shutil.copytree(VENV / templates, folder / templates, dirs_exist_ok=True)
    stamp.write_text(wanted, encoding="utf-8")
    return found


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
        packages = ["chromium", "fonts-liberation"]  # its letters, where nothing else is installed
        subprocess.run(["apt-get", "install", "-y", "-qq", *packages], check=False)
    if not found():
        subprocess.run([str(PYTHON), "-m", "playwright", "install", "chromium"], check=False)
    if not found():
        stop(
            "the browser tests need Chromium and none could be installed. Install it with your "
            "system's package manager (Debian: `apt install chromium`), or set CHROMIUM to its path"
        )


def engines() -> None:
    """Find Firefox and WebKit, or install Debian's where apt and root are at hand; else say so."""
    missing = lacking_engines()
    if missing and shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        say("set-up: installing what lets the heavy tests open the book in Firefox and WebKit")
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        for packages in missing:  # one engine is better than none
            subprocess.run(["apt-get", "install", "-y", "-qq", *packages.split()], check=False)
        missing = lacking_engines()
    for reason in missing.values():
        print(f"skipped: the tests of the book in this engine, because {reason}", flush=True)


def lacking_engines() -> dict[str, str]:
    """Return Debian's packages for each engine that the tests do not find, and why they skip it."""
    ask = (
        "import json; from tests.book.engines.drive import ENGINES, PACKAGES, lacking;"
        "print(json.dumps({PACKAGES[name]: lacking(name) for name in ENGINES if lacking(name)}))"
    )
    asked = [str(PYTHON), "-c", ask]
    done = subprocess.run(asked, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


# ---- tasks -------------------------------------------------------------------------------------


def build(*, anew: bool = True) -> None:
    """Build the static book from the stored notebooks; any warning fails.

    Unless ``anew``, pages whose text is unchanged are kept, as long as all that shapes every page
    is unchanged too.
    """
    say(
        "building the book into _build/html (nothing is executed: the notebooks hold their outputs)"
    )
    stamp, shape = ROOT / "_build" / ".pages-shaped-by", shaped_by()
    if anew or not stamp.exists() or stamp.read_text() != shape:
        for old in ("html", ".doctrees"):  # Sphinx would keep back what it calls unchanged
            shutil.rmtree(ROOT / "_build" / old, ignore_errors=True)
    stamp.unlink(missing_ok=True)  # where a build fails, the next one begins anew
    run(BIN / "jupyter-book", "build", ".", "-n", "-W", "--keep-going", "-q")
    stamp.write_text(shape)


def shaped_by() -> str:
    """Return a digest of everything but the pages' own text that a built page depends on."""
    places = [ROOT / name for name in ("src", "book", "notebooks/assets")]
    files = [path for place in places for path in place.rglob("*")]
    files += [ROOT / name for name in ("_config.yml", "_toc.yml", "requirements.txt")]
    shape = hashlib.sha256()
    for path in sorted(files):
        ours = path.suffix not in (".md", ".pyc") and "node_modules" not in path.parts
        if ours and path.is_file():
            shape.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return shape.hexdigest()


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
    """Bring the lectures' notebooks up to date; execute where code changed (FORCE=NAME, =all)."""
    say("notebooks: prose is taken over, changed code is executed")
    python("book/tools/notebooks.py", *sys.argv[2:], **QUIET)
    python("benchmarks/rounding.py")


def lint() -> None:
    """Check style, spelling, types, and that no room is above its ceiling."""
    say("lint: ruff, codespell, pyright, ceilings")
    python("-m", "ruff", "check", ".")
    python("-m", "ruff", "format", "--check", ".")
    run(BIN / "codespell")
    python("-m", "pyright", "-p", ROOT, "--pythonpath", PYTHON)
    python("benchmarks/house.py", "--check")
    widgets_folder = ROOT / "src" / "attnlab" / "widgets"
    if IN_CI or (widgets_folder / "node_modules").exists():
        say("lint: the live pictures' JavaScript by biome, tsc and node --test, and its chunks")
        python("-m", "attnlab.widgets.build", "--check")
    else:
        print("the JavaScript is checked in CI, and by `python tasks.py widgets --check` with Node")


def unit() -> None:
    """Test attention where there is nothing but its wheel, then the lab and its widgets."""
    chromium()
    say("unit: attention, in an environment of its wheel, torch, numpy and the test tools")
    python("tests/bare.py", "-q", "-n", "auto", "--dist", "loadfile", *AGAIN, **QUIET)
    say("unit: the lab and its widgets")
    pytest(*AGAIN, "tests/attnlab")


def units() -> None:
    """Test both packages with the Python that runs this file, on whatever versions it has."""
    rooms = ("tests/attnbook", "tests/attnlab")
    run(sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile", *rooms, **QUIET)


def nbval(*options: str, **env: str) -> None:
    """Re-run each lecture that did not pass as it is, and compare every output with its own."""
    say("nbval: every cell of every lecture, every output compared; what passed is kept by its key")
    pytest("--nbval", "--nbval-current-env", SORTED, *AGAIN, "notebooks", *options, **env)


def pages() -> None:
    """Test the built book: lectures, pages in a browser, JupyterLab, Colab, what teachers take."""
    chromium()
    say("pages: lectures, the built book in a browser, JupyterLab, Colab, the teaching kit")
    pytest(SORTED, *AGAIN, "tests/book", "tests/teaching")


def lint_and_build() -> None:
    """Check style while the book is built: each keeps one processor busy."""
    say("lint, and beside it the build of the book")
    command = [str(PYTHON), "-c", "import tasks; tasks.build()"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as beside:
        try:
            lint()
        except BaseException:
            beside.kill()
            raise
        print(beside.communicate()[0], end="", flush=True)
    if beside.returncode:
        stop("the book was not built; the message stands above")


def check() -> None:
    """After a small change: lint, build and test what changed, and what is named as it is."""
    chromium()
    timed(notebooks, lint_changed, build_changed, changed)
    say("check passed; not run: cells of lectures, tests of other names, other pages (`make test`)")


def build_changed() -> None:
    build(anew=False)


def lint_changed() -> None:
    files = [name for name in changed_files() if (ROOT / name).is_file()]
    say(f"lint: {len(files)} changed files")
    written = [name for name in files if not name.endswith(".ipynb")]
    if code := [name for name in files if name.endswith(".py")]:
        python("-m", "ruff", "check", *code)
        python("-m", "ruff", "format", "--check", *code)
        python("-m", "pyright", "-p", ROOT, "--pythonpath", PYTHON)
    if written:
        run(BIN / "codespell", *written)


def changed() -> None:
    names = changed_pages()
    say(f"the rules of lectures, every link, and in a browser: {', '.join(names) or 'no page'}")
    stems = [Path(name).name for name in names]
    tests = ("test_lectures.py", "test_built.py", "test_pages.py")
    pytest(*(f"tests/book/{name}" for name in tests), "-k", " or ".join(["test_built", *stems]))
    if found := tests_named_as(changed_files()):
        pytest(*found)


def tests_named_as(files: list[str]) -> list[str]:
    """Name the tests among some files, and those whose names are the files' own."""
    code = [name for name in files if name.endswith(".py") and (ROOT / name).exists()]
    stems = {Path(name).stem for name in code}
    found = {p.relative_to(ROOT).as_posix(): p.stem for p in (ROOT / "tests").rglob("test_*.py")}
    return sorted(name for name, stem in found.items() if name in code or stem[5:] in stems)


def changed_pages() -> list[str]:
    """Name the pages among the changed files, a lecture as its notebook."""
    places = r"^book/(?:lectures/|(?=evidence/))"
    found = {re.sub(places, "notebooks/", name) for name in changed_files()}
    found = {re.sub(r"\.(md|ipynb)$", "", name) for name in found if name.endswith(("md", "ipynb"))}
    return sorted(name for name in found if re.match(r"(book|notebooks(/evidence)?)/[^/]+$", name))


def changed_files() -> list[str]:
    """Name the files that are not as committed; where all are, those of the last commit."""

    def listed(*words: str) -> list[str]:
        git = ["git", "-c", "core.quotepath=off", *words]
        done = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            stop(f"`{' '.join(git)}` failed: {done.stderr.strip()}")
        return done.stdout.splitlines()

    files = listed("diff", "--name-only", "HEAD")
    files += listed("ls-files", "--others", "--exclude-standard")
    return files or listed("diff", "--name-only", "HEAD~1")


def test() -> None:
    """Everything that CI checks (some 25 minutes on two quiet processors)."""
    chromium()
    timed(lint_and_build, unit, nbval, pages)
    print("\ntest: everything passed; `make test-all` adds what is heavy")


def test_all() -> None:
    """Test, and what costs much and rarely tells more: weekly, and before a release (hours).

    All runs anew, also what passed as it is (tests/passed.py). What is heavy, and in no other list:
    - tests marked `heavy`: a model of each table over seeds trained anew, that other first weights
      make the right tables stale, and that a table is measured again where it must
      (attnlab/models), the full-size program stopped anywhere, on a full disk, scored and made
      longer (attnlab/translation; by day once each), historic bugs beyond three
      (test_historic_bugs), compiling by Inductor, and of more than a few models (test_compile; by
      day these through aot_eager), the benchmarks' quick runs beyond one (test_benchmarks), the
      help of every program in ASCII (test_console), JupyterLab over every lecture
      (test_jupyterlab; by day one lecture and a gallery of every widget, worked by key), the set-up
      cell that asks for nothing pretrained (test_colab; by day the other), the
      book printed as one PDF (test_pdf; by day a book of three pages), every page over http
      (test_pages; by day as a file), a book that keeps nothing in two ways more (test_shell), the
      book in Firefox and
      WebKit (tests/book/engines: every page opened over http and as a file, with no error and no
      other host asked; live pictures worked by hand and by key, the theme, the search, axe; by
      day Chromium alone; an engine that can be neither found nor installed is skipped, in
      words), nbval over every lecture with one digit changed in each output and its limits of
      time (test_nbval_rules; by day without a kernel), every lecture with each cell run twice
      (test_twice), what executes a notebook and what stops it beyond one case of each kind
      (test_notebooks), the times that `make status` writes (test_reference), a broken book that
      must not be built (test_failures; by day that a warning is asked to fail), the imitated
      processors (test_tasks), every slide at 1024 × 768 and on paper (test_slides_fit; by day at
      1280 × 720), every lecture's assignment marked by nbgrader and by Otter
      (test_assignments; by day by our own checks), every student copy run with its solutions
      (test_kit_copies; by day one), a course published by the page's commands (test_publish), and
      two releases pulled by nbgitpuller (test_branch; by day by git alone);
    - every lecture as on other processors: `test-cpus`;
    - mutation of the package: `mutants`; a mutant that survives must be explained.
    """
    os.environ["ATTNBOOK_EVERY"] = "1"
    chromium()
    timed(lint_and_build, unit, nbval, pages, heavy, test_cpus, no_new_mutants)
    print("\ntest-all: everything passed")


def heavy() -> None:
    """The tests marked `heavy`, which cost much and rarely tell more."""
    chromium()
    engines()
    grading()
    say("heavy: what costs much and rarely tells more")
    pytest("tests", "-m", "heavy")


def test_cpus() -> None:
    """Run nbval as on four kinds of processor, as far as this one can imitate them."""
    lacking = lacking_cpus()
    ran = [name for name in CPUS if name not in lacking]
    for name in ran:
        say(f"the lectures as on a processor of kind '{name}'")
        nbval(ATTNBOOK_EVERY="1", **CPUS[name])
    print(f"\ntest-cpus: every lecture prints the same numbers under {', '.join(ran)}")
    for name, reason in lacking.items():
        print(f"not run: {name}, because {reason}", flush=True)


def lacking_cpus() -> dict[str, str]:
    """Name the settings that this processor cannot imitate, and say why."""
    ask = (
        "import json; from torch.backends import cpu, mkl, mkldnn;"
        "print(json.dumps([cpu.get_cpu_capability(), mkl.is_available(), mkldnn.is_available()]))"
    )
    # told of a kind that the processor is not, torch repeats what it was told, and dies later
    env = {name: value for name, value in os.environ.items() if name != "ATEN_CPU_CAPABILITY"}
    asked = [str(PYTHON), "-c", ask]
    done = subprocess.run(asked, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True)
    kind, *libraries = json.loads(done.stdout)
    better = {"DEFAULT": ["avx2", "avx512"], "AVX2": ["avx512"], "AVX512": []}
    lacking = better.get(kind, ["avx2", "avx512"])
    found = dict.fromkeys(lacking, f"torch calls this processor {kind}")
    if not all(libraries):
        found["sse"] = "this torch has not both MKL and oneDNN"
    return found


def no_new_mutants() -> None:
    mutants()
    if "not explained yet" in (ROOT / "benchmarks" / "mutation.md").read_text(encoding="utf-8"):
        stop("mutants survive that benchmarks/mutation.md does not explain: test or explain them")


def widgets() -> None:
    """Make the live pictures' chunks of JavaScript (needs Node); `--check` tests the sources."""
    python("-m", "attnlab.widgets.build", *sys.argv[2:])


def plan() -> None:
    """Print what each section of a lecture needs beside what its plan gives it (`plan 07`)."""
    python("book/tools/plan.py", *sys.argv[2:])


def pdf() -> None:
    """Print the whole book as one PDF, into _build/pdf (some minutes)."""
    chromium()
    build()
    say("printing the book: joined, laid out, and printed twice for the numbers of its pages")
    python("-m", "book.tools.pdf")


def kit() -> None:
    """Write the teaching kit into _build/kit; FOR=nbgrader or FOR=otter: exercises to be marked."""
    maker = grading() if "--for" in sys.argv else PYTHON
    run(maker, "-m", "teaching.kit", *sys.argv[2:], **QUIET)


def exam() -> None:
    """Make an exam and its key: SEED=7; LECTURES=1,5-7, POINTS=60, BANK=FOLDER where wanted."""
    python("-m", "teaching.kit.exam", *sys.argv[2:], **QUIET)


def address() -> None:
    """Write the repository's address wherever it stands: AT=https://github.com/YOU/REPO."""
    python("book/tools/address.py", *sys.argv[2:])
    if "--check" not in sys.argv:
        python("book/tools/notebooks.py", **QUIET)


def bench() -> None:
    """Measure the page and the package (some half an hour), and rewrite the tables."""
    chromium()
    package = ["attention", "growth", "layers", "decoding", "training", "smollm", "roof", "caches"]
    for name in ("page", "frames", *package, "flex", "recording"):
        python(f"benchmarks/{name}.py")


def experiments() -> None:
    """Train again, over all seeds, what has changed since its table was made (an hour for all)."""
    # multi30k needs the reader's own copy of the text
    for script in sorted((ROOT / "experiments").glob("*.py")):
        if script.name not in ("harness.py", "multi30k.py"):
            python("-m", f"experiments.{script.stem}", *sys.argv[2:], **QUIET)
    python("benchmarks/rounding.py")


def status() -> None:
    """Run every notebook, one after the other, and write what each took: book/status.json."""
    target = str(ROOT / "book" / "status.json")
    nbval("-n0", ATTNBOOK_EVERY="1", ATTNBOOK_CACHE="", ATTNBOOK_STATUS=target)


def mutants() -> None:
    """Mutate the package and see that its tests notice (five minutes a module at most)."""
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


def plain() -> None:
    """Build the book without jupyter-book, on the newest Sphinx and theme, and test its pages."""
    chromium()
    python("book/tools/plain_sphinx.py")
    pytest("tests/book/test_built.py", "tests/book/test_pages.py")


def clean() -> None:
    """Remove what was built; the notebooks stay, they are committed."""
    shutil.rmtree(ROOT / "_build", ignore_errors=True)
    print("clean: _build removed (.venv stays; delete it by hand to start afresh)")


GROUPS: dict[str, dict[str, Callable[[], None]]] = {
    "read and write": {
        "book": book,
        "serve": serve,
        "notebooks": notebooks,
        "check": check,
        "plan": plan,
        "pdf": pdf,
    },
    "teach": {"kit": kit, "exam": exam},
    "test": {"test": test, "test-all": test_all},
    "the parts of a test": {
        "lint": lint,
        "unit": unit,
        "units": units,
        "nbval": nbval,
        "pages": pages,
        "heavy": heavy,
        "test-cpus": test_cpus,
        "mutants": mutants,
    },
    "make anew what is committed": {
        "widgets": widgets,
        "experiments": experiments,
        "bench": bench,
        "status": status,
        "address": address,
        "pins": pins,
    },
    "the environment": {"newest": newest, "plain": plain, "clean": clean},
}
TASKS = {name: task for group in GROUPS.values() for name, task in group.items()}
NEEDS_NOTHING = {"serve", "clean", "units"}


def usage() -> str:
    width = max(map(len, TASKS))
    lines = ["usage: python tasks.py TASK   (or: make TASK)"]
    for purpose, tasks in GROUPS.items():
        lines += ["", f"{purpose}:"]
        for name, task in tasks.items():
            lines.append(f"  {name:<{width}}  {(task.__doc__ or '').splitlines()[0]}")
    return "\n".join(lines)


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "help"
    if name not in TASKS:
        print(usage())
        sys.exit(0 if name in {"help", "-h", "--help"} else f"\nno task named {name!r}")
    if name not in NEEDS_NOTHING:
        set_up()
    TASKS[name]()


if __name__ == "__main__":
    # as attnlab._console does, which may not be installed: a pipe may be unable to spell ×
    sys.stdout.reconfigure(errors="backslashreplace")
    main()
