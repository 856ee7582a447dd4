"""How a Transformer learns (paper §5). Read in this order.

loop              fit: predict, compare, correct, evaluate; seeds dropout at every step
config            every choice of a run, and the learning-rate schedules (§5.3)
muon              an optimizer that needs fewer steps than Adam, for long runs
loss              cross-entropy, label smoothing (§5.4), in chunks for large vocabularies; accuracy
evaluation        loss, teacher-forced accuracy and greedy exact match on held-out pairs
bleu              BLEU by sacreBLEU, with its signature
state             what a run is made of: its history, and what its next step depends on
checkpoint        a run stops and continues with the same bits; models alone; their average (§6.1)
checkpoint_file   the format of these files, with a checksum
saved_translator  load a translator from the folder of a run
machine/          device and precision, several processes, interrupts, files
"""
