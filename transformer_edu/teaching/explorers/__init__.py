"""Figures with controls; each has a still picture beside it.

attention    the plane, masks, positions, heads switched off
encoder      a word's stream through the sub-layers, and how far a word reaches
diagnosis    stored models whose fault is guessed
generation   a decoder that writes, step by step; beams; candidates for sampling
model_map    Figure 1: shapes, parameters and classes of its boxes
removals     heads of a translator, clicked off one by one
translation  a sentence, its translation, and where each written word attends
"""
