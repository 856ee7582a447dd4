"""Broken on purpose.

faults                published bugs of models, training steps, decoding and scores
"""
