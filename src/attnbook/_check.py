"""Errors at the door: every check names the argument, what was wanted and what came."""

import math
from collections.abc import Callable, Iterable
from numbers import Real
from operator import index as as_int
from typing import Any

import torch
from torch import Tensor


def must(
    fine: object, name: str, wanted: str, it: Any = None, *, but: str = "", error: type = ValueError
) -> None:
    """Raise ``error`` unless all is ``fine``: "name must wanted: it is …", or what ``but`` says."""
    if not fine:
        shape = f"its shape is {tuple(it.shape)}" if isinstance(it, Tensor) else ""
        raise error(f"{name} must {wanted}: {but or shape or f'it is {it!r}'}")


def whole_number(name: str, number: Any, *, at_least: int = 0) -> None:
    """Ask for a whole number that is large enough."""
    if not isinstance(number, int) or isinstance(number, bool) or number < at_least:
        must(False, name, f"be a whole number of at least {at_least}", number)


def sizes(at_least: int = 1, /, **numbers: Any) -> None:
    """Ask for whole numbers that are large enough."""
    for name, number in numbers.items():
        whole_number(name, number, at_least=at_least)


def is_number(came: Any) -> bool:
    """Tell whether ``came`` is a real number; ``True`` and NaN are none."""
    return isinstance(came, Real) and not isinstance(came, bool) and came == came


def positive(name: str, number: Any) -> None:
    """Ask for a number above 0."""
    must(is_number(number) and 0 < number < math.inf, name, "be above 0 and finite", number)


def probability(name: str, number: Any) -> None:
    """Ask for a number from [0, 1)."""
    must(is_number(number) and 0 <= number < 1, name, "be at least 0 and below 1", number)


def window(window: Any, sinks: Any) -> None:
    """Ask for a window of at least one key, and for fewer sinks than it has places."""
    sizes(window=window)
    sizes(0, sinks=sinks)
    wanted = f"be below window = {window}, for a token must see itself"
    must(sinks < window, "sinks", wanted, sinks)


def flags(**came: Any) -> None:
    """Raise ``TypeError`` unless all are True or False; "False" would count as true."""
    for name, flag in came.items():
        must(isinstance(flag, bool), name, "be True or False", flag, error=TypeError)


def multiple(name: str, number: int, of: str, divisor: int) -> None:
    """Ask for a multiple of ``divisor``."""
    must(number % divisor == 0, name, f"be a multiple of {of} = {divisor}", number)


def one_of(name: str, came: object, known: Iterable[object]) -> None:
    """Ask for one of the ``known`` values."""
    known = tuple(known)
    must(came in known, name, f"be one of {', '.join(map(repr, known))}", came)


def is_a(name: str, came: object, kind: Any, words: str = "") -> None:
    """Raise ``TypeError`` for anything but a ``kind``, which ``words`` may name."""
    if not isinstance(came, kind):
        words = words or f"a {'torch.' if kind is Tensor else ''}{kind.__name__}"
        must(False, name, f"be {words}", but=f"it is a {type(came).__name__}", error=TypeError)


def floats(name: str, tensor: Any) -> None:
    """Ask for a tensor of floating-point numbers."""
    is_a(name, tensor, Tensor)
    told = f"its dtype is {tensor.dtype} (write {name}.float())"
    must(tensor.is_floating_point(), name, "hold floating-point numbers", but=told)


def integers(name: str, tensor: Any, verb: str = "hold") -> None:
    """Ask for a tensor of whole numbers."""
    is_a(name, tensor, Tensor)
    other = tensor.dtype == torch.bool or tensor.is_floating_point() or tensor.is_complex()
    must(not other, name, f"{verb} whole numbers", but=f"its dtype is {tensor.dtype}")


def boolean(name: str, mask: Any) -> None:
    """Ask for a boolean tensor."""
    is_a(name, mask, Tensor)
    if mask.dtype != torch.bool:
        wanted = "be boolean, True where a query may attend"
        must(False, name, wanted, but=f"its dtype is {mask.dtype}")


def shape(name: str, tensor: Tensor, *wanted: int | str) -> None:
    """Compare a shape: a number is that size, a name any, and "…" any leading dimensions."""
    few, came = wanted[0] == "…", tuple(tensor.shape)
    sizes = wanted[few:]
    pairs = zip(sizes[::-1], came[::-1], strict=False)
    fits = all(isinstance(size, str) or size == mine for size, mine in pairs)
    fits = fits and (len(came) >= len(sizes) if few else len(came) == len(sizes))
    free = few and not any(isinstance(size, int) for size in sizes)
    least = f"at least {len(sizes)} dimensions," if free else "the shape"
    form = f"({', '.join(map(str, wanted))}{',' * (len(wanted) == 1)})"
    must(fits, name, f"have {least} {form}", tensor)


def alike(what: str, **tensors: Tensor) -> None:
    """Compare a part, one of those listed here, of two tensors."""
    (first, one), (second, other) = tensors.items()
    ours, theirs = PARTS[what](one), PARTS[what](other)
    if ours != theirs:
        brief = what in ("dtype", "device")
        a, b = ("" if brief else f" (shape {tuple(each.shape)})" for each in (one, other))
        both = f"{first} has {ours}{a}, {second} has {theirs}{b}"
        must(False, f"{first} and {second}", f"have the same {what}", but=both)


PARTS: dict[str, Callable[[Tensor], Any]] = {
    "dtype": lambda tensor: tensor.dtype,
    "device": lambda tensor: tensor.device,
    "leading dimension": lambda tensor: tensor.shape[0],
    "leading dimensions": lambda tensor: tuple(tensor.shape[:-2]),
    "length": lambda tensor: f"{tensor.shape[-2]} rows",
    "last dimension": lambda tensor: tensor.shape[-1],
}


def like(name: str, x: Tensor, whose: str, other: Tensor, *kinds: str) -> None:
    """Compare what a tensor is with what a layer or a cache, ``whose``, holds."""
    for what in kinds or ("dtype", "device"):
        mine, ours = getattr(x, what), getattr(other, what)
        must(mine == ours, name, f"have the {whose}'s {what}, {ours}", but=f"it has {mine}")


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
    query, key = tensors[:2]
    for name, one in zip(("query", "key", "value"), tensors, strict=False):
        floats(name, one)
        shape(name, one, *(("b", "h", "n", "d") if groups else ("…", "length", "d")))
        if one is not query:
            for what in ("dtype", "device", "leading dimension" + "s" * (not groups)):
                alike(what, **{"query": query, name: one})
    for what in ("leading dimensions", "length"):
        alike(what, key=key, value=tensors[-1])
    if one_size:
        alike("last dimension", query=query, key=key)
        told = f"their shapes are {tuple(query.shape)} and {tuple(key.shape)}"
        must(query.shape[-1], "query and key", "have vectors of at least one number", but=told)


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

    (b, 1, n_k) against (b, h, n_q, n_k) is refused: from the right, b would meet the heads.
    """
    came, flat = tuple(part.shape), scores[-2:]
    fine = len(came) == len(scores) and all(m in (1, s) for m, s in zip(came, scores, strict=True))
    if came != flat and not fine:
        rank = f"or as many dimensions as the scores {scores}, each of them equal or 1"
        must(False, name, f"have the shape (n_q, n_k) = {flat}, {rank}", part)
    alike("device", **{"query": query, name: part})


def score_result(scores: Any, query: Tensor, key: Tensor) -> None:
    """Ask a score function for floats of shape (…, n_q, n_k)."""
    floats("the result of score(query, key)", scores)
    wanted, came = (*query.shape[:-1], key.shape[-2]), tuple(scores.shape)
    form = f"return the shape (…, n_q, n_k) = {wanted}"
    must(came == wanted, "score(query, key)", form, but=f"it returned {came}")


def vectors(name: str, x: Any, weight: Tensor, *wanted: int | str) -> None:
    """Check what goes into a layer: floats of the wanted shape, and of its weight's kind."""
    if isinstance(x, Tensor) and (x.dtype, x.device) == (weight.dtype, weight.device):
        rank = x.dim() >= len(wanted) - 1 if wanted[0] == "…" else x.dim() == len(wanted)
        if rank and x.shape[-1] == wanted[-1]:
            return
    floats(name, x)
    shape(name, x, *wanted)
    # autocast brings two dtypes together
    same = x.dtype == weight.dtype or torch.is_autocast_enabled(x.device.type)
    like(name, x, "layer", weight, *(["device"] if same else []))


def sentences(name: str, ids: Any, *, may_be_empty: bool = False) -> None:
    """Check a batch of sentences, token ids (b, n) in int64, of at least one token unless told."""
    if not isinstance(ids, Tensor) or ids.dtype != torch.int64:
        is_a(name, ids, Tensor)
        must(False, name, "hold token ids of dtype torch.int64", but=f"it has {ids.dtype}")
    if ids.dim() != 2 or not (may_be_empty or ids.numel()):
        least = "" if may_be_empty else " with at least one sentence of at least one token"
        must(False, name, f"have the shape (b, n){least}", ids)


def tokens(
    name: str, ids: Any, table: Tensor, *, b: int | None = None, rows: int | None = None
) -> None:
    """Check token ids, each a row of a ``table`` of embeddings.

    A batch (b, n) that is not empty, of ``b`` sentences where told; or one for each of ``rows``.
    """
    if rows is None:
        sentences(name, ids)
    else:
        integers(name, ids)
        shape(name, ids, rows)
    if ids.device != table.device:
        alike("device", **{"the model": table, name: ids})
    if b not in (None, len(ids)):
        wanted = f"(b, n_t) = ({b}, at least 1), for there are {b} sentences in source"
        must(False, name, f"have the shape {wanted}", ids)
    if len(wrong := _outside(ids, len(table))):
        told = f"{int(wrong[0])} is among them"
        must(False, name, f"hold token ids from 0 to {len(table) - 1}", but=told)


def lengths(name: str, came: Any, of: Tensor, *, at_least: int = 0) -> None:
    """Check the lengths (b,) of a batch of sentences (b, n), each from ``at_least`` to n."""
    is_a(name, came, Tensor)
    b, n = of.shape[:2]
    kind = f"its dtype is {came.dtype}, its shape {tuple(came.shape)}"
    fine = came.dtype == torch.int64 and tuple(came.shape) == (b,)
    must(fine, name, f"be int64 of the shape (b,) = ({b},)", but=kind)
    if b == 0 or ((came < at_least) | (came > n)).any():
        wanted = f"be from {at_least} to {n}, for at least one sentence"
        must(False, name, wanted, but=f"they are {came.tolist()}")


def rows(came: Any, of: Tensor | None) -> None:
    """Check ``rows`` (m,) that are chosen from the first axis of a tensor, where it is known."""
    integers("rows", came)
    shape("rows", came, "m")
    if of is not None:
        alike("device", state=of, rows=came)
        if len(_outside(came, len(of))):
            must(False, "rows", f"be from 0 to {len(of) - 1}", but=f"they are {came.tolist()}")


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
        must(-size <= one < size, name, f"be from 0 to {size - 1}", but=f"{one} is among them")
    return [one % size for one in several]


def whole_numbers(name: str, came: Any) -> list[int]:
    """Return a list, an array or a tensor of whole numbers as a list; refuse all others."""
    came = came.tolist() if hasattr(came, "tolist") else came
    if isinstance(came, str | bytes) or not isinstance(came, Iterable):
        raise TypeError(f"{name} must be a list of whole numbers: it is {came!r}")
    several = [one.tolist() if hasattr(one, "tolist") else one for one in came]
    for one in several:
        whole = hasattr(one, "__index__") and not isinstance(one, bool)
        must(whole, name, "be whole numbers", but=f"{one!r} is among them")
    return [as_int(one) for one in several]
