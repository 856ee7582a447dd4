"""Broken on purpose.

faults                published bugs of models
"""
