"""Measure: ``python -m experiments.benchmark train``."""

from experiments.benchmark.command import main

if __name__ == "__main__":
    main()
