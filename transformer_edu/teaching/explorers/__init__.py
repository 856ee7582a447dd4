"""Figures with controls; each has a still picture beside it.

attention    scaling, masks, positions, heads switched off
generation   decoding step by step, candidates, beams, length penalty
translation  a sentence, its translation, and where each written word attends
"""
