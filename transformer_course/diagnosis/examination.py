"""One examination for any model, and one for any training step: a table of what passed.

``examine`` adds five probes to the eight of probes.py. ``examine_step`` gives a training step a
stand-in for the model, whose logits are known. Used in notebooks/11_diagnosis.ipynb.
"""

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.looking.probe_result import (
    Model,
    ProbeResult,
    answer,
    difference,
    noise,
    undisturbed,
)
from transformer_course.looking.probes import PROBES
from transformer_course.looking.recording import removed_at_the_end
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.generation.continuation import (
    Continuation,
    padding_id_of,
    require_model,
    start_id_of,
)
from transformer_edu.model.refusals import require_callable
from transformer_edu.model.special_ids import END_ID, PADDING_ID
from transformer_edu.training.machine.device import device_of, pick_device

INVENTED = ((7, 6), (5, 7), (4, 3), (6, 4))  # source and target lengths of a sample of our own
FIRST_WORD = 4  # ids below are padding, start, end and unknown
LARGEST_RATIO = 5.0  # of a word's vector to its position's
MOST_ALIKE = 0.98  # mean cosine between the memory's positions


class Findings(tuple[ProbeResult, ...]):
    """The rows of an examination, printed as a table."""

    @property
    def failed(self) -> list[str]:
        """The names of the rows that failed."""
        return [row.name for row in self if row.passed is False]

    def __str__(self) -> str:
        """A line for each row; what failed says what it means."""
        lines = []
        for row in self:
            mark = {True: "passed", False: "FAILED", None: "-"}[row.passed]
            lines.append(f"{mark:7} {row.name}")
            if row.passed is False:
                lines.append(f"        → {row.sentence}")
        return "\n".join(lines)

    __repr__ = __str__


def examine(model: nn.Module) -> Findings:
    """Ask a model thirteen questions; it may be fresh or trained, and it is not changed.

    Args:
        model: Answers (source_ids, target_ids) with logits; it gets four rows of random words.

    Returns:
        One row for each question: passed, failed, or not applicable to this model.

    Raises:
        ValueError: If the model has no embedding, or fewer than two words.
    """
    sample = _invented_sample(model)
    repeatable = _asked(_probe_repeatable, model, *sample)
    rows = [repeatable]
    why = "raise an error" if repeatable.measured is None else "differ from call to call"
    for probe in (*PROBES, _probe_generation, _probe_logits, _probe_memory, _probe_scale):
        found = _asked(probe, model, *sample)
        if repeatable.passed is False and found.name not in INSPECTING:
            found = ProbeResult(found.name, None, None, f"Its answers {why}.")
        rows.append(found)
    return Findings(rows)


# What looks inside; all other probes compare two answers, which must be repeatable.
INSPECTING = (
    "attention rows sum to one",
    "every weight is registered",
    "tied weights are one tensor",
    "the answers are logits",
    "the memory's positions differ",
    "words do not drown positions",
)


def _asked(probe: Callable[..., ProbeResult], model: Model, *sample: Tensor) -> ProbeResult:
    """A probe's result; a model that raises an error has failed."""
    try:
        return probe(model, *sample)
    except (RuntimeError, IndexError, AttributeError) as error:
        name = probe.__name__.removeprefix("_").replace("_", " ")
        return ProbeResult(name, False, None, f"{type(error).__name__}: {str(error)[:100]}")


def _invented_sample(model: nn.Module) -> tuple[Tensor, Tensor]:
    """Random words of the model's vocabulary in four rows of different lengths."""
    tables = [each for each in model.modules() if isinstance(each, nn.Embedding)]
    if not tables:
        raise ValueError("model has no nn.Embedding")
    size = min(table.num_embeddings for table in tables)
    if size < FIRST_WORD + 2:
        raise ValueError(f"model must know at least two words, got a vocabulary of {size}")
    generator = torch.Generator().manual_seed(0)
    pairs = [
        tuple(
            torch.randint(FIRST_WORD, size, (n,), generator=generator, device="cpu").tolist()
            for n in lengths
        )
        for lengths in INVENTED
    ]
    batch = make_batch(pairs, model).to(device_of(model))
    return batch.source_ids, batch.decoder_input_ids


def _probe_repeatable(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Ask twice in evaluation mode with different random numbers: the answers must agree."""
    name = "evaluation is repeatable"
    with undisturbed(model):
        first = answer(model, source_ids, target_ids, training=False)
        torch.manual_seed(1)
        moved = difference(first, model(source_ids, target_ids))
    sentence = (
        f"The same question got logits that differ by {moved:.2g} in evaluation mode: "
        "look for dropout that does not know about evaluation mode."
    )
    if moved != moved:
        sentence = (
            "Some logits are NaN: look at the weights, and at rows that may attend to nothing."
        )
    return ProbeResult(name, moved <= noise(first), moved, sentence)


def _probe_generation(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Let generation read the target: its logits must be those of one pass."""
    name = "generation equals one pass"
    try:
        require_model(model)
    except TypeError as error:
        return ProbeResult(name, None, None, str(error))
    real = target_ids != padding_id_of(model)
    real[:, 0] = True  # a start token may be the padding token, too
    with undisturbed(model):
        at_once = answer(model, source_ids, target_ids, training=False)
        if not at_once.amax(dim=-1).isfinite().all():  # a continuation would refuse them
            return ProbeResult(name, False, None, "The logits are not finite.")
        writing = Continuation(model, source_ids, start_id=start_id_of(model))
        writing.written = target_ids[:, :1]  # whatever the sample begins with
        steps = []
        for token_ids in target_ids[:, 1:].T:
            steps.append(writing.next_logits())
            writing.append(token_ids)
        steps.append(writing.next_logits())
    by_steps = torch.stack(steps, dim=1)
    by_steps = torch.where(by_steps == -torch.inf, at_once, by_steps)  # padding, if forbidden
    moved = difference(at_once[real], by_steps[real])
    sentence = (
        f"Generation's logits differ by {moved:.2g} from those of training: "
        "look at the shift, the causal mask and the positions of new tokens."
    )
    return ProbeResult(name, moved <= noise(at_once), moved, sentence)


def _probe_logits(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Logits have no sign and no sum; probabilities have both."""
    with undisturbed(model):
        logits = answer(model, source_ids, target_ids, training=False)
    off = (logits.sum(dim=-1) - 1).abs().max().item()
    sentence = (
        "The model returns probabilities: the loss has a softmax inside, so return the logits."
    )
    passed = not bool((logits >= 0).all()) or off > noise(logits)
    return ProbeResult("the answers are logits", passed, off, sentence)


def _probe_memory(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Compare the memory's positions with each other: they must not all be alike."""
    name = "the memory's positions differ"
    if not all(callable(getattr(model, part, None)) for part in ("encode", "source_mask")):
        return ProbeResult(name, None, None, "The model has no encode and source_mask.")
    with undisturbed(model):
        mask = model.source_mask(source_ids)
        memory = F.normalize(model.encode(source_ids, source_mask=mask).float(), dim=-1)
    real = source_ids != padding_id_of(model)
    both = real.unsqueeze(1) & real.unsqueeze(2)
    both &= ~torch.eye(source_ids.size(1), dtype=torch.bool, device=both.device)
    alike = (memory @ memory.transpose(1, 2))[both].mean().item()
    sentence = (
        f"All positions of the memory are nearly the same vector (mean cosine {alike:.2f}): "
        "look at the residual connections. (With eight layers or more, fresh post-norm looks like "
        "this, too.)"
    )
    return ProbeResult(name, alike < MOST_ALIKE, alike, sentence)


def _probe_scale(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Compare the size of the words' vectors with that of their positions."""
    name = "words do not drown positions"
    seen: list[float] = []

    def measure(_: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
        if output.shape != given[0].shape:
            return  # a table of positions, which is added elsewhere
        added = (output - given[0]).norm()
        if added > 0:
            seen.append((given[0].norm() / added).item())

    positions = [module for path, module in model.named_modules() if path.endswith("positions")]
    hooks = [module.register_forward_hook(measure) for module in positions]
    with removed_at_the_end(hooks), undisturbed(model):
        answer(model, source_ids, target_ids, training=False)
    if not seen:
        return ProbeResult(name, None, None, "No positions are added by a module of their own.")
    ratio = max(seen)
    sentence = (
        f"Words are {ratio:.0f} times as long as positions: look at the embedding's first "
        "weights and at the factor √d_model."
    )
    return ProbeResult(name, ratio < LARGEST_RATIO, ratio, sentence)


# ---- Training steps ------------------------------------------------------------------------------

Step = Callable[[nn.Module, Batch, torch.optim.Optimizer], object]
PAIRS = [([4, 9, 8], [7, 5]), ([5, 6], [8, 9, 6, 4]), ([6, 4, 4, 5], [5]), ([7, 8], [4, 7, 9])]
VOCABULARY = 10
SURE = 30.0  # the logit of a label that is predicted with certainty


def examine_step(step: Step) -> Findings:
    """Give a training step a model whose logits are known, and see what it does with them.

    Args:
        step: Takes a model, a batch and an optimizer, trains once and returns the loss.

    Returns:
        One row for each question: passed or failed, or not applicable because of a row above.
    """
    require_callable("step", step)
    batch = make_batch(PAIRS)
    labels = batch.label_ids
    perfect = SURE * F.one_hot(labels, VOCABULARY).float()
    vague = torch.randn(perfect.shape, generator=torch.Generator().manual_seed(0), device="cpu")
    try:
        sure = _watch(step, batch, perfect)
        unsure = _watch(step, batch, vague)
    except Exception as error:  # whatever the reader has written there
        sentence = f"{type(error).__name__}: {error}"
        return Findings([ProbeResult("the step runs", False, None, sentence)])
    return Findings(_step_rows(batch, vague, sure, unsure))


class _Scripted(nn.Module):
    """Answers row i, whose source begins with the id 4 + i, with logits that are its weights."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__()
        self.logits = nn.Parameter(logits.clone())
        self.read: list[tuple[list[int], Tensor, bool]] = []

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        rows = source_ids[:, 0] - FIRST_WORD
        self.read.append((rows.tolist(), target_ids.cpu(), self.training))
        return self.logits[rows]


class _Watched(torch.optim.SGD):
    """Changes nothing, and keeps the gradients that it was given."""

    def __init__(self, model: _Scripted) -> None:
        super().__init__(model.parameters(), lr=0.0)
        self.model, self.gradients = model, []

    def step(self, closure: object = None) -> None:
        gradient = self.model.logits.grad
        self.gradients.append(None if gradient is None else gradient.cpu().clone())


def _watch(step: Step, batch: Batch, logits: Tensor) -> tuple[object, _Scripted, _Watched]:
    """Two steps on one batch: the loss of the first, the stand-in and the optimizer."""
    device = pick_device()
    model, batch = _Scripted(logits).to(device).eval(), batch.to(device)
    optimizer = _Watched(model)
    loss = step(model, batch, optimizer)
    step(model, batch, optimizer)
    return loss, model, optimizer


def _step_rows(batch: Batch, vague: Tensor, sure: tuple, unsure: tuple) -> Iterator[ProbeResult]:
    """The rows of examine_step, from what _watch returned for both kinds of logits."""
    loss, model, _ = sure
    shifted = all(ids.equal(batch.decoder_input_ids[rows]) for rows, ids, _ in model.read)
    meaning = "It read something else: give the model decoder_input_ids."
    yield _row("the decoder reads the shifted target", shifted and bool(model.read), meaning)
    is_training = all(mode for *_, mode in model.read)
    meaning = "It is in evaluation mode: call model.train() first."
    yield _row("the model is in training mode", is_training, meaning)
    loss = loss.item() if isinstance(loss, Tensor) and loss.numel() == 1 else loss
    cost = loss if isinstance(loss, int | float) else float("nan")
    meaning = (
        f"It costs {cost:.2f}: give the loss logits, not probabilities, and return the loss. "
        "(Label smoothing costs something, too.)"
    )
    is_free = abs(cost) < 0.01
    yield _row("a perfect prediction costs nothing", is_free, meaning)
    gradients = [each for each in unsure[2].gradients if each is not None]
    if len(gradients) < 2:
        yield _row("the weights are changed", False, "Call backward() and then optimizer.step().")
    else:
        yield from _gradient_rows(batch.label_ids, vague, *gradients[:2], is_free=is_free)


def _gradient_rows(
    labels: Tensor, vague: Tensor, first: Tensor, second: Tensor, *, is_free: bool
) -> Iterator[ProbeResult]:
    """The rows about the gradients of two steps on the same batch."""
    size = first.abs().amax(dim=-1)  # (batch, target position)
    padding = not size[labels == PADDING_ID].any()
    meaning = "Padding has a gradient: leave its labels out of the loss."
    yield _row("padding teaches nothing", padding, meaning)
    end = bool(size[labels == END_ID].all())
    meaning = "Its labels have no gradient: the model will never learn to stop."
    yield _row("the end token is trained", end, meaning)
    meaning = "The second step had the gradient of the first one, too: zero_grad() is missing."
    cleared = torch.allclose(first, second, rtol=1e-3, atol=1e-7)
    yield _row("old gradients are cleared", cleared, meaning)
    known = vague.clone().requires_grad_()
    F.cross_entropy(known.flatten(0, 1), labels.flatten(), ignore_index=PADDING_ID).backward()
    times = (first.norm() / known.grad.norm()).item()
    name = "the gradient is that of the mean"
    if is_free and padding and end:
        meaning = (
            f"It is {times:.1f} times as large: divide by the tokens of the whole batch. "
            "(At 1.0, it has another direction: look at what backward() is called on.)"
        )
        off = (first - known.grad).norm() / known.grad.norm()
        yield _row(name, off < 0.1, meaning)
    else:
        yield ProbeResult(name, None, times, "A row above failed.")


def _row(name: str, passed: bool, meaning: str) -> ProbeResult:
    return ProbeResult(name, bool(passed), None, meaning)
