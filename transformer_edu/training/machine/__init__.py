"""The machine that trains: devices, processes, failures, files.

device        where to compute, in which precision, on how many threads; keep freed memory
processes     one process, or several that share the work of one model
failures      interrupts between two steps; too little memory, and any error, in one sentence
atomic_files  write a file whole or not at all, lock it; JSON
"""
