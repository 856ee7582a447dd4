"""Texts in English and German, written for this course, as tables with a header line.

sentences   the reader of the tables: sentences.tsv, to learn pieces of words from; captions.tsv,
            to evaluate a translator; words.tsv, words of the captions and their translations;
            agreement.tsv, captions with a right and a wrong form of one word; first.tsv, what the
            first picture of the course translates
"""
