"""How a Transformer learns (paper §5). Read in this order.

loop        fit: predict, compare, correct, evaluate; seeds dropout at every step
config      every choice of a run, and the learning-rate schedules (§5.3)
loss        cross-entropy, label smoothing (§5.4), in chunks for large vocabularies; token accuracy
evaluation  loss, teacher-forced accuracy and greedy exact match on held-out pairs
bleu        BLEU by sacreBLEU, with its signature
state       what a run is made of: its history, and what its next step depends on
checkpoint  weights, optimizer, history and choices: stop today, continue with the same bits
averaging   the mean of the last weights of a run (§6.1)
budget      how long a run will take here
language_modeling  a language model learns from a running text, and what eight of them reached
faults      published bugs of models, training steps, decoding and scores, for the lessons

data/       tasks, batches, tokenizer, texts
machine/    device and precision, several processes, interrupts, whole files
runs/       ``python -m transformer_edu.training`` and what a run's folder holds
"""
