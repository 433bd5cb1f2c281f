"""Word vectors that others have trained, read from a text file into the rows of a vocabulary.

    vectors = read_vectors("glove.6B.100d.txt", vocabulary)
    embedding = nn.Embedding.from_pretrained(vectors.matrix, freeze=False, padding_idx=0)

A line of such a file is a word and its numbers, with spaces between: the format of GloVe, and of
word2vec and fastText, whose first line states the numbers of words and of components.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab import _check
from attnlab.language.readers import lines
from attnlab.language.vocabulary import SPECIAL, Vocabulary


class Vectors(NamedTuple):
    """A row for each token of a vocabulary: matrix (n, d) float32, and found (n,) boolean.

    ``found`` is True where the file has the token; padding is a row of zeros, and False.
    """

    matrix: Tensor
    found: Tensor


def read_vectors(path: str | Path, vocabulary: Vocabulary, *, seed: int = 0) -> Vectors:
    """Read the vectors of a vocabulary's tokens from a text file, one line at a time.

    A token that the file does not have gets a small random vector, drawn with the seed from a
    normal distribution as wide as the vectors found: zeros would make all such tokens the same.
    It is there to be trained, so freeze such rows only with care. A word that the file has twice
    keeps its first vector; words outside the vocabulary are passed over. A first line of two whole
    numbers is a header, and is held against what follows. A word may itself hold spaces, as some
    of GloVe's do: the last d cells are its numbers. A name that ends in .gz is unpacked.

    Shapes: returns ``Vectors``: matrix (n, d) and found (n,), for the n tokens of the vocabulary.
    Raises: FileNotFoundError where there is no file; ValueError that names the line: bytes that
    are not UTF-8, fewer cells than the first line has, what is no finite number, a header that
    states another size; ValueError for an empty file, or one with no token of the vocabulary.
    Source: Pennington, Socher and Manning (2014), https://nlp.stanford.edu/projects/glove/.
    """
    _check.whole_number("seed", seed)
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    rows: dict[int, list[float]] = {}
    for place, word, cells in _words(path):
        if word not in vocabulary or word in SPECIAL:
            continue
        (number,) = vocabulary.encode([word])
        if number not in rows:
            rows[number] = _numbers(place, cells)
    if not rows:
        raise ValueError(
            f"{path} must hold at least one of the vocabulary's {len(vocabulary)} tokens: "
            f"it holds none"
        )
    return _filled(rows, len(vocabulary), vocabulary.pad, seed)


def _words(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield of each line where it stands, its word, and the cells of its vector."""
    size = None
    for number, line in enumerate(lines(path), start=1):
        place, cells = f"{path}, line {number}", line.rstrip().split(" ")
        if number == 1 and len(cells) == 2 and all(cell.isdecimal() for cell in cells):
            size = int(cells[1])
            continue
        size = len(cells) - 1 if size is None else size
        if size < 1 or len(cells) <= size:
            raise ValueError(
                f"{place}: there must be a word and {max(size, 1)} numbers with spaces between: "
                f"there are {len(cells)} cells"
            )
        yield place, " ".join(cells[:-size]), cells[-size:]


def _numbers(place: str, cells: list[str]) -> list[float]:
    numbers = []
    for cell in cells:
        try:
            numbers.append(float(cell))
        except ValueError:
            numbers.append(math.nan)
        if not math.isfinite(numbers[-1]):
            raise ValueError(f"{place}: a vector must hold finite numbers: {cell!r} is among them")
    return numbers


def _filled(rows: dict[int, list[float]], n: int, pad: int, seed: int) -> Vectors:
    """Put the vectors found into their rows, and random ones as wide into the others."""
    kept = torch.tensor(list(rows.values()), dtype=torch.float32)  # (found, d)
    width = kept.square().mean().sqrt()
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.randn(n, kept.shape[1], generator=generator) * width
    matrix[pad] = 0
    found = torch.zeros(n, dtype=torch.bool)
    numbers = torch.tensor(list(rows))
    matrix[numbers], found[numbers] = kept, True
    return Vectors(matrix, found)
