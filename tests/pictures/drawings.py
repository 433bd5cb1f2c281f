"""Example drawings, for the tests of `Schematic` and of what stands on it."""

from __future__ import annotations

from attnbook.pictures import Schematic


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


def multi_head() -> Schematic:
    """Project, split, attend, merge, mix."""
    drawing = Schematic("X is projected three times, split into h heads, merged and mixed.")
    x = drawing.matrix("X", "n × d_model", at=(0, 1))
    heads = drawing.operation("attend", "h × n × d_k", at=(3, 1))
    for row, (letter, role) in enumerate(zip("QKV", ("query", "key", "value"), strict=True)):
        w = drawing.learned(f"W^{letter}", "d_model × d_model", at=(1, row), role=role)
        split = drawing.operation("split", "h × n × d_k", at=(2, row), role=role)
        drawing.arrow(x, w)
        drawing.arrow(w, split, "n × d_model")
        drawing.arrow(split, heads)
    merge = drawing.operation("merge", "n × d_model", at=(4, 1))
    mix = drawing.learned("W^O", "d_model × d_model", at=(4, 2), role="output")
    y = drawing.matrix("Y", "n × d_model", at=(3, 2), role="output")
    drawing.arrow(heads, merge, "h × n × d_k")
    drawing.arrow(merge, mix, "n × d_model")
    drawing.arrow(mix, y)
    return drawing


DRAWINGS = {"attention": attention_step, "roles": three_roles, "heads": multi_head}
