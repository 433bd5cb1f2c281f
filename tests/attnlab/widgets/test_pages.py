"""The page table: step by step what the package's own pool and caches do."""

import random

import pytest
import torch
from playwright.sync_api import expect

from attnbook.further.caches import PagedCache, PagePool
from attnlab.widgets import PageTable
from tests.attnlab.widgets.examples import pages
from tests.attnlab.widgets.pages import press, settle, texts, twin

ROW = torch.zeros(1, 1, 1, 1)
REPLAYED = """([actions, given]) => actions.map((_, at) => {
    const pool = maths.replayed(actions.slice(0, at + 1), given);
    return { users: pool.users, tables: pool.texts.map((text) => text && text.table),
        lengths: pool.texts.map((text) => text && text.length), error: pool.last.error ?? null,
        rows: maths.rows(pool) };
})"""


def played(rng: random.Random, n: int, given: dict[str, int]) -> tuple[list[str], list[dict]]:
    """Random actions, and what the package's pool holds after each; written without the widget."""
    pool = PagePool(given["n_pages"], page=given["page"])
    caches: list[PagedCache | None] = [None] * 4
    actions, found = [], []
    for _ in range(n):
        alive = [at for at, cache in enumerate(caches) if cache is not None]
        free = [at for at, cache in enumerate(caches) if cache is None]
        kinds = [*["write"] * 8 * bool(alive), "end" * bool(alive)]
        kinds += ["start" * bool(free), "fork" * bool(free and alive)]
        verb, at, error = rng.choice([one for one in kinds if one]), rng.choice(alive or [0]), None
        actions.append("start" if verb == "start" else f"{verb} {at + 1}")
        if verb == "start":
            caches[free[0]] = PagedCache(pool)
        elif verb == "fork":
            caches[free[0]] = caches[at].reorder(torch.tensor([0]))
        elif verb == "end":
            caches[at] = None  # its pages return with the end of the cache
        elif caches[at].length == given["longest"]:
            error = f"{given['longest']} tokens are the longest text"
        else:
            try:
                caches[at].append(ROW, ROW)
            except ValueError as caught:
                error = str(caught)
        tables = [cache and (cache.table or [[]])[0][:] for cache in caches]
        lengths = [cache and cache.length for cache in caches]
        rows = {
            (table[position // pool.page], position % pool.page)
            for table, length in zip(tables, lengths, strict=True)
            for position in range(length or 0)
        }
        used, alive = pool.n_pages - pool.users.count(0), [n for n in lengths if n is not None]
        whole = [sum(alive), given["longest"] * len(alive)]
        found.append(
            {"users": pool.users[:], "tables": tables, "lengths": lengths, "error": error}
            | {"rows": [[len(rows), used * pool.page], whole]}
        )
    return actions, found


@pytest.mark.parametrize("seed", range(6))
def test_every_step_is_the_packages(maths, seed: int) -> None:
    rng = random.Random(seed)
    given = {"n_pages": rng.randint(2, 16), "page": 1 + seed, "longest": rng.choice([6, 16, 40])}
    actions, found = played(rng, 150, given)
    assert maths(REPLAYED, [actions, given], "pages") == found
    widget, last = PageTable(**given, actions=actions), found[-1]
    alive = [at for at, table in enumerate(last["tables"]) if table is not None]
    assert widget.tables == {at + 1: last["tables"][at] for at in alive}
    assert widget.lengths == {at + 1: last["lengths"][at] for at in alive}
    assert [list(widget.paged), list(widget.in_one_piece)] == last["rows"]


def test_random_actions_meet_full_pools_copies_and_shared_pages() -> None:
    actions, found = played(random.Random(0), 150, {"n_pages": 6, "page": 3, "longest": 16})
    assert any("no free page" in step["error"] for step in found if step["error"])
    assert any(max(step["users"]) > 2 for step in found)
    pairs = list(zip(actions[1:], found, found[1:], strict=False))
    assert any(  # as many pages in a table, one of them another: it was copied
        action.startswith("write")
        and any(a and b and len(a) == len(b) and a != b for a, b in zip(*tables, strict=True))
        for action, one, other in pairs
        for tables in [(one["tables"], other["tables"])]
    )


def test_a_write_into_a_shared_page_copies_it_and_the_last_user_writes_in_place(show) -> None:
    page = show(pages(actions=["start", *["write 1"] * 5]))
    status = page.get_by_role("status")
    press(page, "fork text 1")
    expect(status).to_have_text(
        "Text 2 goes on from text 1 and shares its 2 pages: nothing is copied."
    )
    press(page, "write a token of text 2")
    expect(status).to_have_text(
        "Text 2: token 5 lies in page 2, row 1, of a copy: page 1 is shared and not full."
    )
    press(page, "write a token of text 1")  # alone now
    expect(status).to_have_text("Text 1: token 5 lies in page 1, row 1.")
    assert texts(page.locator("td.attnbook-table:visible")) == ["0 → 0, 1 → 1", "0 → 0, 1 → 2"]
    assert twin(page)[:3] == [
        ["4", "0 to 3", "1 and 2"],
        ["2", "4 to 5", "1"],
        ["2", "4 to 5", "2"],
    ]
    press(page, "end text 1")
    expect(status).to_have_text("Text 1 ended: 1 page given back; 1 is still another text’s.")
    expect(page.get_by_role("button", name="start a text")).to_be_focused()


def test_a_full_pool_says_so_as_the_package_does_and_the_sections_numbers_stand(show) -> None:
    page = show(PageTable(2, 2, actions=["start", *["write 1"] * 4]))
    cache = PagedCache(PagePool(2, page=2))
    with pytest.raises(ValueError, match="the pool has no free page: all 2 are in use") as caught:
        cache.append(ROW.expand(1, 1, 5, 1), ROW.expand(1, 1, 5, 1))
    press(page, "write a token of text 1")
    status = page.get_by_role("status")
    expect(status).to_have_text(f"Text 1’s token is not written: {caught.value}.")
    page.get_by_label("pages", exact=True).fill("3")
    expect(status).to_have_text("Text 1: token 4 lies in page 2, row 0, of a page just taken.")
    # Texts of 5 and 9 tokens in pages of 4: 14 of 20 rows, and of 32 in two pieces of 16.
    written = ["start", "start", *["write 1", "write 2"] * 5, *["write 2"] * 4]
    widget = PageTable(8, 4, actions=written)
    assert widget.tables == {1: [0, 2], 2: [1, 3, 4]}
    assert (widget.paged, widget.in_one_piece) == ((14, 20), (14, 32))
    page = show(widget)
    rows = page.get_by_role("group", name="What is reserved").locator("tbody tr")
    assert [row.split("\t")[1:] for row in texts(rows)] == [
        ["14", "20", "30 %"],
        ["14", "32", "56 %"],
    ]


def test_two_presses_in_a_frame_are_two_keys_are_enough_and_there_are_limits(show) -> None:
    page = show(PageTable())
    write = page.get_by_role("button", name="write a token of text 1")
    write.evaluate("(button) => { button.click(); button.click(); }")
    write.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    settle(page)
    expect(page.get_by_role("status")).to_contain_text("token 3 lies in page 0, row 3")
    page.keyboard.press("ArrowRight")  # a text's buttons are one stop of the Tab key
    expect(page.get_by_role("button", name="fork text 1")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("tr :focus")).to_have_count(0)
    page = show(PageTable(actions=["start"] * 4))
    for name in ("start a text", "fork text 1"):
        expect(page.get_by_role("button", name=name)).to_have_attribute("aria-disabled", "true")
        press(page, name)
    expect(page.get_by_role("status")).to_contain_text("Text 4 starts")
    page = show(PageTable(actions=["start", *["write 1"] * 399]))
    press(page, "write a token of text 1")
    expect(page.get_by_role("alert")).to_contain_text("400 actions are done")
    press(page, "take back the last action")
    expect(page.get_by_role("alert")).to_have_text("")
    page = show(PageTable(longest=3, actions=["start", *["write 1"] * 4]))
    expect(page.get_by_role("status")).to_have_text(
        "Text 1’s token is not written: 3 tokens are the longest text."
    )
    assert PageTable(longest=3, actions=["start", *["write 1"] * 4]).lengths == {1: 3}
