"""Errors at the door: each names the argument, what was wanted and what came.

Shapes, dtypes and masks are checked here; what torch refuses at once in clear words is torch's.
"""

from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from attnbook import _ask


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


def multiple(name: str, number: int, of: str, divisor: int) -> None:
    """Ask for a multiple of ``divisor``."""
    must(number % divisor == 0, name, f"be a multiple of {of} = {divisor}", number)


def one_of(name: str, came: object, known: Any) -> None:
    """Ask for one of the ``known`` values."""
    must(came in known, name, f"be one of {', '.join(map(repr, known))}", came)


WORDS = {None: "hold floats", torch.bool: "be boolean, True where a query may attend"}


def kind(name: str, x: Any, dtype: torch.dtype | None = None) -> None:
    """Ask for a tensor of that dtype, or else of any floating-point numbers."""
    if not isinstance(x, Tensor):
        raise wrong(name, "be a torch.Tensor", but=f"it is a {type(x).__name__}", error=TypeError)
    if not (x.is_floating_point() if dtype is None else x.dtype == dtype):
        raise wrong(name, WORDS.get(dtype, f"be {dtype}"), x.dtype)


def axes_of(form: str) -> list[str | int]:
    """Return the axes of a form, names and numbers."""
    return [int(a) if a.isdigit() else a for a in form.split()]


kept_axes = cache(axes_of)


def fit(like: Tensor | None = None, floats: bool = True, /, **given: tuple[Tensor, str]) -> None:
    """Check tensors of floats, each with the form of its shape: query=(query, "… n_q d").

    In all forms one name is one size, a number is that size, and "…" any leading dimensions. All
    have the dtype of ``like`` or else of the first, unless autocast joins them; without ``floats``
    shapes alone are compared.
    """
    known: dict[str | int, Any] = {}
    for name, (x, form) in given.items():
        if floats and not (isinstance(x, Tensor) and x.is_floating_point()):
            kind(name, x)
        like = x if like is None else like
        if floats and x.dtype != like.dtype and not torch.is_autocast_enabled(x.device.type):
            kind(name, x, like.dtype)
        # a compiler warns of a cache, and reads a form once
        axes = (axes_of if torch.compiler.is_compiling() else kept_axes)(form)
        came, n_known = tuple(x.shape), len(known)
        lead = len(came) - len(axes) + 1
        if axes[0] == "…" and lead >= 0:
            came = came[:lead], *came[lead:]
        fine = len(came) == len(axes)
        for a, n in zip(axes, came, strict=False):
            fine = fine and (a if type(a) is int else known.setdefault(a, n)) == n
        if not fine:
            before = list(known)[:n_known]
            told = [f"{a} = {known[a]}" if a in before else str(a) for a in axes]
            raise wrong(name, f"have the shape ({', '.join(told)})", x)


shapes = partial(fit, None, False)


def attention(
    query: Any, key: Any, *value: Any, mask: Any = None, bias: Any = None, one_size: bool = False
) -> None:
    """Check query, key and, where there is one, value, and the mask and bias of their scores.

    With ``one_size`` queries and keys must be vectors of one size.
    """
    of_key = "… n_k d" if one_size else "… n_k d_k"
    more = {"value": (value[0], "… n_k d_v")} if value else {}
    fit(query=(query, "… n_q d"), key=(key, of_key), **more)
    parts(mask, bias, (*query.shape[:-1], key.shape[-2]), query.dtype)


def parts(mask: Any, bias: Any, scores: tuple[int, ...], dtype: torch.dtype) -> None:
    """Check a mask and a bias, of that dtype, of scores of that shape.

    (b, 1, n_k) against (b, h, n_q, n_k) is refused: from the right, b would meet the heads.
    """
    for name, part, of in (("mask", mask, torch.bool), ("bias", bias, dtype)):
        if part is None:
            continue
        if not isinstance(part, Tensor) or part.dtype != of:
            kind(name, part, of)
        came, flat = tuple(part.shape), scores[-2:]
        # sizes are compared only where they must agree: an exported graph keeps what was compared
        whole = len(came) == len(scores) and all(map(lambda m, n: m in (n, 1), came, scores))
        if not whole and (len(came) != 2 or came != flat):
            raise wrong(name, f"have the shape {flat}, or {scores} with 1 for any size", part)


def untraced(name: str) -> None:
    """Refuse ``torch.jit.trace`` where it would keep a loop as long as the example needs it."""
    must(not _ask.tracing(), name, "not be traced", but="its loop would keep one length")


def ids(name: str, came: Tensor, below: int) -> None:
    """Ask for whole numbers from 0 on and below ``below``."""
    if came.device.type != "cpu" or _ask.making_graph():
        return
    fine = (came >= 0) & (came < below)
    if _ask.all_of(fine) is False:
        raise wrong(name, f"be from 0 to {below - 1}", but=f"{int(came[~fine][0])} is among them")
