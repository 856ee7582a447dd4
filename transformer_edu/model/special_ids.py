"""The four token ids that every vocabulary of this project begins with.

Met in notebooks/01_words_as_vectors.ipynb and 03_masks.ipynb.
"""

PADDING_ID = 0  # fills short sequences of a batch; never attended to, never scored
START_ID = 1  # the decoder's first input
END_ID = 2  # the last label: the model learns when to stop
UNKNOWN_ID = 3  # stands for a token that the vocabulary lacks
SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>")  # their names, in the order of their ids
