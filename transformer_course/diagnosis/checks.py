"""Checks of lesson 11: diagnosis. The case book's patients are built here."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.asking.answer import AnswerError, ask, exercise, require_number
from transformer_course.breaking.faults import FAULTS
from transformer_course.curves.stored_runs import StoredRuns, load_runs
from transformer_course.diagnosis.faults import STEP_FAULTS, Step, training_step
from transformer_edu.data.batches import make_batch, pad
from transformer_edu.data.toy_tasks import Pair
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.machine.device import device_of

SIZES = {"d_model": 48, "num_heads": 4, "num_layers": 2, "d_ff": 192, "max_length": 64}
VOCABULARY = 20
SAMPLE = [([4, 5, 6, 7], [7, 6, 5, 4]), ([8, 9], [9, 8]), ([4, 4, 11], [11, 4, 4])]
PADDING = 3  # columns that a reader's probe appends
SAME = 1e-5


@dataclass(frozen=True)
class Patient:
    """What one patient has, where its curve is stored, and where to look."""

    faults: frozenset[str]
    curve: str
    hint: str


PATIENTS = {
    "first": Patient(frozenset({"no causal mask"}), "no causal mask", ""),
    "A": Patient(
        frozenset({"positions along the batch"}),
        "positions along the batch",
        "two rows of the examination fail, and one of them compares a row with the whole batch.",
    ),
    "B": Patient(
        frozenset({"heads merged by view"}),
        "heads merged by view",
        "the future is visible and padding matters, but every row of attention weights sums to "
        "one. So the weights are right. What is done with the heads afterwards?",
    ),
    "C": Patient(
        frozenset({"layers in a plain list"}),
        "layers in a plain list",
        "count its parameters: sum(w.numel() for w in model.parameters()).",
    ),
    "D": Patient(
        frozenset({"softmax before the loss"}),
        "softmax in the model",
        "its loss never gets near 0, although many tokens are right. What does a perfect "
        "prediction cost in its training step?",
    ),
    "E": Patient(
        frozenset({"embeddings start too large", "end token not trained"}),
        "copy, as published",
        "it has two faults, one in the model and one in the training step.",
    ),
    "F": Patient(
        frozenset({"no residual"}),
        "no residual",
        "a single row of the examination fails. What do all positions of its memory have in "
        "common?",
    ),
}


def build_patient(patient: str, *, vocabulary_size: int = VOCABULARY) -> tuple[Transformer, Step]:
    """Build a patient: its model, fresh, and its training step.

    Args:
        patient: "first", or a letter from A to F.
        vocabulary_size: Tokens of the model's vocabulary.
    """
    faults = PATIENTS[patient].faults
    kind = next((FAULTS[name] for name in faults if name in FAULTS), Transformer)
    step = next((STEP_FAULTS[name] for name in faults if name in STEP_FAULTS), training_step)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        config = TransformerConfig(vocabulary_size=vocabulary_size, **SIZES, dropout=0.0)
        return kind(config), step


def case_sheet(patients: str) -> list[StoredRuns]:
    """The stored curves of some patients, under their letters.

    Args:
        patients: Letters, such as "ABC".
    """
    return [
        replace(load_runs(PATIENTS[letter].curve), variant=f"patient {letter}")
        for letter in patients
    ]


def written_table(model: nn.Module, pairs: Sequence[Pair], vocabulary: Vocabulary) -> str:
    """Each source, what should be written for it, and what a model writes, to print.

    Args:
        model: One that greedy_search accepts.
        pairs: Source and target ids.
        vocabulary: Of both.
    """
    source_ids = pad([source for source, _ in pairs]).to(device_of(model))
    longest = max(len(target) for _, target in pairs) + 1
    lines = []
    written = greedy_search(model, source_ids, max_length=longest)
    for (source, target), ids in zip(pairs, written, strict=True):
        texts = [" ".join(vocabulary.decode(each)) for each in (source, target, ids)]
        lines += [
            texts[0],
            f"    should be: {texts[1]}",
            f"    writes:    {texts[2] or '(nothing)'}",
        ]
    return "\n".join(lines)


@exercise("11.1")
def check_first_cases(answer: dict[str, str]) -> None:
    """Exercise 11.1: what patients A, B and C have."""
    _check_cases(answer, "ABC")


@exercise("11.2")
def check_second_cases(answer: dict[str, str | Collection[str]]) -> None:
    """Exercise 11.2: what patients D, E and F have."""
    _check_cases(answer, "DEF")


def _check_cases(answer: dict[str, str | Collection[str]], letters: str) -> None:
    if not isinstance(answer, dict):
        raise AnswerError(f"The answer is a dictionary; yours is {type(answer).__name__}.")
    if set(answer) != set(letters):
        named = sorted(map(str, answer))
        raise AnswerError(f"The patients are {', '.join(letters)}; you named {named}.")
    known = [*FAULTS, *STEP_FAULTS]
    for letter in letters:
        given = answer[letter]
        found = {given} if isinstance(given, str) else given
        if not isinstance(found, set | frozenset | list | tuple):
            raise AnswerError(f"Patient {letter} is {given!r}: name its fault as a text.")
        for name in found:
            if name not in known:
                raise AnswerError(f"{name!r} is not one of the faults: {'; '.join(known)}.")
        if set(found) != PATIENTS[letter].faults:
            raise AnswerError(f"Patient {letter}: {PATIENTS[letter].hint}")


@exercise("11.3")
def check_padding_probe(answer: Callable[[nn.Module, Tensor, Tensor], float]) -> None:
    """Exercise 11.3: how far more padding in the source moves the logits."""
    batch = make_batch(SAMPLE)
    sample = (batch.source_ids, batch.decoder_input_ids)
    for name in ("source padding visible", "padding hidden as queries", None):
        model = _probed(name)
        right = _moved(model, *sample)
        got = require_number(ask(answer, model, *(ids.clone() for ids in sample)))
        if not _near(got, right):
            raise AnswerError(_hint(model, sample, got, right))


def _probed(fault: str | None) -> Transformer:
    """A small model in evaluation mode, with this fault or none."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        kind = Transformer if fault is None else FAULTS[fault]
        return kind(TransformerConfig(vocabulary_size=VOCABULARY, **SIZES, dropout=0.0)).eval()


@torch.no_grad()
def _moved(
    model: nn.Module,
    source_ids: Tensor,
    target_ids: Tensor,
    *,
    left: bool = False,
    value: int = 0,
    mean: bool = False,
) -> float:
    """The largest change of a logit; every argument that is set is a mistake."""
    padding = (PADDING, 0) if left else (0, PADDING)
    before = model(source_ids, target_ids)
    change = model(F.pad(source_ids, padding, value=value), target_ids) - before
    return change.mean().item() if mean else change.abs().max().item()


def _near(first: float, second: float) -> bool:
    return abs(first - second) < max(SAME, 1e-3 * abs(second))


def _hint(model: nn.Module, sample: tuple[Tensor, Tensor], got: float, right: float) -> str:
    """What is wrong with an answer."""
    mistakes = {
        "You put the padding before the words, so their positions changed: append it.": {
            "left": True
        },
        "You appended the start token. Padding has the id 0.": {"value": 1},
        "You took the mean, in which changes cancel out: take the largest absolute change.": {
            "mean": True
        },
    }
    for hint, how in mistakes.items():
        if _near(got, _moved(model, *sample, **how)) and not _near(right, got):
            return hint
    if got < SAME:
        return (
            "Your probe finds nothing in a model whose source padding is visible: pad the source, "
            "not the target."
        )
    return (
        f"The largest absolute change of a logit is {right:.4f}, yours is {got:.4f}: compare the "
        f"model's logits before and after {PADDING} columns of padding were appended."
    )
