"""The attention of the book *Attention, Worked Out*: small, exact, tested against PyTorch.

Each module holds one idea and is imported by name, for example
``from attnbook.attention import attention``:

- ``masks``: who may attend to whom
- ``scores``: how well a query and a key fit together
- ``attention``: scores, then softmax, then the weighted sum
- ``reference``: the same in NumPy, first with loops
- ``figures``: pictures that describe themselves in words
"""

__version__ = "0.1.0"
