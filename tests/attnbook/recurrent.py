"""The recurrent translator that the tests build, in every order and with every score."""

import pytest
import torch
from torch import Tensor

from attnbook.rnn import RNNSeq2Seq
from attnbook.scores import Additive, Bilinear, dot, scaled_dot

D, SOURCE, TARGET = 6, 11, 9
SCORES = {
    "dot": lambda: dot,
    "scaled_dot": lambda: scaled_dot,
    "bilinear": lambda: Bilinear(D, D),
    "additive": lambda: Additive(D, D, 5),
}
ORDERS = [("none", False), ("bahdanau", False), ("luong", False), ("luong", True)]
LENGTHS = torch.tensor([4, 6, 1])


def model_of(
    order: str = "bahdanau", feeding: bool = False, score: str = "additive", **options
) -> RNNSeq2Seq:
    torch.manual_seed(0)
    model = RNNSeq2Seq(
        SOURCE, TARGET, D, order=order, input_feeding=feeding, score=SCORES[score](), **options
    )
    return model.double().eval()


def batch_of(lengths: Tensor = LENGTHS, n_t: int = 5, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return a source (b, n_s), padded with 0, and a target (b, n_t) that begins with bos."""
    generator = torch.Generator().manual_seed(seed)
    b, n_s = len(lengths), int(lengths.max())
    source = torch.randint(3, SOURCE, (b, n_s), generator=generator)
    target = torch.randint(3, TARGET, (b, n_t), generator=generator)
    target[:, 0] = 1
    return source.masked_fill(torch.arange(n_s) >= lengths[:, None], 0), target


every_order = pytest.mark.parametrize(("order", "feeding"), ORDERS)
every_model = pytest.mark.parametrize(
    ("order", "feeding", "score"),
    [(o, f, s) for o, f in ORDERS for s in (SCORES if o != "none" else ["dot"])],
)
