"""``python -m transformer_edu.generation runs/x < text``: translate line by line."""

import sys

from transformer_edu.translate import main

if __name__ == "__main__":
    sys.exit(main())
