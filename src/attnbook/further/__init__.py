"""Attention beyond the first evening: what long texts and fast decoding need, an idea a file.

``caches`` roll and share pages, ``speculation`` guesses tokens, ``longer`` slows rotary positions;
``tiles`` is exact in little memory, ``sparse`` looks at few keys, ``linear`` at a state. What loops
over blocks, chunks or tokens is not traced, and exported for as many of them as the example has.
"""
