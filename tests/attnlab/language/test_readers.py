"""Readers: small files in the formats of Europarl, Multi30k and tab-separated pairs."""

import gzip
from pathlib import Path

import pytest

from attnlab.language import TextPair, read_aligned, read_multi30k, read_tab_separated

ENGLISH = "A man sleeps.\nTwo dogs run.\n"
FRENCH = "Un homme dort.\nDeux chiens courent.\n"
PAIRS = [
    TextPair("A man sleeps.", "Un homme dort."),
    TextPair("Two dogs run.", "Deux chiens courent."),
]


def aligned(folder: Path, english: str | bytes, french: str | bytes) -> tuple[Path, Path]:
    """Write two files as Europarl names them."""
    paths = folder / "europarl-v7.fr-en.en", folder / "europarl-v7.fr-en.fr"
    for path, text in zip(paths, (english, french), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


@pytest.mark.parametrize(
    ("english", "french"),
    [
        (ENGLISH, FRENCH),
        (ENGLISH.rstrip(), FRENCH),
        (ENGLISH.replace("\n", "\n\nx\n", 1), FRENCH.replace("\n", "\ny\n \n", 1)),
        (b"\xef\xbb\xbf" + ENGLISH.replace("\n", "\r\n").encode(), FRENCH),
    ],
    ids=["line by line", "no last line feed", "a blank side is left out", "as Windows writes it"],
)
def test_two_files_are_read(tmp_path: Path, english: str | bytes, french: str) -> None:
    assert list(read_aligned(*aligned(tmp_path, english, french))) == PAIRS


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, separator: str) -> None:
    paths = aligned(tmp_path, f"one{separator}two\nthree\n", "un deux\ntrois\n")
    assert list(read_aligned(*paths)) == [
        TextPair(f"one{separator}two", "un deux"),
        TextPair("three", "trois"),
    ]


def test_reading_takes_one_pair_at_a_time(tmp_path: Path) -> None:
    paths = aligned(tmp_path, ENGLISH * 5 + "odd\n", FRENCH * 5)
    read = read_aligned(*paths)
    assert [next(read) for _ in range(2)] == PAIRS  # the unequal end has not been reached


@pytest.mark.parametrize("packed", [True, False])
def test_a_folder_of_multi30k_is_read(tmp_path: Path, packed: bool) -> None:
    for language, text in (("en", ENGLISH), ("fr", FRENCH), ("de", "Ein Mann.\nZwei Hunde.\n")):
        if packed:
            (tmp_path / f"val.{language}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (tmp_path / f"val.{language}").write_bytes(text.encode())
    assert list(read_multi30k(tmp_path, "val")) == PAIRS
    assert next(read_multi30k(str(tmp_path), "val", target="de")).target == "Ein Mann."
    with pytest.raises(FileNotFoundError, match=r"neither train.en nor train.en.gz in"):
        read_multi30k(tmp_path)


def test_tab_separated_pairs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    lines = ("A man sleeps.\tUn homme dort.\tCC-BY", "", "Two dogs run.\tDeux chiens courent.", "")
    path.write_text("\n".join(lines))
    assert list(read_tab_separated(path)) == PAIRS
