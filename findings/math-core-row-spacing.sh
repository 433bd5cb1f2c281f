#!/usr/bin/env bash
# math-core 0.9.0 prints the space after a line of an aligned formula as if it were part of it.
#
# Guess before it was run: it promises to refuse what it does not know, so `\\[4pt]`, which every
# paper with two displayed lines has, either spaces the lines or is refused.
# Seen: it does neither. The brackets, the number and the unit stand at the beginning of the next
# line, `[4pt]c = d`, and so with `[1ex]`; an unknown command is refused.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
python3 -m venv env
env/bin/pip install -q --disable-pip-version-check math-core==0.9.0
env/bin/python - <<'PYTHON'
import re
from math_core import LatexError, LatexToMathML

setter = LatexToMathML()


def printed(tex):
    """What a reader sees of it, row by row."""
    try:
        rows = setter.convert_with_local_state(tex, displaystyle=True).split("<mtr>")[1:]
    except LatexError:
        return "refused"
    return [re.sub("<[^>]+>|\\s", "", row) for row in rows]


plain = printed(r"\begin{aligned} a &= b \\ c &= d \end{aligned}")
print("without a space:", plain)
assert plain == ["a=b", "c=d"], "this has changed"
for after in (r"\\[4pt]", r"\\[1ex]"):
    found = printed(rf"\begin{{aligned}} a &= b {after} c &= d \end{{aligned}}")
    print(f"{after:8}", found)
    inside = after.removeprefix(r"\\")
    assert found == ["a=b", f"{inside}c=d"], "this has changed"
assert printed(r"\begin{aligned} a &= b \frobnicate \end{aligned}") == "refused"
print("an unknown command: refused")
PYTHON
