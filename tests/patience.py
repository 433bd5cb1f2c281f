"""How long the tests wait for what must happen: long enough on a machine that is busy.

A wait ends as soon as what it waits for is there, so that a generous limit costs nothing; it only
decides how late a test fails that hangs. All are some twenty times what a quiet machine needs, so
that the suite is green beside eight busy processes on two cores. A test says none of its own.
"""

BROWSER = 120_000  # milliseconds: one thing to appear in a page
PROCESS = 1_200  # seconds: a command, a notebook's cell, a server's start
