"""The benchmarks run, compare before they time, and write the table they promise."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

HANGS_ON = ("benchmarks",)

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))  # they are scripts, and import each other as such

import timing  # noqa: E402

# rows of the page that only a whole run writes
WHOLE = {
    "attention": r"`\w*attention`|taught.*|memory of .*|the same, .*",
    "layers": r"`nn\.MultiheadAttention`, fast path.*",
    "training": r".*JoeyNMT.*|.*without sorting by length",
}
COMPARED = {"attention": 120, "growth": 19, "layers": 46, "decoding": 9, "training": 2, "smollm": 9}
COMPARED |= {"roof": 6, "caches": 9, "flex": 13, "recording": 10}
QUICK = [n if n == "layers" else pytest.param(n, marks=pytest.mark.heavy) for n in COMPARED]


def rows(page: str, name: str) -> set[str]:
    """The first cell of each row in a section, without its numbers and which case was the worst."""
    section = page.partition(f"<!-- {name}: begin -->")[2].partition(f"<!-- {name}: end -->")[0]
    cells = [line.split("|")[1].strip() for line in section.splitlines() if line[:1] == "|"]
    return {re.sub(r"\d[\d.,]*|(?<=worst case: ).*", "#", cell) for cell in cells}


@pytest.mark.parametrize("name", QUICK)
def test_quick_run_writes_every_row_after_comparing(name, tmp_path):
    """Every row of the page, but for its sizes."""
    page = tmp_path / "results.md"
    page.write_text("# Results\n\nkept above\n", encoding="utf-8")
    # set already, so that the script need not start itself anew
    env = {**os.environ, **timing.ALLOCATOR, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, BENCHMARKS / f"{name}.py", "--quick", "--out", page]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# Results\n\nkept above\n\n<!-- {name}: begin -->")
    assert f"\n<!-- {name}: end -->\n" in text
    uncompiled = "could not be compiled here" in text
    left_out = "FlexAttention.*" if uncompiled else WHOLE.get(name, "-")
    stored = rows(timing.RESULTS.read_text(encoding="utf-8"), name)
    assert rows(text, name) == {row for row in stored if not re.fullmatch(left_out, row)}
    # exactly: a comparison that is left out is as bad as one that fails
    assert f"{COMPARED[name] - 4 * uncompiled} results were compared and found equal" in text
    assert "nan" not in text


def test_the_page_holds_every_section_and_tells_how_to_run_its_script():
    text = timing.RESULTS.read_text(encoding="utf-8")
    for name in (*COMPARED, "translation"):
        assert text.count(f"<!-- {name}: begin -->") == text.count(f"<!-- {name}: end -->") == 1
    scripts = {
        path.name
        for path in BENCHMARKS.glob("*.py")
        if re.search(r"timing\.(write|replace)\(", path.read_text("utf-8"))
    }
    told = re.findall(r"^python benchmarks/(\w+\.py)", timing.RESULTS.read_text("utf-8"), re.M)
    assert len(told) == len(set(told))
    assert set(told) == scripts


def test_same_stops_where_results_differ():
    one = torch.ones(3)
    timing.same("equal", one, one + 1e-6)
    with pytest.raises(ValueError, match="mine must give the same result"):
        timing.same("mine", one, one + 1e-3)
    with pytest.raises(ValueError, match="shapes must give the same result"):
        timing.same("shapes", one[None], one)
    with pytest.raises(ValueError, match="tokens must give the same result"):
        timing.same("tokens", [1, 2], [1, 3])
    with pytest.raises(ValueError, match="nothing must give the same result"):
        timing.same("nothing", one * torch.nan, one)


def test_variants_take_turns_ratios_are_of_one_round_and_an_exponent_of_a_power():
    ran = []
    runs = {"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}
    times = timing.interleaved(runs, 2, warm_up=1)
    assert sorted("".join(ran[k : k + 2]) for k in (0, 2, 4)) == ["ab", "ba", "ba"]
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 2, "b": 2}
    assert timing.ratio({"a": [2.0, 30.0, 8.0], "b": [1.0, 10.0, 1.0]}, "a", "b") == 3
    assert timing.exponent([1, 2, 4], [3.0, 12.0, 48.0]) == pytest.approx(2)
