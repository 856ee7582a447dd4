"""Measure: ``python -m transformer_edu.benchmark train``."""

from transformer_edu.benchmark.command import main

if __name__ == "__main__":
    main()
