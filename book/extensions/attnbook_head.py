"""What is said of a page where it is not open: in a search engine, in a shared link, in no page.

Each page has a description and a preview; the book has a list of its pages, a page for an address
that leads nowhere, and a root that leads to its first page. What needs the book's own address, as
absolute links do, is left out until it has one (see ``_config.yml``); a release, which is a build
with the variable ATTNBOOK_RELEASE, fails without one. ``byline`` says who made the book, and when.
"""

from __future__ import annotations

import datetime
import html
import json
import os
import re
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
RELEASE = "ATTNBOOK_RELEASE"  # set where a release is built
NOWHERE = re.compile(r"OWNER(\.github\.io)?/attention-worked-out")
ADDRESSED = (  # what is published; book/tools/address.py rewrites the addresses in it
    "*.md", ".github/**/*.yml", "CITATION.cff", "_config.yml", "book/**/*.md",
    "notebooks/**/*.ipynb",
    "pyproject.toml", "src/attnlab/pyproject.toml",
)  # fmt: skip
NAME = "Attention, Worked Out"
FIRST = "book/index"
IMAGE = "_static/page.png"
ALT = "Three word vectors to edit, and the attention weights that follow from them"
LONGEST = 200  # characters of a description
NO_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>No such page — {name}</title>
<style>
body {{ max-width: 34rem; margin: 15vh auto; padding: 0 1rem; font: 1.1rem/1.65 Georgia, serif; }}
h1 {{ font-size: 1.6rem; line-height: 1.25; }}
input {{ font: inherit; max-width: 100%; }}
</style>
</head>
<body>
<main>
<h1>There is no such page</h1>
<p>The address may have a slip in it, or the page has moved.
<a href="{root}book/index.html">{name}</a> begins here; or look for it:</p>
<form action="{root}search.html" role="search">
<label>Search this book: <input type="search" name="q"></label> <button>Search</button>
</form>
</main>
</body>
</html>
"""
ROOT_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={first}.html">
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<title>{name}</title>
{meta}</head>
<body><p><a href="{first}.html">{name}</a></p></body>
</html>
"""


def site(repository: str) -> str:
    """Return the address of the pages of a repository on GitHub, or "" while it has none."""
    owner, name = repository.rstrip("/").split("/")[-2:]
    return "" if owner == "OWNER" else f"https://{owner.lower()}.github.io/{name}/"


def description(doctree: nodes.document | None) -> str:
    """Return the first paragraph of a page, cut after a word where it is long."""
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    text = plain(next((one.astext() for one in paragraphs), ""))
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rpartition(" ")[0].rstrip(" ,;:") + " …"


def plain(text: str) -> str:
    """Return a text in one line, its formulae as far as a line can show them."""
    text = re.sub(r"\\sqrt\s*", "√", text).replace(r"\times", "×").replace(r"\top", "T")
    return " ".join(re.sub(r"\\[a-z]*|[{}$]", "", text).split())


def meta(title: str, said: str, image: str, address: str = "") -> str:
    """Return the tags of a page's description and preview."""
    title = html.unescape(re.sub(r"<[^>]*>", "", title)) or NAME
    rows = [("name", "description", said)] if said else []
    rows += [("property", "og:title", title), ("property", "og:site_name", NAME)]
    rows += [("property", "og:type", "article")]
    rows += [("property", "og:description", said)] if said else []
    rows += [("property", "og:url", address)] if address else []
    rows += [("property", "og:image", image), ("property", "og:image:alt", ALT)]
    rows += [("name", "twitter:card", "summary_large_image")]
    return "".join(f'<meta {k}="{n}" content="{html.escape(v)}" />\n' for k, n, v in rows)


def running(title: str) -> str:
    """Return the style that prints the names of the page and of the book above each sheet."""
    page = html.unescape(re.sub(r"<[^>]*>", "", title))
    over = json.dumps(page if page in ("", NAME) else f"{page} · {NAME}", ensure_ascii=False)
    told = over.replace("<", "\\3c ")  # a style ends at its tag, also within a string
    style = f'content: {told}; font: italic 9pt "Attnbook Serif", serif;'
    return f"<style>@page {{ @top-center {{ {style} }} }}</style>\n"


def describe(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Put a page's description and preview into its head; let the first page's title stand once."""
    if page == FIRST:
        context["docstitle"] = ""
    home = site(repository(app))
    image = home + IMAGE if home else context["pathto"](IMAGE, resource=True)
    address = f"{home}{page}.html" if home else ""
    tags = meta(context.get("title", ""), description(doctree), image, address)
    tags += running(context.get("title", ""))
    context["metatags"] = context.get("metatags", "") + "\n    " + tags.replace("\n", "\n    ")


def repository(app: Sphinx) -> str:
    """Return the repository's address."""
    return str(app.config.html_theme_options.get("repository_url", "/OWNER/"))


def write_pages(app: Sphinx, error: Exception | None) -> None:
    """Write the pages that stand at the root, and with an address the list of all pages."""
    if error or app.builder.format != "html" or not app.env.found_docs >= {FIRST}:
        return
    out, home = Path(app.outdir), site(repository(app))
    (out / "404.html").write_text(NO_PAGE.format(name=NAME, root=home), encoding="utf-8")
    tags = meta(NAME, description(app.env.get_doctree(FIRST)), home + IMAGE, home)
    page = ROOT_PAGE.format(first=FIRST, name=NAME, meta=tags)
    (out / "index.html").write_text(page, encoding="utf-8")
    if home:
        rows = "".join(
            f"<url><loc>{home}{n}.html</loc></url>\n" for n in sorted(app.env.found_docs)
        )
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        text = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n{rows}</urlset>\n'
        )
        (out / "sitemap.xml").write_text(text, encoding="utf-8")


def unaddressed(root: Path) -> list[str]:
    """Return the lines that name a repository which has no address yet, as ``file:line``."""
    return [
        f"{path.relative_to(root).as_posix()}:{number}"
        for path in sorted({path for place in ADDRESSED for path in root.glob(place)})
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if NOWHERE.search(line)
    ]


def refuse(app: Sphinx | None, config: Config | None, root: Path = ROOT) -> None:
    """Stop the build of a release that has no address.

    Raises: ExtensionError, which names the places.
    """
    if os.environ.get(RELEASE) and (places := unaddressed(root)):
        raise ExtensionError(
            f"{RELEASE} is set, and OWNER stands in {len(places)} lines in place of the "
            "repository's owner; `make address AT=…` writes whose it is:\n  " + "\n  ".join(places)
        )


def day(iso: str) -> str:
    """Return a day as all pages write it: 21 November 2026."""
    found = datetime.date.fromisoformat(iso)
    return f"{found.day} {found:%B %Y}"


def byline(cited: dict, repository: str) -> str:
    """Return authors, date, repository once it has an address, and licences, as HTML."""
    names = [
        one.get("name") or f"{one['given-names']} {one['family-names']}" for one in cited["authors"]
    ]
    authors = re.sub("^The ", "the ", ", ".join([*names[:-2], " and ".join(names[-2:])]))
    parts = [f"By {html.escape(authors)}", day(str(cited["date-released"]))]
    if site(repository):
        parts.append(f'<a href="{html.escape(repository)}">on GitHub</a>')
    parts.append('text under <a href="credits.html">CC BY 4.0</a>, code under Apache 2.0')
    return f'<p class="byline">{" · ".join(parts)}</p>'


class Byline(SphinxDirective):
    """Who made the book, when, and what may be done with it."""

    def run(self) -> list[nodes.Node]:
        place = ROOT / "CITATION.cff"
        self.env.note_dependency(str(place))
        cited = yaml.safe_load(place.read_text(encoding="utf-8"))
        return [nodes.raw("", byline(cited, repository(self.env.app)), format="html")]


def setup(app: Sphinx) -> dict:
    app.add_directive("byline", Byline)
    app.connect("config-inited", refuse)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
