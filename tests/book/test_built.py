"""The files of the built book, read without a browser: links, scripts, style sheets."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml

from attnlab.widgets import page_script, stylesheet
from attnlab.widgets.core.chunks import kinds_on
from tests.book.lectures import HTML, PAGES, ROOT


def test_the_list_of_pages_is_the_table_of_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    below = [section for chapter in chapters for section in chapter.get("sections", [])]
    found = [toc["root"], *(one["file"] for one in chapters + below)]
    assert sorted(found) == sorted(PAGES)


def test_every_link_inside_the_book_leads_somewhere():
    built = [path for path in HTML.rglob("*.html") if "_static" not in path.parts]
    pages = {path: path.read_text(encoding="utf-8") for path in built}
    assert len(pages) >= len(PAGES)
    for path, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            target = (path.parent / unquote(parts.path)).resolve()
            assert target.exists(), f"{path.relative_to(HTML)}: {link}"
            if parts.fragment and target.suffix == ".html":
                assert f'id="{unquote(parts.fragment)}"' in pages[target], f"{path}: {link}"


def test_no_page_holds_what_it_does_not_use():
    for path in HTML.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "thebe" not in text, path
        scripts = re.findall(r'<(?:script|img|iframe)[^>]* src="(https?:[^"]*)', text)
        scripts += re.findall(
            r'<link[^>]*rel="(?:stylesheet|preload)"[^>]*href="(https?:[^"]*)', text
        )
        assert scripts == [], path


def test_a_page_sets_formulae_up_only_where_it_has_some():
    has = {name: (HTML / f"{name}.html").read_text(encoding="utf-8") for name in PAGES}
    loads = {name: "<script>window.MathJax = " in has[name] for name in PAGES}
    assert loads == {name: 'class="math notranslate' in has[name] for name in PAGES}
    assert set(loads.values()) == {True, False}


def test_widget_script_is_loaded_only_where_there_is_a_widget():
    for name in PAGES:
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        wanted = [page_script(*names)] if (names := kinds_on(text)) else []
        loaded = re.findall(r'src="[./]*_static/(attnbook[\w-]*\.js)', text)
        assert [(HTML / "_static" / js).read_text(encoding="utf-8") for js in loaded] == wanted, (
            name
        )


def test_theme_and_widgets_use_the_same_bytes_as_jupyter():
    for name in PAGES:
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        for sheet in re.findall(r'href="[./]*_static/(attnbook-[\w-]*\.css)', text):
            written = (HTML / "_static" / sheet).read_text(encoding="utf-8")
            assert written == stylesheet(*kinds_on(text)), name
    assert Path(HTML / "_static" / "mathjax").is_dir()
