"""The head browser wherever it is shown: anywidget, a phone, paper, no script, both themes."""

from __future__ import annotations

import base64

import pytest
from playwright.sync_api import expect

from attnbook.widgets import HeadBrowser
from attnbook.widgets.core import markup
from attnbook.widgets.core.assets import FOLDER
from tests.widgets.browsers import best, box, choose, load, ranking, small, title
from tests.widgets.conftest import settle
from tests.widgets.test_browser import attention, browser
from tests.widgets.test_everywhere import RENDER, violations

EVIL = "<img/src=x/onerror=alert(1)>"
CARRIED = """([packed, render, rest]) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  rest[1].carried = new DataView(bytes.buffer);
  return eval(render)(rest);
}"""


@pytest.fixture(autouse=True)
def _assets(monkeypatch: pytest.MonkeyPatch, folder) -> None:
    monkeypatch.setenv(FOLDER, str(folder / "assets"))


def rendered(show, widget: HeadBrowser, views: int = 2):
    """As in JupyterLab and in Colab, where the model has the bytes."""
    page = show()
    packed = base64.b64encode(widget.carried).decode()
    state = markup.tidy(widget.state())
    page.evaluate(CARRIED, [packed, RENDER, [widget._esm, state, views]])
    page.locator(".attnbook-every").nth(views - 1).wait_for()
    settle(page)
    return page


def test_in_jupyter_the_weights_are_there_and_the_hand_moves_python(show) -> None:
    page = rendered(show, browser(row=8, key=2))
    assert page.get_by_role("button", name="load all").count() == 0
    first, last = page.locator("figure").first, page.locator("figure").last
    assert best(first) == ranking(browser(row=8, key=2))
    box(first, "look from").select_option("sat")
    small(first, 1, 2).click()
    settle(page)
    assert page.evaluate("['row', 'key', 'layer', 'head'].map(model.get)") == [9, 2, 1, 2]
    assert page.evaluate("saves") == 2
    expect(title(last)).to_have_text("layer 1 head 2")
    assert best(last) == ranking(browser(row=9, key=2))


def test_python_moves_the_view_and_hears_no_echo(show) -> None:
    page = rendered(show, browser(row=8, key=2))
    page.evaluate("() => { model.set('chosen', 1); }")  # of whose tokens there is no ninth
    settle(page)
    page.evaluate("() => { model.set('row', null); model.set('measure', 'next'); }")
    for view in page.locator("figure").all():
        assert best(view) == ranking(browser(chosen=1, key=2, measure="next"))
        expect(box(view, "sentence")).to_have_value("2: the street was wide")
    assert page.evaluate("saves") == 0
    page.evaluate("stops.forEach((stop) => stop())")
    assert page.evaluate("left()") == 0


def test_a_finger_searches_and_no_page_scrolls_sideways(show) -> None:
    tokens = [f"word{i}" for i in range(20)]
    widget = HeadBrowser([(tokens, attention(20, 6, 12))], names=["long " * 40], row=3, key=2)
    page = load(show(widget, width=390, has_touch=True, is_mobile=True))
    small(page, 5, 11).tap()
    expect(title(page)).to_have_text("layer 5 head 11")
    for summary in page.locator("summary").all():
        summary.tap()
    page.get_by_label("hide [CLS] and [SEP]").check()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    low = """() => Array.from(
        document.querySelectorAll('figure :is(button, select, summary, [role=button])'))
      .filter((node) => node.getBoundingClientRect().height < 44).length"""
    assert page.evaluate(low) == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_before_and_after_loading(show, theme: str) -> None:
    page = show(browser(row=8, key=2, caption="All `heads`."), theme=theme)
    assert violations(page) == []
    load(page)
    assert violations(page) == []
    for summary in page.locator("summary").all():
        summary.click()
    choose(page, "shade by", "over how many keys")
    page.get_by_label("hide [CLS] and [SEP]").check()
    settle(page)
    assert violations(page) == []


@pytest.mark.parametrize(("layers", "heads", "n"), [(6, 12, 20), (12, 12, 16)])
def test_the_largest_picture_stays_within_the_budget_of_nodes(
    show, layers: int, heads: int, n: int
) -> None:
    tokens = [f"word{i:02}" for i in range(n)]
    count = 10 if layers == 6 else 9
    widget = HeadBrowser([(tokens, attention(n, layers, heads))] * count, row=3, key=2)
    page = load(show(widget))
    for summary in page.locator("summary").all():
        summary.click()
    settle(page)
    assert page.locator("figure *").count() <= 500


def test_hostile_texts_are_shown_as_text(show) -> None:
    sentence = ([EVIL, "</script>"], attention(2))
    page = show(HeadBrowser([sentence], names=[EVIL], row=0, key=1, caption=EVIL))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    load(page)
    for summary in page.locator("summary").all():
        summary.click()
    settle(page)
    assert page.locator("figure img").count() == 0
    assert page.locator("figure script").count() == 1
    expect(page.locator("th", has_text=EVIL).first).to_be_visible()


def test_without_javascript_the_table_is_there(show) -> None:
    widget = browser(row=8)
    page = show(widget, ready=False, java_script_enabled=False)
    expect(page.locator("table tbody tr")).to_have_count(11)
    expect(page.locator("figure")).to_contain_text(f"{widget.weights[0, 0, 8, 2]:.3f}")


def test_on_paper_there_is_a_table_before_loading_and_all_tables_after(show) -> None:
    page = show(browser(row=8, key=2))
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-fallback table")).to_be_visible()
    expect(page.get_by_role("button", name="load all")).to_be_hidden()
    page.emulate_media(media="screen")
    load(page)
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-fallback")).to_be_hidden()
    expect(page.locator(".attnbook-twin table")).to_have_count(2)
    expect(page.locator(".attnbook-best button").first).to_be_visible()
    expect(box(page, "sentence")).to_be_hidden()
