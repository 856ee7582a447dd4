"""Sampling: every token is drawn at random, with the probability that the model gives it.

Met in notebooks/12_generation.ipynb.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import compress

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.generation.continuation import Targets
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.ranking import best_first, require_finite_maximum
from transformer_edu.model.refusals import require_number, require_whole

LARGEST_SEED = 2**63 - 1


def sample(
    model: nn.Module,
    source_ids: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    generator: torch.Generator | int | None = None,
    max_length: int | None = None,
    start_id: int | None = None,
    end_id: int | None = None,
    cached: bool = True,
) -> list[list[int]]:
    """Write one target for each source, every token drawn from ``candidate_probabilities``.

    A row's target depends on the generator and on the row's place in the batch, not on the other
    rows. Equal sources get different targets.

    Args:
        model: As in greedy_search.
        source_ids: Sources of any lengths, padded at the end, shape (batch, source position).
        temperature, top_k, top_p, min_p: As in candidate_probabilities.
        generator: A generator, which the next call continues; or a seed, a whole number, which
            always draws the same; or None for the seed that torch.manual_seed was given. torch's
            own random state stays as it is.
        max_length, start_id, end_id, cached: As in greedy_search.

    Returns:
        For each source the ids written, without start, end and padding.

    Raises:
        TypeError, ValueError: As in greedy_search and candidate_probabilities.
    """
    settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    _require_settings(**settings)
    generator = _as_generator(generator)
    ends = {"max_length": max_length, "start_id": start_id, "end_id": end_id}
    with evaluation_mode(model):
        targets = Targets(model, source_ids, **ends, cached=cached)
        rows = _draw_rows(targets, partial(candidate_probabilities, **settings), generator)
    return [targets.read(row) for row in rows]


def candidate_probabilities(
    logits: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Tensor:
    """The probability of drawing each token: softmax(logits / temperature), with the tail cut off.

    The temperature comes first. Then the top_k tokens are kept; of these, the likeliest that
    together reach top_p; and of these, those with at least min_p times the probability of the
    likeliest. The probabilities that are left are scaled to sum to one.

    Args:
        logits: Shape (..., vocabulary); -inf for an impossible token.
        temperature: Above 0. Below 1 it makes likely tokens likelier, above 1 less likely.
        top_k: How many tokens may be drawn, of equal ones the first; None for all.
        top_p: Above 0 and at most 1. The fewest tokens whose probabilities sum to at least top_p
            may be drawn (nucleus sampling, Holtzman et al. 2020); None for all.
        min_p: Above 0 and at most 1. Tokens with at least this fraction of the likeliest token's
            probability may be drawn (Nguyen et al. 2024); None for all.

    Returns:
        Probabilities, shape (..., vocabulary), of type float32 at least.

    Raises:
        TypeError, ValueError: If an argument has the wrong type or is out of its range, or a row
            of logits has no finite maximum.
    """
    _require_settings(temperature, top_k, top_p, min_p)
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        got = logits.dtype if isinstance(logits, Tensor) else type(logits).__name__
        raise TypeError(f"logits must be a floating-point tensor, got {got}")
    if logits.dim() == 0 or logits.numel() == 0:
        raise ValueError(f"logits must have no empty axis, got the shape {tuple(logits.shape)}")
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    best = logits.amax(dim=-1, keepdim=True)
    require_finite_maximum(best)
    # Less the best logit, so that no quotient exceeds 0, however small the temperature is.
    limits = torch.finfo(logits.dtype)
    scaled = (logits - best) / min(max(temperature, limits.tiny), limits.max)
    probabilities = _likeliest(scaled, top_k, top_p)
    if min_p is not None:
        least = min_p * (1 - 8 * limits.eps) * probabilities.amax(dim=-1, keepdim=True)
        probabilities = probabilities.masked_fill(probabilities < least, 0.0)
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    return probabilities


def _likeliest(scaled: Tensor, top_k: int | None, top_p: float | None) -> Tensor:
    """The softmax of the top_k logits, and of these the likeliest that reach top_p."""
    if top_k is None and top_p is None:
        return scaled.softmax(dim=-1)
    candidates, token_ids = best_first(scaled, scaled.size(-1) if top_k is None else top_k)
    probabilities = candidates.softmax(dim=-1)
    if top_p is not None and top_p < 1:
        before = F.pad(probabilities.cumsum(dim=-1)[..., :-1], (1, 0), value=-1)
        # A sum that misses top_p by a rounding error has reached it.
        reached = before >= top_p * (1 - 8 * torch.finfo(scaled.dtype).eps)
        probabilities = probabilities.masked_fill(reached, 0.0)
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    return torch.zeros_like(scaled).scatter(-1, token_ids, probabilities)


def draw(probabilities: Tensor, uniform: Tensor) -> Tensor:
    """Draw one token for each row: the first whose cumulative probability exceeds a number.

    Args:
        probabilities: Shape (row, vocabulary).
        uniform: A number for each row, uniform in [0, 1), shape (row,).

    Returns:
        Token ids, shape (row,), none of them of probability 0. Anything else is refused.
    """
    reached = probabilities.cumsum(dim=-1)
    total = reached[:, -1:]  # 1, but for rounding
    fine = (probabilities >= 0).all(dim=-1) & ((total > 0) & total.isfinite())[:, 0]
    fine &= (uniform >= 0) & (uniform <= 1)  # NaN is neither
    if not fine.all():
        wanted = "must be at least 0 and not all 0, and uniform from 0 to 1"
        raise ValueError(f"probabilities {wanted}, got others in row {int((~fine).nonzero()[0])}")
    # The second condition: where a number is rounded up to 1, the last possible token is drawn.
    return ((reached <= uniform.unsqueeze(1) * total) & (reached < total)).sum(dim=-1)


def _draw_rows(
    targets: Targets, choose: Callable[[Tensor], Tensor], generator: torch.Generator
) -> list[list[int]]:
    """Draw every row token by token until all are done; choose turns logits into probabilities."""
    limits = targets.limits
    written: list[list[int]] = [[] for _ in limits]
    # Numbers in [0, 1), (batch, step); each row has a seed of its own.
    where, exact = generator.device, {"dtype": torch.float64, "device": "cpu"}
    seeds = torch.randint(LARGEST_SEED, (len(limits),), generator=generator, device=where).tolist()
    each_row = [torch.Generator().manual_seed(seed) for seed in seeds]
    uniform = torch.stack([torch.rand(max(limits), generator=each, **exact) for each in each_row])
    step, rows = 0, list(range(len(limits)))  # the rows that are not done
    while rows:
        step += 1
        probabilities = choose(targets.next_logits())  # (row, vocabulary)
        next_ids = draw(probabilities, uniform[rows, step - 1].to(probabilities))  # (row,)
        targets.append(next_ids)
        for row, token_id in zip(rows, next_ids.tolist(), strict=True):
            written[row].append(token_id)
        goes_on = [written[row][-1] != targets.end_id and step < limits[row] for row in rows]
        if 0 < sum(goes_on) < len(rows):
            targets.keep(torch.tensor(goes_on, device=next_ids.device).nonzero()[:, 0])
        rows = list(compress(rows, goes_on))
    return written


def _as_generator(generator: torch.Generator | int | None) -> torch.Generator:
    """The generator itself, or a new one from a seed; None takes torch's current seed."""
    if isinstance(generator, torch.Generator):
        return generator
    if generator is None:
        return torch.Generator().manual_seed(torch.initial_seed())
    require_whole("generator", generator, minimum=0, maximum=LARGEST_SEED)
    return torch.Generator().manual_seed(generator)


def _require_settings(
    temperature: float, top_k: int | None, top_p: float | None, min_p: float | None
) -> None:
    """Refuse a setting of the wrong type or out of its range."""
    wanted = "a finite number above 0 (at 0 it would be greedy_search)"
    require_number("temperature", temperature, wanted, lambda number: 0 < number < math.inf)
    if top_k is not None:
        require_whole("top_k", top_k)
    for name, value in (("top_p", top_p), ("min_p", min_p)):
        if value is not None:
            require_number(name, value, "above 0 and at most 1", lambda number: 0 < number <= 1)
