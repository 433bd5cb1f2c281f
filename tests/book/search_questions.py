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
    "mixture of experts": "13 experts",
    "hallucination": "none make up",
    "overfitting": "none overfit",
    "atention": "3 Attention | 5 Self-attention",  # codespell:ignore
    "softmx": "4 softmax | 5 By hand",
    "encodr": "1 encoder | 11 machine",
    "perplexity": "1 Training | 3 perplexities",
    "query key value": "6 Queries | 6 three roles",
    "cls token": "15 weight | 12 Pieces",
    "mask future": "5 future | 11 masks",
    "why divide by sqrt d": "7 dot product | 7 Scaling",
    "kv cache": "13 computed",
    "flash attention": "14 tiles",
    "GQA": "13 Share",
}

# what users of peer courses and of PyTorch asked, where it was asked
USERS = {
    "attention mask shape": "7 Masks | 11 masks",  # pytorch/pytorch#120488
    "is_causal": "7 libraries | 7 Fewer queries",  # pytorch/pytorch#118972
    "softmax returns nan": "7 nothing to attend",  # bentrevett and pytorch, an empty row
    "decoder repeats one token": "11 falls too fast",  # pytorch/tutorials#719
    "pre-layer norm vs post-layer norm": "10 block | 10 Pre-norm",  # annotated-transformer#92
    "weight tying": "11 Further",  # harvardnlp/harvardnlp.github.io#13
    "what exactly are keys queries and values": "6 Queries | 6 three roles",  # stats.SE
    "why not one big head": "8 two relations | 8 One head",  # Reddit, February 2026
    "why sine and cosine": "9 Clocks | 9 rotation",  # the same
    "label smoothing": "11 Further",  # bentrevett/pytorch-seq2seq#147
    "beam search": "2 Beam search",  # pytorch/tutorials#894
    "training vs inference": "11 one by one",  # attention-is-all-you-need-pytorch#213
    "backprop through attention": "7 gradient | 6 error reaches",  # torchedup's exercise
    "why do all tokens attend to the first": "14 sinks",  # jessevig/bertviz#131
    "induction heads": "15 larger model",  # coairesearch/mlxterp#5
    "vision transformer": "none pictures",  # Atcold/NYU-DLSP20#854
    "paged attention": "13 Pages",  # GeeeekExplorer/nano-vllm#154
    "sliding window attention": "14 Windows",  # lucidrains/local-attention#30
    "concatenate heads": "8 Side by side | 8 All heads in one product",  # uvadlc#65
    "MultiHeadAttention": "api attnbook.multihead.MultiHeadAttention",  # rasbt/LLMs-from-scratch
}
