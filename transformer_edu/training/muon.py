"""Muon: an optimizer whose steps move a matrix equally far in every direction (Jordan et al. 2024).

The gradients of a weight matrix, averaged over some steps, are large in a few directions and small
in most. Muon replaces this mean by the nearest matrix that is equally large in all of them, so that
rare ones are learned as well. A small translator needs about half as many steps as with Adam.

Source: https://kellerjordan.github.io/posts/muon/; the length of a step is that of Liu et al. 2025,
https://arxiv.org/abs/2502.16982.
"""

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from transformer_edu.model.refusals import require_number
from transformer_edu.training.machine.device import autocast_for

MOMENTUM = 0.95  # of the mean of a matrix's gradients
STEP_LENGTH = 0.2  # root mean square of a step at learning rate 1: about that of Adam
FACTORS = (3.4445, -4.7750, 2.0315)  # of Newton and Schulz's iteration; they converge fast, not far
ITERATIONS = 5
BETAS, EPSILON = (0.9, 0.98), 1e-9  # of Adam (paper §5.3)


class Muon(Optimizer):
    """Muon for the matrices inside the layers, Adam for embeddings, biases and normalizations.

    Args:
        model: Its weights are changed in place.
        learning_rate: The same for both; what is good for Adam is good for Muon.
        precision: Of the products that a step needs, as in TrainingConfig; half is enough.

    Raises:
        TypeError, ValueError: If learning_rate is not a number of at least 0.
    """

    def __init__(self, model: nn.Module, learning_rate: float, precision: str = "float32") -> None:
        require_number("learning_rate", learning_rate, "at least 0", lambda rate: rate >= 0)
        self._autocast = autocast_for(model, precision)
        output = getattr(model, "output_projection", None)
        tables = [m.weight for m in model.modules() if isinstance(m, nn.Embedding)]
        layers = [m for m in model.modules() if isinstance(m, nn.Linear) and m is not output]
        hidden = [m.weight for m in layers if all(m.weight is not table for table in tables)]
        inside = set(map(id, hidden))
        others = [weight for weight in model.parameters() if id(weight) not in inside]
        groups = [{"params": others, "by": "Adam"}, {"params": hidden, "by": "Muon"}]
        super().__init__(groups, {"lr": learning_rate})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Change every weight that has a gradient."""
        for group in self.param_groups:
            change = self._step_by_muon if group["by"] == "Muon" else self._step_by_adam
            change([each for each in group["params"] if each.grad is not None], group["lr"])

    def _step_by_adam(self, weights: list[nn.Parameter], rate: float) -> None:
        for weight in weights:
            state = self.state[weight]
            if not state:
                state["step"] = torch.zeros(())
                state["mean"], state["mean_square"] = (torch.zeros_like(weight) for _ in range(2))
            state["step"] += 1
            state["mean"].lerp_(weight.grad, 1 - BETAS[0])
            state["mean_square"].lerp_(weight.grad.square(), 1 - BETAS[1])
            steps = state["step"].item()
            size = state["mean_square"].div(1 - BETAS[1] ** steps).sqrt_().add_(EPSILON)
            weight.addcdiv_(state["mean"], size, value=-rate / (1 - BETAS[0] ** steps))

    def _step_by_muon(self, weights: list[nn.Parameter], rate: float) -> None:
        alike: dict[tuple[int, ...], list[nn.Parameter]] = {}
        for weight in weights:
            alike.setdefault(tuple(weight.shape), []).append(weight)
        for shape, matrices in alike.items():  # those of one shape at once
            means = torch.stack([self._mean(weight) for weight in matrices])
            with self._autocast:
                steps = orthogonal(means)
            for weight, step in zip(matrices, steps, strict=True):
                weight.sub_(step, alpha=rate * STEP_LENGTH * max(shape) ** 0.5)

    def _mean(self, weight: nn.Parameter) -> Tensor:
        """The mean of the gradients, as it will be after one more step like this one (Nesterov)."""
        mean = self.state[weight].setdefault("mean", torch.zeros_like(weight))
        mean.lerp_(weight.grad, 1 - MOMENTUM)
        return weight.grad.lerp(mean, MOMENTUM)


def orthogonal(matrices: Tensor) -> Tensor:
    """The nearest matrices whose singular values are all about 1 (0.7 to 1.2).

    Newton and Schulz's iteration needs only products: a polynomial of a matrix changes its singular
    values and leaves its directions.

    Args:
        matrices: Shape (matrix, row, column).

    Returns:
        The same shape; a matrix of zeros stays one.
    """
    if matrices.shape[1] > matrices.shape[2]:
        return orthogonal(matrices.mT).mT
    matrices = matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)
    once, thrice, five_times = FACTORS
    for _ in range(ITERATIONS):
        square = matrices @ matrices.mT
        factor = torch.baddbmm(square, square, square, beta=thrice, alpha=five_times)
        matrices = torch.baddbmm(matrices, factor, matrices, beta=once)
    return matrices
