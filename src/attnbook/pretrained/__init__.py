"""Models that others have trained, in the book's own layers.

``bert`` holds all-MiniLM-L6-v2, a small encoder:

    model = load_minilm()
    model.tokens("It was tired.")  # ['[CLS]', 'it', 'was', 'tired', '.', '[SEP]']
    model.attention("It was tired.")[3, 1]  # layer 3, head 1, counted from 0: (6, 6)
"""

from attnbook.pretrained.bert import Pretrained, load_minilm

__all__ = ["Pretrained", "load_minilm"]
