"""Marks folders of submitted notebooks: ``python -m attnbook.exercises.marking --help``.

**Who decides.** A check and an answer never share a process. The lecture's own cells are run once,
in a process that no student's code ever enters; it forks a *marker* for each submission. Where a
check calls the answer, the marker forks again, and only that child, shut in as `sandbox` says,
executes the student's cells, calls the function with the arguments that it inherited, and sends
back the value as plain data. The marker reads it as data, never as pickles, and the check compares
it out of the student's reach. Printing "Exercise 3: correct.", replacing a check, or PyTorch
beneath it, therefore changes nothing but the student's own child. A channel with a secret nonce
would not do: Python code can read all of its own process, secrets included.

**What is taken.** From a submission the answer's cell, less its call of the check, and the cells of
the student's own that bind names which the answer uses. A lecture's cells are never taken, so what
is edited there has no effect. That the call of a check was edited or is missing is noted.

**What does not hold.** An answer that is no plain data and no function (a class, lecture 8's last
exercise) is checked in the student's own child; such verdicts carry a note, and are to be read
where it matters. The solutions are public, and an answer may be copied; an answer that is the
lecture's own solution to the letter carries a note. What the sandbox holds is said there.
"""
