"""What the book's tasks do with bad input: they stop, and say what is wrong and where."""

import shutil
import subprocess
import sys

import pytest

from tests.book.lectures import ROOT

pytestmark = pytest.mark.heavy  # by day test_tasks: a warning is asked to fail the build

BAD_PAGES = {
    "a link to no page": "[the next lecture](06-missing.md)",
    "a citation of nobody": "{cite}`nobody1999`",
    "a picture that is not there": "![Nothing](missing.png)",
    "a directive that does not exist": "```{no-such-directive}\nCompute.\n```",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What one build says of a book with a page for each fault, and a first page with none."""
    folder = tmp_path_factory.mktemp("book")
    for name in ("_config.yml", "book/references.bib"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("book/extensions", "book/assets"):
        shutil.copytree(ROOT / name, folder / name)
    toc = ["format: jb-book", "root: index", "chapters:"]
    for number, fault in enumerate(BAD_PAGES.values()):
        (folder / f"fault-{number}.md").write_text(f"# A page\n\n{fault}\n", encoding="utf-8")
        toc.append(f"  - file: fault-{number}")
    (folder / "_toc.yml").write_text("\n".join(toc) + "\n", encoding="utf-8")
    (folder / "index.md").write_text("# A page\n\nNothing is wrong here.\n", encoding="utf-8")
    build = (
        "import sys, tasks; from pathlib import Path; tasks.ROOT = Path(sys.argv[1]); tasks.build()"
    )
    command = [sys.executable, "-c", build, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stdout + done.stderr


@pytest.mark.parametrize("number", range(len(BAD_PAGES)), ids=list(BAD_PAGES))
def test_a_warning_fails_the_build_and_names_the_page_and_the_line(said: str, number: int) -> None:
    assert f"fault-{number}.md:3" in said
    assert "index.md:" not in said, "nothing is wrong there"
