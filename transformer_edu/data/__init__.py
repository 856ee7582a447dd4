"""What a Transformer learns from: pairs of token ids.

toy_tasks      copy, reverse and number words, with disjoint parts
number_words   numbers from 1 to 999,999 in English and German
vocabulary     words and their ids
tokenizer      byte-level BPE: one vocabulary for two languages (§5.1)
parallel_text  sentence pairs from files, and the task that they make
multi30k       31,014 captions in English and German, downloaded once
everyday/      150,000 everyday sentences by seed: a grammar, tables, fixed phrases
augmentation   the same pairs as people type them, words split at random (BPE dropout)
batches        padding, shifting, batches by pairs or by tokens
"""
