"""The tasks of the lectures: what each asks, its picture, and what its answer says."""

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
LECTURES = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
LECTURES += sorted(
    f"evidence/{path.stem}" for path in (ROOT / "notebooks/evidence").glob("*.ipynb")
)
ASKED = ("answer", "bughunt", "checkpoint", "prediction")  # they ask; a task is about a picture
FIGURE = re.compile(r'<figure class="attnbook attnbook-(\w+)"')
SHOWN = re.compile("\0(\\d+)\0")  # where a picture stands in the lecture's text
# to its answer's end, or to the next one where two share their answers
TASK = re.compile(r"^\*\*Task\.\*\*.*?(?:</details>|(?=^\*\*Task\.)|\Z)", re.M | re.S)
NAMED = re.compile(r"Figure (\d+\.\d+)")
CAPTION = re.compile(r"^\*\*Figure (\d+\.\d+)\.", re.M)


class Task(NamedTuple):
    """What it asks, the HTML of its live picture ("": about a drawing), and its answer."""

    asked: str
    picture: str
    answer: str

    @property
    def kind(self) -> str:
        return FIGURE.match(self.picture)[1] if self.picture else "drawing"


@cache
def tasks(lecture: str) -> list[Task]:
    """A lecture's tasks. A picture between question and answer is the one that is asked about."""
    cells = json.loads((ROOT / "notebooks" / f"{lecture}.ipynb").read_text("utf-8"))["cells"]
    pictures, text = [], ""
    for cell in cells:
        for output in cell.get("outputs", []):
            html = "".join(output.get("data", {}).get("text/html", ""))
            kind = FIGURE.match(html)
            if kind and kind[1] not in ASKED:
                text += f"\0{len(pictures)}\0\n"
                pictures.append(html)
        text += "".join(cell["source"]) + "\n\n" if cell["cell_type"] == "markdown" else ""

    def last(end: int) -> int:
        shown = SHOWN.findall(text[:end])
        return int(shown[-1]) if shown else -1  # no live picture stands before it

    by_name = {one[1]: last(one.start()) for one in CAPTION.finditer(text)}
    found, shared = [], ""
    for match in reversed(list(TASK.finditer(text))):
        asked, folded, answer = match[0].partition("<details>")
        shared = answer = answer if folded else shared
        question = asked[: SHOWN.search(asked).start()] if SHOWN.search(asked) else asked
        named = NAMED.search(question)
        at = by_name[named[1]] if named else last(match.start() + len(asked))
        found.append(Task(question.strip(), pictures[at] if at >= 0 else "", answer))
    return found[::-1]
