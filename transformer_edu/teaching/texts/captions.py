"""Captions of pictures that do not exist, in English and German, to judge a translator by.

Used in notebooks/14_translation.ipynb and 15_looking_inside.ipynb. They were written for this
course in the style of the translator's training data; none of them is part of that data.
"""

from transformer_edu.teaching.texts.sentences import read_pairs

CAPTION_PAIRS = read_pairs("captions.tsv")  # English, German
# German words of the captions and the English words that they clearly translate.
UNDISPUTED = {german: english for english, german in read_pairs("words.tsv")}
