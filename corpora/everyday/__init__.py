"""Everyday English and German: tables and a small grammar that make 150,000 sentence pairs.

``python -m corpora.everyday`` makes the data file again; README.md says more. The tables are read
by ``tables``. Each module builds on those above it:

english_forms, german_forms   the forms of words
noun_phrases                  articles, adjectives and nouns; pronouns, names, relatives
clauses                       verb phrases and word order; agreement and case
choices                       what makes sense together: an action and its times, objects, company
sentences_*                   the templates of sentences, by their theme
pairs                         words, phrases and generated sentences, and their parts
exchanged_nouns               phrases with a noun exchanged for another one
data_file                     all of it in one packed text
"""
