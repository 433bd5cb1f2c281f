"""A translator trained on real text, on one processor or many: one program.

    python -m attnlab.translation --data FOLDER --pair en-de
    torchrun --nproc_per_node 2 -m attnlab.translation --data FOLDER --pair en-de
    python -m attnlab.translation.score RUN --source test.en --reference test.de

FOLDER holds train.en and train.de, val.en and val.de, or Europarl's two files, packed by gzip or
not; a file of tab-separated pairs does too. One process has one core, so that two cores are best
used by two; with a GPU for each, torchrun's processes take those. A run that was stopped goes on
when its command is given again. Every choice is an option; ``--help`` gives each its reason.

``recipe`` holds every choice with its reason; ``corpus``, ``pieces`` and ``buckets`` lead from
files to batches; ``model`` and ``loss`` are what is computed; ``team``, ``run``, ``average`` and
``journal`` how it is trained, stopped and gone on with; ``scoring`` and ``moses`` how it is judged.
"""

from attnlab.translation.recipe import Recipe
from attnlab.translation.run import train

__all__ = ["Recipe", "train"]
