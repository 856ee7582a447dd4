"""Training runs that were stored: in words, as a table, and as lines of a figure."""
