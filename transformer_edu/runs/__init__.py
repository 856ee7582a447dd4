"""What ``python -m transformer_edu.training`` is made of.

command → options, presets    the command line; the settings of a run
command → run_task, watching  what is learned; progress bar, scores and history
run_folder                    what a folder holds, its translator; the lock against others
fine_tuning                   go on from a trained translator, with more tokens
scoring                       BLEU of a finished translator; everyday sentences that are right
card, export                  publish a run
stored_runs                   the curves that lessons draw (stored/*.json)
"""
