"""Models as patients: what was done and seen, and a diagnosis to be found; a hint comes first."""

from random import Random

import torch

from transformer_course.breaking.faults import FAULTS
from transformer_course.diagnosis.figures import plot_observations
from transformer_course.diagnosis.observations import CHANGES, Observations, observe
from transformer_course.viewer.live import show_live
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.machine.device import pick_device

HEALTHY = "healthy"
# Why the answers move or stay, by the diagnosis. No single change tells one of them.
DIAGNOSES = {
    HEALTHY: "Only the answer that reads the new word moves, padding and other rows do nothing, "
    "and the order of the source matters.",
    "no causal mask": "Earlier answers read later words. Nothing else is wrong.",
    "softmax over queries": "Each weight is divided by a sum over all queries. So later words and "
    "padding change the weights of earlier words, although both masks are right.",
    "source padding visible": "Padding gets attention. The causal mask has nothing to do with it.",
    "no positions": "The encoder reads a bag of words, so the order of the source changes nothing.",
    "positions along the batch": "All words of a row get the same position, which depends on the "
    "place of the row in its batch.",
    "dropout in evaluation": "Answers move whatever is changed: they differ from call to call.",
}
SIZES = {"vocabulary_size": 20, "d_model": 48, "num_heads": 4, "num_layers": 2, "d_ff": 64}
SEED = 6  # of the order in which the patients come
STILL = 3  # patients in the still picture


def observed() -> dict[str, Observations]:
    """What was seen of a fresh model with each diagnosis."""
    config = TransformerConfig(**SIZES, dropout=0.1)
    found, device = {}, pick_device()
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        for name in DIAGNOSES:
            torch.manual_seed(0)
            found[name] = observe(FAULTS.get(name, Transformer)(config).to(device))
    return found


def show_patients_live() -> None:
    """Let the reader name the fault of fresh models from what four changes did to their answers."""
    found = observed()
    names = list(DIAGNOSES)
    Random(SEED).shuffle(names)
    first = {f"patient {i}": found[name] for i, name in enumerate(names[:STILL], start=1)}
    show_live(
        __file__,
        {"patients": names, "found": found, "changes": CHANGES, "diagnoses": DIAGNOSES},
        title="What does this patient have?",
        still=plot_observations(first, title=f"{STILL} of {len(names)} patients"),
        alt=f"{len(names)} patients. {describe(first)}",
        height=480,
        phone_height=740,
    )


def describe(patients: dict[str, Observations]) -> str:
    """What was done to patients and seen, in words."""
    told = []
    for name, seen in patients.items():
        moved = (f"{done} {sum(seen[k])} of {len(seen[k])} moved" for k, done in CHANGES.items())
        told.append(f"{name}: {'; '.join(moved)}.")
    return " ".join(told)
