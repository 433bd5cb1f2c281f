"""Errors at the door: every check names the argument, what came and what was wanted."""

import importlib
import math
from collections.abc import Callable, Iterable
from numbers import Real
from operator import index as as_int
from typing import Any

import torch
from torch import Tensor


def whole_number(name: str, number: Any, *, at_least: int = 0) -> None:
    """Raise ``ValueError`` unless ``number`` is a whole number and large enough."""
    if not isinstance(number, int) or isinstance(number, bool) or number < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}: it is {number!r}")


def sizes(at_least: int = 1, /, **numbers: Any) -> None:
    """Raise ``ValueError`` unless all are whole numbers and large enough."""
    for name, number in numbers.items():
        whole_number(name, number, at_least=at_least)


def is_number(came: Any) -> bool:
    """Tell whether ``came`` is a real number; ``True`` and NaN are none."""
    return isinstance(came, Real) and not isinstance(came, bool) and came == came


def positive(name: str, number: Any) -> None:
    """Raise ``ValueError`` unless ``number`` is above 0 and finite."""
    if not (is_number(number) and 0 < number < math.inf):
        raise ValueError(f"{name} must be above 0 and finite: it is {number!r}")


def probability(name: str, number: Any) -> None:
    """Raise ``ValueError`` unless ``number`` is at least 0 and below 1."""
    if not (is_number(number) and 0 <= number < 1):
        raise ValueError(f"{name} must be at least 0 and below 1: it is {number!r}")


def flags(**came: Any) -> None:
    """Raise ``TypeError`` unless all are True or False; "False" would count as true."""
    for name, flag in came.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name} must be True or False: it is {flag!r}")


def multiple(name: str, number: int, of: str, divisor: int) -> None:
    """Raise ``ValueError`` unless ``number`` is a multiple of ``divisor``."""
    if number % divisor:
        raise ValueError(f"{name} must be a multiple of {of} = {divisor}: it is {number}")


def one_of(name: str, came: object, known: Iterable[object]) -> None:
    """Raise ``ValueError`` unless ``came`` is one of the ``known`` values."""
    if came not in (known := tuple(known)):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}: it is {came!r}")


def is_a(name: str, came: object, kind: type, words: str = "") -> None:
    """Raise ``TypeError`` for anything but a ``kind``, which ``words`` may name."""
    if not isinstance(came, kind):
        wanted = words or f"a {'torch.' if kind is Tensor else ''}{kind.__name__}"
        raise TypeError(f"{name} must be {wanted}: it is a {type(came).__name__}")


def floats(name: str, tensor: Any) -> None:
    """Raise ``TypeError`` for anything but a tensor, ``ValueError`` unless it holds floats."""
    is_a(name, tensor, Tensor)
    if not tensor.is_floating_point():
        write = f"its dtype is {tensor.dtype} (write {name}.float())"
        raise ValueError(f"{name} must hold floating-point numbers: {write}")


def integers(name: str, tensor: Any, verb: str = "hold") -> None:
    """Raise ``TypeError`` for anything but a tensor, ``ValueError`` for floats and bools."""
    is_a(name, tensor, Tensor)
    if tensor.dtype == torch.bool or tensor.is_floating_point() or tensor.is_complex():
        raise ValueError(f"{name} must {verb} whole numbers: its dtype is {tensor.dtype}")


def boolean(name: str, mask: Any) -> None:
    """Raise ``TypeError`` for anything but a tensor, ``ValueError`` unless it is boolean."""
    is_a(name, mask, Tensor)
    if mask.dtype != torch.bool:
        wanted = "boolean, True where a query may attend"
        raise ValueError(f"{name} must be {wanted}: its dtype is {mask.dtype}")


def shape(name: str, tensor: Tensor, *wanted: int | str) -> None:
    """Compare a shape: a number is that size, a name any, and "…" any leading dimensions."""
    came = tuple(tensor.shape)
    form = f"({', '.join(map(str, wanted))}{',' * (len(wanted) == 1)})"
    few = wanted[0] == "…"
    sizes = wanted[1:] if few else wanted
    long_enough = len(came) >= len(sizes) if few else len(came) == len(sizes)
    pairs = zip(sizes[::-1], came[::-1], strict=False)
    if not long_enough or any(isinstance(size, int) and size != mine for size, mine in pairs):
        free = few and not any(isinstance(size, int) for size in sizes)
        least = f"at least {len(sizes)} dimensions," if free else "the shape"
        raise ValueError(f"{name} must have {least} {form}: its shape is {came}")


def alike(what: str, **tensors: Tensor) -> None:
    """Compare a part of tensors, one of those listed here, with the first one's."""
    (first, one), *others = tensors.items()
    for name, other in others:
        wanted, mine = PARTS[what](one), PARTS[what](other)
        if wanted != mine:
            shapes = [f" (shape {tuple(each.shape)})" for each in (one, other)]
            shapes = ["", ""] if what in ("dtype", "device") else shapes
            both = f"{first} has {wanted}{shapes[0]}, {name} has {mine}{shapes[1]}"
            raise ValueError(f"{first} and {name} must have the same {what}: {both}")


PARTS: dict[str, Callable[[Tensor], Any]] = {
    "dtype": lambda tensor: tensor.dtype,
    "device": lambda tensor: tensor.device,
    "leading dimension": lambda tensor: tensor.shape[0],
    "leading dimensions": lambda tensor: tuple(tensor.shape[:-2]),
    "length": lambda tensor: f"{tensor.shape[-2]} rows",
    "last dimension": lambda tensor: tensor.shape[-1],
}


def attention(
    *tensors: Tensor,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    causal: bool = False,
    one_size: bool = False,
    groups: bool = False,
) -> None:
    """Check query, key and (where there is one) value, and the mask and bias of their scores.

    With ``one_size`` queries and keys must be vectors of one size, at least 1. With ``groups`` all
    have the shape (b, h, n, d), and the query may have more heads than the others.
    """
    if not _meet(tensors, groups, one_size):
        _say_why(tensors, groups, one_size)
    if mask is not None or bias is not None:
        query, key = tensors[:2]
        parts(mask, bias, (*query.shape[:-1], key.shape[-2]), query)
    if causal is not True and causal is not False:
        flags(causal=causal)


def _meet(tensors: tuple[Any, ...], groups: bool, one_size: bool) -> bool:
    # nearly always, and at little cost
    if not all(isinstance(one, Tensor) for one in tensors):
        return False
    query, key, value = (*tensors, tensors[-1])[:3]
    lead = 1 if groups else query.dim() - 2
    return (
        query.is_floating_point()
        and query.dtype == key.dtype == value.dtype
        and query.device == key.device == value.device
        and (query.dim() == key.dim() == value.dim() == 4 if groups else query.dim() >= 2)
        and query.shape[:lead] == key.shape[:lead]
        and key.shape[:-1] == value.shape[:-1]
        and (not one_size or query.shape[-1] == key.shape[-1] > 0)
    )


def _say_why(tensors: tuple[Any, ...], groups: bool, one_size: bool) -> None:
    named = dict(zip(("query", "key", "value"), tensors, strict=False))
    query, key = tensors[:2]
    for name, one in named.items():
        floats(name, one)
        shape(name, one, *(("b", "h", "n", "d") if groups else ("…", "length", "d")))
        for what in ("dtype", "device", "leading dimension" + "s" * (not groups)):
            alike(what, **{"query": query, name: one})
    if "value" in named:
        alike("leading dimensions", key=key, value=named["value"])
        alike("length", key=key, value=named["value"])
    if one_size:
        alike("last dimension", query=query, key=key)
        if query.shape[-1] == 0:
            came = f"their shapes are {tuple(query.shape)} and {tuple(key.shape)}"
            raise ValueError(f"query and key must have vectors of at least one number: {came}")


def parts(mask: Tensor | None, bias: Tensor | None, scores: tuple[int, ...], query: Tensor) -> None:
    """Check a mask and a bias of scores of that shape, on the device of the query."""
    if mask is not None:
        boolean("mask", mask)
        fits("mask", mask, scores, query)
    if bias is not None:
        floats("bias", bias)
        alike("dtype", query=query, bias=bias)
        fits("bias", bias, scores, query)


def fits(name: str, part: Tensor, scores: tuple[int, ...], query: Tensor) -> None:
    """Check that a mask or bias lines up with scores of that shape and does not enlarge them.

    A shape such as (b, 1, n_k) against (b, h, n_q, n_k) is refused: from the right, b would line
    up with the heads.
    """
    came = tuple(part.shape)
    same_rank = len(came) == len(scores)
    if came != scores[-2:] and not (
        same_rank and all(m in (1, s) for m, s in zip(came, scores, strict=True))
    ):
        raise ValueError(
            f"{name} must have the shape (n_q, n_k) = {scores[-2:]}, or as many dimensions as the "
            f"scores {scores}, each of them equal or 1: its shape is {came}"
        )
    alike("device", **{"query": query, name: part})


def score_result(scores: Any, query: Tensor, key: Tensor) -> None:
    """Raise unless a score function returned floats of shape (…, n_q, n_k)."""
    floats("the result of score(query, key)", scores)
    wanted = (*query.shape[:-1], key.shape[-2])
    if tuple(scores.shape) != wanted:
        came = f"{wanted}: it returned {tuple(scores.shape)}"
        raise ValueError(f"score(query, key) must return the shape (…, n_q, n_k) = {came}")


def vectors(name: str, x: Any, weight: Tensor, *wanted: int | str) -> None:
    """Check what goes into a layer: floats of the wanted shape, and of its weight's kind."""
    if isinstance(x, Tensor) and (x.dtype, x.device) == (weight.dtype, weight.device):
        rank = x.dim() >= len(wanted) - 1 if wanted[0] == "…" else x.dim() == len(wanted)
        if rank and x.shape[-1] == wanted[-1]:
            return
    floats(name, x)
    shape(name, x, *wanted)
    for what in ("dtype", "device"):
        mine, ours = getattr(x, what), getattr(weight, what)
        # autocast brings two dtypes together
        if mine != ours and not (what == "dtype" and torch.is_autocast_enabled(x.device.type)):
            raise ValueError(f"{name} must have the layer's {what}, {ours}: it has {mine}")


def sentences(name: str, ids: Any, *, may_be_empty: bool = False) -> None:
    """Check a batch of sentences, token ids (b, n) in int64, of at least one token unless told."""
    if not isinstance(ids, Tensor) or ids.dtype != torch.int64:
        is_a(name, ids, Tensor)
        raise ValueError(f"{name} must hold token ids of dtype torch.int64: it has {ids.dtype}")
    if ids.dim() != 2 or not (may_be_empty or ids.numel()):
        least = "" if may_be_empty else " with at least one sentence of at least one token"
        came = f"its shape is {tuple(ids.shape)}"
        raise ValueError(f"{name} must have the shape (b, n){least}: {came}")


def tokens(
    name: str, ids: Any, table: Tensor, *, b: int | None = None, rows: int | None = None
) -> None:
    """Check token ids, each a row of a ``table`` of embeddings.

    A batch (b, n) that is not empty, of ``b`` sentences where told; or one token for each of
    ``rows``.
    """
    if rows is None:
        sentences(name, ids)
    else:
        integers(name, ids)
        shape(name, ids, rows)
    if ids.device != table.device:
        alike("device", **{"the model": table, name: ids})
    if b is not None and len(ids) != b:
        wanted = f"(b, n_t) = ({b}, at least 1), for there are {b} sentences in source"
        raise ValueError(f"{name} must have the shape {wanted}: its shape is {tuple(ids.shape)}")
    if len(wrong := _outside(ids, len(table))):
        known = f"from 0 to {len(table) - 1}: {int(wrong[0])} is among them"
        raise ValueError(f"{name} must hold token ids {known}")


def lengths(name: str, came: Any, of: Tensor, *, at_least: int = 0) -> None:
    """Check the lengths (b,) of a batch of sentences (b, n), each from ``at_least`` to n."""
    is_a(name, came, Tensor)
    b, n = of.shape[:2]
    if came.dtype != torch.int64 or tuple(came.shape) != (b,):
        kind = f"its dtype is {came.dtype}, its shape {tuple(came.shape)}"
        raise ValueError(f"{name} must be int64 of the shape (b,) = ({b},): {kind}")
    if b == 0 or ((came < at_least) | (came > n)).any():
        wanted = f"from {at_least} to {n}, for at least one sentence"
        raise ValueError(f"{name} must be {wanted}: they are {came.tolist()}")


def rows(came: Any, of: Tensor | None) -> None:
    """Check ``rows`` (m,) that are chosen from the first axis of a tensor, where it is known."""
    integers("rows", came)
    shape("rows", came, "m")
    if of is not None:
        alike("device", state=of, rows=came)
        if len(_outside(came, len(of))):
            raise ValueError(f"rows must be from 0 to {len(of) - 1}: they are {came.tolist()}")


def _outside(ids: Tensor, size: int) -> Tensor:
    # only a CPU answers at once, and a compiled graph must not be asked
    if ids.device.type != "cpu" or torch.compiler.is_compiling():
        return ids[:0]
    return ids[(ids < 0) | (ids >= size)]


def indices(name: str, chosen: Any, size: int) -> list[int]:
    """Turn an int, a slice or several ints into a list of indices below ``size``."""
    if isinstance(chosen, slice):
        return list(range(size)[chosen])
    several = chosen.tolist() if hasattr(chosen, "tolist") else chosen
    several = whole_numbers(name, several if isinstance(several, Iterable) else [several])
    for one in several:
        if not -size <= one < size:
            raise ValueError(f"{name} must be from 0 to {size - 1}: {one} is among them")
    return [one % size for one in several]


def whole_numbers(name: str, came: Any) -> list[int]:
    """Return a list, an array or a tensor of whole numbers as a list; refuse all others."""
    came = came.tolist() if hasattr(came, "tolist") else came
    if isinstance(came, str | bytes) or not isinstance(came, Iterable):
        raise TypeError(f"{name} must be a list of whole numbers: it is {came!r}")
    several = [one.tolist() if hasattr(one, "tolist") else one for one in came]
    for one in several:
        if isinstance(one, bool) or not hasattr(one, "__index__"):
            raise ValueError(f"{name} must be whole numbers: {one!r} is among them")
    return [as_int(one) for one in several]


def needed(module: str, what: str, extra: str = "lectures") -> Any:
    """Import a module that ``what`` needs, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        words = f'{what} needs the package {package}: pip install "attnbook[{extra}]"'
        raise ImportError(words) from error
