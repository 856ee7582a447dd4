"""How fast and how large this package is, measured beside others on this machine.

timing compares fairly; training_step, memory and decoding say what is measured; command is
``python -m transformer_edu.benchmark``.
"""
