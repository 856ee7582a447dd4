"""What a Transformer is: every box of the paper's Figure 1, one module each (paper §3).

masks → attention, feed_forward → add_and_norm → encoder, decoder → transformer;
attention has the formula written out, and MultiHeadAttention with the fused call; embeddings holds
words and positions, cache what decoding keeps from step to step, pytorch carries weights to and
from torch.nn, vocabulary holds the special token ids.
"""
