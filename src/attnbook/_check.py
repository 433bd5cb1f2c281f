"""Errors at the door: every check names the argument, what came and what was wanted."""

import math
from collections.abc import Iterable
from numbers import Real
from operator import index as as_int
from typing import Any

import torch
from torch import Tensor


def whole_number(name: str, number: int, *, at_least: int = 0) -> None:
    """Raise ``ValueError`` unless ``number`` is a whole number and large enough."""
    whole = isinstance(number, int) and not isinstance(number, bool)
    if not whole or number < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}: it is {number!r}")


def same_kind(**tensors: Tensor) -> None:
    """Check tensors (…, n, d) that meet in one product: floats of one dtype, device and batch.

    Raises: TypeError for anything but a tensor; ValueError for fewer than two dimensions,
    integers, or a dtype, device or leading dimensions other than the first tensor's.
    """
    (first_name, first), *_ = tensors.items()
    for name, tensor in tensors.items():
        floats(name, tensor)
        if tensor.dim() < 2:
            raise ValueError(
                f"{name} must have at least 2 dimensions, (…, length, d): "
                f"its shape is {tuple(tensor.shape)}"
            )
        for what in ("dtype", "device"):
            mine, wanted = getattr(tensor, what), getattr(first, what)
            if mine != wanted:
                raise ValueError(
                    f"{first_name} and {name} must have the same {what}: "
                    f"{first_name} has {wanted}, {name} has {mine}"
                )
        same_lead(**{first_name: first, name: tensor})


def same_lead(**tensors: Tensor) -> None:
    """Raise ``ValueError`` unless all tensors (…, n, d) have the first one's leading dimensions."""
    (first_name, first), *others = tensors.items()
    for name, tensor in others:
        if tensor.shape[:-2] != first.shape[:-2]:
            raise ValueError(
                f"{first_name} and {name} must have the same leading dimensions: "
                f"{first_name} has {tuple(first.shape[:-2])} (shape {tuple(first.shape)}), "
                f"{name} has {tuple(tensor.shape[:-2])} (shape {tuple(tensor.shape)})"
            )


def vectors(name: str, tensor: Tensor, d: int, *, batched: bool = False) -> None:
    """Check that ``tensor`` holds floats (…, n, d), or exactly (b, n, d) where ``batched``."""
    floats(name, tensor)
    wrong_rank = tensor.dim() != 3 if batched else tensor.dim() < 2
    if wrong_rank or tensor.shape[-1] != d:
        raise ValueError(
            f"{name} must have the shape ({'b' if batched else '…'}, n, {d}): "
            f"its shape is {tuple(tensor.shape)}"
        )


def is_number(came: Any) -> bool:
    """Tell whether ``came`` is a real number; ``True`` and NaN are none."""
    return isinstance(came, Real) and not isinstance(came, bool) and came == came


def positive(name: str, number: float) -> None:
    """Raise ``ValueError`` unless ``number`` is above 0 and finite."""
    if not (is_number(number) and 0 < number < math.inf):
        raise ValueError(f"{name} must be above 0 and finite: it is {number!r}")


def probability(name: str, number: float) -> None:
    """Raise ``ValueError`` unless ``number`` is at least 0 and below 1."""
    if not (is_number(number) and 0 <= number < 1):
        raise ValueError(f"{name} must be at least 0 and below 1: it is {number!r}")


def multiple(name: str, number: int, of: str, divisor: int) -> None:
    """Raise ``ValueError`` unless ``number`` is a multiple of ``divisor``."""
    if number % divisor:
        raise ValueError(f"{name} must be a multiple of {of} = {divisor}: it is {number}")


def one_of(name: str, came: object, known: Iterable[object]) -> None:
    """Raise ``ValueError`` unless ``came`` is one of the ``known`` values."""
    known = tuple(known)
    if came not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}: it is {came!r}")


def floats(name: str, tensor: Tensor) -> None:
    """Raise ``TypeError`` for anything but a tensor, ``ValueError`` unless it holds floats."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor: it is a {type(tensor).__name__}")
    if not tensor.is_floating_point():
        raise ValueError(
            f"{name} must hold floating-point numbers: its dtype is {tensor.dtype} "
            f"(write {name}.float())"
        )


def same_length(key: Tensor, value: Tensor) -> None:
    """Raise ``ValueError`` unless each key has its value."""
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key and value must have the same length: "
            f"key has {key.shape[-2]} rows (shape {tuple(key.shape)}), "
            f"value has {value.shape[-2]} (shape {tuple(value.shape)})"
        )


def same_dimension(query: Tensor, key: Tensor) -> None:
    """Raise ``ValueError`` unless queries and keys are vectors of one size, at least 1."""
    d_q, d_k = query.shape[-1], key.shape[-1]
    if d_q != d_k:
        raise ValueError(
            f"query and key must have the same last dimension: "
            f"query has {d_q} (shape {tuple(query.shape)}), "
            f"key has {d_k} (shape {tuple(key.shape)})"
        )
    if d_q == 0:
        raise ValueError(
            f"query and key must have vectors of at least one number: "
            f"their shapes are {tuple(query.shape)} and {tuple(key.shape)}"
        )


def boolean(name: str, mask: Tensor) -> None:
    """Raise ``TypeError`` for anything but a tensor, ``ValueError`` unless it is boolean."""
    if not isinstance(mask, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor: it is a {type(mask).__name__}")
    if mask.dtype != torch.bool:
        raise ValueError(
            f"{name} must be boolean, True where a query may attend: its dtype is {mask.dtype}"
        )


def fits(name: str, tensor: Tensor, shape: tuple[int, ...], device: torch.device) -> None:
    """Check that a mask or bias lines up with scores of ``shape`` and does not enlarge them.

    Its shape is the scores' last two sizes, or it has the scores' rank and every size is the
    scores' own or 1. A shape such as (b, 1, n_k) against (b, h, n_q, n_k) is refused: from the
    right, b would line up with the heads.
    """
    came = tuple(tensor.shape)
    if came != shape[-2:]:
        same_rank = len(came) == len(shape)
        if not same_rank or any(m not in (1, s) for m, s in zip(came, shape, strict=True)):
            raise ValueError(
                f"{name} must have the shape (n_q, n_k) = {shape[-2:]}, or as many dimensions "
                f"as the scores {shape}, each of them equal or 1: its shape is {came}"
            )
    if tensor.device != device:
        raise ValueError(
            f"query and {name} must have the same device: "
            f"query has {device}, {name} has {tensor.device}"
        )


def mask_and_bias(query: Tensor, key: Tensor, mask: Tensor | None, bias: Tensor | None) -> None:
    """Check ``mask`` and ``bias`` against the scores that ``query`` and ``key`` will give."""
    shape = (*query.shape[:-1], key.shape[-2])
    if mask is not None:
        boolean("mask", mask)
        fits("mask", mask, shape, query.device)
    if bias is not None:
        floats("bias", bias)
        if bias.dtype != query.dtype:
            raise ValueError(
                f"query and bias must have the same dtype: "
                f"query has {query.dtype}, bias has {bias.dtype}"
            )
        fits("bias", bias, shape, query.device)


def score_result(scores: Tensor, query: Tensor, key: Tensor) -> None:
    """Raise unless a score function returned floats of shape (…, n_q, n_k)."""
    floats("the result of score(query, key)", scores)
    wanted = (*query.shape[:-1], key.shape[-2])
    if tuple(scores.shape) != wanted:
        raise ValueError(
            f"score(query, key) must return the shape (…, n_q, n_k) = {wanted}: "
            f"it returned {tuple(scores.shape)}"
        )


def indices(name: str, chosen: int | slice | Iterable[int], size: int) -> list[int]:
    """Turn an int, a slice or several ints into a list of indices below ``size``."""
    if isinstance(chosen, slice):
        return list(range(size)[chosen])
    several = chosen.tolist() if hasattr(chosen, "tolist") else chosen
    several = list(several) if isinstance(several, Iterable) else [several]
    for one in several:
        if isinstance(one, bool) or not hasattr(one, "__index__"):
            raise ValueError(f"{name} must be whole numbers: {one!r} is among them")
        if not -size <= one < size:
            raise ValueError(f"{name} must be from 0 to {size - 1}: {one} is among them")
    return [as_int(one) % size for one in several]


def whole_numbers(name: str, came: Iterable[int]) -> list[int]:
    """Return a list, an array or a tensor of whole numbers as a list; refuse all others."""
    came = came.tolist() if hasattr(came, "tolist") else came
    if isinstance(came, str | bytes) or not isinstance(came, Iterable):
        raise TypeError(f"{name} must be a list of whole numbers: it is {came!r}")
    several = list(came)
    if set(map(type, several)) <= {int}:
        return several  # nearly always, and fast
    several = [one.tolist() if hasattr(one, "tolist") else one for one in several]
    for one in several:
        if isinstance(one, bool) or not hasattr(one, "__index__"):
            raise ValueError(f"{name} must be whole numbers: {one!r} is among them")
    return [as_int(one) for one in several]


def integers(name: str, tensor: Tensor) -> None:
    """Raise ``TypeError`` for anything but a tensor, ``ValueError`` for floats and bools."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor: it is a {type(tensor).__name__}")
    dtype = tensor.dtype
    if dtype == torch.bool or dtype.is_floating_point or dtype.is_complex:
        raise ValueError(f"{name} must hold whole numbers: its dtype is {dtype}")


def rows(came: Tensor, size: int | None) -> None:
    """Check ``rows`` (m,) that are chosen from a batch of ``size``, where that is known."""
    integers("rows", came)
    if came.dim() != 1:
        raise ValueError(f"rows must have the shape (m,): its shape is {tuple(came.shape)}")
    if size is None or came.numel() == 0 or _must_not_be_asked(came):
        return
    least, most = came.aminmax()
    if least < 0 or most >= size:
        raise ValueError(f"rows must be from 0 to {size - 1}: they are {came.tolist()}")


def lengths(name: str, came: Tensor, tokens: Tensor, *, at_least: int = 0) -> None:
    """Check the lengths (b,) of a batch of sentences (b, n), each from ``at_least`` to n."""
    if not isinstance(came, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor: it is a {type(came).__name__}")
    b, n = tokens.shape
    if came.dtype != torch.int64 or tuple(came.shape) != (b,):
        raise ValueError(
            f"{name} must be int64 of the shape (b,) = ({b},): "
            f"its dtype is {came.dtype}, its shape {tuple(came.shape)}"
        )
    if b == 0 or ((came < at_least) | (came > n)).any():
        raise ValueError(
            f"{name} must be from {at_least} to {n}, for at least one sentence: "
            f"they are {came.tolist()}"
        )


def sentences(name: str, ids: Tensor, *, may_be_empty: bool = False) -> None:
    """Check a batch of sentences, token ids (b, n) in int64, of at least one token unless told."""
    if not isinstance(ids, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor: it is a {type(ids).__name__}")
    if ids.dtype != torch.int64:
        raise ValueError(f"{name} must hold token ids of dtype torch.int64: it has {ids.dtype}")
    if ids.dim() != 2 or not (may_be_empty or ids.numel()):
        least = "" if may_be_empty else " with at least one sentence of at least one token"
        raise ValueError(
            f"{name} must have the shape (b, n){least}: its shape is {tuple(ids.shape)}"
        )


def tokens(name: str, ids: Tensor, vocabulary: int) -> None:
    """Check a batch of token ids: int64, (b, n), not empty, each one below ``vocabulary``."""
    sentences(name, ids)
    if _must_not_be_asked(ids):
        return
    wrong = ids[(ids < 0) | (ids >= vocabulary)]
    if len(wrong):
        raise ValueError(
            f"{name} must hold token ids from 0 to {vocabulary - 1}: {int(wrong[0])} is among them"
        )


def target(ids: Tensor, vocabulary: int, b: int) -> None:
    """Check the target of ``b`` sentences: token ids (b, n_t), each one below ``vocabulary``."""
    tokens("target", ids, vocabulary)
    if len(ids) != b:
        raise ValueError(
            f"target must have the shape (b, n_t) = ({b}, at least 1), for there are {b} "
            f"sentences in source: its shape is {tuple(ids.shape)}"
        )


def _must_not_be_asked(tensor: Tensor) -> bool:
    # only a CPU answers at once, and a compiled graph must not be asked
    return tensor.device.type != "cpu" or torch.compiler.is_compiling()
