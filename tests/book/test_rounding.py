"""What hangs on rounding: every lecture that trains was asked, and the list says what came out."""

import re

import pytest

from tests.book.lectures import KNOWN, NOTEBOOKS, ROOT, code, load, stored

listing = load(ROOT / "benchmarks" / "rounding.py")
notebooks = pytest.mark.parametrize("path", [*NOTEBOOKS, *KNOWN], ids=listing.name_of)
OPTIMISER = re.compile(
    r"optim\.\w+\(|\b(?:train|fit|learn|\w*translator|transformer|language_model)\("
)


@notebooks
def test_what_a_lecture_trains_was_asked_and_holds(path):
    notebook = stored(path)
    found = notebook.metadata.get("rounding", [])
    asks = [cell for cell in code(notebook) if OPTIMISER.search(cell.source)]
    assert bool(found) == bool(asks)
    assert [one for one in found if one.moves > one.may] == []


def test_the_list_is_that_of_the_notebooks_and_tables():
    assert listing.PAGE.read_text("utf-8") == listing.page(), "run `python benchmarks/rounding.py`"
