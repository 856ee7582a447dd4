"""Beam search: the best few hypotheses at every step, not only the best one (paper §6.1).

A hypothesis that ends makes the beam narrower by one until the next step fills it again. So a beam
of width 1 stops where greedy search stops. Built in notebooks/12_generation.ipynb.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transformer_edu.generation.continuation import LARGEST_WIDTH, Targets
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.hypotheses import (
    BeamStep,
    Branch,
    Finalists,
    Hypothesis,
    length_penalty,
    require_alpha,
)
from transformer_edu.generation.ranking import best_first, require_finite_maximum
from transformer_edu.model.refusals import require_callable, require_whole


def beam_search(
    model: nn.Module,
    source_ids: Tensor,
    *,
    width: int = 4,
    alpha: float = 0.6,
    num_best: int = 1,
    max_length: int | None = None,
    start_id: int | None = None,
    end_id: int | None = None,
    cached: bool = True,
    end_loops: bool = False,
    after_step: Callable[[BeamStep], None] | None = None,
) -> list[list[Hypothesis]]:
    """Write the best targets that a beam of this width finds for each source.

    At every step each hypothesis is continued by every token, and the ``width`` most probable of
    all these are kept. Those that end are complete; the others continue until they can no longer
    be among the best, or to the maximum length.

    Args:
        model: As in greedy_search.
        source_ids: Sources of any lengths, padded at the end, shape (batch, source position).
        width: Hypotheses kept at every step, at most LARGEST_WIDTH.
        alpha: How much long hypotheses are favored, at least 0: see ``length_penalty``.
        num_best: Hypotheses to return for each source, at most width.
        max_length, start_id, end_id, cached, end_loops: As in greedy_search.
        after_step: Called after every step with its record.

    Returns:
        For each source its best hypotheses, best first, no two with the same tokens; fewer than
        num_best only where fewer exist.

    Raises:
        TypeError, ValueError: As in greedy_search, or if width, alpha or num_best is out of range.
    """
    require_whole("width", width, maximum=LARGEST_WIDTH)
    require_alpha(alpha)
    require_whole("num_best", num_best)
    if num_best > width:
        raise ValueError(f"num_best must be at most width, got {num_best} and {width}")
    require_callable("after_step", after_step)
    ends = {"max_length": max_length, "start_id": start_id, "end_id": end_id}
    with evaluation_mode(model):
        targets = Targets(model, source_ids, **ends, cached=cached, end_loops=end_loops)
        beams = Beams(targets, width=width, alpha=alpha, num_best=num_best)
        while beams.sentences:
            beams.extend()
            beams.collect()
            undecided = beams.undecided()
            if after_step is not None:
                after_step(beams.record(undecided))
            beams.advance(undecided)
    return [finalists.hypotheses for finalists in beams.finalists]


class Kept(NamedTuple):
    """What a step keeps for each sentence, most probable first; all three (sentence, beam)."""

    totals: Tensor  # log-probabilities, -inf for no hypothesis
    parents: Tensor  # the beams that they continue
    token_ids: Tensor  # the tokens that they add


def best_continuations(totals: Tensor, logits: Tensor, width: int) -> Kept:
    """The most probable of all continuations of each sentence's hypotheses by one token.

    Args:
        totals: Log-probabilities of the hypotheses, -inf for none, shape (sentence, beam).
        logits: The model's for the next token of each, shape (sentence · beam, vocabulary).
        width: How many to keep for each sentence; all of them if there are fewer.

    Raises:
        ValueError: If a row of logits has no finite maximum.
    """
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    # No beam can place more than width continuations among the best width.
    best_logits, token_ids = best_first(logits, width)  # (sentence · beam, choice)
    require_finite_maximum(best_logits[:, 0])
    log_probabilities = logits.log_softmax(dim=-1).gather(-1, token_ids)
    longer = totals.unsqueeze(-1) + log_probabilities.unflatten(0, totals.shape)
    kept, places = best_first(longer.flatten(1), width)  # (sentence, new beam)
    added = token_ids.unflatten(0, totals.shape).flatten(1).gather(1, places)
    return Kept(kept, places // token_ids.size(-1), added)


class Beams:
    """The hypotheses of every sentence that is not decided yet, all of the same length.

    A step is ``extend``, ``collect`` and ``advance``, in this order. Until ``advance``, ``targets``
    holds the hypotheses as they were before the step, and ``kept`` their next tokens. The other
    arguments are those of ``beam_search``.
    """

    def __init__(self, targets: Targets, *, width: int, alpha: float, num_best: int) -> None:
        self.targets, self.width, self.alpha = targets, width, alpha
        self.step = 0
        self.sentences = list(range(len(targets.limits)))  # those that are not decided
        self.finalists = [Finalists(num_best) for _ in targets.limits]
        self.final_penalties = [length_penalty(limit, alpha) for limit in targets.limits]
        # The start token alone, which is certain.
        self.totals = torch.zeros(len(self.sentences), 1, device=self.targets.written.device)

    def extend(self) -> None:
        """Continue every hypothesis by every token and keep the most probable."""
        self.step += 1
        self.kept = best_continuations(self.totals, self.targets.next_logits(), self.width)

    def collect(self) -> None:
        """Move the hypotheses that are complete to the finalists."""
        totals, parents, token_ids = self.kept
        finished = token_ids == self.targets.end_id  # (sentence, beam)
        of_each = [self.targets.limits[sentence] for sentence in self.sentences]
        at_limit = (torch.tensor(of_each, device=totals.device) == self.step).unsqueeze(1)
        complete = (totals > -torch.inf) & (finished | at_limit)
        self.totals = totals.masked_fill(complete, -torch.inf)
        if not complete.any():
            return
        places = torch.arange(len(totals), device=totals.device)
        written = self.targets.written[self._rows(places, parents)[complete]]
        of_each = (complete.nonzero()[:, 0], written, token_ids[complete], totals[complete])
        for place, row, token_id, total in zip(*(x.tolist() for x in of_each), strict=True):
            hypothesis = Hypothesis(
                token_ids=self.targets.read([*row, token_id]),
                score=total / length_penalty(self.step, self.alpha),
                log_probability=total,
                finished=token_id == self.targets.end_id,
            )
            self.finalists[self.sentences[place]].add(hypothesis)

    def undecided(self) -> list[int]:
        """The places of the sentences that a hypothesis of the beam may still change.

        A log-probability only falls, and the penalty is largest at the maximum length. So no
        continuation of a hypothesis scores better than the hypothesis would with that penalty.
        """
        best_totals = self.totals.amax(dim=1).tolist()
        return [
            place
            for place, (sentence, total) in enumerate(zip(self.sentences, best_totals, strict=True))
            if total > -torch.inf
            and self.finalists[sentence].would_take(total / self.final_penalties[sentence])
        ]

    def record(self, undecided: list[int]) -> BeamStep:
        """This step in plain numbers; only the sentences at the undecided places continue."""
        branches: list[list[Branch]] = [[] for _ in self.sentences]
        for place, beam in (self.kept.totals > -torch.inf).nonzero().tolist():
            total, parent, token_id = (x[place, beam].item() for x in self.kept)
            branch = Branch(
                parent=parent,
                token_id=token_id,
                log_probability=total,
                score=total / length_penalty(self.step, self.alpha),
                finished=token_id == self.targets.end_id,
                continues=place in undecided and self.totals[place, beam].item() > -torch.inf,
            )
            branches[place].append(branch)
        return BeamStep(step=self.step, sentences=list(self.sentences), branches=branches)

    def advance(self, undecided: list[int]) -> None:
        """Write the kept tokens of the sentences at these places, and drop the other sentences."""
        self.sentences = [self.sentences[place] for place in undecided]
        if not self.sentences:
            return
        places = torch.tensor(undecided, device=self.totals.device)
        self.totals = self.totals[places]
        # Copies of the first incomplete hypothesis replace the complete ones: a model is never
        # asked what follows the end token.
        living = self.totals > -torch.inf
        beams = torch.arange(self.totals.size(1), device=places.device)
        beams = beams.where(living, living.int().argmax(dim=1, keepdim=True))
        rows = self._rows(places, self.kept.parents[places].gather(1, beams))
        all_rows = self._all_rows()
        if rows.shape != all_rows.shape:
            self.targets.keep(rows.flatten())
        elif not rows.equal(all_rows):
            self.targets.reorder(rows.flatten())
        self.targets.append(self.kept.token_ids[places].gather(1, beams).flatten())

    def _rows(self, places: Tensor, beams: Tensor) -> Tensor:
        """The rows of ``written`` for these beams of the sentences at these places."""
        return self._all_rows()[places.unsqueeze(1), beams]

    def _all_rows(self) -> Tensor:
        """The rows of ``written`` before the step, shape (sentence, beam)."""
        written = self.targets.written
        return torch.arange(len(written), device=written.device).view(len(self.kept.totals), -1)
