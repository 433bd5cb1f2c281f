"""Build the whole book without jupyter-book, on the newest Sphinx, MyST-NB and theme that resolve.

    python book/tools/plain_sphinx.py          # into _build/html, by a conf.py of _config.yml
    python book/tools/plain_sphinx.py --keep   # with the packages that the last run installed

jupyter-book 1 keeps Sphinx and the theme at old releases. This is the way out, kept open: the
weekly run takes it, and then looks at the pages. The packages come from the network.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "_build" / "plain-sphinx"
PACKAGES = ["sphinx", "myst-nb", "sphinx-book-theme", "sphinx-external-toc", "sphinx-togglebutton"]
PACKAGES += ["sphinx-copybutton", "sphinx-design", "sphinxcontrib-bibtex", "math-core"]
PACKAGES += ["sphinx-multitoc-numbering"]
# paths in conf.py are sought beside it
OURS = """
gone = {"jupyter_book", "sphinx_thebe", "sphinx_comments", "sphinx_jupyterbook_latex"}
extensions = [one for one in extensions if one not in gone]
from pathlib import Path
root = Path(__file__).parents[2]
external_toc_path = str(root / external_toc_path)
html_favicon = html_logo = str(root / html_logo)
html_static_path = [str(root / one) for one in html_static_path]
bibtex_bibfiles = [str(root / one) for one in bibtex_bibfiles]
intersphinx_mapping = {k: (url, str(root / file)) for k, (url, file) in intersphinx_mapping.items()}
"""


def install() -> Path:
    """Put the newest releases into a folder of their own; return it."""
    folder = WORK / "packages"
    shutil.rmtree(folder, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--upgrade", "--target", str(folder), *PACKAGES], check=True)
    return folder


def configure() -> None:
    """Write conf.py, without what belongs to jupyter-book alone."""
    made = ROOT / "conf.py"
    command = [Path(sys.executable).with_name("jupyter-book"), "config", "sphinx", ROOT]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "conf.py").write_text(made.read_text(encoding="utf-8") + OURS, encoding="utf-8")
    made.unlink()


def main() -> None:
    packages = install() if "--keep" not in sys.argv else WORK / "packages"
    configure()
    html = ROOT / "_build" / "html"
    shutil.rmtree(html, ignore_errors=True)
    paths = os.pathsep.join(map(str, (packages, ROOT / "book" / "extensions")))
    sphinx = [sys.executable, "-m", "sphinx", "-c", str(WORK), "-d", str(WORK / "doctrees")]
    sphinx += ["-b", "html", "-n", "-W", "--keep-going", "-q", str(ROOT), str(html)]
    subprocess.run(sphinx, env={**os.environ, "PYTHONPATH": paths}, check=True)
    found = [next(packages.glob(f"{name}-*.dist-info")).stem for name in ("sphinx", "myst_nb")]
    print("built without jupyter-book, on", *found)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    main()
