"""What several lessons draw: data in, a figure out; display shows it."""
