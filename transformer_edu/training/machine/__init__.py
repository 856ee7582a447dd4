"""The machine that trains: devices, processes, interrupts, memory, files.

device       where to compute, in which precision, on how many threads
one_process  what training asks of the processes that share its work: here one
processes    several processes that train one model
interrupt    Ctrl-C between two steps, never inside one
memory       freed memory is kept for the next step; a lack of memory is one sentence
whole_file   a file is replaced whole or not at all; a changed bit is noticed
"""
