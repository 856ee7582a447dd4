"""Questions to the reader: Predict, and the three outcomes of an exercise."""
