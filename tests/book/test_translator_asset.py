"""The translator's weights as the page loads them: small, and still a good translator."""

import functools

import torch

from attnbook.transformer import ModelConfig, Seq2Seq
from attnlab.models import Lesson, translation, write
from attnlab.models.stored.rows import unpack_rows
from attnlab.models.stored.script import asset_bytes
from attnlab.models.stored.weights import names
from attnlab.training.metrics import exact_match
from tests.book.lectures import ROOT

HANGS_ON = ("src", "notebooks/assets")
ASSET = ROOT / "notebooks" / "assets" / "translator.js"
SIZES = {"d_model": 128, "n_heads": 4, "n_layers": 2, "d_ff": 256, "tied": True}


@functools.cache
def lesson() -> Lesson:
    """The pairs that lecture 11 trains on, and asks."""
    return translation()


def committed() -> Seq2Seq:
    """The model that the asset holds, and nothing else: no weight is left as it was drawn."""
    model = Seq2Seq(len(lesson().source), len(lesson().target), ModelConfig(**SIZES)).eval()
    state = model.state_dict()
    carried = names(model)
    assert sorted(carried) == sorted(state)
    tensors = unpack_rows(asset_bytes(ASSET), [list(state[name].shape) for name in carried])
    model.load_state_dict(dict(zip(carried, map(torch.from_numpy, tensors), strict=True)))
    return model


def test_exactly_these_bytes_are_small_and_translate_19_of_20_sentences() -> None:
    assert ASSET.stat().st_size <= 1_500_000
    model = committed()
    matrices = [t for t in model.state_dict().values() if t.dim() == 2]
    vectors = [t for t in model.state_dict().values() if t.dim() == 1]
    rows = sum(len(t) for t in matrices)
    wanted = sum(t.numel() for t in matrices) + 4 * (2 * rows + sum(map(len, vectors)))
    assert len(asset_bytes(ASSET)) == wanted
    pairs = lesson().test
    assert len(pairs) == 1_000
    written = write(committed(), lesson(), pairs)
    assert exact_match(written, [pair.target for pair in pairs]) >= 0.95
