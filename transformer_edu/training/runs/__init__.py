"""What ``python -m transformer_edu.training`` is made of.

command → options, presets        the command line; the settings of a run; averaged weights
command → run_task, watching      what is learned; the progress bar and the history
run_folder                        what a folder holds
judging, scoring                  exact match or BLEU
card, export, saved_translator    publish a run, and load what was published
stored_runs                       the curves that lessons draw (stored/*.json)
told_errors                       one sentence on standard error instead of a traceback
"""
