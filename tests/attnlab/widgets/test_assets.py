"""Large data of a widget: beside the page, loaded on demand, and the same bytes everywhere."""

import base64

import pytest

from attnlab.models.stored.script import asset_bytes, asset_script
from attnlab.widgets.core.assets import FOLDER, WithAsset

DATA = bytes(range(256)) * 3


class Large(WithAsset):
    """A widget that shows how many bytes it has."""

    def _fallback(self) -> str:
        return "<p>nothing yet</p>"


def test_the_bytes_come_back_and_another_script_is_no_asset(tmp_path) -> None:
    path = tmp_path / "x.js"
    path.write_text(asset_script("x", DATA))
    assert asset_bytes(path) == DATA
    for text in ("", "alert(1)", asset_script("x", DATA) + "alert(1)"):
        path.write_text(text)
        with pytest.raises(ValueError, match="path must be a widget's asset"):
            asset_bytes(path)


def test_the_page_holds_the_name_and_not_the_bytes(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    widget = Large(kind="large", asset="numbers", size=len(DATA), carried=DATA)
    html = widget.html()
    assert "numbers" in html
    assert base64.b64encode(DATA).decode()[:40] not in html
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv(FOLDER, str(tmp_path / "assets"))
    assert widget.html() == html
    assert asset_bytes(tmp_path / "assets" / "numbers.js") == DATA


def test_a_page_runs_the_asset_as_a_classic_script(show, folder) -> None:
    (folder / "assets").mkdir(exist_ok=True)
    (folder / "assets" / "numbers.js").write_text(asset_script("numbers", DATA))
    page = show()
    page.add_script_tag(url="assets/numbers.js")
    assert base64.b64decode(page.evaluate("() => attnbookAssets.numbers")) == DATA
