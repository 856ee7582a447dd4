"""Every lesson computes on the device that pick_device finds, from its first cell to its last."""

import pytest

from tests.devices.watching import run_on_pretend_device
from tools.notebooks import lesson_paths, read


@pytest.mark.slow
@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.stem)
def test_a_lesson_runs_to_its_end_with_all_its_models_on_another_device(path):
    elsewhere, computations = run_on_pretend_device(read(path), path.name)
    assert elsewhere == [], "called with weights that lie elsewhere"
    assert computations > 0, "nothing was computed on the device"
