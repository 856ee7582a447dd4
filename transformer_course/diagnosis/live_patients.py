"""Stored models as patients: their curves and what they write, and a diagnosis to be guessed."""

from random import Random

from transformer_course.curves.run_figures import describe_runs
from transformer_course.curves.stored_runs import StoredRuns, load_runs
from transformer_course.diagnosis.symptoms import plot_symptoms
from transformer_course.viewer.live import show_live

# What explains the symptoms, by the name of a stored run; all were evaluated at the same steps.
DIAGNOSES = {
    "correct": "It is healthy: only a correct model writes whole answers.",
    "no causal mask": "In training each position reads the token that it has to predict, so "
    "almost every token is right. When the model writes, there is no next token to read.",
    "target not shifted": "The decoder reads its own labels and learns to copy them: the loss is "
    "near 0 very early. When it writes, it copies the token that it wrote last.",
    "softmax over queries": "Each weight is divided by a sum over all queries, later ones too. "
    "That leaks the answer in training. Its sheet looks like that of a missing causal mask: only "
    "a probe tells them apart.",
    "no positions": "It cannot tell in which order the symbols come: it writes the right symbols "
    "in the wrong order, and about half of the tokens are right.",
    "6+6 layers, no warm-up": "The first steps were too large for a deep stack. The loss stays "
    "high, and the model writes one symbol again and again.",
}
SEED = 7  # of the order in which the patients come
STILL = 3  # patients in the still picture


def show_patients_live() -> None:
    """Let the reader name the fault of stored models from their curves and what they write."""
    runs = [load_runs(name) for name in DIAGNOSES]
    Random(SEED).shuffle(runs)
    steps = runs[0].steps
    show_live(
        __file__,
        {
            "patients": [_sheet(each) for each in runs],
            "steps": steps,
            "diagnoses": DIAGNOSES,
            "highest": max(max(each.curves("loss")[0]) for each in runs),
        },
        title="What does this patient have?",
        still=plot_symptoms(
            sorted(runs[:STILL], key=lambda each: each.variant),
            title=f"{STILL} of {len(runs)} patients",
        ),
        alt=f"{len(runs)} patients with curves of {steps[-1]} steps. {describe_runs(runs)}",
        height=610,
        phone_height=860,
    )


def _sheet(runs: StoredRuns) -> dict[str, object]:
    """The curves of the first seed, and what its model should write and writes when trained."""
    loss, tokens, exact = (
        runs.curves(measure)[0] for measure in ("loss", "token_accuracy", "exact_match")
    )
    return {
        "name": runs.variant,
        "curves": {"loss": loss, "tokens right": tokens, "exact match": exact},
        "target": runs.glance.target,
        "written": runs.glance.written,
    }
