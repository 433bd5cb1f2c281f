"""Questions that are sealed: the same to answer, and nowhere their answer to read."""

import base64
import json
import re

import pytest
from playwright.sync_api import expect

from attnlab.widgets import Widget, sealed
from teaching.kit.seal import seal
from tests.attnlab.widgets.examples import guess, hunt, paper, question, several
from tests.attnlab.widgets.pages import seen, settle, trait

HANGS_ON = ("teaching/__init__.py", "teaching/kit")
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
    return base64.b64encode(json.dumps(state).encode()).decode()


asked = pytest.mark.parametrize("make", ASKED.values(), ids=ASKED)


@asked
def test_a_sealed_question_is_the_question_and_its_answer_stands_nowhere(make, host) -> None:
    """What a view shows is what the question itself shows; what Python holds, only the question."""
    first, text = make(), seal(stored(make()))
    closed = sealed(text)
    found = secrets(stored(first))
    assert all(secret in make().html() for secret in found)
    inner = [base64.b64decode(part).decode("latin-1") for part in (text, closed.text[8:])]
    for part in (text, *inner, closed.html(), json.dumps(closed.state()), str(vars(closed))):
        assert not [secret for secret in found if secret in part]
    assert "<script" not in closed.html()
    assert "details" not in closed.html()
    assert all(len(line) <= 88 for line in text.splitlines())
    shown = seen(host(closed, views=1).locator("figure"))
    assert shown == seen(host(first, views=1).locator("figure"))


def test_a_sealed_question_answers_and_python_hears_what_was_moved(host) -> None:
    page = host(sealed(seal(stored(question()))))
    figures = page.locator("figure")
    figures.first.locator("input").nth(1).check()
    settle(page)
    assert trait(page, "moved") == {"chosen": [1], "checked": True}
    assert figures.last.locator("input").nth(1).is_checked()


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


def test_the_question_is_seen_where_no_script_runs() -> None:
    closed = sealed(seal(stored(question(question="What is `α`?"))))
    assert "What is <code>α</code>?" in closed.html()
    assert "A weight" in closed.html()
    bundle, _ = closed._repr_mimebundle_()
    assert bundle["text/html"] == closed.html()
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_a_text_that_is_broken_or_none_is_refused_in_a_sentence() -> None:
    states = [1, 2], {"question": "of no kind"}, {"kind": "heatmap"}, {"kind": ["checkpoint"]}
    texts = [base64.b64encode(b"not packed").decode(), seal(stored(question()))[:-30]]
    for text in ("", "hello", "####", *texts, *map(packed, states)):
        with pytest.raises(ValueError, match="text must be a question as `make kit` sealed it"):
            sealed(text)
    for text in (None, 7, b"bytes"):
        with pytest.raises((TypeError, ValueError), match="text"):
            sealed(text)
