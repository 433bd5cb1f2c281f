"""The benchmarks run, compare before they time, and write the table they promise."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))  # they are scripts, and import each other as such

import joeynmt_process  # noqa: E402
import timing  # noqa: E402

ROWS = {
    "attention": (
        "`attention()`, ",
        "`attention()` against the faster of the taught forms",
        "`tiled_attention`, ",
        "(2, 2, 16, 8), forward",
        "(1, 2, 64, 8), causal, with backward",
        "SDPA | ",
    ),
    "growth": (
        "`local_attention`, window",
        "`linear_attention`, n =",
        "`linear_attention`, causal, n =",
        "`linear_attention`: time grows",
        "`linear_attention`, causal, n = 64, 8 heads, forward",
        "`delta_rule`, n = 64, 8 heads, with backward",
        "`delta_rule`, gated, n = 64, 1 head, forward",
        "causal linear attention, token by token | ",
        "`delta_steps`, gated | ",
        "SDPA with a mask of the window",
        "`tiled_attention` | ",
    ),
    "layers": (
        "`MultiHeadAttention`, (1, 32), causal, with backward",
        "layer with the weights of 16 rows of one head",
        "layer with the weights of one head",
        "layer with the weights of all heads",
        "decoding with 16 heads on 4",
        "decoding with 16 heads on 1",
        "`repeat_interleave` and SDPA",
        "cache, 4 tokens after 16, batch 1",
        "cache, 4 tokens after 16, batch 8",
    ),
    "decoding": (
        "GRU, additive score: beam 4, batched",
        "GRU, additive score: batched beam against a loop over sentences",
        "GRU, additive score: batched beam against a loop over hypotheses",
        "Transformer, 2 + 2 layers: beam 4, batched",
        "greedy | ",
        "beam, hypothesis by hypothesis | ",
    ),
    "training": (
        "– of which bucketing by length",
        "the book's Transformer against a bucketed `nn.Transformer`",
        "the book's Transformer, unsorted",
        "the book's GRU, Bahdanau's order",
        "the book's GRU, Luong's",
        "`nn.Transformer`, unsorted",
    ),
    "smollm": (
        "reading 32 tokens",
        "writing 4 tokens, batch 1: tokens/s",
        "writing, batch 1: share of the memory's rate",
        "the same, of a product's rate",
        "writing 4 tokens, batch 8",
        "the book's layers",
        "transformers, eager",
        "transformers, SDPA",
    ),
    "roof": (
        "a token after 16: reading all again",
        "a pass of 4 tokens",
        "32 heads on 8, 64 keys | ",
        "32 heads on 8, 64 keys, folded",
        "32 heads on 1, 64 keys | ",
        "32 heads on 1, 64 keys, folded",
        "pass 1 | ",
        "again 16 | ",
        "cached 16 | ",
    ),
    "caches": (
        "a token after 24: `KVCache` against no cache",
        "a token after 48: `RollingCache` against `KVCache`",
        "a token after 48: 8 bits against `KVCache`",
        "a token after 48: 4 bits against `KVCache`",
        "guessed from the text, a list",
        "latent, absorbed, 48 in the cache, against unabsorbed",
        "`PagedCache` | ",
        "no cache | ",
        "latent, unabsorbed | ",
    ),
    "flex": (
        "`local_attention`, window 64, n = 256",
        "none | 256",
        "causal | 256",
        "window 64 | 256",
        "ALiBi, causal | 256",
        "SDPA with the mask | ",
        "`local_attention` | ",
    ),
}
COMPARED = {"attention": 120, "growth": 19, "layers": 46, "decoding": 9, "training": 2, "smollm": 9}
COMPARED |= {"roof": 6, "caches": 9, "flex": 13}


QUICK = [n if n == "layers" else pytest.param(n, marks=pytest.mark.heavy) for n in ROWS]


@pytest.mark.parametrize("name", QUICK)
def test_quick_run_writes_every_row_after_comparing(name, tmp_path):
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
    for row in ROWS[name]:
        assert f"\n| {row}" in text, row
    # exactly: a comparison that is left out is as bad as one that fails
    compared = COMPARED[name] - 4 * ("could not be compiled here" in text)
    assert f"{compared} results were compared and found equal" in text
    assert "nan" not in text


def test_results_in_the_tree_hold_every_section():
    text = timing.RESULTS.read_text(encoding="utf-8")
    for name in (*ROWS, "marking", "translation"):
        assert text.count(f"<!-- {name}: begin -->") == text.count(f"<!-- {name}: end -->") == 1


def test_the_page_tells_how_to_run_every_script_that_writes_into_it():
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


def test_rows_say_whether_a_goal_is_met():
    assert timing.at_most("x", 1.3, 1.3, " SDPA").line() == "| x | 1.30 × | ≤ 1.3 × SDPA | yes |"
    assert timing.at_most("x", 1.31, 1.3, why="checks").line().endswith("| **no**: checks |")
    assert timing.at_least("x", 19.9, 20, " as fast").line().endswith("≥ 20 × as fast | **no** |")
    assert timing.Row("x", "3").line() == "| x | 3 | – | – |"


def test_verdict_is_on_the_number_itself_and_the_printed_one_shows_why():
    assert timing.at_most("x", 1.3004, 1.3).line() == "| x | 1.3004 × | ≤ 1.3 × | **no** |"
    assert timing.at_least("x", 2.196, 2.2).line() == "| x | 2.196 × | ≥ 2.2 × | **no** |"
    assert timing.at_least("x", 2.204, 2.2).line() == "| x | 2.204 × | ≥ 2.2 × | yes |"


def test_variants_take_turns_and_ratios_are_of_one_round():
    ran = []
    runs = {"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}
    times = timing.interleaved(runs, 2, warm_up=1)
    assert sorted("".join(ran[k : k + 2]) for k in (0, 2, 4)) == ["ab", "ba", "ba"]
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 2, "b": 2}
    assert timing.ratio({"a": [2.0, 30.0, 8.0], "b": [1.0, 10.0, 1.0]}, "a", "b") == 3


def test_exponent_is_that_of_a_power():
    assert timing.exponent([1, 2, 4], [3.0, 12.0, 48.0]) == pytest.approx(2)


def test_peak_memory_sees_what_is_allocated():
    """In a process of its own: one that ran other tests may hold free memory and need no more."""
    code = "import torch, timing; print(timing.peak_memory(lambda: torch.ones(20_000_000)))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=BENCHMARKS, check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "None\n" or 70 < float(done.stdout) < 120


def test_a_section_replaces_itself_alone(tmp_path):
    page = tmp_path / "results.md"
    for name, text in (("one", "first"), ("two", "second"), ("one", "third")):
        timing.write(page, name, name.title(), text)
    text = page.read_text(encoding="utf-8")
    assert "first" not in text
    assert text.index("third") < text.index("<!-- one: end -->") < text.index("second")
    assert text.count("## ") == 2


PAIRS = [(["ein", "Hund"], ["a", "dog"]), (["eine", "Katze"], ["a", "cat"])]
SIZES = {"d": 8, "heads": 2, "layers": 1, "d_ff": 16, "drop": 0.1}
FAKE = """
import json, sys
config = json.load(open(sys.argv[1]))
words = open(config["data"]["train"] + ".trg").read().split()
print("talk that is no answer")
print(json.dumps({"parameters": 7, "vocabularies": [5, len(set(words))]}), flush=True)
for line in sys.stdin:
    print(json.dumps({"tokens": 90, "seconds": 0.5}), flush=True)
"""


def test_joeynmt_is_asked_block_by_block(tmp_path, monkeypatch):
    worker = tmp_path / "worker.py"
    worker.write_text(FAKE, encoding="utf-8")
    monkeypatch.setattr(joeynmt_process, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(joeynmt_process, "WORKER", worker)
    peer = joeynmt_process.JoeyNMT(PAIRS, tmp_path / "peer", "transformer", SIZES, 4, 2)
    assert (peer.parameters, peer.vocabularies) == (7, [5, 3])
    assert [peer.block(), peer.block()] == [180, 180]
    peer.stop()
    config = json.loads((tmp_path / "peer" / "config.json").read_text(encoding="utf-8"))
    assert config["training"]["batch_size"] == 4
    assert config["model"]["decoder"]["ff_size"] == 16


@pytest.mark.parametrize("kind", ["missing", "broken"])
def test_joeynmt_says_why_it_was_not_measured(kind, tmp_path, monkeypatch):
    broken = tmp_path / "worker.py"
    broken.write_text("raise SystemExit('no module named joeynmt')", encoding="utf-8")
    python = tmp_path / "none" if kind == "missing" else Path(sys.executable)
    monkeypatch.setattr(joeynmt_process, "PYTHON", python)
    monkeypatch.setattr(joeynmt_process, "WORKER", broken)
    said = "there is no _build/peers" if kind == "missing" else "no module named joeynmt"
    with pytest.raises(OSError, match=said):
        joeynmt_process.JoeyNMT(PAIRS, tmp_path / "peer", "recurrent", SIZES, 4, 2)
