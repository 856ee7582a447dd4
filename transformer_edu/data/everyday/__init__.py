"""Everyday English and German, generated from tables and a small grammar: synthetic training data.

tables/*.tsv hold the words; phrases.tsv sentences written by hand to learn from, held_out.tsv some
to judge by, never trained on; tables reads them.
english_forms, german_forms: the forms of words.
The grammar: noun_phrases → clauses: agreement, case and word order.
choices: what makes sense together, and whole sentences with slots.
sentences_*: the templates; pairs: everything by seed, in three parts.
"""
