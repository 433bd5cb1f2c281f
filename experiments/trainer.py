"""Record what ``TrainHere`` learns: two runs of the page's own JavaScript, in Node.

``python -m experiments.trainer`` runs both, in a minute or two, and writes
``attnlab/models/recorded/trainer.json``. The runs are the same to the last digit in every browser,
so a test compares their beginnings with what a browser computes.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from importlib.resources import as_file
from pathlib import Path

import numpy as np

import attnlab.widgets
from attnlab._console import any_letter
from attnlab.models.recorded import FOLDER

HERE = Path(attnlab.widgets.__file__).parent / "trainer"
SCRIPT = """
import { learner } from "%(here)s/learner.js";
import { EVERY, LAST, nameOf, point } from "%(here)s/course.js";
const all = learner();
const usual = { heads: 1, rate: 0.005, symbols: 12, shortest: 4, longest: 9, seed: 0 };
const found = [2, 1].map((layers) => {
  const settings = { ...usual, layers };
  const run = all.start({ ...settings, from: 4, to: 9 });
  const points = [point(0, [], all.finished(all.tallied(run)))];
  while (run.step < LAST) {
    const losses = Array.from({ length: EVERY }, () => all.step(run));
    points.push(point(run.step, losses, all.finished(all.tallied(run))));
  }
  return { name: nameOf(settings), points, flat: [...run.flat] };
});
console.log(JSON.stringify(found));
"""


def main() -> None:
    """Run both, and write them down."""
    node = shutil.which("node")
    if node is None:
        raise SystemExit("node was not found: install Node.js 20 or newer")
    script = SCRIPT % {"here": HERE.as_uri()}
    command = [node, "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    runs = json.loads(done.stdout)
    flat = np.array(runs[0]["flat"])
    low, high = float(flat.min()), float(flat.max())
    packed = np.round((flat - low) / (high - low) * 65_535).astype("<u2")
    record = {
        "runs": [{"name": run["name"], "points": run["points"]} for run in runs],
        "weights": base64.b64encode(packed.tobytes()).decode("ascii"),
        "range": [round(low, 8), round(high, 8)],
    }
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    with as_file(FOLDER / "trainer.json") as path:
        path.write_text(text + "\n", encoding="utf-8", newline="\n")
    print(f"trainer.json: {len(text):,} bytes")


if __name__ == "__main__":
    any_letter()
    main()
