"""The doors of the teaching tools refuse bad input in one sentence and accept right input."""

import numpy as np
import pytest
import torch

from transformer_edu.teaching.inspect.refusals import (
    require_floats,
    require_zero_to_one,
)


def test_right_input_passes():
    require_floats("shares", torch.ones(2, 3, dtype=torch.bfloat16))


@pytest.mark.parametrize("made", [torch.tensor, np.array], ids=["tensor", "array"])
def test_half_precision_may_overshoot_one_and_no_more(made):
    require_zero_to_one("shares", made([0.0, 1.0005]))
    for wrong in (1.002, -0.001, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="shares must be from 0 to 1, got"):
            require_zero_to_one("shares", made([0.5, wrong]))


@pytest.mark.parametrize(
    ("require", "given", "error", "message"),
    [
        (require_floats, [0.5], TypeError, "x must be a tensor of floating-point .* got list"),
        (require_floats, torch.ones(2).long(), TypeError, "x must be .* got torch.int64"),
    ],
)
def test_what_does_not_fit_is_refused(require, given, error, message):
    with pytest.raises(error, match=message):
        require("x", given)
