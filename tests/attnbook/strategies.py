"""What the tests of attention draw: shapes, masks and seeded tensors."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


class Case(NamedTuple):
    """Query, key and value that fit together, and a mask for them."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return normal numbers that depend on the seed alone."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=dtype)


def chances(*shape: int, seed: int = 0, p: float = 0.7) -> Tensor:
    """Return booleans that are ``True`` with probability ``p`` and depend on the seed alone."""
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < p


@st.composite
def cases(
    draw: st.DrawFn, *, square: bool = False, at_least: int = 1, dtype: torch.dtype = torch.float64
) -> Case:
    """Draw a case with 0 to 3 leading dimensions and a mask of any shape that is allowed.

    ``square`` makes n_q = n_k; ``at_least`` is the smallest n_k.
    """
    lead = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    n_k = draw(st.integers(at_least, 6))
    n_q = n_k if square else draw(st.integers(1, 6))
    d, d_v = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    seed = draw(st.integers(0, 2**16))
    full = (*lead, n_q, n_k)
    flat = draw(st.booleans())
    mask_shape = full[-2:] if flat else tuple(draw(st.sampled_from((1, size))) for size in full)
    return Case(
        normal(*lead, n_q, d, seed=seed, dtype=dtype),
        normal(*lead, n_k, d, seed=seed + 1, dtype=dtype),
        normal(*lead, n_k, d_v, seed=seed + 2, dtype=dtype),
        chances(*mask_shape, seed=seed + 3),
    )


def close(mine: Tensor, wanted: Tensor, atol: float = 1e-10) -> None:
    """Raise unless two tensors of one shape and dtype differ by at most ``atol``."""
    torch.testing.assert_close(mine, wanted, atol=atol, rtol=0)


def work(n: int, compute: Callable[..., object], **options: object) -> int:
    """Count the multiplications and additions for a sequence of n tokens."""
    x = torch.zeros(1, 1, n, 16)
    # PyTorch counts matrix products, not those inside of its fused CPU kernel
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        compute(x, x, x, **options)
    return counter.get_total_flops()


def full_mask(case: Case) -> Tensor:
    """Return the mask of a case in the shape of the scores."""
    return case.mask.expand(*case.query.shape[:-1], case.key.shape[-2])
