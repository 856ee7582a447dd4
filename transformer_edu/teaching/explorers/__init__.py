"""Figures with controls; each has a still picture beside it.

attention    the plane, masks, positions, heads switched off
generation   beams, candidates for sampling
translation  a sentence, its translation, and where each written word attends
"""
