"""The grammar that writes the book's English–French pairs, and that judges a sentence.

``parallel`` draws the corpus from it; ``judge`` says whether it can write a sentence, and what is
wrong where it cannot. ``writer`` puts clauses together from ``phrases``, ``verbgroups`` and
``lexicon``; ``french`` contracts and elides.
"""

from attnlab.language.grammar.judge import accepts, why_not
from attnlab.language.grammar.parallel import english_french

__all__ = ["accepts", "english_french", "why_not"]
