"""Models that others have trained, in the book's own layers.

``bert`` holds all-MiniLM-L6-v2, a small encoder, and ``smollm`` SmolLM2, a small language model::

    model = load_minilm()
    model.tokens("It was tired.")  # ['[CLS]', 'it', 'was', 'tired', '.', '[SEP]']
    model.attention("It was tired.")[3, 1]  # layer 3, head 1, counted from 0: (6, 6)

    model = load_smollm()
    model.continue_text("The capital of France is", max_length=2)  # [' Paris.']
    for piece in model.stream("The capital of France is"):
        print(piece, end="", flush=True)
"""

from attnlab.pretrained.bert import Pretrained, load_minilm
from attnlab.pretrained.smollm import SmolLM, load_smollm, smollm_file

__all__ = ["Pretrained", "SmolLM", "load_minilm", "load_smollm", "smollm_file"]
