"""The command line of the program; ``python -m attnbook.training.translation --help``."""

import sys

from attnbook.training.translation.command import main, with_fast_numbers, with_kept_memory

if __name__ == "__main__":
    with_kept_memory()
    with_fast_numbers()
    sys.exit(main())
