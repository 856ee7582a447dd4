"""How the course draws: data in, a figure out; display shows it."""
