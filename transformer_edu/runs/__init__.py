"""What ``python -m transformer_edu.training`` is made of.

settings     every choice of a run, and three presets
options      the command line
run_folder   the files of a run; the lock against a second process
run_task     what is learned, by the name of the task
watching     the progress bar, the scores, the history and the weights
command      the command: from a task to a translator in a folder
scoring      BLEU of a finished translator, as a command of its own
"""
