"""What the machine has to do with training.

device      where to compute, in which precision, on how many threads
processes   several processes that train one model
interrupt   Ctrl-C between two steps, never inside one
memory      freed memory is kept for the next step; a lack of memory is one sentence
whole_file  a file is replaced whole or not at all, and a changed bit is noticed
"""
