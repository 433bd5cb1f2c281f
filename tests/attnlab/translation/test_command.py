"""The command line: an error is one sentence, and the help says why."""

import errno
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from attnlab.translation import command
from attnlab.translation.command import main, minutes
from attnlab.translation.recipe import Recipe
from attnlab.translation.score import main as score
from tests.attnlab.translation.small import multi30k, trained, write

TINY = ["--pair", "en-fr", "--vocabulary", "120", "--d-model", "16", "--n-heads", "2"]
TINY += ["--n-layers", "1", "--steps", "2", "--tokens", "200"]
FULL = OSError(errno.ENOSPC, "No space left on device")


FORMS = {  # a pair of each language, which is said again with other numbers
    "zh": ("A man in {} shirts.", "一个穿着 {} 件衬衫的男人在街上。"),
    "ja": ("A man in {} shirts.", "{} 枚のシャツを着た男。"),
    "cs": ("A man in {} shirts.", "Muž v {} košilích jde domů."),
    "de": ("A man in {} shirts.", "{} Hemden."),
}


def said(folder: Path, language: str) -> Path:
    """Write pairs of a language that is none of the book's."""
    folder.mkdir()
    for name, numbers in (("train", range(40)), ("val", range(100, 104))):
        for side, form in zip(("en", language), FORMS[language], strict=True):
            lines = "".join(f"{form.format(number)}\n" for number in numbers)
            (folder / f"{name}.{side}").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return multi30k(tmp_path / "data")


def test_it_trains_and_prints_the_scores(tmp_path: Path, data: Path, capsys: Any) -> None:
    assert main(["--data", str(data), "--out", str(tmp_path / "run"), *TINY]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "2 steps" in last
    assert "nrefs:1|case:mixed|eff:no|tok:13a" in last


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--data", "nowhere"], "neither a folder nor a file nowhere"),
        (["--pair", "enfr"], "pair must be two languages with a dash between"),
        (["--pair", "en-xx"], "there is no train.en and train.xx"),
        (["--vocabulary", "9999"], "vocabulary must be what the text allows: it is 9999"),
        (["--model", "lstm"], "model must be one of 'transformer', 'gru'"),
        (["--share", "0"], "share must be above 0 and at most 1"),
        (["--d-model", "15"], "d_model must be a multiple of n_heads = 2"),
        (["--dropout", "1"], "dropout must be at least 0 and below 1"),
        (["--bpe-dropout", "1"], "bpe_dropout must be at least 0 and below 1"),
        (["--cooldown", "1.5"], "cooldown must be at least 0 and below 1: it is 1.5"),
        (["--tokens", "1"], "tokens must be a whole number of at least 2"),
        (["--d-model", "15", "--n-heads", "1"], "d_model must be even, .*: it is 15"),
        (["--seed", f"{1 << 63}"], "seed must be below 2.63"),
        (["--vocabulary", "6"], r"allows: it is 6, and this text makes \d+ pieces at least"),
    ],
)
def test_an_error_is_a_sentence(tmp_path, data, capsys, arguments, words) -> None:
    given = ["--data", str(data), "--out", str(tmp_path / "run"), *TINY]
    assert main([*given, *arguments]) == 1
    told = capsys.readouterr().err
    assert re.search(words, told)
    assert "Traceback" not in told
    assert len(told.splitlines()) == 1
    # so that the same command, put right, finds its folder free
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("language", "cut"), [("zh", "zh"), ("cs", "13a")])
def test_a_language_without_the_rules_is_scored_by_one_bleu(
    tmp_path, capsys, language, cut
) -> None:
    folder, run = said(tmp_path / "said", language), tmp_path / "run"
    given = ["--pair", f"en-{language}", "--vocabulary", "50", "--validate-every", "1"]
    assert main(["--data", str(folder), "--out", str(run), *TINY, *given]) == 0
    told = capsys.readouterr()
    assert f"tok:{cut}" in told.out
    assert "lower-cased" not in told.out + told.err
    files = ["--source", str(folder / "val.en"), "--reference", str(folder / f"val.{language}")]
    assert score([str(run), *files, "--beam", "1"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"cased", "cased_signature"}


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("ja", "tokenize='ja-mecab' needs another package: pip install sacrebleu[ja]"),
        ("de", "references must hold a sentence of at least 4 tokens: by tokenize='13a' the "),
    ],
)
def test_what_cannot_be_scored_is_not_trained(tmp_path, capsys, language, words) -> None:
    if language == "ja" and importlib.util.find_spec("MeCab"):
        pytest.skip("sacrebleu has what it needs for Japanese")
    given = ["--data", str(said(tmp_path / "said", language)), "--out", str(tmp_path / "run")]
    assert main([*given, *TINY, "--pair", f"en-{language}", "--vocabulary", "40"]) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_reference_that_cannot_be_scored_is_refused_before_the_work(tmp_path, capsys) -> None:
    folder, run = said(tmp_path / "said", "cs"), tmp_path / "run"
    trained(folder, run, pair="en-cs", vocabulary=50, steps=1)
    given = [str(run), "--source", str(folder / "val.en")]
    for option, line, words in (
        (
            "--tokens",
            "muž jde domů .",
            "language must be one of 'en', 'de', 'fr', 'it': it is 'cs'",
        ),
        ("--reference", "Muž jde.", "references must hold a sentence of at least 4 tokens"),
    ):
        (tmp_path / "right").write_text(f"{line}\n" * 4, encoding="utf-8")
        with patch("attnlab.translation.score.translate", side_effect=AssertionError("too late")):
            assert score([*given, option, str(tmp_path / "right")]) == 1
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "name", "error", "words"),
    [
        (os, "fsync", FULL, "No space left on device. The last checkpoint is whole"),
        (command, "train", KeyboardInterrupt(), "goes on from the last checkpoint"),
    ],
    ids=["a full disk", "an interrupt"],
)
def test_what_stops_a_run_is_a_sentence(
    tmp_path: Path, data: Path, capsys: Any, module: object, name: str, error: BaseException,
    words: str,
) -> None:  # fmt: skip
    with patch.object(module, name, side_effect=error):
        assert main(["--data", str(data), "--out", str(tmp_path / "run"), *TINY]) == 1
    assert words in capsys.readouterr().err


def test_a_process_that_was_left_has_nothing_to_say(monkeypatch, capsys) -> None:
    left = RuntimeError("[gloo/pair.cc:553] Connection closed by peer [127.0.0.1]:1")
    with pytest.raises(RuntimeError), patch.object(command, "train", side_effect=left):
        main(["--data", "x"])
    monkeypatch.setenv("RANK", "1")
    with patch.object(command, "train", side_effect=left):
        assert main(["--data", "x"]) == 1
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "wanted"), [("60", 60), ("60m", 60), ("1.5h", 90), ("90s", 1.5), ("2 min", 2)]
)
def test_times_are_read(text: str, wanted: float) -> None:
    assert minutes(text) == pytest.approx(wanted)


@pytest.mark.parametrize("text", ["", "soon", "-1", "0", "1d", "nan"])
def test_other_times_are_refused(text: str, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["--data", "x", f"--time={text}"])
    assert "is no time such as 60, 60m, 1.5h or 90s" in capsys.readouterr().err


def test_the_help_gives_every_choice_its_reason(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    told = re.sub(r"\s", "", capsys.readouterr().out)  # lines are broken at hyphens too
    for one in fields(Recipe):
        assert re.sub(r"\s", "", f"{one.metadata['why']} ({one.default})") in told


@pytest.mark.heavy
def test_the_program_sets_its_allocator_itself(data: Path, tmp_path: Path) -> None:
    bare = {name: value for name, value in os.environ.items() if name not in command.MEMORY}
    given = ["--data", str(data), "--out", str(tmp_path / "run"), *TINY]
    done = subprocess.run(
        [sys.executable, "-m", "attnlab.translation", *given],
        capture_output=True,
        text=True,
        env={**bare, "TQDM_DISABLE": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert "step 2 of 2" in done.stderr  # the bar
    assert "left" in done.stderr or "100%" in done.stderr


@pytest.mark.heavy
def test_a_test_set_is_scored(tmp_path: Path, data: Path, capsys: Any) -> None:
    trained(data, tmp_path / "run", steps=4)
    capsys.readouterr()
    source, reference, output = data / "val.en", data / "val.fr", tmp_path / "written"
    given = [str(tmp_path / "run"), "--source", str(source), "--output", str(output)]
    assert score([*given, "--reference", str(reference)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"cased", "cased_signature", "tokens", "tokens_signature"}
    assert "tok:none" in found["tokens_signature"]
    assert len(output.read_text().splitlines()) == 4
    assert score([*given, "--tokens", str(reference), "--beam", "1"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"tokens", "tokens_signature"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "one of --reference and --tokens must be given"),
        (["--reference", "short.fr"], "short.fr must have as many lines as .*val.en, 4: it has 1"),
        (["--reference", "none.fr"], "none.fr must hold sentences: it is empty"),
        (["--reference", "nowhere"], "there is no file"),
        (["--reference", "val.fr", "--output", "val.fr"], "--output must be a file of its own"),
        (["--reference", "val.fr", "--output", "nowhere/x"], "no folder .*nowhere for --output"),
    ],
)
def test_a_test_set_that_cannot_be_is_a_sentence(tmp_path, data, capsys, arguments, words) -> None:
    write(data, "short", (["a"], ["b"]))
    write(data, "none", ([], []))
    given = [str(tmp_path / "run"), "--source", str(data / "val.en")]
    files = [one if one.startswith("--") else str(data / one) for one in arguments]
    assert score([*given, *files]) == 1
    assert re.search(words, capsys.readouterr().err)


def test_plain_text_and_tokens_are_not_taken_for_each_other(tmp_path, data, capsys) -> None:
    tokens, plain = data / "val.en", tmp_path / "plain"
    tokens.write_text("a man , running .\n" * 4)
    plain.write_text("A man, running.\n" * 4)
    shutil.copy(tokens, data / "val.fr")
    trained(data, tmp_path / "run", steps=1)
    needed = f"{plain} must be lower-cased tokens for this score: it is 'plain text'"
    for source, option, reference in [
        (plain, "--tokens", tokens),
        (tokens, "--tokens", plain),
        (tokens, "--reference", plain),
    ]:
        given = [str(tmp_path / "run"), "--source", str(source), option, str(reference)]
        assert score(given) == 1
        assert needed in capsys.readouterr().err
    shutil.copy(plain, data / "val.fr")
    trained(data, tmp_path / "other", steps=1)
    given = ["--source", str(tokens), "--reference", str(tokens)]
    assert score([str(tmp_path / "other"), *given]) == 1
    assert f"{tokens} must be plain text for this score" in capsys.readouterr().err


def test_a_folder_without_a_run_is_a_sentence(tmp_path: Path, data: Path, capsys: Any) -> None:
    given = ["--source", str(data / "val.en"), "--reference", str(data / "val.fr")]
    assert score([str(tmp_path), *given]) == 1
    assert "must hold a run: there is no recipe.json" in capsys.readouterr().err
