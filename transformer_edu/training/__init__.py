"""How a Transformer learns: tasks, batches, loss, schedule and the loop (paper §5).

number_words, vocabulary → tasks → batches → loop, which uses loss, schedule, evaluation and device.
state → same_run, checkpoint_file → checkpoint: stop today, go on tomorrow; budget: how long?
"""
