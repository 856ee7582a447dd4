"""What makes the data files of the library, from a checkout: this is not installed with it.

everyday/   tables and a grammar of everyday English and German (transformer_edu/data/everyday.py)
"""
