"""``python -m transformer_edu.training``: train a Transformer and keep the run in a folder."""

import sys

from transformer_edu.runs.command import main

if __name__ == "__main__":
    sys.exit(main())
