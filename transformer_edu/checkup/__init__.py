"""A check-up for anybody's Transformer: probes that find what a loss hides.

``check_up(model)`` examines a model in a minute, trained or not, of whatever origin; so does the
command ``python -m transformer_edu.checkup my_file:build_model``. ``assert_healthy`` is for tests.
The probes are in probes.tsv, and what they find in illnesses.tsv.
"""

from transformer_edu.checkup.examination import assert_healthy, check_up
from transformer_edu.checkup.subject import Adapter, CheckupError

__all__ = ["Adapter", "CheckupError", "assert_healthy", "check_up"]
