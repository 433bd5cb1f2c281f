"""Notebooks in a real JupyterLab, driven by a real browser: opened, run, and played with.

`make test` opens one lecture and a gallery of every kind of widget, `make test-all` every lecture.
"""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from attnlab.widgets import AttentionHeatmap
from tests.attnlab.widgets.examples import EXAMPLES
from tests.attnlab.widgets.pages import unfold
from tests.book.lab import Visit, jupyterlab
from tests.book.lectures import NOTEBOOKS, ROOT, by_day, printed, read, stored, tags

GALLERY = Path("gallery.ipynb")
LECTURES = by_day(NOTEBOOKS, "05-self-attention")

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>"]
SHOW_HOSTILE = (
    "from attnlab.widgets import AttentionHeatmap, AttentionSteps\n"
    f"AttentionHeatmap([[1, 0], [0, 1]], tokens={HOSTILE!r})"
)
FIRST = "next(shown for shown in Out.values() if isinstance(shown, {}))"
FOLDED = re.compile(r"<details>.*?</details>|<script.*?</script>", re.S)
NUMBERED = re.compile("attnbook-(arrows|heatmap|steps|heads|roles|scores|painter|beam|unrolled)")
LINK = re.compile(r"\[([^]]+)\]\(https://[^)]+\)")
CELL = re.compile(r"<td[^>]*>([^<]+)</td>")
DATA = re.compile(r'<script type="application/json">(.*?)</script>', re.S)


def showing(kind: str) -> list:
    """The gallery, and weekly the lectures that show a widget of one kind."""
    shown = [path for path in NOTEBOOKS if f"attnbook-{kind}" in printed(stored(path))]
    return [GALLERY, *(pytest.param(path, marks=pytest.mark.heavy) for path in shown)]


def gallery() -> NotebookNode:
    """A notebook with one widget of every kind, as the tests of the widgets make them."""
    imports = ["import sys", f"sys.path.insert(0, {str(ROOT)!r})", "import numpy as np"]
    imports += [
        "from attnlab.widgets import *",
        "from tests.attnlab.widgets.examples import EXAMPLES",
    ]
    cells = [v4.new_code_cell("\n".join(imports), execution_count=1)]
    for number, (kind, example) in enumerate(EXAMPLES.items(), 2):
        html = {"text/html": example.make().html()}
        shown = v4.new_output("execute_result", html, execution_count=number)
        source = f"EXAMPLES[{kind!r}].make()"
        cells.append(v4.new_code_cell(source, execution_count=number, outputs=[shown]))
    return v4.new_notebook(cells=cells, metadata=read(NOTEBOOKS[0]).metadata)


def named(path: Path) -> str:
    return path.stem


def with_two_more_cells(path: Path) -> NotebookNode:
    """A notebook, and after it hostile tokens and a cell to write in."""
    notebook = gallery() if path == GALLERY else read(path)
    html = AttentionHeatmap([[1, 0], [0, 1]], tokens=HOSTILE).html()
    shown = v4.new_output("execute_result", {"text/html": html}, execution_count=1)
    notebook.cells += [
        v4.new_code_cell(SHOW_HOSTILE, execution_count=1, outputs=[shown]),
        v4.new_code_cell("print('the end')"),
    ]
    return notebook


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    with jupyterlab(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.fixture(scope="module", params=[GALLERY, *LECTURES], ids=named)
def visit(lab, chromium, request) -> Iterator[Visit]:
    """A notebook that was opened, looked at, and run from top to bottom."""
    address, root = lab
    visit = Visit(
        chromium.new_page(viewport={"width": 1280, "height": 900}),
        root / request.param.name,
        with_two_more_cells(request.param),
    )
    nbformat.write(visit.stored, visit.file)
    visit.open(address)
    visit.run_all()
    yield visit
    visit.page.close()


def widgets(visit: Visit) -> list[tuple[int, str]]:
    """The place and the stored HTML of every widget; the hostile one is the last."""
    return [
        (place, output["data"]["text/html"])
        for place, cell in enumerate(visit.stored.cells)
        for output in cell.get("outputs", [])
        if "<figure class=" in output.get("data", {}).get("text/html", "")
    ]


def solutions(visit: Visit) -> list[tuple[int, NotebookNode, list[str]]]:
    """The place, the cell and the lines of code of every solution; its title may be seen."""
    return [
        (place, cell, [line.strip() for line in cell.source.splitlines()[1:] if line.strip()])
        for place, cell in enumerate(visit.stored.cells)
        if "solution" in tags(cell)
    ]


def test_before_the_run_every_picture_is_a_readable_table(visit: Visit) -> None:
    for place, html in widgets(visit):
        values = [unescape(value) for value in CELL.findall(FOLDED.sub("", html))]
        assert values or not NUMBERED.search(html)
        missing = [value for value in values if value not in visit.opened[place]]
        assert not missing, f"cell {place} does not show {missing}"
        assert '"kind"' not in visit.opened[place], "the widget's data is shown as text"


def test_before_the_run_no_solution_is_visible(visit: Visit) -> None:
    for place, cell, code in solutions(visit):
        assert not [line for line in code if line in visit.opened[place]]
        for output in cell.outputs:
            assert output.get("text", "").strip() not in visit.opened[place]


def test_before_the_run_no_answer_is_visible(visit: Visit) -> None:
    assert visit.unfolded == 0
    for place, html in widgets(visit):
        state = json.loads(DATA.search(html)[1])
        reasons = [reason for _, _, reason in state.get("options", [])]
        reasons += [state["reason"]] if state.get("reason") else []
        reasons += state["answers"] if state["kind"] == "bughunt" else []
        reasons = [LINK.sub(r"\1", reason) for reason in reasons if reason]
        plain = [reason.replace("`", "") for reason in reasons]
        shown = [reason for reason in plain if reason in visit.opened[place]]
        assert not shown, f"cell {place} shows the answer {shown}"


def test_run_all_reaches_the_last_cell_though_the_exercises_are_blank(visit: Visit) -> None:
    cells = [cell for cell in visit.saved().cells if cell.cell_type == "code"]
    bad = [
        "".join(output.get("traceback", [])) + output.get("text", "")
        for cell in cells
        for output in cell.outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ]
    assert not bad, bad[0]
    counts = [cell.execution_count for cell in cells[:-1]]  # a test may have run the last again
    assert counts == list(range(1, len(cells))), "the cells did not all run once, in order"


def test_after_the_run_every_widget_is_live(visit: Visit) -> None:
    for place, _ in widgets(visit):
        live = visit.cell(place).locator("figure.attnbook[data-ready]")
        live.locator(".attnbook-live").wait_for(state="visible")
        assert live.count() == 1, f"cell {place} shows {live.count()} live widgets"
        assert live.locator(".attnbook-fallback").count() == 0


def test_after_the_run_no_solution_is_visible(visit: Visit) -> None:
    for place, _, code in solutions(visit):
        assert not [line for line in code if line in visit.seen(place)]


@pytest.mark.parametrize("visit", showing("heatmap"), indirect=True, ids=named)
def test_the_slider_moves_python_and_python_moves_the_slider(visit: Visit) -> None:
    visit.python(f"w = {FIRST.format('AttentionHeatmap')}; w.temperature = 1.0")
    slider = visit.first("heatmap").locator("input[type=range]")
    box = slider.bounding_box()
    slider.click(position={"x": 0.75 * box["width"], "y": box["height"] / 2})
    moved = 10 ** float(slider.input_value())  # the slider runs over the logarithm
    assert moved > 2
    assert float(visit.python("print(w.temperature)")) == pytest.approx(moved, rel=0.01)

    visit.python("w.temperature = 2.0")
    at_two = "(slider) => Math.abs(Number(slider.value) - Math.log10(2)) < 0.01"
    visit.page.wait_for_function(at_two, arg=slider.element_handle())
    sums = json.loads(visit.python("print(w.weights.sum(axis=-1).ravel().tolist())"))
    assert sums == pytest.approx([1] * len(sums))


@pytest.mark.parametrize("visit", showing("steps"), indirect=True, ids=named)
def test_an_edited_number_reaches_python_and_comes_back(visit: Visit) -> None:
    before = json.loads(visit.python(f"s = {FIRST.format('AttentionSteps')}; print(s.vectors)"))
    number = visit.first("steps").locator("input[inputmode=decimal]").first
    number.fill("7.5")
    after = json.loads(visit.python("print(s.vectors)"))
    assert after == [[7.5, *before[0][1:]], *before[1:]]

    visit.python(f"s.vectors = {before}")
    wanted = "([input, value]) => Number(input.value) === value"
    visit.page.wait_for_function(wanted, arg=[number.element_handle(), before[0][0]])


@pytest.mark.parametrize("visit", showing("heatmap"), indirect=True, ids=named)
def test_the_heat_map_s_keys_are_not_taken_by_jupyterlab(visit: Visit) -> None:
    visit.python(f"w = {FIRST.format('AttentionHeatmap')}; w.temperature = 1.0; w.pinned = None")
    figure = visit.first("heatmap")
    slider = figure.locator("input[type=range]")
    for _ in range(5):
        slider.press("ArrowRight")
    assert float(slider.input_value()) == pytest.approx(0.05, abs=0.006)
    plot = figure.locator(".attnbook-plot")
    for key in ("ArrowDown", "ArrowDown", "Enter"):  # the first key only shows where one is
        plot.press(key)
    visit.prints("print(w.pinned)", "1")


@pytest.mark.parametrize("visit", showing("steps"), indirect=True, ids=named)
def test_the_keys_of_the_steps_are_not_taken_by_jupyterlab(visit: Visit) -> None:
    visit.python(f"s = {FIRST.format('AttentionSteps')}; s.query = 2; s.step = 3")
    figure = visit.first("steps")
    figure.get_by_role("button", name="previous").press("ArrowLeft")
    figure.locator("select").press("ArrowUp")
    visit.prints("print(s.step, s.query)", "2 1")


@pytest.mark.parametrize("visit", showing("roles"), indirect=True, ids=named)
def test_an_edited_matrix_reaches_python_and_its_keys_are_not_taken(visit: Visit) -> None:
    visit.python(f"r = {FIRST.format('RoleProjection')}; r.token = 0")
    before = json.loads(visit.python("print(r.w_k)"))
    figure = visit.first("roles")
    number = figure.get_by_label("W^K, row 2, column 1")
    number.fill("7.5")
    number.press("Enter")  # JupyterLab would open the cell to be edited
    square = figure.locator(".attnbook-square").first
    square.press("ArrowDown")
    after = json.loads(visit.python("print(r.w_k)"))
    assert after == [before[0], [7.5, *before[1][1:]], *before[2:]]
    visit.prints("print(r.token)", "1")

    visit.python(f"r.w_k = {before}")
    wanted = "([input, value]) => Number(input.value.replace('−', '-')) === value"
    visit.page.wait_for_function(wanted, arg=[number.element_handle(), before[1][0]])


@pytest.mark.parametrize("visit", showing("heads"), indirect=True, ids=named)
def test_the_keys_of_the_heads_are_not_taken_by_jupyterlab(visit: Visit) -> None:
    visit.python(
        f"g = {FIRST.format('HeadGrid')}; g.chosen = []; g.row = None; g.large = 'one'; g.head = 0"
    )
    figure = visit.first("heads")
    maps = figure.locator(".attnbook-map")
    maps.first.press("ArrowRight")
    maps.nth(1).press("Enter")
    maps.nth(1).press("ArrowLeft")
    maps.first.press("Space")
    visit.prints("print(g.chosen, g.head, g.large)", "[0, 1] 0 chosen")
    figure.get_by_label("query").select_option(index=1)
    visit.prints("print(g.row)", "0")
    visit.python("g.large = 'average'")
    fold = figure.locator("details:has(.attnbook-main)")  # lecture 8 folds the large map
    if fold.count():
        fold.evaluate("(fold) => { fold.open = true; }")
    figure.locator(".attnbook-title", has_text="average of").wait_for()


@pytest.mark.parametrize("visit", showing("player"), indirect=True, ids=named)
def test_the_keys_of_the_player_are_not_taken_by_jupyterlab(visit: Visit) -> None:
    visit.python(f"a = {FIRST.format('AlignmentPlayer')}; a.chosen = 0; a.word = 0")
    figure = visit.first("player")
    figure.locator(".attnbook-stage button").first.press("ArrowDown")
    figure.get_by_role("button", name="next", exact=True).press("Enter")
    visit.prints("print(a.word)", "2")
    figure.get_by_label("compare with gold links").check()
    figure.get_by_label("threshold θ as a number").fill("0.25")
    visit.prints("print(a.threshold)", "0.25")
    visit.python("a.word = 0")
    figure.get_by_text("word 1 of", exact=False).wait_for()


@pytest.mark.parametrize("visit", showing("scores"), indirect=True, ids=named)
def test_a_moved_arrow_reaches_python_and_its_keys_are_not_taken(visit: Visit) -> None:
    visit.python(f"s = {FIRST.format('ScoreExplorer')}; s.query = [1, 0.5]; s.tanh = True")
    figure = visit.first("scores")
    figure.locator(".attnbook-tip").first.press("Shift+ArrowLeft")
    figure.get_by_label("with tanh").press("Space")
    unfold(figure)
    visit.prints("print(s.query, s.tanh)", "[0, 0.5] False")
    visit.python("s.query = [-2, 0.5]")
    wanted = "(input) => input.value === '−2'"
    number = figure.get_by_label("query, number 1").element_handle()
    visit.page.wait_for_function(wanted, arg=number)


@pytest.mark.parametrize("visit", showing("beam"), indirect=True, ids=named)
def test_the_beams_words_and_penalty_reach_python(visit: Visit) -> None:
    visit.python(f"b = {FIRST.format('BeamTree')}; b.beam = 1; b.penalty = 0.0; b.step = 0")
    figure = visit.first("beam")
    figure.get_by_role("button", name="next", exact=True).press("Enter")
    figure.get_by_role("button", name="next", exact=True).press("ArrowRight")
    figure.get_by_label("length penalty α as a number").fill("0.5")
    visit.prints("print(b.step, b.penalty)", "2 0.5")
    visit.python("b.step = 1")
    figure.get_by_text("word 1 of", exact=False).wait_for()


@pytest.mark.parametrize("visit", showing("painter"), indirect=True, ids=named)
def test_a_painted_mask_reaches_python_and_its_keys_are_not_taken(visit: Visit) -> None:
    visit.python(f"p = {FIRST.format('MaskPainter')}; p.mask = [1] * len(p.mask); p.pinned = None")
    figure = visit.first("painter")
    plot = figure.locator(".attnbook-plot").first
    plot.press("ArrowRight")  # to the first cell, whichever was left last
    plot.press("Home")
    plot.press("Space")  # JupyterLab would scroll
    plot.press("Enter")
    visit.prints("print(p.mask.count(0), p.pinned is not None)", "1 True")
    figure.get_by_role("button", name="causal", exact=True).click()
    square = "__import__('numpy').tri(*p.shape, dtype=bool)"
    visit.prints(f"print((p.may == {square}).all())", "True")
    visit.python("p.fill = 'zero'; p.show = 'gradient'")
    figure.locator("b", has_text="gradient").wait_for()


@pytest.mark.parametrize("visit", showing("bughunt"), indirect=True, ids=named)
def test_a_hunts_lines_are_walked_and_pressed_by_key(visit: Visit) -> None:
    visit.python(f"h = {FIRST.format('BugHunt')}; h.pressed = []")
    lines = visit.first("bughunt").locator(".attnbook-code button")
    lines.first.press("ArrowDown")
    lines.nth(1).press("Enter")  # JupyterLab would open the cell to be edited
    lines.nth(1).press("ArrowUp")
    lines.first.press("Space")
    numbered = "[n for n, answer in enumerate(h.answers, 1) if answer][:2]"
    visit.prints(f"print(h.pressed[::-1] == {numbered})", "True")
    visit.python("h.pressed = []")
    visit.first("bughunt").locator(".attnbook-right, .attnbook-wrong").first.wait_for(
        state="detached"
    )


@pytest.mark.parametrize("visit", showing("answer"), indirect=True, ids=named)
def test_a_number_from_paper_is_checked_by_key_and_reaches_python(visit: Visit) -> None:
    visit.python(
        f"a = {FIRST.format('Answer')}; a.entries = [''] * len(a.entries);"
        " a.tries = 0; a.checked = a.given = False"
    )
    box = visit.first("answer").locator("input").first
    box.fill("1/7")
    box.press("Enter")
    visit.prints("print(a.entries[0], a.checked, a.tries)", "1/7 True 1")
    visit.python("a.given = True")
    visit.first("answer").get_by_role("button", name="start again").wait_for()


@pytest.mark.parametrize("visit", [GALLERY], indirect=True, ids=named)
def test_an_arrow_moves_a_choice_and_enter_judges_it(visit: Visit) -> None:
    visit.python(f"c = {FIRST.format('Checkpoint')}; c.chosen = []; c.checked = False")
    choices = visit.first("checkpoint").locator("input")
    choices.first.press("ArrowDown")
    visit.prints("print(c.chosen, c.checked)", "[1] False")
    choices.nth(1).press("Enter")
    visit.prints("print(c.chosen, c.checked)", "[1] True")


@pytest.mark.parametrize("visit", showing("unrolled"), indirect=True, ids=named)
def test_the_keys_of_the_unrolled_model_are_not_taken_by_jupyterlab(visit: Visit) -> None:
    visit.python(f"u = {FIRST.format('UnrolledModel')}; u.step = 0; u.forced = {{}}")
    figure = visit.first("unrolled")
    figure.get_by_role("button", name="next", exact=True).press("ArrowRight")
    figure.locator(".attnbook-net .attnbook-scroll").first.press("ArrowRight")
    visit.prints("print(u.step)", "2")
    word = visit.python("print(u.target_words[3])")
    figure.locator(".attnbook-settings summary").click()
    target = figure.get_by_label("forced target")
    target.fill(word)
    target.press("Enter")  # JupyterLab would open the cell to be edited
    visit.prints("print(u.forced == {1: u.target_words[3]}, u.written[0])", f"True {word}")
    visit.python("u.forced = {}")
    visit.page.wait_for_function("(box) => box.value === ''", arg=target.element_handle())


@pytest.mark.parametrize("visit", [GALLERY], indirect=True, ids=named)
def test_a_typed_sentence_is_read_by_python_and_shown(visit: Visit) -> None:
    visit.python(f"b = {FIRST.format('HeadBrowser')}; b.chosen = 0; b.row = 9; b.key = 2")
    figure = visit.first("browser")
    field = figure.get_by_label("your own sentence")
    field.fill("the animal sat")
    field.press("Enter")  # JupyterLab would open the cell to be edited
    figure.get_by_text("It is the last in the list.").wait_for()
    chosen = figure.get_by_role("combobox", name="sentence", exact=True)
    assert chosen.input_value() == "yours: the animal sat"
    figure.locator(".attnbook-best p", has_text="sat → animal. Most in:").wait_for()
    measured = json.loads(visit.python("print(b.chosen, b.row, b.measured.max())").split()[2])
    assert f"{measured:.3f}" in figure.locator(".attnbook-best button").first.text_content()
    field.fill("é")
    field.press("Enter")
    figure.get_by_text("there is no piece for 'é'").wait_for()
    visit.prints("print(b.chosen, len(b.own))", "2 1")
    stored = "'the animal sat' in b.html() + repr(b)"
    visit.prints(f"print({stored})", "False")


def test_the_gallery_holds_every_kind_that_the_lectures_show() -> None:
    pages = "".join(printed(read(path)) for path in NOTEBOOKS)
    assert set(re.findall(r'<figure class="attnbook attnbook-([a-z]+)', pages)) <= set(EXAMPLES)


def test_hostile_tokens_are_shown_as_text(visit: Visit) -> None:
    place = widgets(visit)[-1][0]
    assert all(token in visit.opened[place] for token in HOSTILE), "in the stored table"
    figure = visit.cell(place).locator("figure.attnbook[data-ready]")
    figure.locator("details summary").first.click()
    figure.locator("details table").first.wait_for(state="visible")
    text = figure.inner_text()
    assert all(token in text for token in HOSTILE), "in the live widget"
    assert figure.locator("img, script").count() == 0
    assert visit.dialogs == []


# said where two seconds pass, by the clock, before a model is there; that it came is seen above
LATE = "[anywidget] Failed to initialize model."


def test_nothing_is_asked_of_another_host_and_no_script_fails(visit: Visit) -> None:
    assert visit.outside == []
    assert [error for error in visit.errors if error != LATE] == []
