"""Questions to a model: what it computes inside, and what it does without a part."""
