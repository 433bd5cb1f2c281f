"""Style sheets as they stand in a page: the drawings' own, and the live pictures' after them."""

import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["OWN", "bare"]

# the roles' colours, and the look of a drawing's boxes and arrows
OWN = tuple(Path(__file__).parent / f"{name}.css" for name in ("roles", "drawing"))


def bare(files: Iterable[Path]) -> str:
    """Return style sheets as one, without their comments."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    short = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
    return re.sub(r" ?([{};,]) ?", r"\1", short)
