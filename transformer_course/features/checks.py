"""Checks of lesson 22: what does a direction mean?"""

from collections import Counter
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    let_wait,
    refuse_mistakes,
    refuse_numbers,
    require_any_device,
    require_class,
    require_gradients,
    require_module,
    require_number,
    require_shape,
)
from transformer_course.features.autoencoder import SparseAutoencoder
from transformer_course.features.scoring import auc

TOKENS, D_MODEL, NUM_FEATURES, ACTIVE = 7, 5, 11, 3
FEWEST_WORDS, ENOUGH, MOST_OF_ONE = 4, 0.9, 0.5


@exercise("22.1")
def check_sparse_autoencoder(answer: type[nn.Module]) -> None:
    """Exercise 22.1: the class, with the weights of ours."""
    require_class(answer, "SparseAutoencoder")
    ours, x = _example()
    let_wait(lambda: answer(D_MODEL, NUM_FEATURES, ACTIVE).encode(x))
    theirs = answer(D_MODEL, NUM_FEATURES, ACTIVE)
    for name, shape in (("encoder", (NUM_FEATURES, D_MODEL)), ("decoder", (D_MODEL, NUM_FEATURES))):
        layer = getattr(theirs, name, None)
        if not isinstance(layer, nn.Linear):
            raise AnswerError(f"__init__ must set self.{name} to an nn.Linear.")
        if tuple(layer.weight.shape) != shape:
            raise AnswerError(
                f"{name}.weight must have the shape {shape}, got {tuple(layer.weight.shape)}: the "
                "encoder goes from d_model to num_features, the decoder back."
            )
        if layer.bias is None:
            raise AnswerError(f"self.{name} needs its bias.")
    theirs.load_state_dict(ours.state_dict(), strict=False)  # it may have buffers of its own
    features = require_shape(
        ask(theirs.encode, x.clone()), (TOKENS, NUM_FEATURES), "(token, num_features)"
    )
    _refuse_other_features(features, ours, x)
    rows = torch.stack([x, x.flip(0)])  # (batch, position, d_model)
    found = ask(theirs.encode, rows.clone())
    shape = (len(rows), TOKENS, NUM_FEATURES)
    if not close(require_shape(found, shape, "(batch, position, num_features)"), ours.encode(rows)):
        raise AnswerError(
            f"Right for x of shape {tuple(x.shape)} and wrong for {tuple(rows.shape)}: the largest "
            "numbers of each vector lie along the last axis, dim=-1."
        )
    output = require_module(theirs, x)
    require_shape(output, (TOKENS, D_MODEL), "(token, d_model)")
    if not close(output, ours(x)):
        raise AnswerError(
            "encode is right, but forward is not the decoder's output for these features."
        )
    require_gradients(theirs, output)
    require_any_device(theirs, x)
    if (answer(D_MODEL, NUM_FEATURES, 1).encode(x) > 0).sum(dim=-1).max() > 1:
        raise AnswerError("With active=1, more than one stays: take self.active for k.")


def _example() -> tuple[SparseAutoencoder, Tensor]:
    """An autoencoder with weights of any size; vectors with more and fewer features than ACTIVE."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(22)
        ours = SparseAutoencoder(D_MODEL, NUM_FEATURES, ACTIVE)
        for parameter in ours.parameters():
            nn.init.normal_(parameter)
        with torch.no_grad():
            ours.encoder.bias.sub_(2)  # some tokens have fewer features above 0 than ACTIVE
        return ours, torch.randn(TOKENS, D_MODEL)


def _refuse_other_features(features: Tensor, ours: SparseAutoencoder, x: Tensor) -> None:
    """Refuse features that are not ours, and name the mistake."""
    if close(features, ours.encode(x)):
        return
    raw = ours.encoder(x - ours.decoder.bias)
    relu = raw.relu()
    refuse_mistakes(
        features,
        {
            "All features above 0 are kept: only the largest self.active of each token may stay.": (
                relu
            ),
            "You take the largest features of the batch, not of each token: use the last axis.": (
                _kept(relu, 0)
            ),
            "Your features are chosen by their size without the sign: apply the ReLU first.": (
                torch.where(_kept(raw.abs(), -1) > 0, raw, 0)
            ),
            "The bias of the decoder is missing: subtract it from x before the encoder, because "
            "the decoder adds it to every vector.": _kept(ours.encoder(x).relu(), -1),
            "You return which features are active, not how much.": (_kept(relu, -1) > 0).float(),
            "The ReLU is missing, and nothing is set to 0.": raw,
            "You add the bias of the decoder: subtract it, because the decoder adds it again.": (
                _kept(ours.encoder(x + ours.decoder.bias).relu(), -1)
            ),
        },
    )
    if (features < 0).any():
        raise AnswerError("A feature may not be below 0: the ReLU comes before the choice.")
    if ((features > 0).sum(dim=-1) > ACTIVE).any():
        raise AnswerError(f"A token has more than {ACTIVE} active features.")
    raise AnswerError(
        "The features are not those of the formula. Compare: subtract the decoder's bias, the "
        "encoder, ReLU, and then only the largest of each token."
    )


def _kept(numbers: Tensor, axis: int) -> Tensor:
    """The ACTIVE largest numbers along an axis, zeros elsewhere."""
    largest = numbers.topk(ACTIVE, dim=axis)
    return torch.zeros_like(numbers).scatter(axis, largest.indices, largest.values)


@exercise("22.2")
def check_auc(answer: Callable[[Tensor, Tensor], float]) -> None:
    """Exercise 22.2: the AUC of a sparse feature, where most pairs are ties."""
    yes = torch.tensor([0.0, 0.0, 2.0, 3.0, 0.0])
    no = torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0])
    found = float(require_number(ask(answer, yes.clone(), no.clone())))
    above = (yes[:, None] > no).float().mean().item()
    ties = (yes[:, None] == no).float().mean().item()
    refuse_numbers(
        found,
        {
            above: "Ties still count as lost. Two zeros say nothing: half of such pairs would be "
            "won by chance.",
            above + ties: "Ties count as won. Then a feature that is never active would have 1.",
            1 - above - ties / 2: "The sides are exchanged: count pairs in which yes is larger.",
        },
        within=1e-5,
    )
    rare, others = torch.tensor([0.0, 0.05, 0.0, 0.0]), torch.tensor([0.5, 0.0, 0.7])
    if abs(found - (above + ties / 2)) <= 1e-5:
        found = float(require_number(ask(answer, rare.clone(), others.clone())))
        if abs(found - 2.5 / 12) > 1e-5:
            raise AnswerError(
                f"For yes = {rare.tolist()} and no = {others.tolist()}, 2.5 of 12 pairs are won, "
                f"an AUC of 0.208; yours is {found:.3f}."
            )
    else:
        raise AnswerError(
            "Compare each number of yes with each number of no: yes[:, None] makes a table of "
            "all pairs. A win counts 1, a tie 1/2."
        )


@exercise("22.3")
def check_story(answer: Sequence[str], *, activity: Tensor, tokens: Sequence[str]) -> None:
    """Exercise 22.3: words that a feature stands for, judged on sentences that were not read.

    Args:
        answer: The words of the story.
        activity: The feature at each token of the other sentences, shape (token,).
        tokens: The tokens.
    """
    if not isinstance(answer, list | tuple | set) or not all(isinstance(w, str) for w in answer):
        raise AnswerError("The answer is a list of words, as they stand in others.words.")
    words, seen = set(answer), Counter(tokens)
    there = sorted(word for word in words if seen[word])
    if len(there) < FEWEST_WORDS:
        raise AnswerError(
            f"{len(there)} of your words occur in the other sentences, at least {FEWEST_WORDS} are "
            "needed: a story about a single word explains nothing new."
        )
    labels = torch.tensor([token in words for token in tokens])
    if labels.all():
        raise AnswerError("Your story is about all tokens, so nothing could refute it.")
    silent = [w for w in there if not any(activity[i] > 0 for i in _places(tokens, w))]
    if len(silent) > len(there) / 2:
        raise AnswerError(
            f"Refuted: {len(silent)} of {len(there)} words never excite the feature in these "
            f"sentences, such as {silent[0]!r}."
        )
    if len(there) - len(silent) < FEWEST_WORDS:
        raise AnswerError(
            f"Only {len(there) - len(silent)} of your words excite the feature in these sentences, "
            f"at least {FEWEST_WORDS} are needed. {silent[0]!r} does not."
        )
    inside = activity[labels].sum() / activity.sum().clamp(min=1e-9)
    if inside < 0.5:
        outside = Counter()
        for token, value, mine in zip(tokens, activity.tolist(), labels.tolist(), strict=True):
            outside[token] += 0.0 if mine else value
        raise AnswerError(
            f"Refuted: only {inside:.0%} of the feature's activity is at your words. It is active "
            f"at {outside.most_common(1)[0][0]!r}, too."
        )
    parts = {w: activity[_places(tokens, w)].sum() / activity[labels].sum() for w in there}
    first = max(parts, key=parts.get)
    if parts[first] > MOST_OF_ONE:
        raise AnswerError(
            f"{parts[first]:.0%} of the activity at your words is at {first!r}: this feature is a "
            "single word."
        )
    score = auc(activity[:, None], labels).item()
    if score < ENOUGH:
        raise AnswerError(f"The AUC of your story is {score:.2f}, at least {ENOUGH} is asked for.")


def _places(tokens: Sequence[str], word: str) -> list[int]:
    """Where a word occurs."""
    return [place for place, token in enumerate(tokens) if token == word]
