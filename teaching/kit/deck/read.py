"""Read the slides of a lecture: teaching/slides/NN-name.md, slides between lines of three hyphens.

A slide is a title of at most 8 words, at most 30 words besides, and at most one of

    {{ figure 7.1 }}            the stored output above the caption **Figure 7.1.**
    {{ figure 7.1: left }}      a half of it, where it is a drawing; or right, upper, lower;
                                upper or lower rows, where it is a heat map
    {{ code 7.2: some words }}  the visible code cell of section 7.2 whose source holds these words
    {{ output 7.2: some words }}  what such a cell printed, its code in sight or folded
    {{ hunt 7.5 }}              the listing of section 7.5's bug hunt, with numbers at its lines
    $$ … $$                     a formula

and after a line `Note:` what the speaker says. A list `- **A** …` makes the options of a vote.
A title is `## …`; where nothing, or a formula, is shown, `## 7.2 …` says which section it is of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from teaching.kit.deck.cut import HALVES

__all__ = ["MOST", "Shown", "Slide", "SlidesError", "slides"]

MOST = {"slides": 30, "title": 8, "words": 30, "lines": 12}
FORMS = (
    "{{ figure 7.1 }}, {{ figure 7.1: left }} (or right, upper, lower), {{ code 7.2: words }}, "
    "{{ output 7.2: words }} or {{ hunt 7.5 }}"
)
_TITLE = re.compile(r"## (?:(\d+\.\d+) )?(.*)")
_SHOWN = re.compile(r"\{\{ *(figure|code|output|hunt) +(\d+\.\d+)(?:: *(\S.*?))? *\}\}")


class SlidesError(ValueError):
    """What is wrong in the files of slides: a line for each, with file and line."""


@dataclass(frozen=True)
class Shown:
    """What a slide takes from the notebook, or its formula, and the line that says so."""

    kind: str  # figure, code, output, hunt or formula
    where: str  # the number of a figure or of a section; the TeX of a formula
    words: str  # what a cell's source holds; which half of a figure
    line: int


@dataclass
class Slide:
    """One slide as it is written; before and after are Markdown."""

    line: int
    title: str = ""
    section: str = ""  # where the title says it
    before: str = ""
    after: str = ""
    note: str = ""
    shown: Shown | None = None
    wrong: list[tuple[int, str]] = field(default_factory=list)


def slides(path: Path, name: str) -> list[Slide]:
    """Return the slides of a file that ``name`` stands for in messages.

    Raises: SlidesError with everything that breaks the format.
    """
    found, start, lines = [], 1, path.read_text(encoding="utf-8").splitlines()
    for end in [*(i for i, line in enumerate(lines, 1) if line.rstrip() == "---"), len(lines) + 1]:
        found.append(_slide(lines[start - 1 : end - 1], start))
        start = end + 1
    wrong = [fault for slide in found for fault in slide.wrong]
    if len(found) > MOST["slides"]:
        line = found[MOST["slides"]].line
        wrong.append((line, f"the slide number {MOST['slides'] + 1}; a lecture has at most "
                      f"{MOST['slides']}, this one {len(found)}"))  # fmt: skip
    if wrong:
        raise SlidesError("\n".join(f"{name}:{line}: {what}" for line, what in sorted(wrong)))
    return found


def _slide(lines: list[str], start: int) -> Slide:
    """Read one slide, whose first line has this number in its file."""
    slide = Slide(line=start)
    numbered = list(enumerate(lines, start))
    note = next((i for i, line in enumerate(lines) if line.rstrip() == "Note:"), len(lines))
    slide.note = "\n".join(lines[note + 1 :]).strip()
    body: list[tuple[int, str]] = []
    for number, line in numbered[:note]:
        if (title := _TITLE.match(line)) and not slide.title:
            slide.line, slide.section, slide.title = number, title[1] or "", title[2].strip()
        elif re.match(r"#+ ", line):
            slide.wrong.append((number, "a second heading; a slide has one, `## Title`"))
        elif line.strip() and not slide.title:
            slide.wrong.append((number, f"{line.strip()!r} before a title; a slide begins `## `"))
            slide.title = "?"
        else:
            body.append((number, line))
    if not slide.title:
        slide.wrong.append((start, "no title; a slide begins with a line `## Title`"))
    _sort(slide, body)
    _place(slide)
    _count(slide)
    return slide


def _sort(slide: Slide, body: list[tuple[int, str]]) -> None:
    """Part a slide's text into what stands before what it shows, that, and what stands after."""
    parts: list[list[str]] = [[], []]
    formula: list[str] | None = None
    opened = 0  # the line that opened it
    for number, line in body:
        text = line.strip()
        if formula is not None:
            if text.endswith("$$"):
                formula.append(text.removesuffix("$$"))
                _show(slide, Shown("formula", "\n".join(formula).strip(), "", opened))
                formula = None
            else:
                formula.append(line)
        elif text.startswith("$$"):
            if len(text) > 4 and text.endswith("$$"):
                _show(slide, Shown("formula", text.strip("$").strip(), "", number))
            else:
                formula, opened = [text.removeprefix("$$")], number
        elif text.startswith("{{"):
            _show(slide, _reference(slide, text, number))
        else:
            parts[slide.shown is not None].append(line)
    if formula is not None:
        slide.wrong.append((opened, "this formula has no closing $$"))
    slide.before, slide.after = ("\n".join(part).strip() for part in parts)


def _show(slide: Slide, shown: Shown | None) -> None:
    if shown and slide.shown:
        slide.wrong.append((shown.line, "a second thing to show; a slide has one figure, code, "
                            "output, hunt or formula"))  # fmt: skip
    slide.shown = slide.shown or shown


def _reference(slide: Slide, text: str, number: int) -> Shown | None:
    found = _SHOWN.fullmatch(text)
    may = {"figure": (None, *HALVES), "hunt": (None,)}
    if found and (found[3] in may[found[1]] if found[1] in may else found[3]):
        return Shown(found[1], found[2], found[3] or "", number)
    slide.wrong.append((number, f"{text} is none of {FORMS}"))
    return None


def _place(slide: Slide) -> None:
    """See that a slide's section is said once: by its title, or by what it shows."""
    shows = slide.shown is not None and slide.shown.kind != "formula"
    if shows and slide.section:
        slide.wrong.append((slide.line, f"its title says {slide.section}, and what it shows says "
                            "its section, too"))  # fmt: skip
    elif not (shows or slide.section or slide.wrong):
        slide.wrong.append((slide.line, "no section; a slide that shows none of a section's cells "
                            "begins `## 7.2 Title`"))  # fmt: skip


def _count(slide: Slide) -> None:
    """Hold a slide to the limits of what can be read from the back of a room."""
    for what, text in (("title", slide.title), ("words", f"{slide.before}\n{slide.after}")):
        if (count := _words(text)) > MOST[what]:
            of = "a title has" if what == "title" else "a slide has, beside its title,"
            slide.wrong.append((slide.line, f"{count} words; {of} at most {MOST[what]}"))


def _words(text: str) -> int:
    """Count words; a formula in the line is one, the mark of a list none."""
    plain = re.sub(r"\$[^$]+\$", " x ", text)
    return len([word for word in plain.split() if re.search(r"\w", word)])
