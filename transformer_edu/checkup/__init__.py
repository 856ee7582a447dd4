"""A check-up for anybody's Transformer: probes that find what a loss hides.

``check_up(model)`` examines a model in a minute, trained or not, of whatever origin; so does the
command ``python -m transformer_edu.checkup my_file:build_model``. ``assert_healthy`` is for tests.
The probes are in probes.tsv, and what they find in findings.tsv.
"""

import lazy_loader

NAMES = {"examination": ["assert_healthy", "check_up"], "subject": ["Adapter", "CheckupError"]}
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs=NAMES)
