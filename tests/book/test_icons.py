"""The icons that the build draws in place of the theme's collection."""

import pytest

from book.extensions.attnbook_icons import Icon, collection, drawn
from tests.book.lectures import HTML

SCRIPT = """x;var p={moon:[384,512,[127769,"night"],"f186","M1 2z"]};d("fas",p);
var p={"git-hub":[496,512,[],"f09b","M3"],moon:[1,2,[],"f0","M4"]};d("fab",p),d("fa-brands",p)"""


def test_an_icon_is_drawn_where_it_stood_by_any_name_or_stops_the_build() -> None:
    moon = Icon("384", "512", "M1 2z")
    assert collection(SCRIPT) == {
        ("fas", "moon"): moon,
        ("fas", "night"): moon,
        ("fab", "git-hub"): Icon("496", "512", "M3"),
        ("fab", "moon"): Icon("1", "2", "M4"),
    }
    page = (
        '<link href="a/fontawesome/b.css"/><b>x</b><script defer src="/fontawesome/b.js"></script>'
        '<i></i><span class="e"></span><i class="switch fa-solid fa-moon fa-lg" data-mode="d"></i>'
    )
    assert drawn(page, collection(SCRIPT)) == (
        '<b>x</b><i></i><span class="e"></span>'
        '<svg class="svg-inline--fa switch fa-solid fa-moon fa-lg" data-mode="d"'
        ' aria-hidden="true" viewBox="0 0 384 512"><path fill="currentColor" d="M1 2z"/></svg>'
    )
    with pytest.raises(KeyError, match="sun"):
        drawn('<i class="fas fa-sun"></i>', collection(SCRIPT))


def test_the_book_holds_its_icons_and_not_their_collection() -> None:
    assert not list(HTML.rglob("fontawesome"))
    for path in HTML.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "fontawesome" not in text, path
        assert '<i class="fa' not in text, path
    assert "fa-moon" in (HTML / "book" / "index.html").read_text(encoding="utf-8")
