"""Texts in English and German, written for this course, as tables with a header line.

sentences   sentences.tsv: short sentences to learn pieces of words from; the reader of all tables
captions    captions.tsv: captions to judge a translator by; words.tsv: words and their translations
"""
