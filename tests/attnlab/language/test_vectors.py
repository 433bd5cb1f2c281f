"""Vectors from a file: each in its token's row, the others small and random, padding zero."""

import gzip
from importlib.resources import files
from pathlib import Path

import pytest
import torch

from attnlab.language import Vocabulary, read_aligned, tokenise
from attnlab.language.vectors import Vectors, read_vectors

WORDS = Vocabulary([["the", "the", "the", "cat", "cat", "."], [". . .", "dog"]], unknown="<unk>")
SAMPLE = files("attnlab.language") / "data"


def read(folder: Path, text: str, **options: int) -> Vectors:
    path = folder / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    return read_vectors(path, WORDS, **options)


def row(vectors: Vectors, word: str) -> list[float]:
    return vectors.matrix[WORDS.encode([word])[0]].tolist()


def test_each_vector_stands_in_its_tokens_row_and_padding_is_zero(tmp_path: Path) -> None:
    vectors = read(tmp_path, "cat 1 2 3\nzebra 9 9 9\nthe -4 5e-1 6\n")
    assert vectors.matrix.shape == (len(WORDS), 3)
    assert vectors.matrix.dtype == torch.float32
    assert row(vectors, "cat") == [1, 2, 3]
    assert row(vectors, "the") == [-4, 0.5, 6]
    named = [t for t, one in zip(WORDS.tokens, vectors.found, strict=True) if one]
    assert named == ["the", "cat"]
    vectors = read(tmp_path, "<pad> 7 7\n<eos> 8 8\ncat 1 2\n<unk> 3 4\n")
    assert vectors.matrix[0].tolist() == [0, 0]
    assert vectors.found[:4].tolist() == [False, False, False, True]  # a file has words


def test_a_missing_token_gets_a_vector_as_wide_as_those_found(tmp_path: Path) -> None:
    many = Vocabulary([[f"w{k}" for k in range(2_000)]])
    path = tmp_path / "v.txt"
    path.write_text("".join(f"w{k} {3 * (-1) ** k} 4\n" for k in range(10)), encoding="utf-8")
    vectors = read_vectors(path, many)
    missing = vectors.matrix[1:][~vectors.found[1:]]
    assert missing.square().mean().sqrt().item() == pytest.approx(12.5**0.5, rel=0.05)
    assert (missing.norm(dim=1) > 0).all()
    assert len(missing.unique(dim=0)) == len(missing)


def test_the_seed_alone_decides_the_random_rows_and_torchs_own_numbers_go_on(tmp_path) -> None:
    text = "cat 1 2\n"
    one, same, other = (read(tmp_path, text, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one.matrix, same.matrix)
    assert not torch.equal(one.matrix, other.matrix)
    assert row(one, "cat") == row(other, "cat")
    before = torch.get_rng_state()
    read(tmp_path, "cat 1 2\n")
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("text", "word", "wanted"),
    [
        ("2 3\ncat 1 2 3\nthe 4 5 6\n", "the", [4, 5, 6]),
        ("cat 1\nthe 2\n", "cat", [1]),
        ("cat 1 2\ncat 3 4\n", "cat", [1, 2]),
        ("cat 1 2\n. . . 3 4\n", ". . .", [3, 4]),
    ],
    ids=["a header", "one component is no header", "the first of two", "a word with spaces"],
)
def test_lines_of_every_kind_are_read(tmp_path: Path, text: str, word: str, wanted: list) -> None:
    assert row(read(tmp_path, text), word) == wanted


def test_packed_files_are_read_and_the_sample_is_twelve_pairs(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"cat 1 2\r\nthe 3 4\r\n"))
    assert row(read_vectors(path, WORDS), "the") == [3, 4]
    pairs = list(read_aligned(SAMPLE / "sample.en", SAMPLE / "sample.fr"))
    assert len(pairs) == 12
    words = Vocabulary([[t.lower() for t in tokenise(pair.source)] for pair in pairs])
    vectors = read_vectors(SAMPLE / "sample.vectors.txt", words)
    assert vectors.matrix.shape[1] == 16
    assert 0.5 < vectors.found.float().mean() < 0.9


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_sample_is_cut_alike_with_and_without_spacy(language: str) -> None:
    for line in (SAMPLE / f"sample.{language}").read_text(encoding="utf-8").splitlines():
        assert tokenise(line, language, plain=True) == tokenise(line, language, plain=False)


@pytest.mark.parametrize(("word", "near"), [("cat", "dog"), ("red", "white"), ("garden", "beach")])
def test_vectors_of_the_sample_know_which_words_are_alike(word: str, near: str) -> None:
    """A word is nearer to one of its kind than to the article that stands before it."""
    words = Vocabulary([["cat", "dog", "red", "white", "garden", "beach", "the"]])
    matrix = read_vectors(SAMPLE / "sample.vectors.txt", words).matrix
    one, other, article = matrix[words.encode([word, near, "the"])]
    alike = torch.nn.functional.cosine_similarity
    assert alike(one, other, dim=0) > alike(one, article, dim=0)
