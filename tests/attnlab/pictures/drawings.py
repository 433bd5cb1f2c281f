"""Example drawings, for the tests of `Schematic` and of what stands on it."""

import itertools

from attnlab.pictures import Schematic


def attention_step() -> Schematic:
    """X → scores → weights → output."""
    drawing = Schematic("X is compared with itself: scores, weights, and the output Y = A X.")
    x = drawing.matrix("X", "n × d", at=(0, 0))
    scores = drawing.operation("X X^ᵀ / √d", "n × n", at=(1, 0))
    softmax = drawing.operation("softmax", "each row sums to 1", at=(2, 0))
    weights = drawing.matrix("A", "n × n", at=(3, 0), role="weight")
    mix = drawing.operation("A X", "n × d", at=(3, 1))
    y = drawing.matrix("Y", "n × d", at=(4, 1), role="output")
    drawing.arrow(x, scores, "n × d")
    drawing.arrow(scores, softmax, "n × n")
    drawing.arrow(softmax, weights, "n × n")
    drawing.arrow(weights, mix, "n × n")
    drawing.arrow(x, mix, "n × d")
    drawing.arrow(mix, y, "n × d", role="output")
    return drawing


def three_roles() -> Schematic:
    """One token's vector is multiplied by three matrices."""
    drawing = Schematic("One vector x, three learned matrices: its query, its key, its value.")
    x = drawing.vector("x_i", "d", at=(0, 1))
    for row, (letter, role) in enumerate(zip("qkv", ("query", "key", "value"), strict=True)):
        size = "d_v" if letter == "v" else "d_k"
        w = drawing.learned(f"W^{letter.upper()}", f"d × {size}", at=(1, row), role=role)
        one = drawing.vector(f"{letter}_i", size, at=(2, row), role=role)
        drawing.arrow(x, w, "d")
        drawing.arrow(w, one, size)
    return drawing


def layer(name: str = "X", about: str = "One row for each token.") -> Schematic:
    """A layer of multi-head attention, with all that a live drawing counts."""
    drawing = Schematic("Project, split, attend, merge, mix.")
    wide, heads, square = "b × n × d_model", "b × h × n × d_k", "d_model × d_model"
    counted = {
        "parameters": "d_model × d_model + d_model",
        "multiplications": "b × n × d_model × d_model",
    }
    rows = [["token", name], ["had", -1.5], ["bowl", 0.25]]
    x = drawing.matrix(name, wide, at=(1, 0), about=about, example=rows)
    attend = drawing.operation(
        "attend", heads, at=(1, 3), multiplications="2 × b × h × n × n × d_k"
    )
    for column, (letter, role) in enumerate(zip("QKV", ("query", "key", "value"), strict=True)):
        w = drawing.learned(f"W^{letter}", square, at=(column, 1), role=role, **counted)
        split = drawing.operation("split", heads, at=(column, 2), role=role)
        drawing.arrow(x, w)
        drawing.arrow(w, split, wide)
        drawing.arrow(split, attend)
    mix = drawing.learned("W^O", square, at=(1, 4), role="output", **counted)
    y = drawing.matrix("Y", wide, at=(2, 4), role="output")
    drawing.arrow(attend, mix, wide)
    drawing.arrow(mix, y)
    drawing.frame("in each head", attend)
    return drawing


def tower(floors: int = 6) -> Schematic:
    """Blocks upon blocks: four boxes to a floor."""
    drawing, before = Schematic("A tower of blocks."), None
    for floor in range(floors):
        parts = [
            drawing.learned("W", "d_model × d_model", at=(0, floor), role="query"),
            drawing.operation("⊕", "n × d_model", at=(1, floor), multiplications="n × d_model"),
            drawing.vector("x_{ij}", "d_model", at=(2, floor), role="output"),
            drawing.text("norm", at=(3, floor)),
        ]
        for one, other in itertools.pairwise(parts):
            drawing.arrow(one, other, "n × d_model")
        if before:
            drawing.arrow(before, parts[0])
        before = parts[0]
    return drawing


DRAWINGS = {"attention": attention_step, "roles": three_roles, "layer": layer, "tower": tower}
