"""``python -m transformer_edu.training``: train a Transformer and keep the run in a folder."""

from transformer_edu.training.machine.failures import run_command

if __name__ == "__main__":
    run_command("transformer_edu.runs.command")
