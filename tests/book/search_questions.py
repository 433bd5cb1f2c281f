"""Forty questions to the search, each with the section that should come first, written down first.

A section is named by its lecture's number and a word of its title, because titles change more than
what they speak of; where two sections are fair, either may be first, and the other second. "none"
is a subject that the book leaves out: the search says so in a sentence that holds the word.
"""

# what the review of the built pages and a list of complaints tried, and mostly failed at
REVIEWED = {
    "positional encoding": "9 Positions | 9 Clocks",
    "transformer architecture": "11 transformer | 11 machine",
    "speculative decoding": "13 Guess",
    "multihead": "8 Multi-head | 8 heads",
    "autoregressive": "2 One word after | 11 one by one",
    "cross attention": "11 another sentence",
    "mixture of experts": "13 experts | page mixture of experts",
    "hallucination": "none make up",
    "overfitting": "none overfit",
    "atention": "3 Attention | 5 Self-attention",  # codespell:ignore
    "softmx": "4 softmax | 5 By hand",
    "encodr": "1 reader and the writer | 1 Eight digits | 11 machine",
    "perplexity": "1 Learning to write | page size, training",
    "query key value": "6 Queries | 6 three roles",
    "cls token": "15 handed | 12 Pieces",
    "mask future": "5 future | 11 masks",
    "why divide by sqrt d": "7 score grows | 7 Scaling",
    "kv cache": "13 computed",
    "flash attention": "14 tiles",
    "GQA": "13 Share",
}

# what users of peer courses and of PyTorch asked, where it was asked
USERS = {
    "attention mask shape": "7 same zero | 7 leak | 11 masks",  # pytorch/pytorch#120488
    "is_causal": "page do in PyTorch | page spellings | page triangle",  # pytorch/pytorch#118972
    "softmax returns nan": "7 nobody | page empty row",  # bentrevett and pytorch, an empty row
    "decoder repeats one token": "11 falls too fast",  # pytorch/tutorials#719
    "pre-layer norm vs post-layer norm": "10 block | 10 Pre-norm",  # annotated-transformer#92
    "weight tying": "page tying | 11 machine",  # harvardnlp/harvardnlp.github.io#13
    "what exactly are keys queries and values": "6 Queries | 6 three roles",  # stats.SE
    "why not one big head": "8 Half is lost | 8 training find",  # Reddit, February 2026
    "why sine and cosine": "9 Clocks | 9 rotation",  # the same
    "label smoothing": "page label smoothing | page recipes",  # bentrevett/pytorch-seq2seq#147
    "beam search": "2 Beam search",  # pytorch/tutorials#894
    "training vs inference": "11 one by one",  # attention-is-all-you-need-pytorch#213
    "backprop through attention": "7 sure row | 7 nor d | 6 error moves",  # torchedup's exercise
    "why do all tokens attend to the first": "14 sinks | 14 first token",  # jessevig/bertviz#131
    "induction heads": "15 larger model",  # coairesearch/mlxterp#5
    "vision transformer": "none pictures",  # Atcold/NYU-DLSP20#854
    "paged attention": "13 Pages",  # GeeeekExplorer/nano-vllm#154
    "sliding window attention": "14 Windows",  # lucidrains/local-attention#30
    "concatenate heads": "8 Side by side | 8 All heads in one product",  # uvadlc#65
    "MultiHeadAttention": "api attnbook.multihead.MultiHeadAttention",  # rasbt/LLMs-from-scratch
}

# what a designer's review typed and people who had only the pages, some of it in other languages:
# one of the sections that are fair stands among the first three; "page" is any page
TYPED = {
    "difference between encoder and decoder": "1 reader and | 1 Eight | 11 machine | 11 another",
    "self-attention and cross-attention": "11 another sentence",
    "rnn vs transformer": "5 recurrence | 11 compared",
    "dot product vs cosine similarity": "4 Two ways | page blind score",
    "can I trust attention maps": "15 explanation | 15 picture",
    "time complexity of attention": "5 recurrence | 14 question | 8 cost | 14 tiles",
    "memory bandwidth": "13 One reading | 13 question | page real program",
    "how do I install it": "page own machine",
    "list of symbols": "page Notation",
    "transformer from scratch pytorch": "11 machine | 10 block, written",
    "attention is all you need": "11 transformer",
    "needle in a haystack": "14 Does it help | 14 trained length",
    "batch of sentences different length": "1 reader and | 1 Eight digits | 6 batch | 5 padding",
    "why is W_O needed": "8 Side by side | 8 mixed",
    "warum durch wurzel d teilen": "7 score grows | 7 nor d | page root, or the rate | 7 Scaling",
    "Aufmerksamkeit": "3 Attention | 5 Self-attention",
    "maschinelle Übersetzung": "1 question | 1 Sequence | 3 question | page machine translation",
    "traduction automatique": "1 question | 1 Sequence | 3 question | page machine translation",
    "mécanisme d'attention": "3 Attention | 5 Self-attention",
    "tête d'attention": "8 heads | 8 Multi-head | 15 head",
    "inducton heads": "15 larger | 16 Two heads | 16 layers",  # codespell:ignore
    "softmax temprature": "2 cut the tail | 4 softmax | 7 sure row",  # codespell:ignore
    "perplexety": "1 Learning to write | page size, training",  # codespell:ignore
    "kv cash": "13 computed",  # codespell:ignore
    "BERT and GPT": "12 Hide",
    "in-context learning": "12 examples",
    "few-shot": "12 examples",
    "padding mask": "5 padding | 11 masks | 7 same zero | 7 leak",
    "gelu": "10 else do blocks | 10 Summary",
    "residual stream": "10 sum | 16 matrices | 10 block",
    "difference between query key and value": "6 roles | 6 Queries",
    "greedy vs beam search": "2 Beam",
    "pre-norm or post-norm": "10 norm stands",
    "how do I install this on my laptop": "page own machine",
    "I found a mistake, where do I report it": "page Tell us",
    "Wozu braucht man Residualverbindungen?": "10 sum | 10 question | page residual connection",
    "can I use attention weights to explain a prediction": "15 explanation",
    "training loss almost zero but the model generates garbage": "11 falls too fast",
    "why are positional encodings added to the embedding and not concatenated": "9 Added",
    "extend the context of a model with rotary embeddings": "14 trained length | 14 Choosing",
}
