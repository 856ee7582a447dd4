"""Hypotheses: the targets that beam search has written, their scores, and a record of each step.

Met in notebooks/12_generation.ipynb.
"""

import math
from bisect import insort
from typing import NamedTuple

from transformer_edu.model.refusals import require_number, require_whole


class Hypothesis(NamedTuple):
    """One possible target."""

    token_ids: list[int]  # without start, end and padding
    score: float  # log_probability / length_penalty(length, alpha); higher is better
    log_probability: float  # the sum over its tokens, in nats, the end token's included
    finished: bool  # whether it ends with the end token; if not, it was cut at the maximum length


class Branch(NamedTuple):
    """One hypothesis that a step has kept, as a branch of the tree of hypotheses."""

    parent: int  # the place of what it continues among the branches before; 0 in the first step
    token_id: int  # the token that it adds to its parent
    log_probability: float  # the sum over all its tokens, in nats
    score: float  # log_probability / length_penalty(step, alpha)
    finished: bool  # whether token_id is the end token
    continues: bool  # whether the next step continues it: not if it is complete, or cannot win


class BeamStep(NamedTuple):
    """What one step of beam search has kept."""

    step: int  # 1 for the first; the length of every hypothesis in it, the end token included
    sentences: list[int]  # the rows of source_ids that are still being written
    branches: list[list[Branch]]  # of each of these sentences, the most probable first


class Finalists:
    """The best complete hypotheses of one sentence so far, best first.

    Args:
        count: How many to remember.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.hypotheses: list[Hypothesis] = []

    def add(self, hypothesis: Hypothesis) -> None:
        """Remember a hypothesis if it is among the best; of equal scores, the earlier stays."""
        insort(self.hypotheses, hypothesis, key=lambda each: -each.score)
        del self.hypotheses[self.count :]

    def would_take(self, score: float) -> bool:
        """Whether a hypothesis of that score would be among the best."""
        return len(self.hypotheses) < self.count or score > self.hypotheses[-1].score


def length_penalty(length: int, alpha: float) -> float:
    """What a log-probability is divided by, so that hypotheses of all lengths can be compared.

    ((5 + length) / 6)^alpha, as the paper takes it from Wu et al. 2016 (§6.1). Every further token
    makes a hypothesis less probable; without the penalty, short ones would win.

    Args:
        length: Tokens of a hypothesis, the end token included.
        alpha: 0 for no penalty, 0.6 in the paper.

    Raises:
        TypeError, ValueError: If length is not a whole number of at least 1, alpha not a finite
            number of at least 0, or the penalty too large to be computed.
    """
    require_whole("length", length)
    require_alpha(alpha)
    try:
        return ((5 + length) / 6) ** alpha
    except OverflowError:
        wanted = f"smaller for hypotheses of {length} tokens"
        raise ValueError(f"alpha must be {wanted}, got {alpha}") from None


def require_alpha(alpha: float) -> None:
    """Refuse a value that is not a finite number of at least 0."""
    wanted = "a finite number of at least 0"
    require_number("alpha", alpha, wanted, lambda number: 0 <= number < math.inf)
