"""Run attention's tests where there is nothing but its wheel, torch, numpy and the test tools.

    python tests/bare.py [options of pytest]

The wheel is built and unpacked into an environment of its own, `_build/bare`, beside links to the
packages of this one that torch, numpy and the tools bring; nothing is fetched.
"""

import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
BARE = ROOT / "_build" / "bare"
NEEDED = ("torch", "numpy")
TOOLS = ("pytest", "pytest-xdist", "hypothesis")
# what an environment that has the lectures would hold: none may be here
FOREIGN = ("attnlab", "matplotlib", "spacy", "scipy", "IPython", "anywidget", "transformers")


def brought(names: tuple[str, ...]) -> dict[str, Distribution]:
    """Return what is installed of these packages and of all that they require."""
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # a package for another system
        wanted = [Requirement(line) for line in found[name].requires or ()]
        here = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
        waiting += [one.name for one in here]
    return found


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of a project, without an index."""
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    words = [*pip, "--disable-pip-version-check", "-w", str(folder), str(project)]
    subprocess.run(words, cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def make() -> Path:
    """Make the environment anew; return its Python."""
    shutil.rmtree(BARE, ignore_errors=True)
    venv.create(BARE, with_pip=False)
    python = next(path for path in BARE.glob("*/python*") if path.stem == "python")
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip())
    with zipfile.ZipFile(build_wheel(ROOT, BARE / "wheel")) as wheel:
        wheel.extractall(site)
    for one in brought(NEEDED + TOOLS).values():
        for name in {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}:
            link, source = site / name, Path(str(one.locate_file(name)))
            if source.exists() and not link.exists():
                link.symlink_to(source, source.is_dir())
    return python


def main() -> None:
    python = make()
    foreign = f"[name for name in {FOREIGN} if find_spec(name)]"
    ask = f"from importlib.util import find_spec; assert not {foreign}, {foreign}"
    subprocess.run([python, "-c", ask], cwd=BARE, check=True)
    words = [python, "-m", "pytest", "-p", "no:cacheprovider", *sys.argv[1:], "tests/attnbook"]
    sys.exit(subprocess.run(words, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
