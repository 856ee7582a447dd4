"""Measure: ``python -m experiments.benchmark train``."""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("experiments.benchmark.command")
