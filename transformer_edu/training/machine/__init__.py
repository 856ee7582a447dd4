"""The machine that trains: devices, processes, interrupts, memory, files.

device       where to compute, in which precision, on how many threads
one_process  the interface of the processes that share the work, for a single process
processes    several processes that train one model
interrupt    Ctrl-C takes effect between two steps, never inside a step
memory       keep freed memory for the next step; one sentence if memory runs out
whole_file   replace a file whole or not at all; detect a changed bit
"""
