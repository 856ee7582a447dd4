"""How fast and how large this package is, measured beside others on this machine.

timing compares fairly; training_step, memory, decoding and redraw say what is measured, redraw on
explorer_samples; command is ``python -m experiments.benchmark``.
"""
