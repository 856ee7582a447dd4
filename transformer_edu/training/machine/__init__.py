"""The machine that trains: devices, processes, what may go wrong, files.

device      where to compute, in which precision, on how many threads; keep freed memory
processes   the one process that computes, or several that share the work of one model
failures    interrupts between two steps; too little memory, and any error, in one sentence
whole_file  replace a file whole or not at all; detect a changed bit
"""
