"""One graph for all sizes: what is exported or traced computes what eager code does.

A graph is made from an example that makes work needless, with nothing masked and nothing padded;
then it meets other sizes, queries with nothing to attend to and keys that nobody may attend to.
"""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.exc import UserError
from torch.export import Dim, export

from attnbook.further.tiles import tiled_attention
from tests.attnbook.graphs import CASES, EXAMPLE, SIZES, Called, agrees

# what holds most of the others; to export all of them costs more
BY_DAY = (
    *("a language model of today", "a translator", "a layer, mask and bias", "latents"),
    *("a translator's steps", "a recurrent model", "a recurrent decoder", "local attention"),
)


def exported(module: nn.Module, given: tuple[Tensor, ...]) -> Callable[..., Any]:
    """Return the exported module; each axis of batch or length may have any size."""

    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, given: tuple[Tensor, ...]) -> Any:
            return self.module(*given)

    axes = tuple(
        {i: Dim.DYNAMIC for i, n in enumerate(part.shape) if n in (*EXAMPLE, EXAMPLE[1] + 2)}
        for part in given
    )
    graph = export(Holder(), (given,), dynamic_shapes=(axes,), strict=False).module()
    return lambda *given: graph(given)


def traced(module: nn.Module, given: tuple[Tensor, ...]) -> Callable[..., Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of each size that Python compares
        return torch.jit.trace(module, given, check_trace=False)


# what PyTorch exports for the example's length alone, or not at all
PACKED = (TypeError, "FakeTensor")  # it packs no sentence in a graph
ONE_LENGTH = (UserError, r"specialized it to be a constant \(7\)")  # a loop or a GRU is unrolled
NOT_EXPORTED: dict[str, tuple[type[Exception], str]] = {
    "a recurrent model": PACKED,
    "a recurrent decoder without attention": ONE_LENGTH,
    "a recurrent decoder": ONE_LENGTH,
    "a recurrent decoder, fed": ONE_LENGTH,
    "a recurrent decoder, step by step": ONE_LENGTH,
    "a cache that rolls": ONE_LENGTH,
    "a cache in pages": ONE_LENGTH,
    "the delta rule, step by step": ONE_LENGTH,
    "tiles": ONE_LENGTH,
    "local attention": (AssertionError, "Guard failed"),  # as many blocks as the example needs
}
# what would keep a loop as long as the example needs it, and cut longer texts short
LOOP = (ValueError, "must not be traced: its loop would keep one length")
STEPS = (RuntimeError, "Expected 7 elements in a list but found 5")  # PyTorch's own words
NOT_TRACED: dict[str, tuple[type[Exception], str]] = {
    "a recurrent decoder, fed": STEPS,
    "a recurrent decoder, step by step": STEPS,
    "a cache that rolls": LOOP,
    "a cache in pages": LOOP,
    "local attention": LOOP,
    "linear attention, causal": LOOP,
    "the delta rule": LOOP,
    "the delta rule, step by step": LOOP,
}


def with_heavy(names: Iterable[str]) -> list[Any]:
    return [n if n in BY_DAY else pytest.param(n, marks=pytest.mark.heavy) for n in names]


@pytest.mark.parametrize("name", with_heavy(n for n in CASES if n not in NOT_EXPORTED))
def test_an_exported_module_is_right_at_other_sizes(name: str) -> None:
    case = CASES[name]
    agrees(case, exported(case.module.eval(), case.given(*EXAMPLE, True)), SIZES)


@pytest.mark.parametrize("example", [EXAMPLE, (1, 1)])
@pytest.mark.parametrize("name", [n for n in CASES if n not in NOT_TRACED])
def test_a_traced_module_is_right_at_other_sizes(name: str, example: tuple[int, int]) -> None:
    case = CASES[name]
    agrees(case, traced(case.module.eval(), case.given(*example, True)), SIZES)


@pytest.mark.parametrize("name", with_heavy(NOT_EXPORTED))
def test_what_is_exported_for_one_length_is_refused_for_others(name: str) -> None:
    case, (error, words) = CASES[name], NOT_EXPORTED[name]
    with pytest.raises(error, match=words):
        agrees(case, exported(case.module.eval(), case.given(*EXAMPLE, True)), SIZES)


@pytest.mark.parametrize("name", NOT_TRACED)
def test_what_is_traced_for_one_length_is_refused_for_others(name: str) -> None:
    case, (error, words) = CASES[name], NOT_TRACED[name]
    with pytest.raises(error, match=words):
        agrees(case, traced(case.module.eval(), case.given(*EXAMPLE, True)), SIZES)


def test_a_traced_cache_has_the_room_of_its_example() -> None:
    case = CASES["a cache"]
    graph = traced(case.module, case.given(*EXAMPLE, True))
    agrees(case, graph, ((2, 63),))
    with pytest.raises(RuntimeError, match=r"size of tensor a \(64\) must match"):
        graph(*case.given(2, 65, False))


def test_tiles_are_traced_with_their_loop() -> None:
    graph = traced(Called(tiled_attention, causal=True), (torch.randn(1, 7, 4),) * 3)
    longer = (torch.randn(1, 300, 4),) * 3
    torch.testing.assert_close(tuple(graph(*longer)), tuple(tiled_attention(*longer, causal=True)))


class Elsewhere(torch.fx.Interpreter):
    """An exported graph, run by a runtime whose attention gives an empty row what softmax gives."""

    def __init__(self, graph: torch.fx.GraphModule, least: float) -> None:
        super().__init__(graph)
        self.least, self.asked = least, 0

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if target is not torch.ops.aten.scaled_dot_product_attention.default:
            return super().call_function(target, args, kwargs)
        self.asked += 1
        query, key, value, mask = args[:4]
        group = query.shape[1] // key.shape[1]
        key, value = (part.repeat_interleave(group, dim=1) for part in (key, value))
        bias = mask
        if mask.dtype == torch.bool:
            bias = torch.zeros(mask.shape).masked_fill(~mask, self.least)
        return (query @ key.mT * query.shape[-1] ** -0.5 + bias).softmax(dim=-1) @ value


@pytest.mark.parametrize("least", [-1e30, -torch.inf])  # the mean of all values, or NaN
@pytest.mark.parametrize("name", ["a layer, a mask", "a layer, mask and bias"])
def test_an_exported_graph_sets_empty_rows_to_zero_by_itself(name: str, least: float) -> None:
    """ONNX's attention does so from opset 23 on, but not with what stands for it before."""
    case = CASES[name]
    given = case.given(2, 5, False)
    program = export(case.module.eval(), given, strict=False)
    elsewhere = Elsewhere(program.module(), least)
    torch.testing.assert_close(elsewhere.run(*given), case.module(*given), atol=1e-5, rtol=1e-4)
    assert elsewhere.asked == 1
