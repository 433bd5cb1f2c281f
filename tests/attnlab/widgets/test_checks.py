"""What every widget's arguments are asked: no number that NumPy would bend is taken in silence."""

import numpy as np
import pytest
import torch

from attnlab.widgets import AttentionHeatmap, AttentionSteps
from attnlab.widgets.core import checks
from tests.attnlab.widgets.examples import TOKENS, X

ARRAY = np.array(X, dtype=float)
BENT = [
    (ARRAY + 1j, "scores must be numbers in rows of equal length, got array"),
    (torch.tensor(X) + 1j, "scores must be numbers in rows of equal length, got array"),
    (ARRAY.astype("datetime64[D]"), "scores must be numbers in rows of equal length"),
    (ARRAY.astype("timedelta64[s]"), "scores must be numbers in rows of equal length"),
    (np.ma.array(ARRAY, mask=ARRAY > 1), "without a mask of its own, got a masked array"),
    ([["a", "b"]], "scores must be numbers in rows of equal length"),
]


@pytest.mark.parametrize(("value", "words"), BENT, ids=lambda one: type(one).__name__)
def test_arrays_that_are_no_plain_numbers_are_refused(value, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AttentionHeatmap(scores=value, tokens=TOKENS)


def test_usual_numbers_are_taken_places_from_the_end_and_the_first_state_kept() -> None:
    for kind in (np.float16, np.int8, np.uint64, np.bool_):
        found = checks.finite_array("x", np.eye(2, dtype=kind), ranks=(2,))
        assert found.tolist() == [[1, 0], [0, 1]]
    half = torch.eye(2, dtype=torch.bfloat16, requires_grad=True)
    assert checks.finite_array("x", half, ranks=(2,)).dtype == np.float64
    assert checks.whole("n", np.int64(3), least=1, most=3) == 3
    assert checks.between("share", np.float32(0.5), least=0, most=1) == 0.5
    widget = AttentionSteps(X, TOKENS, step=2)
    assert set(widget.rules) == {"vectors", "query", "scaled", "causal", "step"}
    widget.step = -1
    assert widget.step == 4
    assert widget.initial == {"vectors": X, "query": 2, "scaled": True, "causal": False}
