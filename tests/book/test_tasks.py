"""tasks.py: its list of tasks, what it says of them, and how it finds the pages that changed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.book.lectures import ROOT, load


@pytest.fixture
def tasks() -> ModuleType:
    return load(ROOT / "tasks.py")


def test_an_unknown_task_is_refused_with_the_list_of_tasks() -> None:
    command = [sys.executable, "tasks.py", "bok"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no task named 'bok'" in done.stderr
    assert {"book", "test", "notebooks"} <= {line.split()[0] for line in done.stdout.split("\n  ")}


def test_help_lists_every_task_once_and_make_knows_the_same(tasks: ModuleType) -> None:
    lines = tasks.usage().splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert listed == list(tasks.TASKS)
    assert len(set(listed)) == sum(map(len, tasks.GROUPS.values()))
    assert [line[:-1] for line in lines if line.endswith(":")] == list(tasks.GROUPS)
    assert all(len(line.split(maxsplit=1)[1]) > 10 for line in lines if line.startswith("  "))
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    named = re.search(r"^TARGETS = (.*)$", text, re.M)[1].split()
    assert named == [*tasks.TASKS, "help"]


def test_the_pages_that_changed_are_those_not_committed_or_else_the_last_commit_s(
    tasks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]

    def git(*words: str) -> None:
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)

    git("init", "-q")
    with pytest.raises(SystemExit, match=r"git .* failed"):  # nothing was ever committed
        tasks.changed_pages()
    names = ["book/index.md", "book/lectures/01-one.md", "notebooks/02-two.ipynb", "README.md"]
    for folder in ("book/lectures", "book/tools", "notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    git("commit", "-qm", "nothing", "--allow-empty")
    for name in names:
        (tmp_path / name).write_text("a\n")
    wanted = ["book/index", "notebooks/01-one", "notebooks/02-two"]
    assert tasks.changed_pages() == wanted
    git("add", "-A")
    assert tasks.changed_pages() == wanted
    git("commit", "-qm", "all")
    assert tasks.changed_pages() == wanted
    (tmp_path / "book/lectures/01-one.md").write_text("b\n")
    (tmp_path / "book/tools/tool.py").write_text("b\n")
    assert tasks.changed_pages() == ["notebooks/01-one"]


def test_the_tests_of_a_change_are_those_of_its_name_and_those_that_changed(tasks) -> None:
    changed = ["src/attnbook/scores.py", "tests/book/test_tasks.py", "book/index.md"]
    wanted = ["attnbook/test_scores.py", "attnlab/widgets/test_scores.py", "book/test_tasks.py"]
    assert tasks.tests_named_as(changed) == [f"tests/{name}" for name in wanted]
    assert tasks.tests_named_as(["book/index.md"]) == []


def torch_says(program: str, **env: str) -> list:
    """What a process of its own prints that has torch, under these variables."""
    kept = {name: value for name, value in os.environ.items() if name != "ATEN_CPU_CAPABILITY"}
    command = [sys.executable, "-c", f"import json, torch; {program}"]
    done = subprocess.run(command, env={**kept, **env}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


BITS = """
x = torch.linspace(-4, 4, 64 * 96).view(64, 96)
bits = lambda numbers: numbers.view(torch.int32).sum().item()
found = torch.backends.cpu.get_cpu_capability(), bits(x @ x.T), bits(torch.nn.functional.gelu(x))
print(json.dumps(found))"""


@pytest.mark.heavy
def test_each_setting_that_is_run_is_another_processor_indeed(tasks) -> None:
    """Named so by torch; and where torch names none, products and GELU have other last bits."""
    lacking = tasks.lacking_cpus()
    says = {
        name: torch_says(BITS, **env) for name, env in tasks.CPUS.items() if name not in lacking
    }
    plain = torch_says(BITS)
    assert "default" in says
    for name in says.keys() - {"sse"}:
        assert says[name][0] == name.upper()
    if "sse" in says:
        kind, *bits = says["sse"]
        assert kind == plain[0]
        assert all(new != old for new, old in zip(bits, plain[1:], strict=True))


@pytest.mark.parametrize(
    ("kind", "library", "runs"),
    [
        ("AVX512", True, ["default", "avx2", "avx512", "sse"]),
        ("AVX2", True, ["default", "avx2", "sse"]),
        ("DEFAULT", True, ["default", "sse"]),
        ("SVE256", False, ["default"]),  # an ARM processor
    ],
)
def test_a_processor_runs_the_settings_that_it_has_and_names_the_others(
    tasks, monkeypatch, capsys, kind: str, library: bool, runs: list[str]
) -> None:
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx512")  # what torch would repeat
    ran = []

    def answers(command: list[str], *, env: dict[str, str], **_: object) -> SimpleNamespace:
        assert "ATEN_CPU_CAPABILITY" not in env
        return SimpleNamespace(stdout=json.dumps([kind, library, True]))

    monkeypatch.setattr(tasks.subprocess, "run", answers)
    monkeypatch.setattr(tasks, "nbval", lambda **env: ran.append(env))
    tasks.test_cpus()
    assert ran == [{"ATTNBOOK_EVERY": "1", **tasks.CPUS[name]} for name in runs]
    said = capsys.readouterr().out
    assert re.findall(r"^not run: (\w+), because", said, re.M) == [
        name for name in tasks.CPUS if name not in runs
    ]


def test_what_shapes_every_page_is_more_than_the_pages_text(tasks, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    for name in ("src/a.py", "book/page.md", "book/assets/book.css", "_config.yml", "_toc.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a")
    (tmp_path / "requirements.txt").write_text("a")
    before = tasks.shaped_by()
    (tmp_path / "book/page.md").write_text("b")
    assert tasks.shaped_by() == before
    for name in ("src/a.py", "book/assets/book.css", "_toc.yml"):
        (tmp_path / name).write_text("b")
        assert tasks.shaped_by() != before
        before = tasks.shaped_by()


def test_any_warning_fails_the_build(tasks, tmp_path, monkeypatch) -> None:
    ran = []
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    monkeypatch.setattr(tasks, "shaped_by", lambda: "")
    monkeypatch.setattr(tasks, "run", lambda *words: ran.extend(words))
    (tmp_path / "_build").mkdir()
    tasks.build()
    assert {"-n", "-W", "--keep-going"} <= set(ran)
