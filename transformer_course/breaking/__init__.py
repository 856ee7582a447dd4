"""Broken on purpose: faults of models, training steps and scores."""
