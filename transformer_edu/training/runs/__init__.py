"""What ``python -m transformer_edu.training`` is made of.

command → options, presets        the command line, and every number of a run by its name
command → run_task, watching      what is learned; the bar and the history while it is learned
run_folder                        what a folder holds
judging, scoring, averaging       exact match or BLEU; the average of the last weights
card, export, saved_translator    publish a run, and load what was published
stored_runs                       the curves that lessons draw (stored/*.json)
told_errors                       one sentence on standard error instead of a traceback
"""
