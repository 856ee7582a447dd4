"""Training runs that were stored.

stored_runs           the runs: read and written as small JSON files
run_figures           in words, as a table, and as lines of a figure
"""
