"""Data to learn from: texts, tasks, batches."""
