"""How a Transformer learns: tasks, batches, loss, schedule and the loop (paper §5).

number_words, vocabulary → tasks → batches → loop, which uses loss, schedule, evaluation and device.
"""
