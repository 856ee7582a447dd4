"""What ``python -m transformer_edu.training`` is made of.

command → options, presets         the command line; the settings of a run; averaged weights
command → run_task, watching       what is learned; the progress bar and the history
run_folder                         what a folder holds; the lock that keeps a second training out
fine_tuning                        go on from a trained translator, with more tokens
judging, scoring, everyday_scores  exact match or BLEU; everyday sentences that are right
card, export, saved_translator     publish a run, and load what was published
stored_runs                        the curves that lessons draw (stored/*.json)
told_errors                        one sentence on standard error instead of a traceback
"""
