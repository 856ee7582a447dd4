"""How a Transformer writes, one token at a time, until it writes the end token (paper §6.1).

greedy           takes the most probable token at every step
beam             keeps the best few hypotheses
sampling         draws: temperature, top-k, top-p
translator       text in, text out: a model with its tokenizer

continuation     what has been written, with the key/value cache; what every search begins with
hypotheses       what beam search returns: tokens, score; length_penalty
ranking          the best of many numbers, ties included
evaluation_mode  no dropout and no gradients, then everything as before
"""
