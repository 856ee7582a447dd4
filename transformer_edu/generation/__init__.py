"""How a Transformer writes: one token after another, until it says that it is done (paper §6.1).

greedy takes the likeliest token at every step; evaluation_mode switches dropout off meanwhile.
"""
