"""Marks folders of submitted notebooks: ``python -m teaching.marking --help``.

**Who decides.** A check and an answer never share a process. The lecture's own cells are run once,
in a process that no student's code ever enters; it forks a *marker* for each submission. The
marker forks again, and only that child, shut in as `sandbox` says, executes the student's cells and
sends back the answer as plain data. Where a check calls a function, the child is asked for each
call, its arguments and what it returns being data too; functions that the check hands in stay in
the marker, which calls them where the child asks for it, and modules of a student's class stay in
the child. The marker reads data, never pickles, and the check compares it out of the student's
reach. Printing "Exercise 3: correct.", replacing a check, or PyTorch beneath it, therefore changes
nothing but the student's own child. A channel with a secret nonce would not do: Python code can
read all of its own process, secrets included.

**What is taken.** From a submission the answer's cell, less its call of the check, and the cells of
the student's own that bind names which the answer uses. A lecture's cells are never taken, so what
is edited there has no effect. That the call of a check was edited or is missing is noted.

**What does not hold.** Where a function is called with more than data and functions (a model), each
call has a child of its own that inherits the arguments, and what became of them is lost with it;
and of a function that the cells do not define, the check cannot read the text. There the check runs
once more, in a child with the answer, and can only take "correct" away: what it looks for there, a
hostile answer can hide. The solutions are public, and an answer may be copied; an answer that is
the lecture's own solution to the letter carries a note. What the sandbox holds is said there.
"""
