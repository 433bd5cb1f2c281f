"""The two models: what they refuse, in words."""

import pytest
import torch

from attnbook.transformer import LanguageModel, Seq2Seq
from tests.strategies import normal
from tests.test_transformer import LENGTHS, SOURCE, TARGET, translator, writer


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Seq2Seq(0, 5), "vocabulary must be a whole number of at least 1: it is 0"),
        (lambda: Seq2Seq(5, -1), "vocabulary must be a whole number of at least 1: it is -1"),
        (lambda: LanguageModel(5, n_layers=0), "n_layers must be a whole number of at least 1"),
        (lambda: LanguageModel(5, d_model=10), "d_model must be a multiple of n_heads = 4"),
        (lambda: LanguageModel(5, d_model=0), "d_model must be a whole number of at least 1"),
        (
            lambda: LanguageModel(5, d_model=10, n_heads=4, positions="rope"),
            "d_model must be a multiple of n_heads = 4: it is 10",
        ),
        (
            lambda: LanguageModel(5, d_model=12, n_heads=4, positions="rope"),
            "d_model / n_heads must be even, .*: it is 3",
        ),
        (
            lambda: LanguageModel(5, positions="absolute"),
            "positions must be one of 'sinusoidal', 'learned', 'rope', 'alibi', None",
        ),
        (
            lambda: translator()(SOURCE, TARGET, source_lengths=torch.tensor([6, 7, 1])),
            "source_lengths must be from 1 to 6",
        ),
        (
            lambda: translator().start(SOURCE, torch.tensor([6, 0, 1])),
            "source_lengths must be from 1 to 6",
        ),
        (
            lambda: translator()(SOURCE, TARGET, source_lengths=torch.tensor([6])),
            r"source_lengths must be int64 of the shape \(b,\)",
        ),
        (
            lambda: translator()(SOURCE + 8, TARGET, source_lengths=LENGTHS),
            "must hold token ids from 0 to 10",
        ),
        (lambda: writer()(TARGET[0]), r"must have the shape \(b, n\)"),
        (lambda: writer().start(TARGET, torch.tensor([1, 2, 6])), "lengths must be from 0 to 5"),
        (
            lambda: translator().weights(SOURCE, TARGET, source_lengths=LENGTHS, layer=2),
            "layer must be from 0 to 1: 2 is among them",
        ),
    ],
)
def test_wrong_arguments_are_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_normal_numbers_are_not_tokens() -> None:
    with pytest.raises(ValueError, match=r"token ids of dtype torch\.int64"):
        writer()(normal(2, 3))
