"""The patients of lesson 11: the course's Transformer with a class of a friend's, and its sheet.

Used in notebooks/11_diagnosis.ipynb.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import torch
from torch import Tensor, nn

from transformer_course import our_transformer
from transformer_edu.checkup.examination import check_up
from transformer_edu.checkup.report import HEALTHY, ILL, MARKS, TOLD, UNJUDGED, Finding
from transformer_edu.data.batches import pad
from transformer_edu.data.toy_tasks import Pair
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.refusals import require_choice
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.training.machine.device import device_of, pick_device

D_MODEL, HEADS, LAYERS, D_FF = 48, 4, 2, 192
# What a class of each kind is built with, and the kind of a training loss.
ARGUMENTS = {"AddAndNorm": (D_MODEL, 0.0), "FeedForward": (D_MODEL, D_FF)}
LOSS = "loss"
Loss = Callable[[nn.Module, Tensor, Tensor], Tensor]


def build_patient(
    vocabulary_size: int = 64, **parts: type[nn.Module]
) -> our_transformer.Transformer:
    """Build the course's small Transformer, a class of which is replaced; without dropout.

    Args:
        vocabulary_size: Tokens of the vocabulary.
        parts: Classes that stand in for the course's, by its name: AddAndNorm, taking d_model and
            dropout, or FeedForward, taking d_model and d_ff.

    Returns:
        A fresh model, the same at every call. It names its special ids, for ``check_up``.
    """
    for kind in parts:
        require_choice("part", kind, ARGUMENTS)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        sizes = (vocabulary_size, D_MODEL, HEADS, LAYERS, D_FF)
        model = our_transformer.Transformer(*sizes, dropout=0.0)
        for name, part in list(model.named_modules()):
            if (kind := type(part).__name__) in parts:
                model.set_submodule(name, parts[kind](*ARGUMENTS[kind]))
    model.padding_id, model.start_id, model.end_id = PADDING_ID, START_ID, END_ID
    return model


def findings_of(
    kind: str, part: type[nn.Module] | Loss, device: torch.device | str = "cpu"
) -> list[Finding]:
    """What a check-up finds in the course's Transformer with this part or this training loss.

    Args:
        kind: "AddAndNorm", "FeedForward" or "loss".
        part: A class of this kind; or a function of a model, source_ids and target_ids, which
            returns the loss.
        device: Where the model computes.
    """
    require_choice("kind", kind, (*ARGUMENTS, LOSS))
    if kind == LOSS:
        return list(check_up(build_patient().to(device), training_step=part).findings)
    return list(check_up(build_patient(**{kind: part}).to(device)).findings)


def sheet(kind: str, friends: type[nn.Module] | Loss, yours: object = None) -> str:
    """What a check-up finds in a patient, and in its repair if there is one: a table to print.

    A row for every rule that one of the two does not keep.

    Args:
        kind: "AddAndNorm", "FeedForward" or "loss".
        friends: The patient's class or training loss.
        yours: The reader's repair; what cannot be examined yet has no column.
    """
    device = pick_device()
    columns = {"friend's": findings_of(kind, friends, device)}
    with suppress(Exception):  # whatever an unfinished repair raises
        if yours is not None and not _is_waiting(kind, yours, device):
            columns["yours"] = findings_of(kind, yours, device)
    rows = [
        [each[0].rule, *map(_said, each)]
        for each in zip(*columns.values(), strict=True)
        if {found.status for found in each} & {ILL, TOLD, UNJUDGED}
    ]
    table = [["", *columns], *(rows or [["(every row)", *[MARKS[HEALTHY]] * len(columns)]])]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)
    return "\n".join(lines)


def _is_waiting(kind: str, yours: object, device: torch.device) -> bool:
    """Whether a loss still returns the three dots."""
    ids = torch.tensor([[START_ID, 4, 5, END_ID]], device=device)
    return kind == LOSS and yours(build_patient().to(device), ids, ids) is ...


def _said(found: Finding) -> str:
    """A mark, and the illness or why there is no answer."""
    words = found.illness or ("" if found.status == HEALTHY else found.status)
    return f"{MARKS[found.status]} {words}".rstrip()


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
