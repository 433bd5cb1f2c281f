"""What a program prints, wherever that goes."""

import sys
from io import TextIOWrapper


def any_letter() -> None:
    r"""Let this program print any letter: what its output cannot spell becomes \u221a and the like.

    A terminal is UTF-8 nearly everywhere; a pipe on Windows has the system's code page, which lacks
    √ and ≥ and would end the program at the first of them.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a notebook's is none, and takes everything
            stream.reconfigure(errors="backslashreplace")
