"""The page of notation lists every symbol of the lectures, each with one meaning there."""

import re
from collections import Counter

import pytest

from tests.book.lectures import NOTEBOOKS, ROOT, prose, stored

PAGE = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.S)
UPRIGHT = re.compile(r"\\(?:text|operatorname\*?|mathrm|begin|end)\{[^{}]*\}")
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "varepsilon": "ε",
    "lambda": "λ", "mu": "μ", "omega": "ω", "sigma": "σ",
}  # fmt: skip
SYMBOL = re.compile(r"([A-Za-zα-ωΔ])((?:[_^](?:\{[^{}]*\}|[^\s{}]))*)")
# below these letters stands a name, and no index: d_k is another size than d
NAMES = {"d": "kvf@", "n": "qk", "W": "qk12", "b": "12"}
PARTS = {"I": range(1, 5), "II": range(5, 9), "III": range(9, 13), "IV": range(13, 15)}


def symbols(text: str, *, indices: bool = True) -> set[str]:
    """Return the symbols of a text's formulas: ``d_k``, ``W^Q``, and ``x_·`` with any index."""
    found = set()
    for formula in FORMULA.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
        plain = UPRIGHT.sub("@", re.sub(r"\\\\\[\d+pt\]", " ", "".join(formula)))
        plain = re.sub(r"\\([A-Za-z]+)", lambda command: GREEK.get(command[1], " "), plain)
        for base, marks in SYMBOL.findall(plain):
            power = re.search(r"\^\{?([QKVO])", marks)
            below = re.search(r"_\{?([^}^]+)", marks)
            named = below and below[1][0] in NAMES.get(base, "")
            base += f"^{power[1]}" if power else ""
            found.add(base + (f"_{below[1][0]}" if named else "_·" if below else ""))
            if indices and below and not named:
                found |= set(re.findall(r"[a-z]", below[1]))
    return found


def rows() -> list[tuple[set[str], set[int]]]:
    """Return the page's rows: their symbols, and the lectures in which they hold."""
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    return [(symbols(line.split("|")[1], indices=False), lectures(line)) for line in lines]


def lectures(row: str) -> set[int]:
    named = " ".join(re.findall(r"Parts? ((?:I+V?(?:, | and )?)+)", row))
    parts = {n for name in re.findall(r"I+V?", named) for n in PARTS[name]}
    numbers = re.findall(r"lectures? (\d[\d, and]*)", row)
    found = parts | {int(n) for one in numbers for n in re.findall(r"\d+", one)}
    return found or set(range(1, 17))


def test_symbols_are_found_with_their_names_and_without_their_indices():
    text = r"$q_i = x_i W^Q$, $d_{\text{model}}$, $\sqrt{d_k}$ $$\alpha_{ij} = \exp e_{ij}$$ `$z$`"
    assert symbols(text) == {"q_·", "x_·", "W^Q", "d_@", "d_k", "α_·", "e_·", "i", "j", "z"}
    assert symbols(r"$QK^\top$ $n_q$ $W_i^Q$", indices=False) == {"Q", "K", "n_q", "W^Q_·"}
    assert lectures("in a GRU (lectures 3 and 14)") == {3, 14}
    assert lectures("an encoder (Part I) and lecture 9") == {1, 2, 3, 4, 9}
    assert lectures("an output (Parts II and IV)") == {5, 6, 7, 8, 13, 14}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_symbol_of_a_lecture_is_listed_once(path):
    lecture = int(path.stem[:2])
    listed = Counter(s for found, where in rows() if lecture in where for s in found)
    used = symbols("\n".join(cell.source for cell in prose(stored(path))))
    missing = sorted(s for s in used if s not in listed and s.removesuffix("_·") not in listed)
    assert not missing, f"not on the page of notation: {missing}"
    twice = sorted(s for s in used if listed[s] > 1)
    assert not twice, f"two meanings in one lecture: {twice}"
