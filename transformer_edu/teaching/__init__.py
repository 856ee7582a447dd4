"""What only the notebooks need: pictures, sliders, checks, and questions to put to a model.

display, plots, curves → explorers, translation; recording → probes; checks for the exercises.
"""
