"""What a sparse autoencoder finds in the shipped translator: three seeds, each with its controls.

    python -m experiments.features

Run it again when the translator's weights change: lesson 22 draws what it stores. About a minute
of one CPU core.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("experiments.features")

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import torch
from torch import Tensor

from experiments.stored_numbers import read_options, read_own
from transformer_course.features.autoencoder import (
    NUM_FEATURES,
    STEPS,
    SparseAutoencoder,
    train_autoencoder,
)
from transformer_course.features.reading import (
    Reading,
    captions,
    plural_nouns,
    read_encoder,
    subjects,
    texts_to_learn_from,
    tokens_at,
)
from transformer_course.features.scoring import auc, best_column, largest_shares
from transformer_course.features.steering import (
    changes_between,
    count_changes,
    translate_changed,
)
from transformer_course.features.stored import FOUND, Measured, stored_runs
from transformer_edu.generation.translator import Translator
from transformer_edu.pretrained.loading import load_pretrained
from transformer_edu.training.machine.atomic_files import replace_file
from transformer_edu.training.machine.device import use_one_thread
from transformer_edu.training.machine.failures import noted_interrupts, one_line_errors

SEEDS = (0, 1, 2)
COUNTS = (1, 4, 16)  # of the features that are moved
PLURAL_VERBS = {"sind", "waren"}
LONGEST = 5  # of a translation: the article, and the verb of a subject


@dataclass(frozen=True)
class Material:
    """What is the same for every seed: the translator, and what its encoder says.

    Args:
        translator: The shipped one.
        learned_from, others: Two readings, to learn from and to measure with.
        of_gender: The nouns of captions to choose by, by whether the German begins with *Eine*.
        of_number: The same for subjects, by whether they are plurals, and for their verbs.
    """

    translator: Translator
    learned_from: Reading
    others: Reading
    of_gender: list[dict[bool, Tensor]]
    of_number: list[dict[bool, Tensor]]


def read_material() -> Material:
    """Run the encoder on everything that is needed."""
    translator = load_pretrained()
    learned_from, others = (read_encoder(translator, each) for each in texts_to_learn_from())
    return Material(
        translator=translator,
        learned_from=learned_from,
        others=others,
        of_gender=_by_kind(translator, captions()[0], (1,)),
        of_number=_by_kind(translator, subjects()[0], (1, 2)),
    )


def _by_kind(
    translator: Translator, texts: Sequence[tuple[str, bool]], places: Sequence[int]
) -> list[dict[bool, Tensor]]:
    """The vectors at each place, by whether their sentence is marked."""
    reading = read_encoder(translator, [text for text, _ in texts])
    marked = torch.tensor([mark for _, mark in texts])
    vectors = [tokens_at(reading, place) for place in places]
    return [{True: each[marked], False: each[~marked]} for each in vectors]


@torch.no_grad()
def measure(material: Material, autoencoder: SparseAutoencoder, seed: int) -> Measured:
    """Score what an autoencoder has found, beside its controls."""
    vectors, others = material.learned_from.vectors, material.others.vectors
    features = autoencoder.encode(vectors)
    lost = (autoencoder(others) - others).square().sum()
    total = (others - others.mean(dim=0)).square().sum()
    shares, _ = largest_shares(features, material.learned_from.words)
    alive = shares > 0
    return Measured(
        seed=seed,
        explained=round(1 - (lost / total).item(), 4),
        dead=int((~alive).sum()),
        single_words=round(((shares > 0.5).sum() / alive.sum()).item(), 4),
        **_plural_scores(material.learned_from, features, seed),
        counts=COUNTS,
        **_flips(material, autoencoder, seed),
    )


def _plural_scores(reading: Reading, features: Tensor, seed: int) -> dict[str, float]:
    """AUC on the nouns that were not for choosing, of the best feature and of the controls."""
    rows, plural, choosing = plural_nouns(reading)
    nouns = reading.vectors[rows]
    generator = torch.Generator().manual_seed(seed)
    directions = torch.randn(nouns.size(1), NUM_FEATURES, generator=generator)
    candidates = {"plural": features[rows], "raw": nouns, "random": nouns @ directions}
    found = {
        name: round(best_column(each, plural, choosing).on_others, 4)
        for name, each in candidates.items()
    }
    probe = nouns[choosing & plural].mean(dim=0) - nouns[choosing & ~plural].mean(dim=0)
    score = auc(nouns[~choosing] @ probe[:, None], plural[~choosing]).item()
    return found | {"probe": round(score, 4)}


def _flips(material: Material, autoencoder: SparseAutoencoder, seed: int) -> dict[str, object]:
    """How many articles and verbs change, by the number of features, and by chance."""
    steer = partial(_steered, material.translator, autoencoder, seed=seed)
    articles = steer(captions()[1], material.of_gender, read=_article)
    verbs = steer(subjects()[1], material.of_number, read=_number)
    return {
        "flips": articles[0],
        "controls": articles[1],
        "numbers": verbs[0],
        "number_controls": verbs[1],
        "sentences": len(captions()[1]),
        "subjects": len(subjects()[1]),
    }


def _steered(
    translator: Translator,
    autoencoder: SparseAutoencoder,
    texts: Sequence[tuple[str, bool]],
    by_place: Sequence[dict[bool, Tensor]],
    *,
    seed: int,
    read: Callable[[str], object],
) -> list[tuple[int, ...]]:
    """How many translations read otherwise, for each of COUNTS: by features, and by chance.

    The vectors of the kinds are those of the second token, of the third, and so on.
    """
    english = [text for text, _ in texts]
    signs = torch.tensor([-1.0 if marked else 1.0 for _, marked in texts])[:, None, None]

    def read_after(change: Tensor) -> list[object]:
        places = range(1, 1 + len(by_place))
        german = translate_changed(translator, english, signs * change, places, max_length=LONGEST)
        return [read(each) for each in german]

    before = read_after(torch.zeros(1))
    found: list[tuple[int, ...]] = [(), ()]
    for count in COUNTS:
        changes = [
            torch.stack(changes_between(autoencoder, each[True], each[False], count, seed=seed))
            for each in by_place
        ]
        for kind, change in enumerate(torch.stack(changes, dim=1)):  # (place, d_model)
            found[kind] += (count_changes(read_after(change), before),)
    return found


def _article(german: str) -> str:
    """The first word."""
    return german.partition(" ")[0]


def _number(german: str) -> bool:
    """Whether one of the words is a verb in the plural."""
    return bool(set(german.split()) & PLURAL_VERBS)


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Train with every seed, print a line for each, and store them; returns the exit status."""
    parser = argparse.ArgumentParser(description="Measure the features of the translator.")
    seeds = {"nargs": "+", "default": [*SEEDS], "help": "of the trainings"}
    parser.add_argument("--seeds", type=int, **seeds)
    chosen = read_options(parser, arguments, file=FOUND, steps=STEPS)
    read_own(chosen.file, stored_runs)
    rows = []
    with use_one_thread():
        material = read_material()
        for seed in chosen.seeds:
            vectors = material.learned_from.vectors
            with noted_interrupts() as interrupts:
                autoencoder = train_autoencoder(vectors, seed=seed, steps=chosen.steps)
            if interrupts:
                raise KeyboardInterrupt  # what is stored comes from whole trainings
            rows.append(json.dumps(asdict(measure(material, autoencoder, seed))))
            print(rows[-1], flush=True)
    replace_file(chosen.file, [("[\n" + ",\n".join(rows) + "\n]\n").encode()])
    print(f"written to {chosen.file}")
    return 0
