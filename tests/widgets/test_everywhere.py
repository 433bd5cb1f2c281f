"""What holds for every widget: accessible, narrow enough, and the same through anywidget."""

from __future__ import annotations

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from attnbook.widgets import (
    AlignmentPlayer,
    AttentionHeatmap,
    AttentionSteps,
    BeamTree,
    Checkpoint,
    HeadBrowser,
    HeadGrid,
    MaskPainter,
    PositionExplorer,
    Prediction,
    RoleProjection,
    ScoreExplorer,
    Translator,
)
from attnbook.widgets.core import markup
from tests.widgets.beams import DETERMINERS, model_table
from tests.widgets.conftest import TOKENS, X, settle
from tests.widgets.players import player
from tests.widgets.test_block import largest as largest_block
from tests.widgets.test_block import made as block_flow
from tests.widgets.test_translator import lesson, options_of
from tests.widgets.test_unrolled import digits

EVIL = "<img src=x onerror=alert(1)>"
EYE = [[1, 0], [0, 1]]
LEARNED = {"w": EYE, "w_q": EYE, "w_k": EYE, "v": [1, -1]}

# a stand-in for anywidget's model: what `render` gets in JupyterLab and in Colab
RENDER = """async ([source, state, views]) => {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { render } = (await import(url)).default;
  const heard = {};
  window.saves = 0;
  window.model = {
    get: (name) => state[name],
    set(name, value) {
      if (JSON.stringify(state[name]) === JSON.stringify(value)) return;
      state[name] = value;
      (heard[`change:${name}`] ?? []).forEach((listener) => listener());
    },
    save_changes: () => { window.saves += 1; },
    on: (event, listener) => { (heard[event] ??= []).push(listener); },
    off: (event, listener) => {
      heard[event] = (heard[event] ?? []).filter((other) => other !== listener);
    },
  };
  window.left = () => Object.values(heard).flat().length;
  window.stops = Array.from({ length: views }, () => {
    const place = document.createElement("div");
    document.querySelector("main").append(place);
    return render({ model: window.model, el: place });
  });
}"""


def all_widgets() -> list:
    x = np.random.default_rng(0).normal(size=(6, 12, 4))
    words = ["The", "animal", "did", "n't", "cross", "the", "street", "because", "it", "was"]
    words += ["too", "tired"]
    return [
        AttentionHeatmap(X, tokens=TOKENS, pinned=2, caption="Three tokens and `code`."),
        AttentionHeatmap(x, tokens=words, causal=True),
        AttentionHeatmap(x.reshape(1, 24, 12), tokens=[f"word{i}" for i in range(24)]),
        AttentionSteps(X, TOKENS, step=4, causal=True, query=1),
        MaskPainter(X, tokens=TOKENS, mask=~np.eye(3, dtype=bool), fill="zero", pinned=1),
        MaskPainter(x[0], tokens=words, mask=np.tri(12, k=-1, dtype=bool), show="gradient"),
        HeadGrid(np.stack([X, X[::-1]]), tokens=TOKENS, row=2, caption="Two heads and `code`."),
        HeadGrid(np.concatenate([x, x]), tokens=words, chosen=[1, 7, 11], row=8, causal=True),
        Checkpoint("Which?", [("a `b`", True, "yes"), ("c", False, "no")]),
        Checkpoint("Which?", [("a", True, "yes"), ("c", True, "yes")], multiple=True),
        Prediction("How much?", {"had": 0.5, "bowl": 0.25}),
        RoleProjection(X, TOKENS, X, X[::-1], np.eye(3)[:, :2], token=2, caption="Three roles."),
        RoleProjection(x[0, :6, :4], words[:6], *x[1:4, :4], causal=True),
        digits(step=-1, forced={2: "7"}, caption="An unrolled model and `code`."),
        BeamTree(DETERMINERS, editable=True, step=2, penalty=0.5, caption="A `beam`."),
        BeamTree(model_table(), beam=3, step=-1),
        ScoreExplorer(X[0][:2], x[0, :5, :2], words[:5], **LEARNED, caption="Four `scores`."),
        player(word=1, caption="Two sentences and `code`."),
        HeadBrowser([(TOKENS, np.full((2, 3, 3, 3), 1 / 3))], row=2, caption="All `heads`."),
        block_flow(norm="post", caption="A block and `code`."),
        largest_block(),
        PositionExplorer(position=8, shift=5, caption="Positions and `code`."),
        Translator(options_of("an output of its own"), *lesson()[1:], caption="A `Seq2Seq`."),
    ]


def use_everything(page) -> None:
    """Open, choose and reveal, so that every part is in the page."""
    for summary in page.locator(".attnbook-twin > summary").all():
        summary.click()
    page.get_by_label("c", exact=True).first.check()
    page.get_by_label("your prediction for had").fill("0.4")
    page.get_by_role("button", name="reveal").click()
    page.get_by_label("nuts, component 1").fill("")
    settle(page)


def violations(page) -> list[str]:
    found = Axe().run(page, options={"preload": False}).response["violations"]
    return [f"{v['id']}: {node['html'][:150]}" for v in found for node in v["nodes"]]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(show, theme: str) -> None:
    page = show(*all_widgets(), theme=theme)
    assert violations(page) == []
    use_everything(page)
    assert violations(page) == []


def test_axe_finds_nothing_without_javascript_either(show) -> None:
    fallbacks = [widget.html().replace("attnbook-fallback", "shown") for widget in all_widgets()]
    page = show(*(html.replace('"kind"', '"no"') for html in fallbacks), ready=False)
    expect(page.locator(".shown table").first).to_be_visible()
    assert violations(page) == []
    assert len(show.logged) == len(fallbacks)  # each says that it is no widget any more
    show.logged.clear()


def test_a_phone_never_scrolls_sideways(show) -> None:
    page = show(*all_widgets(), width=390, has_touch=True, is_mobile=True)
    use_everything(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = """() => Array.from(document.querySelectorAll('figure button, figure select, summary'))
      .filter((node) => node.getBoundingClientRect().height > 0)
      .filter((node) => node.getBoundingClientRect().height < 44).length"""
    assert page.evaluate(small) == 0


def test_hostile_texts_never_become_markup(show) -> None:
    page = show(
        AttentionSteps(X, [EVIL, "</script>", "nuts"], step=4),
        Checkpoint(EVIL, [(EVIL, True, EVIL), ("`" + EVIL + "`", False, EVIL)]),
        Prediction(EVIL, {EVIL: 1}, reason=EVIL),
        RoleProjection(X, [EVIL, "</script>", "nuts"], X, X, X),
        ScoreExplorer([1, 2], EYE, [EVIL, "</script>"], **LEARNED),
        HeadGrid([X], tokens=[EVIL, "</script>", "nuts"], names=[EVIL], row=0),
        block_flow(tokens=[EVIL, "</script>", "nuts"]),
        AlignmentPlayer([([EVIL, "</script>"], [EVIL], [[0.5, 0.5]], None)]),
    )
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.get_by_role("radio").first.check()
    page.get_by_label(f"your prediction for {EVIL}").fill("1")
    page.get_by_role("button", name="reveal").click()
    assert page.locator("figure img").count() == 0
    expect(page.locator("th", has_text=EVIL).first).to_be_visible()


def rendered(show, widget, views: int = 2):
    page = show()
    page.evaluate(RENDER, [widget._esm, markup.tidy(widget.state()), views])
    settle(page)
    return page


def test_python_moves_the_view(show) -> None:
    page = rendered(show, AttentionHeatmap(X, tokens=TOKENS, caption="first"))
    page.evaluate("() => { model.set('pinned', 2); model.set('temperature', 10); }")
    settle(page)
    for view in page.locator("figure").all():
        expect(view.locator(".attnbook-side")).to_contain_text("nuts attends to")
        expect(view.get_by_label("temperature as a number")).to_have_value("10")
    page.evaluate("model.set('caption', 'second')")
    expect(page.locator("figcaption").first).to_have_text("second")
    assert page.evaluate("saves") == 0  # a view that is told of a change sends none back


@pytest.mark.parametrize(
    ("made", "trait"),
    [
        (lambda: digits(step=0), "step"),
        (lambda: BeamTree(DETERMINERS, step=0), "step"),
        (lambda: player(word=0), "word"),
        (lambda: AttentionSteps(X, TOKENS, step=0), "step"),
    ],
    ids=["UnrolledModel", "BeamTree", "AlignmentPlayer", "AttentionSteps"],
)
def test_two_presses_within_one_frame_are_two_steps(show, made, trait: str) -> None:
    page = rendered(show, made(), views=1)
    on = page.get_by_role("button", name="next", exact=True)
    on.evaluate("(node) => { node.click(); node.click(); }")
    assert page.evaluate("(trait) => model.get(trait)", trait) == 2


def test_new_data_from_python_is_drawn(show) -> None:
    page = rendered(show, AttentionHeatmap(X, tokens=TOKENS), views=1)
    page.evaluate("model.set('scores', [[0, 0, 0, 0, 0, 0, 0, 0, 0]])")
    page.locator(".attnbook-twin > summary").click()
    expect(page.locator("td").first).to_have_text("0.333")
    assert page.locator("figure .attnbook-live").count() == 1


def test_a_table_unfolded_before_new_data_is_drawn_waits_for_it(show) -> None:
    page = rendered(show, AttentionHeatmap(X, tokens=TOKENS), views=1)
    page.evaluate(
        """() => {
          model.set('scores', [[0, 0, 0, 0, 0, 0, 0, 0, 0]]);
          const table = document.querySelector('.attnbook-twin');
          table.open = true;
          table.dispatchEvent(new Event('toggle'));
        }"""
    )
    expect(page.locator("td").first).to_have_text("0.333")


def test_the_view_moves_python_and_the_other_view(show) -> None:
    page = rendered(show, AttentionSteps(X, TOKENS, step=4))
    field = page.get_by_label("bowl, component 2")
    field.first.fill("3")
    settle(page)
    assert page.evaluate("model.get('vectors')[1]") == [1, 3, 1]
    assert field.last.input_value() == "3"
    assert page.evaluate("saves") == 1


def test_a_closed_view_leaves_nothing_behind(show) -> None:
    page = show()
    for widget in all_widgets():
        page.evaluate(RENDER, [widget._esm, markup.tidy(widget.state()), 2])
        assert page.locator("figure").count() == 2
        page.evaluate("stops.forEach((stop) => stop())")
        assert page.locator("figure").count() == 0
        assert page.evaluate("left()") == 0
