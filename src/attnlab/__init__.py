"""What the lectures of *Attention, Worked Out* stand on, beside the attention in ``attnbook``.

Each folder uses only those above it:

- ``language``: sentences to learn from, and what turns them into numbers
- ``training``: one loop, losses, schedules, metrics, seeds
- ``pretrained``: models that others have trained, in the book's own layers
- ``models``: what the lectures train, each by one call, and what several seeds gave
- ``pictures``: figures with a text for those who cannot see them
- ``widgets``: the live pictures
- ``translation``: a translator of real text, trained by one program on one core or on many
- ``exercises``: checks of the readers' answers, which name the mistake
"""

__version__ = "0.1.0"
