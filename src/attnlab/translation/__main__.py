"""The command line of the program; ``python -m attnlab.translation --help``."""

from attnlab._console import any_letter
from attnlab.translation.command import main, with_fast_numbers, with_kept_memory
from attnlab.translation.team import leave

if __name__ == "__main__":
    any_letter()
    with_kept_memory()
    with_fast_numbers()
    leave(main())
