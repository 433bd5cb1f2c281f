"""Text for a run: three kinds of files go in, and what cannot be is said in words."""

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from attnlab.translation.corpus import read_text
from tests.attnlab.translation.small import multi30k, recipe, texts, write

PACKED = gzip.compress(b"a dog sleeps\n" * 2000)


def europarl(folder: Path) -> Path:
    write(folder, "europarl-v7.fr-en", texts())
    return folder


def tab_separated(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    pairs = zip(*texts(), strict=True)
    path = folder / "pairs.tsv"
    path.write_text("".join(f"{one}\t{other}\tmore\n" for one, other in pairs), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", [partial(multi30k, validated=20), europarl, tab_separated])
def test_each_kind_of_files_is_read(tmp_path: Path, kind: Callable[[Path], Path]) -> None:
    """The program itself is run with the first kind, in all its own tests."""
    text = read_text(kind(tmp_path / "data"), recipe(held_out=20))
    assert (len(text.train), len(text.validation)) == (130, 20)
    assert sorted(text.train + text.validation) == sorted(zip(*texts(), strict=True))


def test_packed_files_are_the_same_text(tmp_path: Path) -> None:
    plain, packed = multi30k(tmp_path / "plain"), multi30k(tmp_path / "packed", gz=True)
    assert read_text(plain, recipe()) == read_text(packed, recipe())


def test_what_is_held_out_is_not_trained_on(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"source {k}\ttarget {k}\n" for k in range(50)))
    text = read_text(path, recipe(held_out=10))
    assert (len(text.train), len(text.validation)) == (40, 10)
    assert not set(text.train) & set(text.validation)
    assert text == read_text(path, recipe(held_out=10))
    assert text != read_text(path, recipe(held_out=10, seed=1))


def test_a_share_is_a_part_of_a_larger_share(tmp_path: Path) -> None:
    data = multi30k(tmp_path / "data")
    parts = [read_text(data, recipe(share=share)) for share in (0.25, 0.5, 1.0)]
    assert [len(part.train) for part in parts] == [32, 65, 130]
    assert set(parts[0].train) < set(parts[1].train) < set(parts[2].train)
    assert parts[0].validation == parts[2].validation


@pytest.mark.parametrize(
    ("lower", "wanted"),
    [
        ("none", ("Two Dogs", "Deux Chiens")),
        ("source", ("two dogs", "Deux Chiens")),
        ("both", ("two dogs", "deux chiens")),
    ],
)
def test_sides_are_lowered_as_told(tmp_path: Path, lower: str, wanted: tuple[str, str]) -> None:
    write(tmp_path, "train", (["Two  Dogs"], ["Deux Chiens"]))
    write(tmp_path, "val", (["a"], ["b"]))
    assert read_text(tmp_path, recipe(lower=lower)).train == [wanted]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"train.en": b"", "train.fr": b""}, "train.fr in .* must hold pairs: there is none"),
        ({"train.fr": None}, "no train.en and train.fr .* it holds train.en, val.en"),
        ({"val.fr": None}, "there is .*val.en and no val.fr"),
        ({"train.fr": b"c\n"}, "as many lines: .*train.en has 130, .*train.fr has 1"),
        ({"train.fr": "été\n".encode("latin-1")}, "train.fr, line 1: this is not UTF-8"),
        (
            {"train.lower.en": b"a\n", "train.lower.fr": b"b\n"},
            "data must hold one such text, not 2: there are train, train.lower",
        ),
        ({"val.en": b"", "val.fr": b""}, "val.en must hold pairs: it is empty"),
        ({"train.en": None, "train.en.gz": b"plain\n"}, "must be a whole file of gzip's"),
        ({"train.en": None, "train.en.gz": PACKED[:-20]}, "must be a whole file of gzip's"),
    ],
)
def test_text_that_cannot_be_is_named(tmp_path, files, words) -> None:
    multi30k(tmp_path)
    for name, content in files.items():
        if content is None:
            (tmp_path / name).unlink()
        else:
            (tmp_path / name).write_bytes(content)
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        read_text(tmp_path, recipe())


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"neither a folder nor a file .*nowhere"):
        read_text(tmp_path / "nowhere", recipe())
    with pytest.raises(FileNotFoundError, match=r"no train.en and train.fr .* it holds nothing"):
        read_text(tmp_path, recipe())
    with pytest.raises(FileNotFoundError, match=r"no train.en and train.sw .* it holds train.en"):
        read_text(multi30k(tmp_path / "two"), recipe(pair="en-sw"))
    with pytest.raises(ValueError, match=r"held_out must leave pairs .* has 150 pairs in all"):
        read_text(europarl(tmp_path / "all"), recipe(held_out=150))
