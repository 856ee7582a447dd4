"""Figures with controls; each has a still picture beside it.

attention    the plane, masks, positions, heads switched off
decoder      a decoder that writes, step by step
generation   beams, candidates for sampling
model_map    Figure 1: shapes, parameters and classes of its boxes
translation  a sentence, its translation, and where each written word attends
"""
