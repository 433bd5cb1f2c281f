"""What may be asked of numbers and sizes: the answer must hold wherever a graph will be used."""

import torch
from torch import Tensor


def tracing() -> bool:
    """Say whether a call is being traced, whose graph keeps the way that its numbers took."""
    return torch.jit.is_tracing()  # pyright: ignore[reportPrivateImportUsage]


def making_graph() -> bool:
    """Say whether a graph is being made, which will be used with other numbers."""
    return torch.compiler.is_compiling() or tracing()


def for_all_sizes() -> bool:
    """Say whether it will be used with other sizes, too; a compiler makes one for each."""
    return making_graph() and not torch.compiler.is_dynamo_compiling()


def same(m: int, n: int) -> bool:
    """Say whether two sizes are the same, in all of the graph's uses."""
    if for_all_sizes():
        from torch.fx.experimental.symbolic_shapes import statically_known_true

        return not tracing() and statically_known_true(m == n)
    # asked by an ``if``: a compiler leaves any other answer open, and no kernel takes it so
    return True if m == n else False  # noqa: SIM210


def all_of(flags: Tensor, *, wait: bool = False) -> bool | None:
    """Say whether all flags are set, or None where nobody can say, as in ``torch.vmap``.

    Only a CPU answers at once. Elsewhere, unless one is to ``wait``, the question would cost more
    than the work it saves.
    """
    if making_graph() or not (wait or flags.is_cpu):
        return None
    try:
        return bool(flags.all())
    except RuntimeError:  # one tensor is many, which may answer differently
        return None
