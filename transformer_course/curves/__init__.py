"""Training runs that were stored, and how they are drawn."""
