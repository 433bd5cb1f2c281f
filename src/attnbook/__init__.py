"""The attention of the book *Attention, Worked Out*: small, exact, tested against PyTorch.

It needs torch and NumPy alone. A file imports only those named before it here:

- ``masks``, ``scores``, ``attention``: who may look at whom, how well they fit, the weighted sum
- ``positions``, ``cache``, ``multihead``, ``record``, ``latent``: layers of heads
- ``embeddings``, ``layers``, ``rnn``, ``transformer``, ``decoding``: models, and writing with them
- ``further``: what long texts and fast decoding need

The first four can be read in an evening. Each is imported by name, as in
``from attnbook.attention import attention``. The lectures stand on a package of their own beside
this one, ``attnlab``.
"""

__version__ = "0.1.0"
