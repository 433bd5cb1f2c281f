"""List what is trained by how far rounding moves it: `python benchmarks/rounding.py`.

Nothing is trained here. `make notebooks` and `make experiments` train each model a second time,
from weights 1e-7 apart, and keep with the notebook or the table how far its last losses moved.
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "benchmarks" / "rounding.md"
RESULTS = ROOT / "src" / "attnlab" / "models" / "results"
BEGIN = "## Cells\n"  # what stands above it is written by hand


def name_of(path: Path) -> str:
    """Return a lecture's number, and whether the notebook is its evidence; or the page's name."""
    if not path.stem[0].isdigit():
        return path.stem
    return path.stem[:2] + ", how we know" * (path.parent.name == "evidence")


def cells() -> list[tuple[float, str]]:
    """Return of each cell that trains the share of its margin that it moves by, and its line."""
    lines: list[tuple[float, str]] = []
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        code = {cell.get("execution_count"): cell for cell in notebook["cells"]}
        for one in notebook["metadata"].get("rounding", ()):
            first = "".join(code[one["cell"]]["source"]).splitlines()[0].removeprefix("# @title ")
            cell = f"| {name_of(path)} | [{one['cell']}] `{first.replace('|', '¦')}` "
            numbers = f"{one['trainings']} | {one['moves']:.1e} | {one['may']:g}"
            lines.append((one["moves"] / one["may"], f"{cell}| {numbers} |"))
    return sorted(lines, key=lambda one: -one[0])


def rows() -> list[tuple[float, str]]:
    """Return of each table's row how far its losses move, and its line."""
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        for name, moved in json.loads(path.read_text(encoding="utf-8")).get("moves", {}).items():
            both = f"{moved['losses']:.1e} | {moved['numbers']:.1e}"
            found.append((moved["losses"], f"| {path.stem} | {name} | {both} |"))
    return sorted(found, key=lambda one: -one[0])


def page() -> str:
    """Return the page."""
    trained = ["| lecture | cell | trainings | moves | may |", "|---|---|---:|---:|---:|"]
    tables = ["| table | row | losses move | numbers move |", "|---|---|---:|---:|"]
    trained += [line for _, line in cells()]
    tables += [line for _, line in rows()]
    parts = BEGIN, "\n".join(trained), "\n## Tables\n", "\n".join(tables)
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[0] + "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
