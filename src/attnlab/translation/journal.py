"""The log of a run: one line of JSON for each entry, to be read by pandas or by eye."""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnlab import _check

Entry = dict[str, Any]


def read_log(path: str | Path) -> list[Entry]:
    """Read a run's log.jsonl; a last line that a kill has cut short is left out."""
    return list(_entries(Path(path)))


def _entries(path: Path) -> Iterator[Entry]:
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            return


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all, whenever the machine stops.

    Raises: OSError where the disk is full, for instance; what was there before stays.
    """
    draft = path.with_name(f".{path.name}.writing")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # the name must not reach the disk before the content
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


class Journal:
    """Appends to a log, and tells a reader at the screen how far the run is."""

    def __init__(self, path: Path | None, steps: int, seconds: float, step: int) -> None:
        """Go on after ``step``: later lines, of a run that was killed, are taken out.

        Without a path nothing is written or shown. ``seconds`` are those of the run so far.
        """
        self.path, self.steps, self.began = path, steps, time.monotonic() - seconds
        self.bar = None
        if path is None:
            return
        kept = [json.dumps(entry) for entry in read_log(path) if entry["step"] <= step]
        write_whole(path, "".join(f"{line}\n" for line in kept).encode())
        if os.environ.get("TQDM_DISABLE", "0") in ("", "0"):
            layout = "{percentage:3.0f}% |{bar}| step {n_fmt} of {total_fmt}{postfix}"
            tqdm = _check.needed("tqdm", "a bar").tqdm
            self.bar = tqdm(
                total=steps,
                initial=step,
                unit="step",
                dynamic_ncols=True,
                mininterval=0.1 if sys.stderr.isatty() else 30,  # seconds; else a file grows
                bar_format=layout,
                disable=False,
            )

    @property
    def seconds(self) -> float:
        """How long the run has been going, over all its parts."""
        return time.monotonic() - self.began

    def write(self, **entry: Any) -> None:
        """Add a line to the log."""
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def tick(self) -> None:
        """Move the bar by a step."""
        if self.bar is not None:
            self.bar.update()

    def show(self, loss: float, rate: float, left: float) -> None:
        """Show beside the bar the loss, pieces a second, and the time left."""
        if self.bar is not None:
            left = max(0, round(left))
            clock = f"{left // 3600}:{left % 3600 // 60:02}:{left % 60:02}"
            words = f"loss {loss:.3f}, {rate:,.0f} tokens/s, {clock} left"
            self.bar.set_postfix_str(words, refresh=False)

    def say(self, words: str) -> None:
        """Print a line above the bar."""
        if self.path is None:
            return
        if self.bar is None:
            print(words, flush=True)
        else:
            self.bar.write(words)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self.bar is not None:
            self.bar.close()
