"""Questions that several lessons ask: what a model computes inside, and without a part."""
