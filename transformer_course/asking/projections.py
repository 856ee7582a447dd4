"""What lessons 2 and 3 check in the reader's attention: projections, and inputs for them."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import AnswerError
from transformer_edu.model.attention import MultiHeadAttention

# Every length is different, so that no axis passes for another.
BATCH, QUERIES, KEYS, D_MODEL, D_HEAD = 2, 3, 5, 12, 4
PROJECTIONS = ("query_projection", "key_projection", "value_projection")


def random_inputs() -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value of the check's own, the same every time."""
    generator = torch.Generator().manual_seed(2)
    return tuple(
        torch.randn(BATCH, length, D_MODEL, generator=generator) for length in (QUERIES, KEYS, KEYS)
    )


def project_with_package(attention: nn.Module, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Give a module the package's projections, and return the inputs projected with them.

    Args:
        attention: A module with PROJECTIONS from D_MODEL to D_HEAD.
        inputs: Query, key and value, each (batch, position, D_MODEL).
    """
    package = MultiHeadAttention(d_model=D_MODEL, num_heads=D_MODEL // D_HEAD)
    weights = {name: package.get_submodule(name).weight[:D_HEAD] for name in PROJECTIONS}
    attention.load_state_dict({f"{name}.weight": weight for name, weight in weights.items()})
    return [x @ weight.T for x, weight in zip(inputs, weights.values(), strict=True)]


def require_projections(attention: nn.Module) -> None:
    """Refuse missing projections, biases and wrong widths, each with its hint."""
    for name in PROJECTIONS:
        projection = getattr(attention, name, None)
        if not isinstance(projection, nn.Linear):
            raise AnswerError(f"__init__ must set self.{name} to an nn.Linear.")
        if projection.bias is not None:
            raise AnswerError(f"The paper's projections have no bias: {name} needs bias=False.")
        if (projection.in_features, projection.out_features) != (D_MODEL, D_HEAD):
            got = f"nn.Linear({projection.in_features}, {projection.out_features})"
            raise AnswerError(f"{name} must go from d_model to d_head numbers; yours is {got}.")
