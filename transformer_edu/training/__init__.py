"""How a Transformer learns: tasks, batches, loss, schedule and the loop (paper §5).

number_words, vocabulary → tasks → batches → loop, which uses loss, schedule, evaluation and device.
parallel_text, download → multi30k; byte_pieces → tokenizer; both → translation_task, in
token_batches, judged by bleu.
faults, published_copy → reference_settings → reference_runs, stored_runs, bars: for lesson 10.
presets, run_folder, judging → watching → command: a whole run from the command line, its weights
averaged; processes: several of them; saved_translator → score, export: what it has come to.
state → same_run, checkpoint_file → checkpoint: stop today, go on tomorrow; budget: how long?
"""
