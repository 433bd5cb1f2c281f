"""What every widget says in HTML: safe, stable, all of its state, and more than a picture."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from attnbook.widgets.core import markup
from tests.widgets.examples import EVIL, EXAMPLES, Example

HOSTILE = EVIL + "\u2028&\"'"
LIMIT = {"beam": 60_000}  # bytes of the largest; of all others 50,000


@pytest.fixture(params=EXAMPLES.values(), ids=EXAMPLES)
def one(request) -> Example:
    return request.param


def data_of(html: str) -> dict:
    return json.loads(re.search(r'json">(.*?)</script>', html, flags=re.DOTALL)[1])


class Tags(HTMLParser):
    def handle_starttag(self, tag: str, attrs: list) -> None:
        assert tag != "img"
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_the_html_and_the_repr_are_the_same_each_time_and_hold_no_address(one: Example) -> None:
    first, second = one.make(), one.make()
    assert first.model_id != second.model_id
    assert first.html() == second.html()
    assert first.model_id not in first.html()
    assert repr(first) == repr(second)
    assert repr(first).startswith(one.told)
    assert not re.search(r"0x[0-9a-f]+", repr(first))


def test_the_mime_bundle_has_view_html_and_text(one: Example) -> None:
    widget = one.make()
    data, _ = widget._repr_mimebundle_()
    assert data["text/html"] == widget.html()
    assert data["text/plain"] == repr(widget)
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id


@pytest.mark.parametrize("text", ["</script>" + HOSTILE, "</script>"], ids=["tag", "end"])
def test_a_hostile_text_stays_text(one: Example, text: str) -> None:
    html = one.evil(text).html()
    assert "<img" not in html
    assert html.count("</script>") == 1
    assert "\u2028" not in html.split("attnbook-fallback")[0]
    Tags().feed(html)
    assert text in json.dumps(data_of(html), ensure_ascii=False).replace('\\"', '"')


def test_the_json_holds_every_trait_of_data_and_state(one: Example) -> None:
    widget = one.make()
    data = data_of(widget.html())
    assert data == markup.tidy(widget.state())
    assert {"kind", "caption"} <= set(data)
    assert not {"layout", "tooltip", "_esm"} & set(data)
    assert all(data[name] == value for name, value in data.get("initial", {}).items())


def test_the_largest_stays_within_its_budget_of_bytes(one: Example) -> None:
    widget = one.large()
    assert len(widget.html()) < LIMIT.get(widget.kind, 50_000)


def test_the_fallback_says_it_in_words_and_rows(one: Example) -> None:
    words = one.make().html().split("</script>")[1]
    text = re.sub("<[^>]*>", "", words)
    for said in one.fallback:
        assert said in text.replace("&lt;", "<").replace("&gt;", ">")
    if one.rows is not None:
        assert len(re.findall("<tr>(?:<th[^>]*>.*?</th>)+<td", words)) == one.rows
