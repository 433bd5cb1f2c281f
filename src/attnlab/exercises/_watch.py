"""Which functions run while a reader's code does: by whatever name and way they are reached."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import CodeType, FrameType, FunctionType
from typing import Any, Self

from torch.overrides import TorchFunctionMode

HERE = os.path.dirname(__file__)


class Watch:
    """Note in `used`, by name, which of `ready` run inside the block, and which of the checks' own.

    Python tells of each function of its own that is called, PyTorch of each of its. A function that
    was handed to the reader is theirs to call.

        with Watch([attention]) as watch:
            answer(x)
        watch.used  # ["attention"], whatever the answer calls it
    """

    def __init__(self, ready: Sequence[Callable[..., Any]], handed: Sequence[Any] = ()) -> None:
        self.names = {_of(one): getattr(one, "__name__", "") for one in ready}
        self.handed = {_of(one) for one in handed if isinstance(one, FunctionType)}
        self.used: list[str] = []

    def __enter__(self) -> Self:
        self.stack, before = ExitStack(), sys.getprofile()
        if self.names:
            self.stack.enter_context(_Torch(self))
        sys.setprofile(self._profile)
        self.stack.callback(sys.setprofile, before)
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def note(self, function: Any) -> None:
        """Note a function, or its code, if it is one of those that are ready-made."""
        if function in self.names:
            self.used.append(self.names[function])

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        self.note(code)
        if _is_own(code) and frame.f_back and not _is_own(frame.f_back.f_code):
            function = frame.f_globals.get(code.co_name)  # none that stands inside another
            if code not in self.handed and getattr(function, "__code__", None) is code:
                self.used.append(code.co_name)


class _Torch(TorchFunctionMode):
    """Tells a watch of PyTorch's functions, which are not written in Python."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.watch.note(func)
        return func(*args, **(kwargs or {}))


def _of(function: Any) -> Any:
    """What a function is known by while it runs: its code, or itself where it is not Python's."""
    function = function.forward if isinstance(function, type) else function
    return getattr(inspect.unwrap(function), "__code__", function)


def _is_own(code: CodeType) -> bool:
    return code.co_filename.startswith(HERE)
