"""What programs print: no letter ends one, whatever the code page of the pipe that it goes into."""

import ast
import io
import runpy
import sys
from pathlib import Path

import pytest

from attnlab._console import any_letter

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("src", "book/tools", "book/extensions", "teaching", "experiments", "benchmarks")
HANGS_ON = ("tasks.py", *ROOMS)
PAGES = ("cp1252", "cp1253")  # of Windows in the West and in Greece: neither has √, one has no ×
# what is read by a program alone; what prints nothing
OTHERS = {"benchmarks/joeynmt_worker.py", "benchmarks/rounding.py"}
OTHERS |= {"book/tools/fonts.py", "book/tools/math_font.py"}
FIRST = {
    "any_letter()",
    "run(__file__)",  # of experiments/harness.py, whose first line it is
    "sys.stdout.reconfigure(errors='backslashreplace')",  # where the package may be missing
}


def guarded(path: Path) -> ast.If | None:
    """Return ``if __name__ == "__main__"`` of a file that has it."""
    ifs = (one for one in ast.parse(path.read_bytes()).body if isinstance(one, ast.If))
    return next((one for one in ifs if "__main__" in ast.unparse(one.test)), None)


def after_imports(main: ast.If) -> ast.stmt:
    return next(one for one in main.body if not isinstance(one, ast.ImportFrom))


PROGRAMS = {
    path.relative_to(ROOT).as_posix(): found
    for path in [ROOT / "tasks.py", *(p for room in ROOMS for p in (ROOT / room).rglob("*.py"))]
    if "node_modules" not in path.parts and (found := guarded(path))
}


def test_every_program_first_lets_itself_print_any_letter() -> None:
    assert len(PROGRAMS) > 45
    first = {name: ast.unparse(after_imports(found)) for name, found in PROGRAMS.items()}
    assert {name for name, line in first.items() if line not in FIRST} == OTHERS
    harness = ast.parse((ROOT / "experiments/harness.py").read_bytes())
    (run,) = (one for one in harness.body if getattr(one, "name", "") == "run")
    assert ast.unparse(run.body[1]) == "any_letter()"  # after the docstring


@pytest.mark.parametrize("page", PAGES)
def test_what_a_code_page_lacks_is_spelt_out(page: str, monkeypatch) -> None:
    pipe = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, encoding=page))
    with pytest.raises(UnicodeEncodeError):
        print("1/√n", flush=True)
    any_letter()
    print("1/√n ≥ ½", flush=True)
    assert pipe.getvalue().decode(page).strip() == r"1/\u221an \u2265 ½"
    monkeypatch.setattr(sys, "stdout", io.StringIO())  # as a notebook's, whose every letter is one
    any_letter()


WITH_HELP = sorted(
    name
    for name in PROGRAMS
    if "ArgumentParser" in (ROOT / name).read_text(encoding="utf-8")
    or "run(__file__)" in ast.unparse(PROGRAMS[name])
)


@pytest.mark.heavy
@pytest.mark.parametrize("name", [*WITH_HELP, "tasks.py"])
def test_help_is_printed_in_any_code_page(name: str, monkeypatch) -> None:
    """In ASCII, the part that all of them share."""
    pipe, folder = io.BytesIO(), (ROOT / name).parent
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, encoding="ascii"))
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    if not (folder / "__init__.py").exists():  # else it is run as a module
        monkeypatch.syspath_prepend(folder)
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(ROOT / name), run_name="__main__")
    sys.stdout.flush()
    assert left.value.code in (0, None)
    assert "usage: " in pipe.getvalue().decode("ascii")
