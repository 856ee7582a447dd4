"""Eight tests of any model that loss and accuracy do not replace (lessons 3, 9 and 11).

A model that sees the future, or cannot tell positions apart, may reach a small loss and generate
nonsense. Each probe looks for one such fault; it takes any model that answers
(source_ids, target_ids) with logits, trained or not.
"""

from collections.abc import Callable

from torch import Tensor

from transformer_course.looking.logit_probes import (
    probe_future,
    probe_order,
    probe_padding,
    probe_rows,
    probe_step_by_step,
)
from transformer_course.looking.part_probes import (
    probe_attention_rows,
    probe_parameters,
    probe_tied_weights,
)
from transformer_course.looking.probe_result import Model, ProbeResult

PROBES: tuple[Callable[[Model, Tensor, Tensor], ProbeResult], ...] = (
    probe_future,
    probe_padding,
    probe_order,
    probe_rows,
    probe_attention_rows,
    probe_parameters,
    probe_step_by_step,
    probe_tied_weights,
)
