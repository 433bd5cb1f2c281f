"""A damaged or unfit file is refused in words, and nothing on the disk is changed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam

from attnlab import language
from attnlab.language import vectors
from attnlab.training import resume as chk
from tests.attnlab.refusals import pretrained, smollm
from tests.attnlab.refusals.rows import WHOLE
from tests.attnlab.refusals.training import trained

WORDS = language.Vocabulary([["a", "b"]])


def saved(
    folder: Path, *, step: int = 1, of: nn.Module | None = None, **options: Any
) -> tuple[nn.Module, Path]:
    model = nn.Linear(2, 1)
    optimizer = Adam((of or model).parameters())
    return model, chk.save_checkpoint(folder, model, optimizer, step=step, **options)


def nothing(folder: Path) -> None:
    pass


def older_version(folder: Path) -> None:
    path = saved(folder)[1] / "state.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 0'))


def cut_short(folder: Path) -> None:
    path = saved(folder)[1] / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])


def one_bit(folder: Path) -> None:
    path = saved(folder)[1] / "optimizer.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))


def no_state(folder: Path) -> None:
    (saved(folder)[1] / "state.json").unlink()


def text(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(content)


def both(folder: Path) -> None:
    text("a", b"one\ntwo\n")(folder)
    text("b", b"un\n")(folder)


FILES: list[tuple[str, Callable[[Path], Any], Callable[[Path], Any], str, type[Exception]]] = [
    *(
        ("training.resume.read_checkpoint", damage, chk.read_checkpoint, words, ValueError)
        for damage, words in (
            (older_version, "must be of version 1 of the format: it is of version 0"),
            (cut_short, "must be a whole checkpoint: model.safetensors"),
            (one_bit, "must be a whole checkpoint: optimizer.safetensors"),
            (no_state, "must be a whole checkpoint: state.json"),
            (lambda folder: None, "must hold a checkpoint"),
        )
    ),
    *(
        (
            "training.loop.train",
            damage,
            lambda f: trained(checkpoint=f, resume=True)(),
            w,
            ValueError,
        )
        for damage, w in (
            (older_version, "of version 1"),
            (cut_short, "must be a whole checkpoint"),
            (
                lambda folder: trained(checkpoint=folder, optimizer=SGD)(),
                "must hold the optimiser's numbers: its class is SGD, the optimiser's Adam",
            ),
            (
                lambda folder: trained(checkpoint=folder, seed=1)(),
                "seed and batches must be those of the checkpoint's run",
            ),
        )
    ),
    (
        "training.loop.train",
        saved,
        lambda folder: trained(checkpoint=folder)(),
        "checkpoint must be a folder without one",
        ValueError,
    ),
    (
        "training.resume.save_checkpoint",
        saved,
        lambda folder: saved(folder),
        "must not hold step 1 already",
        ValueError,
    ),
    (
        "training.resume.save_checkpoint",
        lambda folder: None,
        lambda folder: saved(folder, step=-1),
        f"step {WHOLE} 0: it is -1",
        ValueError,
    ),
    *(
        ("training.resume.save_checkpoint", before, call, words, error)
        for before, call, words, error in (
            (partial(saved, step=5), saved, "nor a later one: it holds step-00000005", ValueError),
            (nothing, partial(saved, run=[]), "run must be a dictionary: it is a list", TypeError),
            (nothing, partial(saved, best={}), "best must have the shapes of model's", ValueError),
            (
                nothing,
                partial(saved, best={"weight": torch.ones(3, 3)}),
                "it has {'weight': (3, 3)}",
                ValueError,
            ),
            (nothing, partial(saved, of=nn.Linear(2, 1)), "must move weights of model", ValueError),
        )
    ),
    (
        "training.resume.Checkpoint",
        saved,
        lambda folder: chk.read_checkpoint(folder).load_into(nn.Linear(3, 1)),
        "'weight' has the shape (1, 2) there and (1, 3) in the model",
        ValueError,
    ),
    (
        "language.Vocabulary",
        text("words.json", b"[1, 2"),
        lambda folder: language.Vocabulary.load(folder / "words.json"),
        "is not a vocabulary",
        ValueError,
    ),
    (
        "language.read_aligned",
        both,
        lambda folder: list(language.read_aligned(folder / "a", folder / "b")),
        "must have as many lines",
        ValueError,
    ),
    (
        "language.read_aligned",
        both,
        lambda folder: language.read_aligned(folder / "a", folder / "c"),
        "there is no file",
        FileNotFoundError,
    ),
    (
        "language.read_multi30k",
        text("train.en", b"a\n"),
        lambda folder: language.read_multi30k(folder),
        "there is neither train.fr nor train.fr.gz",
        FileNotFoundError,
    ),
    *(
        (
            "language.read_trees",
            text("a.conllu", content),
            lambda folder: list(language.read_trees(folder / "a.conllu")),
            words,
            ValueError,
        )
        for content, words in (
            (b"1\tI\t_\n", "line 1: a word must have 10 columns with tabs between them: it has 3"),
            (b"# hello\n\xff\n", "line 2: this is not UTF-8"),
        )
    ),
    (
        "language.read_trees",
        text("a.conllu", b""),
        lambda folder: language.read_trees(folder / "b.conllu"),
        "there is no file",
        FileNotFoundError,
    ),
    (
        "language.read_tab_separated",
        text("a.tsv", b"one\tun\ntwo\n"),
        lambda folder: list(language.read_tab_separated(folder / "a.tsv")),
        "line 2: there must be a source and a target",
        ValueError,
    ),
    (
        "language.read_tab_separated",
        text("a.tsv", b"one\t\xff\n"),
        lambda folder: list(language.read_tab_separated(folder / "a.tsv")),
        "line 1: this is not UTF-8",
        ValueError,
    ),
    *(
        (
            "language.vectors.read_vectors",
            text("v.txt", content),
            lambda folder: vectors.read_vectors(folder / "v.txt", WORDS),
            words,
            ValueError,
        )
        for content, words in (
            (b"", "must hold at least one of the vocabulary's 5 tokens: it holds none"),
            (b"x 1 2\n", "must hold at least one of the vocabulary's 5 tokens"),
            (b"a 1 2\nb 1\n", "line 2: there must be a word and 2 numbers"),
            (b"a\n", "line 1: there must be a word and 1 numbers"),
            (b"a 1 2\nb 1 x\n", "line 2: a vector must hold finite numbers: 'x' is among them"),
            (b"a 1 nan\n", "line 1: a vector must hold finite numbers: 'nan' is among them"),
            (b"1 3\na 1 2\n", "line 2: there must be a word and 3 numbers"),
            (b"a \xff\n", "line 1: this is not UTF-8"),
        )
    ),
    (
        "language.vectors.read_vectors",
        text("v.txt", b"a 1 2\n"),
        lambda folder: vectors.read_vectors(folder / "w.txt", WORDS),
        "there is no file",
        FileNotFoundError,
    ),
    (
        "language.vectors.read_vectors",
        text("v.txt", b"a 1 2\n"),
        lambda folder: vectors.read_vectors(folder / "v.txt", WORDS, seed=-1),
        f"seed {WHOLE} 0: it is -1",
        ValueError,
    ),
    *pretrained.FILES,
    *smollm.FILES,
]


@pytest.mark.parametrize(("of", "prepare", "call", "words", "error"), FILES)
def test_a_bad_file_is_refused_and_left_alone(
    tmp_path: Path, of: str, prepare, call, words: str, error: type[Exception]
) -> None:
    prepare(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(error) as caught:
        call(tmp_path)
    assert words in str(caught.value)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before


def test_a_checkpoint_of_another_optimiser_changes_nothing(tmp_path: Path) -> None:
    saved(tmp_path)
    model = nn.Linear(2, 1)
    weights = model.weight.detach().clone()
    with pytest.raises(ValueError, match="its class is Adam, the optimiser's SGD"):
        chk.read_checkpoint(tmp_path).load_into(model, SGD(model.parameters(), lr=1.0))
    assert torch.equal(model.weight, weights)


def test_a_folder_without_a_checkpoint_is_no_error(tmp_path: Path) -> None:
    assert not chk.has_checkpoint(tmp_path / "nowhere")
