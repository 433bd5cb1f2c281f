"""The attention of the book *Attention, Worked Out*: small, exact, tested against PyTorch.

A file here is attention; a folder is what the book needs around it. The files need torch and
NumPy alone and import no folder. Begin with ``masks``, ``scores``, ``attention`` and ``multihead``,
which can be read in an evening. Each is imported by name, as in
``from attnbook.attention import attention``.

- ``pretrained``: models that others have trained, in these layers
- ``language``: sentences to learn from, and what turns them into numbers
- ``training``: one loop, losses, schedules, metrics, seeds
- ``models``: what the lectures train, each by one call, and what several seeds gave
- ``pictures``: figures with a text for those who cannot see them
- ``exercises``: checks of the readers' answers, which name the mistake
- ``widgets``: the live pictures
"""

__version__ = "0.1.0"
