"""What book/teaching/NN-name.md tells whoever teaches a lecture: parts, and a note a section."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from teaching.kit.lectures import ROOT, KitError

ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*[^`<\s])\s*(?:<[^>`]*>)?`")
NEAR = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")  # a link to a page that lies beside


WRITTEN = "The written answer"
ITEM = re.compile(r"- \*\*(\d+)\*\*: (\S.*)")
POINTS = (2, 1, 0)  # best first, as the page lists them


@dataclass(frozen=True)
class Written:
    """A question that is answered in a few sentences, and what earns 2 points, 1 and none."""

    question: str
    rubric: dict[int, str]


@dataclass(frozen=True)
class Page:
    """Its parts by their titles (the story, the clock …), its notes by the section's number."""

    parts: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    where: Path = Path()

    @property
    def written(self) -> Written:
        """The question for the week's written answer, with its rubric.

        Raises: KitError where the page has no such part, or one that is not a paragraph and then
        an item each for 2 points, 1 and 0.
        """
        if WRITTEN not in self.parts:
            raise KitError(f"{self.where}: there is no part `## {WRITTEN}`")
        question, *rest = self.parts[WRITTEN].split("\n\n")
        items = [ITEM.fullmatch(line) for line in "\n".join(rest).splitlines() if line]
        found = [(int(item[1]), item[2]) for item in items if item]
        if [points for points, _ in found] != list(POINTS) or None in items or "\n" in question:
            raise KitError(
                f"{self.where}: `## {WRITTEN}` must be one paragraph, the question, and then the "
                "three items `- **2**: …`, `- **1**: …` and `- **0**: …`"
            )
        return Written(question, dict(found))


def read(path: Path, sections: list[str]) -> Page:
    """Read a page for a lecture with these sections; an empty one where there is no file.

    Raises: KitError for text before the first part, a part that stands there twice, and a note on
    a section that the lecture has not.
    """
    if not path.exists():
        return Page(where=path)
    where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.S)
    head, *parts = re.split(r"(?m)^## ", text)
    if re.sub(r"(?m)^# .*$", "", head).strip():
        raise KitError(f"{where}: text stands before the first part (`## The story`)")
    found = _titled(parts, where)
    notes = found.pop("Notes", "")
    above, *each = re.split(r"(?m)^### ", notes)
    if above.strip():
        raise KitError(f"{where}: text stands between `## Notes` and the first note (`### 7.2`)")
    by_section = {title.split()[0]: note for title, note in _titled(each, where).items()}
    for number in by_section:
        if number not in sections:
            raise KitError(f"{where}: there is a note on {number}, and no section of that number")
    return Page(found, by_section, where)


def _titled(parts: list[str], where: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in parts:
        title, _, body = part.partition("\n")
        if not title.strip() or title.strip() in found:
            raise KitError(
                f"{where}: the heading {title.strip()!r} is empty, or stands there twice"
            )
        found[title.strip()] = plain(body.strip())
    return found


def plain(text: str) -> str:
    """Text of the book's pages as a notebook can show it: no role, and no link to a near file."""
    return NEAR.sub(r"\1", ROLE.sub(r"\1", text))
