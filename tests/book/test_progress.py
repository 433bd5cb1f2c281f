"""Which questions are done: counted by the build, kept in the browser alone, shown, forgotten."""

from __future__ import annotations

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.book.lectures import HTML, NOTEBOOKS, ROOT, load

made = load(ROOT / "book" / "extensions" / "attnbook_progress.py")
KEY = "attention-worked-out:done"
LECTURE = "notebooks/04-scoring-functions"
OTHER = "notebooks/09-positions"
KEPT = f"() => JSON.parse(localStorage.getItem('{KEY}'))"


def listed() -> dict[str, list[str]]:
    text = (HTML / "_static" / made.FILE).read_text(encoding="utf-8")
    return json.loads(text.removeprefix("globalThis.attnbookQuestions = ").removesuffix(";\n"))


def answer(page: Page, which: int = 0) -> str:
    """Answer a checkpoint as its author would; return its question."""
    figure = page.locator("figure.attnbook-checkpoint").nth(which)
    state = json.loads(figure.locator("script").text_content())
    for text, (_, correct, _) in enumerate(state["options"]):
        if correct:
            figure.locator("input").nth(text).check()
    if state["multiple"]:
        figure.get_by_role("button", name="check").click()
    expect(figure.get_by_role("status")).to_contain_text("Right.")
    return state["question"]


def dots(page: Page) -> list[str]:
    marks = page.locator(".progress-dots").all()
    return [mark.get_attribute("aria-label") for mark in marks]


def test_the_build_lists_every_question_of_every_page() -> None:
    found = listed()
    assert {f"notebooks/{path.stem}" for path in NOTEBOOKS} <= set(found)
    for name, ids in found.items():
        page = (HTML / f"{name}.html").read_text(encoding="utf-8")
        asked = [page.count(f'class="attnbook attnbook-{kind}"') for kind in made.KINDS]
        assert len(set(ids)) == len(ids) == sum(asked), name


def test_a_right_answer_is_kept_and_marked_on_every_page(visit) -> None:
    page = visit(LECTURE, via="http")
    ids, before = listed(), dots(page)
    assert all(told.startswith("0 of ") for told in before)
    counts = page.locator(".progress-count")
    expect(counts).to_have_count(0)  # nothing is said of what is not begun
    asked = [answer(page), answer(page, 1)]
    wanted = {LECTURE: [made.question_id(text) for text in asked]}
    assert page.evaluate(KEPT) == wanted
    assert page.locator(".progress-dots .is-done").count() == 2
    said = f"2/{len(ids[LECTURE])} (2 of {len(ids[LECTURE])} questions done)"
    expect(counts).to_have_text([said])
    page.get_by_role("button", name="try again").first.click()
    page.reload()  # what was done once stays done
    assert page.locator(".progress-dots .is-done").count() == 2
    root = page.url.removesuffix(f"{LECTURE}.html")
    page.goto(f"{root}{OTHER}.html")
    expect(counts).to_have_text([said])
    assert page.locator(".progress-dots .is-done").count() == 0
    page.goto(f"{root}book/index.html")
    expect(page.locator("nav.bd-links .progress-count")).to_have_text([said])
    expect(page.locator("article .progress-count")).to_have_text([said])
    total = sum(map(len, ids.values()))
    expect(page.locator(".progress-sum")).to_contain_text(f"2 of {total} questions done")
    page.locator(".progress-sum button").press("Enter")
    expect(counts).to_have_count(0)
    expect(page.locator(".progress-sum")).to_be_focused()
    expect(page.locator(".progress-sum button")).to_be_hidden()
    assert page.evaluate(KEPT) is None


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_marks(visit, theme: str) -> None:
    page = visit(LECTURE, theme=theme)
    answer(page)
    expect(page.locator(".progress-sum")).to_be_visible()
    found = Axe().run(page, context=[[".bd-sidebar-primary"], ["h2"]], options={"preload": False})
    marked = [
        f"{one['id']}: {node['html']}"
        for one in found.response["violations"]
        for node in one["nodes"]
        if "progress-" in node["html"] or "progress-" in str(node["target"])
    ]
    assert marked == []


def test_a_wrong_answer_is_not_done(visit) -> None:
    page = visit(LECTURE)
    for figure in page.locator("figure.attnbook-checkpoint").all():
        state = json.loads(figure.locator("script").text_content())
        wrong = next(at for at, (_, correct, _) in enumerate(state["options"]) if not correct)
        figure.locator("input").nth(wrong).check()
        if state["multiple"]:
            figure.get_by_role("button", name="check").click()
    assert page.locator(".progress-dots .is-done").count() == 0
    assert page.evaluate(KEPT) is None


def test_another_window_is_followed(visit) -> None:
    page = visit(LECTURE, via="http")
    other = page.context.new_page()
    other.goto(page.url)
    answer(other)
    expect(page.locator(".progress-dots .is-done")).to_have_count(1)
    other.locator(".progress-sum button").evaluate("(button) => button.click()")
    expect(page.locator(".progress-dots .is-done")).to_have_count(0)


SPOILED = {
    "nonsense": f"localStorage.setItem('{KEY}', '{{[')",
    "another's": f"localStorage.setItem('{KEY}', '[1, null]')",
    "null": f"localStorage.setItem('{KEY}', 'null')",
    "of wrong types": f"""localStorage.setItem('{KEY}',
        '{{"{LECTURE}": "all", "{OTHER}": [1, null, "x"], "__proto__": ["y"]}}')""",
    "full": f"""const first = Storage.prototype.setItem;
      Storage.prototype.setItem = function (key, value) {{  // the theme, too, keeps something
        if (key === '{KEY}') throw new DOMException('', 'QuotaExceededError');
        first.call(this, key, value);
      }}""",
    "refused": f"""for (const name of ['getItem', 'setItem', 'removeItem']) {{
        const first = Storage.prototype[name];
        Storage.prototype[name] = function (key, value) {{
          if (key === '{KEY}') throw new DOMException('', 'SecurityError');
          return first.call(this, key, value);
        }};
      }}""",
}


@pytest.mark.parametrize("script", SPOILED.values(), ids=SPOILED)
def test_a_storage_that_is_spoiled_is_borne_in_silence(visit, script: str) -> None:
    page = visit(LECTURE)
    page.context.add_init_script(script)
    page.reload()
    expect(page.locator("figure.attnbook:not([data-ready])")).to_have_count(0)
    assert page.locator(".progress-dots .is-done").count() == 0
    answer(page)
    expect(page.locator(".progress-dots .is-done")).to_have_count(1)  # known to this page at least
    assert page.get_by_role("alert").all_text_contents() == [""] * page.get_by_role("alert").count()


ASK = """([key, page, question, id]) => {
  localStorage.removeItem(key);
  const figure = document.querySelector("figure.attnbook-checkpoint");
  figure.querySelector("script").textContent = JSON.stringify({ question });
  globalThis.attnbookQuestions[page].push(id);
  figure.firstElementChild.dispatchEvent(new CustomEvent("attnbook:done", { bubbles: true }));
}"""


def test_an_id_is_that_of_the_script_whatever_the_letters(visit) -> None:
    page = visit(LECTURE)
    for text in ("", "a", "α ≤ √3", "𝛼 and 🙂", "`code` & <b>"):
        page.evaluate(ASK, [KEY, LECTURE, text, made.question_id(text)])
        assert made.question_id(text) in page.evaluate(KEPT)[LECTURE]


def test_marks_are_not_printed(visit) -> None:
    page = visit(LECTURE)
    answer(page)
    expect(page.locator(".progress-dots").first).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".progress-dots").first).to_be_hidden()
    expect(page.locator(".progress-sum")).to_be_hidden()
