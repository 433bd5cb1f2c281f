"""Readers for parallel text in files: Europarl's, Multi30k's, and tab-separated pairs.

Each is an iterator that holds one pair at a time, so that a file may be larger than memory.
Lines end at a line feed alone: Europarl holds other separators (U+2028, U+0085) inside
its sentences, where ``str.splitlines`` would break the two sides apart.
"""

import gzip
import zlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple


class TextPair(NamedTuple):
    """A sentence and its translation, as text."""

    source: str
    target: str


def read_aligned(source: str | Path, target: str | Path) -> Iterator[TextPair]:
    """Read two files whose lines correspond, such as Europarl's (europarl-v7.fr-en.en and .fr).

    A file whose name ends in .gz is unpacked while it is read. A pair with a blank line on
    either side is left out: that is how Europarl marks a sentence with no translation.

    Raises: FileNotFoundError at once where a file is missing; while reading, ValueError
    for files of different length, or bytes that are not UTF-8.
    Source: Koehn (2005), https://www.statmt.org/europarl/.
    """
    source, target = Path(source), Path(target)
    for path in (source, target):
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
    return _aligned(source, target)


def read_multi30k(
    folder: str | Path, split: str = "train", *, source: str = "en", target: str = "fr"
) -> Iterator[TextPair]:
    """Read a split of Multi30k from a folder with train.en, train.fr … or train.en.gz …

    Raises: FileNotFoundError that names what was looked for; else as ``read_aligned``.
    Source: Elliott et al. (2016), https://github.com/multi30k/dataset.
    """
    found = []
    for language in (source, target):
        names = (f"{split}.{language}", f"{split}.{language}.gz")
        paths = [Path(folder) / name for name in names if (Path(folder) / name).is_file()]
        if not paths:
            raise FileNotFoundError(f"there is neither {names[0]} nor {names[1]} in {folder}")
        found.append(paths[0])
    return read_aligned(*found)


def read_tab_separated(path: str | Path) -> Iterator[TextPair]:
    """Read pairs from one file, source and target with a tab between; more columns are ignored.

    Blank lines are left out.

    Raises: FileNotFoundError at once where there is no such file; while reading, ValueError
    that names a line without a tab or with an empty side, or bytes that are not UTF-8.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return _separated(path)


def lines(path: Path) -> Iterator[str]:
    """Read the lines of a file, packed by gzip where its name ends in .gz.

    Raises: ValueError that names the line where bytes are not UTF-8, or a packed file that is not
    whole.
    """
    try:
        yield from _lines(path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} must be a whole file of gzip's: {error}") from error


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(f"{path}, line {number}: this is not UTF-8 ({error})") from error
            yield text.rstrip("\r\n")


def _aligned(source: Path, target: Path) -> Iterator[TextPair]:
    left, right = lines(source), lines(target)
    counts = [0, 0]
    for pair in zip_longest(left, right):
        counts = [n + (line is not None) for n, line in zip(counts, pair, strict=True)]
        if None in pair:
            break
        if pair[0].strip() and pair[1].strip():
            yield TextPair(pair[0].strip(), pair[1].strip())
    counts = [n + sum(1 for _ in rest) for n, rest in zip(counts, (left, right), strict=True)]
    if counts[0] != counts[1]:
        raise ValueError(
            f"the two files must have as many lines: {source} has {counts[0]}, "
            f"{target} has {counts[1]}"
        )


def _separated(path: Path) -> Iterator[TextPair]:
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < 2 or not (cells[0] and cells[1]):
            raise ValueError(
                f"{path}, line {number}: there must be a source and a target "
                f"with a tab between: the line is {line!r}"
            )
        yield TextPair(cells[0], cells[1])
