"""The reader's post-norm classes in pre-norm order, as the translator's weights need them."""

from collections.abc import Callable

from torch import Tensor, nn


def put_norms_first(model: nn.Module) -> None:
    """Turn a model, or one of its stacks, from post-norm to pre-norm.

    Each Add & Norm now computes x + dropout(f(norm(x))), and each stack ends in a new norm,
    ``final_norm``.

    Args:
        model: Has the names of the course's classes; it is changed.
    """
    d_model = 0
    for path, part in list(model.named_modules()):
        if path.rsplit(".", 1)[-1].startswith("around_"):
            part.forward = _norm_first(part)
            d_model = part.norm.weight.numel()
    for stack in list(model.modules()):
        if hasattr(stack, "layers"):
            stack.final_norm = nn.LayerNorm(d_model)
            stack.register_forward_hook(lambda stack, _, x: stack.final_norm(x))


def _norm_first(part: nn.Module) -> Callable[[Tensor, Callable], Tensor]:
    return lambda x, sublayer: x + part.dropout(sublayer(part.norm(x)))
