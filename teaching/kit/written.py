"""The files that exam questions are written in: the book's, and an instructor's own.

A file of questions is Python: each function under ``@question`` makes one. `read` loads a folder of
such files, `faults` tries every question as an exam would and says what is wrong, by file and line.
"""

from __future__ import annotations

import ast
import importlib.util
import random
from collections.abc import Mapping
from pathlib import Path

from teaching.kit.lectures import ROOT, KitError
from teaching.kit.questions import Asked, Question

QUESTIONS = ROOT / "teaching" / "questions"
SEEDS = 20  # with which every question is tried


def read(folder: Path = QUESTIONS) -> list[Question]:
    """Load a folder's questions, in the order in which they are written.

    Raises: KitError where there are none, and for each file that cannot be loaded.
    """
    if not folder.is_dir():
        raise KitError(f"{folder} is no folder; wanted one with files of questions")
    found: list[Question] = []
    broken: list[str] = []
    for path in sorted(folder.glob("[!_]*.py")):
        try:
            found += loaded(path)
        except Exception as error:  # whatever it is, it is this file's
            broken.append(f"{path.name}:{line_of(error, path)}: {sentence(error)}")
    if broken:
        raise KitError("\n".join(broken))
    if not found:
        raise KitError(f"{folder} holds no question: no file *.py with a function under @question")
    return found


def loaded(path: Path) -> list[Question]:
    """Load one file's questions."""
    hidden(path)
    spec = importlib.util.spec_from_file_location(f"teaching.questions.{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [one for one in vars(module).values() if isinstance(one, Question)]


def hidden(path: Path) -> None:
    """Refuse two functions of one name, of which the first would never be asked."""
    lines: dict[str, int] = {}
    for one in ast.parse(path.read_bytes(), path.name).body:
        if isinstance(one, ast.FunctionDef):
            if one.name in lines:
                raise SyntaxError(f"{one.name} stands in line {lines[one.name]}, too",
                                  (path.name, one.lineno, None, None))  # fmt: skip
            lines[one.name] = one.lineno


def faults(questions: list[Question], sections: Mapping[str, object]) -> list[str]:
    """Say what is wrong with questions, one sentence for each that cannot be asked.

    ``sections`` are those of the book, by their numbers.
    """
    found: list[str] = []
    names: dict[tuple[str, str], Path] = {}
    for one in questions:
        path, line = place(one)
        key = (one.section, one.name)
        if one.section not in sections:
            told = f"there is no section {one.section}; wanted one of {near(one, sections)}"
        elif key in names:
            told = f"section {one.section} has a question of this name in {names[key].name}, too"
        else:
            told, line = tried(one)
        names[key] = path
        if told:
            found.append(f"{path.name}:{line}: {one.name}: {told}")
    return found


def tried(one: Question) -> tuple[str, int]:
    """Ask a question with many seeds; return what is wrong, or '', and the line where."""
    path, line = place(one)
    for seed in range(SEEDS):
        try:
            if made(one, seed) != made(one, seed):
                return f"asks two things with seed {seed}: take all that varies from draw", line
        except Exception as error:  # whatever it is, it is this question's
            return f"{sentence(error)} (seed {seed})", line_of(error, path) or line
    return "", line


def made(one: Question, seed: int) -> Asked:
    """Make a question from a seed and its own name, whatever stands beside it."""
    return one(draw(one, seed))


def draw(one: Question, seed: int) -> random.Random:
    return random.Random(f"{seed} {one.section} {one.name}")


def place(one: Question) -> tuple[Path, int]:
    """The file and the line where a question's function begins."""
    code = one.make.__code__
    return Path(code.co_filename), code.co_firstlineno


def near(one: Question, sections: Mapping[str, object]) -> str:
    lecture = one.section.split(".")[0]
    same = [name for name in sections if name.split(".")[0] == lecture]
    lectures = list(dict.fromkeys(name.split(".")[0] for name in sections))
    return ", ".join(same) or f"lectures {', '.join(lectures)}"


def line_of(error: BaseException, path: Path) -> int:
    """The last line of a file that an error came through; 0 where it came through none."""
    if isinstance(error, SyntaxError) and error.lineno:
        return error.lineno
    found, trace = 0, error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def sentence(error: BaseException) -> str:
    """What an error says; of others than ours, its kind too."""
    told = error.msg if isinstance(error, SyntaxError) else str(error)
    return told if isinstance(error, ValueError) else f"{type(error).__name__}: {told}"
