"""Errors at the door: every check names the argument, what was wanted and what came."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor


def wrong(
    name: str, wanted: str, it: Any = None, *, but: str = "", error: type[Exception] = ValueError
) -> Exception:
    """Return the error "name must wanted: it is …", or what ``but`` says in place of "it is …"."""
    came = f"its shape is {tuple(it.shape)}" if isinstance(it, Tensor) else f"it is {it!r}"
    return error(f"{name} must {wanted}: {but or came}")


def must(fine: object, name: str, wanted: str, it: Any = None, **more: Any) -> None:
    """Raise ``wrong(name, wanted, it, …)`` unless all is ``fine``."""
    if not fine:
        raise wrong(name, wanted, it, **more)


def sizes(at_least: int = 1, /, **numbers: Any) -> None:
    """Ask for whole numbers that are large enough."""
    for name, number in numbers.items():
        if not isinstance(number, Integral) or isinstance(number, bool) or number < at_least:
            raise wrong(name, f"be a whole number of at least {at_least}", number)


def is_number(came: Any) -> bool:
    """Tell whether ``came`` is a finite real number; ``True`` is none."""
    return isinstance(came, Real) and not isinstance(came, bool) and math.isfinite(came)


def positive(name: str, number: Any) -> None:
    """Ask for a number above 0."""
    must(is_number(number) and number > 0, name, "be above 0 and finite", number)


def probability(name: str, number: Any) -> None:
    """Ask for a number from [0, 1)."""
    must(is_number(number) and 0 <= number < 1, name, "be at least 0 and below 1", number)


def window(window: Any, sinks: Any) -> None:
    """Ask for a window of at least one key, and for fewer sinks than it has places."""
    sizes(window=window)
    sizes(0, sinks=sinks)
    must(sinks < window, "sinks", f"be below window = {window}: a token must see itself", sinks)


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
        raise wrong(name, f"be {words}", but=f"it is a {type(came).__name__}", error=TypeError)


def indices(name: str, chosen: Any, size: int) -> list[int]:
    """Turn an int, a slice or several ints into a list of indices below ``size``."""
    if isinstance(chosen, slice):
        return list(range(size)[chosen])
    chosen = chosen.tolist() if hasattr(chosen, "tolist") else chosen
    several = list(chosen) if isinstance(chosen, Iterable) else [chosen]
    whole = all(isinstance(one, Integral) and not isinstance(one, bool) for one in several)
    fine = whole and all(-size <= one < size for one in several)
    must(fine, name, f"be whole numbers from 0 to {size - 1}", chosen)
    return [int(one) % size for one in several]


# --- tensors --------------------------------------------------------------------------------------


def floats(name: str, tensor: Any) -> None:
    """Ask for a tensor of floating-point numbers."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        is_a(name, tensor, Tensor)
        came = f"its dtype is {tensor.dtype} (write {name}.float())"
        raise wrong(name, "hold floating-point numbers", but=came)


def integers(name: str, tensor: Any) -> None:
    """Ask for a tensor of whole numbers."""
    is_a(name, tensor, Tensor)
    other = tensor.dtype == torch.bool or tensor.is_floating_point() or tensor.is_complex()
    must(not other, name, "hold whole numbers", but=f"its dtype is {tensor.dtype}")


def boolean(name: str, mask: Any) -> None:
    """Ask for a boolean tensor."""
    is_a(name, mask, Tensor)
    wanted, came = "be boolean, True where a query may attend", f"its dtype is {mask.dtype}"
    must(mask.dtype == torch.bool, name, wanted, but=came)


def kind(name: str, x: Tensor, like: Tensor) -> None:
    """Ask for the dtype and device of another tensor."""
    wanted, came = f"be {like.dtype} on {like.device}", f"it is {x.dtype} on {x.device}"
    must((x.dtype, x.device) == (like.dtype, like.device), name, wanted, but=came)


def fit(like: Tensor | None = None, kinds: bool = True, /, **given: tuple[Any, str]) -> None:
    """Check tensors of floats, each with the form of its shape: query=(query, "… n_q d").

    In all forms one name is one size, a number is that size, and "…" any leading dimensions. All
    have the dtype and device of ``like`` or else of the first, unless autocast joins them; without
    ``kinds`` shapes alone are compared.
    """
    known: dict[str, Any] = {}
    for name, (x, form) in given.items():
        if kinds and (not isinstance(x, Tensor) or not x.is_floating_point()):
            floats(name, x)
        if like is None:
            like = x
        elif kinds and (x.dtype, x.device) != (like.dtype, like.device):
            joined = x.device == like.device and torch.is_autocast_enabled(x.device.type)
            kind(name, x.to(like.dtype) if joined else x, like)
        axes, came = form.split(), tuple(x.shape)
        lead = len(came) - len(axes) + 1
        if axes[0] == "…" and lead >= 0:
            came = came[:lead], *came[lead:]
        sizes = [
            int(axis) if axis.isdigit() else known.setdefault(axis, size)
            for axis, size in zip(axes, came, strict=False)
        ]
        if list(came) != sizes or len(came) != len(axes):
            named = [row for row in zip(axes, sizes, came, strict=False) if not row[0].isdigit()]
            where = ", ".join(f"{axis} = {size}" for axis, size, mine in named if size != mine)
            raise wrong(name, f"have the shape ({', '.join(axes)}){where and ', ' + where}", x)


def shapes(**given: tuple[Tensor, str]) -> None:
    """Compare shapes with their forms, as in ``fit``."""
    fit(None, False, **given)


def shape(name: str, tensor: Tensor, *wanted: int | str) -> None:
    """Compare one shape: a number is that size, a name any, and "…" any leading dimensions."""
    fit(None, False, **{name: (tensor, " ".join(map(str, wanted)))})


# --- attention ------------------------------------------------------------------------------------


def attention(
    query: Tensor,
    key: Tensor,
    *value: Tensor,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    one_size: bool = False,
) -> None:
    """Check query, key and (where there is one) value, and the mask and bias of their scores.

    With ``one_size`` queries and keys must be vectors of one size.
    """
    of_key = "… n_k d" if one_size else "… n_k d_k"
    given = {"query": (query, "… n_q d"), "key": (key, of_key)}
    if value:
        given["value"] = (value[0], "… n_k d_v")
    fit(**given)
    if mask is not None or bias is not None:
        parts(mask, bias, (*query.shape[:-1], key.shape[-2]), query)


def parts(mask: Any, bias: Any, scores: tuple[int, ...], query: Tensor) -> None:
    """Check a mask and a bias of scores of that shape, of the query's device and, a bias, dtype.

    (b, 1, n_k) against (b, h, n_q, n_k) is refused: from the right, b would meet the heads.
    """
    for name, part, dtype in (("mask", mask, torch.bool), ("bias", bias, query.dtype)):
        if part is None:
            continue
        if not isinstance(part, Tensor) or (part.dtype, part.device) != (dtype, query.device):
            (boolean if name == "mask" else floats)(name, part)
            kind(name, part, query.bool() if name == "mask" else query)
        came, flat = tuple(part.shape), scores[-2:]
        pairs = zip(came, scores, strict=False)
        if came != flat and (len(came) != len(scores) or any(m not in (1, s) for m, s in pairs)):
            rank = f"or as many dimensions as the scores {scores}, each of them equal or 1"
            raise wrong(name, f"have the shape (n_q, n_k) = {flat}, {rank}", part)


# --- tokens ---------------------------------------------------------------------------------------


def rows(name: str, ids: Any, of: Tensor | None, *axes: int | str, empty: bool = True) -> None:
    """Check whole numbers that are rows of a tensor, on its device, and their shape, of ``axes``.

    Unless ``empty``, there must be at least one.
    """
    if not isinstance(ids, Tensor) or ids.dtype != torch.int64:
        integers(name, ids)
    if axes and (len(axes) != ids.dim() or (not empty and ids.numel() == 0)):
        least = "" if empty else ", with at least one token of at least one sentence"
        raise wrong(name, f"have the shape ({', '.join(map(str, axes))}){least}", ids)
    if of is None:
        return
    if ids.device != of.device:
        raise wrong(name, f"be on {of.device}", but=f"it is on {ids.device}")
    # only a CPU answers at once, and a compiled graph must not be asked
    if ids.device.type == "cpu" and not torch.compiler.is_compiling():
        outside = (ids < 0) | (ids >= len(of))
        if outside.any():
            told = f"{int(ids[outside][0])} is among them"
            raise wrong(name, f"be from 0 to {len(of) - 1}", but=told)


def offset(came: Any, b: int | None = None) -> None:
    """Check an offset: a whole number, or one for each of b sentences, (b,)."""
    if not isinstance(came, Tensor):
        return sizes(0, offset=came)
    integers("offset", came)
    shape("offset", came, "b" if b is None else b)


def lengths(name: str, came: Any, of: Tensor, *, at_least: int = 0) -> None:
    """Check the lengths (b,) of a batch of sentences (b, n), each from ``at_least`` to n."""
    if not isinstance(came, Tensor) or came.dtype != torch.int64 or came.shape != of.shape[:1]:
        is_a(name, came, Tensor)
        told = f"its dtype is {came.dtype}, its shape {tuple(came.shape)}"
        raise wrong(name, f"be int64 of the shape (b,) = ({len(of)},)", but=told)
    if len(of) == 0 or ((came < at_least) | (came > of.shape[1])).any():
        wanted = f"be from {at_least} to {of.shape[1]}, for at least one sentence"
        raise wrong(name, wanted, but=f"they are {came.tolist()}")
