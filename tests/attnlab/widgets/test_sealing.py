"""Questions that are sealed: the same to answer, and nowhere their answer to read."""

import base64
import json
import re
import zlib

import pytest
from playwright.sync_api import expect

from attnlab.widgets import AttentionHeatmap, Widget, seal, sealed
from tests.attnlab.widgets.examples import guess, hunt, paper, question, several

ASKED = {
    "checkpoint": question,
    "several": several,
    "prediction": guess,
    "hunt": hunt,
    "paper": paper,
    "captioned": lambda: question(caption="A `caption`"),
    "hostile": lambda: question(question="</script><b>&amp;", caption="</figure>"),
}


def stored(widget: Widget) -> dict:
    """What the widget's HTML holds, as a notebook stores it."""
    return json.loads(re.search(r'json">(.*?)</script>', widget.html())[1])


def secrets(state: dict) -> list[str]:
    """What only the answer says."""
    found = [reason for _, _, reason in state.get("options", [])]
    if state["kind"] == "bughunt":
        found += state["answers"]
    elif "answers" in state:
        found += [state["reason"], *(f"{number:.3f}" for number in state["answers"])]
    # a link or code is drawn otherwise: what stands before it is enough
    return [re.split(r"[`\[]", text)[0] for text in found if not text.startswith("`") and text]


def packed(state: object) -> str:
    return base64.b64encode(zlib.compress(json.dumps(state).encode())).decode()


asked = pytest.mark.parametrize("make", ASKED.values(), ids=ASKED)


@asked
def test_a_sealed_question_is_the_question_and_its_answer_stands_nowhere(make) -> None:
    first, again = make(), sealed(seal(stored(make())))
    assert type(again).__mro__[1:] == type(first).__mro__[1:]  # anywidget makes a class of each
    assert again.state() == first.state()
    assert repr(again) == repr(first)
    text = seal(stored(first))
    html, whole = sealed(text).html(), make().html()
    found = secrets(stored(make()))
    assert all(secret in whole for secret in found)
    assert not [secret for secret in found if secret in html or secret in text]
    assert "<script" not in html
    assert "details" not in html
    assert all(len(line) <= 88 for line in text.splitlines())


@asked
def test_answers_are_folded_away_without_a_script_and_on_paper(show, make) -> None:
    before, after = make().html().split("</script>")[1].split("<details>")
    found = secrets(stored(make()))
    assert found
    assert not [secret for secret in found if secret in before]
    assert all(secret in after for secret in found)
    page = show(make())
    page.emulate_media(media="print")
    expect(page.locator(".attnbook-fallback")).to_be_visible()
    expect(page.locator(".attnbook-live").filter(visible=True)).to_have_count(0)


def test_the_question_is_seen_and_follows_the_hand_and_what_asks_nothing_is_not_sealed() -> None:
    closed = sealed(seal(stored(question(question="What is `α`?"))))
    assert "What is <code>α</code>?" in closed.html()
    assert "A weight" in closed.html()
    bundle, _ = closed._repr_mimebundle_()
    assert bundle["text/html"] == closed.html()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    again = sealed(seal(stored(question())))
    again.chosen = [1, 0, 1]
    assert again.chosen == [0, 1]
    with pytest.raises(ValueError, match="chosen"):
        again.chosen = [2]
    state = stored(AttentionHeatmap([[1, 0], [0, 1]], tokens=["a", "b"]))
    with pytest.raises(ValueError, match="kind must be one of"):
        seal(state)


def test_a_text_that_is_broken_or_none_is_refused_in_a_sentence() -> None:
    states = [1, 2], {"question": "of no kind"}, {"kind": "heatmap"}, {"kind": ["checkpoint"]}
    texts = [base64.b64encode(b"not packed").decode(), seal(stored(question()))[:-30]]
    for text in ("", "hello", "####", *texts, *map(packed, states)):
        with pytest.raises(ValueError, match="text must be a question as `make kit` sealed it"):
            sealed(text)
    for text in (None, 7, b"bytes"):
        with pytest.raises((TypeError, ValueError), match="text"):
            sealed(text)
