"""What is said of a page where it is not open: description, preview, title, missing pages."""

import re
from types import SimpleNamespace

import pytest
import yaml
from docutils import nodes
from docutils.utils import new_document
from playwright.sync_api import expect
from sphinx.errors import ExtensionError

from tests.book.lectures import HTML, PAGES, ROOT, load

made = load(ROOT / "book" / "extensions" / "attnbook_head.py")
NO_ADDRESS = "/".join(
    ("OWNER", "attention-worked-out")
)  # apart, for `make address` does not look here
TAG = re.compile(r'<meta (?:name|property)="([^"]+)" content="([^"]*)"')


def page(*paragraphs: nodes.Node) -> nodes.document:
    document = new_document("a page")
    document += [nodes.paragraph("", "", one) for one in paragraphs]
    return document


def test_a_description_is_the_first_paragraph_in_a_line_cut_after_a_word() -> None:
    first = nodes.Text("Scores  grow\nwith \\sqrt{d_k}.")
    assert made.description(page(first, nodes.Text("More."))) == "Scores grow with √d_k."
    assert made.description(page()) == made.description(None) == ""
    said = made.description(page(nodes.Text("attention, " * 40)))
    assert len(said) <= made.LONGEST + 2
    assert said.endswith("attention …")


def test_what_needs_an_address_waits_for_one_and_then_is_absolute() -> None:
    assert made.site("https://github.com/OWNER/book") == ""
    home = made.site("https://github.com/Ada/book/")
    assert home == "https://ada.github.io/book/"
    assert "og:url" not in made.meta("A", "B", "c.png")
    tags = dict(TAG.findall(made.meta('<b>7.</b> "A" &amp; B', "C <d>", "e.png", home)))
    assert tags["og:title"] == "7. &quot;A&quot; &amp; B"
    assert tags["og:description"] == tags["description"] == "C &lt;d&gt;"
    assert tags["og:url"] == home
    for owner, wanted in (
        ("OWNER", "../_static/page.png"),
        ("ada", "https://ada.github.io/b/_static/"),
    ):
        options = {"repository_url": f"https://github.com/{owner}/b"}
        app = SimpleNamespace(config=SimpleNamespace(html_theme_options=options))
        context = {"title": "A", "pathto": lambda name, resource: f"../{name}"}
        made.describe(app, "book/cite", "", context, None)
        assert dict(TAG.findall(context["metatags"]))["og:image"].startswith(wanted)


def test_a_release_without_an_address_is_refused_and_the_places_named(
    tmp_path, monkeypatch
) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "README.md").write_text(f"# A\n\nhttps://github.com/{NO_ADDRESS}\n")
    (tmp_path / "book" / "a.md").write_text("--at https://github.com/OWNER/REPO/ is an example\n")
    notebook = tmp_path / "notebooks" / "01.ipynb"
    notebook.write_text(f'"https://{NO_ADDRESS.replace("/", ".github.io/")}/"\n')
    monkeypatch.delenv(made.RELEASE, raising=False)
    made.refuse(None, None, tmp_path)
    monkeypatch.setenv(made.RELEASE, "1")
    with pytest.raises(
        ExtensionError, match=r"in 2 lines[^:]*:\n  README.md:3\n  notebooks/01.ipynb:1$"
    ):
        made.refuse(None, None, tmp_path)
    for path in (tmp_path / "README.md", notebook):
        path.write_text(path.read_text().replace("OWNER", "ada"))
    made.refuse(None, None, tmp_path)


def test_all_addresses_are_looked_through_and_what_is_published_is_a_release() -> None:
    assert set(load(ROOT / "book" / "tools" / "address.py").PLACES) < set(made.ADDRESSED)
    for name in ("book", "kit"):
        flow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())
        assert flow["jobs"]["build"]["env"][made.RELEASE]


def test_the_byline_names_authors_day_and_licence_and_the_repository_once_it_has_an_address() -> (
    None
):
    cited = {"authors": [{"name": "The <b> authors"}], "date-released": "2026-01-02"}
    said = made.byline(cited, "https://github.com/OWNER/a")
    assert "By the &lt;b&gt; authors · 2 January 2026 · text under" in said
    assert "GitHub" not in said
    ada = {"given-names": "Ada", "family-names": "Lovelace"}
    said = made.byline({**cited, "authors": [ada, {"name": "X"}, ada]}, "https://github.com/ada/a")
    assert "By Ada Lovelace, X and Ada Lovelace ·" in said
    assert '<a href="https://github.com/ada/a">on GitHub</a>' in said


@pytest.mark.parametrize("name", PAGES)
def test_a_shared_page_has_a_title_a_sentence_and_a_picture(name: str) -> None:
    text = (HTML / f"{name}.html").read_text(encoding="utf-8")
    tags = dict(TAG.findall(text))
    assert tags["og:title"]
    assert 20 <= len(tags["description"]) <= made.LONGEST + 2
    assert tags["og:description"] == tags["description"]
    assert "\\" not in tags["description"]
    if "://" not in (image := tags["og:image"]):
        assert ((HTML / name).parent / image).resolve().is_file()
    assert text.count('name="viewport"') == 1
    (title,) = re.findall(r"<title>(.*?)</title>", text)
    assert title.count("Attention, Worked Out") == 1


def test_a_missing_page_and_the_root_are_whole_and_lead_on(visit) -> None:
    for name in ("index", "404"):
        text = (HTML / f"{name}.html").read_text(encoding="utf-8")
        assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
        assert "<title>" in text
        assert "book/index.html" in text
    found = visit("404", theme="dark")
    found.get_by_label("Search this book").fill("causal mask")
    found.get_by_role("button").click()
    expect(found.locator(".search-sections a").nth(3)).to_be_visible()
