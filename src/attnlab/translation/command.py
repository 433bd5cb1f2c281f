"""The program's command line: options from the recipe, errors in a sentence."""

import argparse
import errno
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import torch

from attnlab.translation.recipe import Recipe
from attnlab.translation.run import Precision, train
from attnlab.translation.team import team

# glibc gives large buffers back to the system and gets them anew, page by page; with the first two
# settings it keeps them. With the third oneDNN keeps its programs for all shapes of an epoch
MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "4096",
}
UNITS = {"": 1.0, "m": 1.0, "min": 1.0, "h": 60.0, "s": 1 / 60}
EXAMPLE = """\
one processor:      python -m attnlab.translation --data FOLDER
two, one each:      torchrun --nproc_per_node 2 -m attnlab.translation --data FOLDER
several machines:   torchrun --nnodes 2 --nproc_per_node 8 --rdzv_endpoint HOST:29500 \\
                             --rdzv_backend c10d -m attnlab.translation --data FOLDER

A run that was stopped, at any moment, goes on when the same command is given again.
"""


def with_fast_numbers() -> None:
    """Let this process take the smallest numbers for 0: they are slow, and nothing to Adam."""
    torch.set_flush_denormal(True)


def with_kept_memory() -> None:
    """Start this process anew, with an allocator that keeps its memory, where that is glibc's."""
    if sys.platform == "linux" and not any(name in os.environ for name in MEMORY):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **MEMORY})


def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the arguments say; return 0, or 1 after an error in words."""
    options = _parser().parse_args(arguments)

    def work() -> None:
        recipe = Recipe(**{one.name: getattr(options, one.name) for one in fields(Recipe)})
        name = f"{recipe.pair}-{recipe.model}-{recipe.seed}"
        folder = Path(options.out) if options.out else Path("runs") / name
        with team(options.device) as here:
            result = train(
                recipe,
                options.data,
                folder,
                minutes=options.time,
                team=here,
                precision=options.precision,
            )
            if here.main:
                scores, tokens = result["validation"], ""
                if scores["tokens"] is not None:
                    tokens = f", lower-cased tokens {scores['tokens']:.2f}"
                print(
                    f"{folder}: {result['step']} steps, {result['minutes']} minutes; validation "
                    f"BLEU {scores['cased']:.2f} ({scores['signature']}){tokens}"
                )

    return in_words(work)


def in_words(work: Callable[[], None]) -> int:
    """Call ``work``; return 0, or print what went wrong as a sentence and return 1."""
    try:
        work()
    except KeyboardInterrupt:
        words = "stopped; the same command goes on from the last checkpoint"
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        words = f"{error}. The last checkpoint is whole" if full else str(error)
    except (ValueError, TypeError, ImportError) as error:
        words = str(error)
    except RuntimeError as error:
        if "Connection closed by peer" not in str(error) or os.environ.get("RANK", "0") == "0":
            raise
        return 1  # the first process has said why
    else:
        return 0
    if os.environ.get("LOCAL_RANK", "0") == "0":  # once a machine
        print(f"translation: {words}", file=sys.stderr)
    return 1


def minutes(text: str) -> float:
    """Read a time such as 60, 60m, 1.5h or 90s, in minutes."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(\w*)", text.strip())
    if found is None or found[2] not in UNITS or not float(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 60, 60m, 1.5h or 90s")
    return float(found[1]) * UNITS[found[2]]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m attnlab.translation",
        description="Train a translator on pairs of sentences.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--data", required=True, help="a folder with train.en, train.de, …, or a file with tabs")
    # "--run" would be a beginning of torchrun's own --run-path
    add("--out", help="the run's folder; runs/PAIR-MODEL-SEED unless given")
    add("--time", type=minutes, help="stop after so many minutes in all, or 1h, 90s")
    add("--device", default="auto", choices=("auto", "cpu", "cuda"), help="auto: GPUs, if any")
    precisions = get_args(Precision)
    add("--precision", default="auto", choices=precisions, help="of products; auto: the fastest")
    group = parser.add_argument_group("recipe")
    for one in fields(Recipe):
        why = f"{one.metadata['why']} ({one.default})".replace("%", "%%")
        kind: Any = type(one.default)
        group.add_argument(
            f"--{one.name.replace('_', '-')}", type=kind, default=one.default, help=why
        )
    return parser
