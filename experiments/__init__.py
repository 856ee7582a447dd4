"""Measurements for maintainers, from a checkout: they are not installed with the package."""
