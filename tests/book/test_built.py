"""The files of the built book, read without a browser: links, scripts, style sheets."""

import re
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


def test_no_page_asks_another_host_or_holds_what_it_does_not_use():
    remote = r'<(?:script|img|iframe)[^>]* src="(https?:[^"]*)'
    remote += r'|<link[^>]*rel="(?:stylesheet|preload)"[^>]*href="(https?:[^"]*)'
    for path in HTML.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "thebe" not in text, path
        assert re.findall(remote, text) == [], path


def test_a_page_loads_the_bytes_of_its_own_widgets_alone():
    """The style is that of Jupyter."""
    for name in PAGES:
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        kinds = kinds_on(text)
        for ending, wanted in (("js", page_script), ("css", stylesheet)):
            loaded = re.findall(rf'="[./]*_static/(attnbook[\w-]*\.{ending})', text)
            found = [(HTML / "_static" / one).read_text(encoding="utf-8") for one in loaded]
            assert found == ([wanted(*kinds)] if kinds else []), (name, ending)


def test_a_fold_of_code_is_called_code_and_the_guest_lecture_is_found() -> None:
    folds = 0
    for path in (HTML / "notebooks").rglob("[01]*.html"):
        text = path.read_text(encoding="utf-8")
        folds += text.count(">Code of the drawing<")
        for fold in re.findall(r"tag_hide-input[^>]*>\s*<details.*?</summary>", text, re.S):
            assert ">The drawing<" not in fold, path.name
    assert folds  # a lesson in the form shows no code of its drawings
    teachers = (HTML / "book/teaching/index.html").read_text(encoding="utf-8")
    assert 'href="syllabi.html#one-guest-lecture"' in teachers


def test_code_has_elements_for_colours_alone_and_pictures_keep_their_place() -> None:
    plots = 0
    for name in PAGES:
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        assert re.findall(r'<span class="(?:n|p|w|nn)">[^<]', text) == [], name
        for plot in re.findall(r'<img [^>]*src="[./]*_images/[^>]*\.png"[^>]*>', text):
            assert re.search(r' width="\d+" height="\d+" loading="lazy"', plot), (name, plot[:80])
            plots += 1
            # as wide as the text, as far as it has pixels
            own, tall = (int(re.search(rf'{side}="(\d+)', plot)[1]) for side in ("width", "height"))
            wanted = max(own, min(584, 1.5 * own, 720 / tall * own))
            assert f"--wide: {wanted:.0f}px" in plot, plot
    assert plots > 30
