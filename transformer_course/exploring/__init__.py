"""Figures with controls that several lessons show."""
