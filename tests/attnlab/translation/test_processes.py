"""Several processes: one gradient, one curve, one writer, and a run that changes their number."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import safetensors.torch
import torch

from attnlab.training.resume import read_checkpoint
from attnlab.translation.journal import read_log
from attnlab.translation.team import Team, team
from tests.attnlab.translation.small import multi30k
from tests.attnlab.translation.worker import gradient, together, train_exactly, write_gradient


@pytest.mark.parametrize(("n", "tokens"), [(2, 60), (3, 8)], ids=["two", "more than pairs"])
def test_the_gradient_is_that_of_one_process_with_the_same_batch(tmp_path, n, tokens) -> None:
    together(n, write_gradient, tmp_path / "found", tokens)
    found = safetensors.torch.load_file(tmp_path / "found")
    wanted = gradient(Team(), tokens)
    assert found.keys() == wanted.keys()
    for name, one in wanted.items():
        torch.testing.assert_close(found[name], one, rtol=1e-10, atol=1e-13)


def test_two_processes_have_the_curve_of_one_and_change_into_it(tmp_path: Path) -> None:
    """Four steps by two processes, four more, and four by one are twelve by one."""
    data = multi30k(tmp_path / "data")
    train_exactly(Team(), data, tmp_path / "one", 12)
    for steps in (4, 8):
        together(2, train_exactly, data, tmp_path / "two", steps)
        assert read_checkpoint(tmp_path / "two").step == steps
    train_exactly(Team(), data, tmp_path / "two", 12)
    assert read_checkpoint(tmp_path / "two").step == 12
    one, two = (read_checkpoint(tmp_path / name).weights for name in ("one", "two"))
    for name, weight in one.items():
        torch.testing.assert_close(two[name], weight, rtol=1e-6, atol=1e-8)
    curves = [
        [entry["validation_loss"] for entry in read_log(tmp_path / name / "log.jsonl")]
        for name in ("one", "two")
    ]
    assert len(curves[0]) == 2
    assert curves[1] == pytest.approx(curves[0], abs=1e-7)


def test_the_program_runs_under_torchrun(tmp_path: Path) -> None:
    data = multi30k(tmp_path / "data")
    choices = ["--pair", "en-fr", "--vocabulary", 120, "--d-model", 16, "--n-layers", 1]
    choices += ["--steps", 2, "--out", tmp_path / "run", "--tokens", 200, "--n-heads", 2]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    command += ["-m", "attnlab.translation", "--data", data, *choices]
    quiet = {**os.environ, "TQDM_DISABLE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(map(str, command), capture_output=True, text=True, env=quiet, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "2 × cpu" in done.stdout
    assert done.stdout.count("validation BLEU") == 1
    assert (tmp_path / "run" / "model.safetensors").exists()


def test_one_process_is_a_team_and_a_gpu_that_is_not_there_an_error() -> None:
    with team("cpu") as here:
        assert (here.rank, here.world, here.main) == (0, 1, True)
        assert (here.broadcast("x"), here.gather("x"), here.agree([1.5])) == ("x", ["x"], [1.5])
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match="device must be cpu: there are 0 GPUs"), team("cuda"):
        pass
