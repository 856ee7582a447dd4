"""How a Transformer writes: one token after another, until it says that it is done (paper §6.1).

greedy takes the likeliest token at every step, beam keeps the best few hypotheses, sampling draws.
All three stand on continuation, which holds what is written and its key/value cache, begun by
writing, which checks what is asked with requests. beam ranks with ranking and returns hypotheses;
evaluation_mode switches dropout off meanwhile; translator goes from text to text.
"""
