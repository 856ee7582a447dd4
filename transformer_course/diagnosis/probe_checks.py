"""The check of exercise 11.2: a probe that shows whether padding moves the logits."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    exercise,
    require_number,
    require_untouched,
)
from transformer_course.breaking.faults import FAULTS
from transformer_course.diagnosis.checks import SAME, VOCABULARY
from transformer_edu.data.batches import make_batch
from transformer_edu.model.transformer import Transformer, TransformerConfig

SIZES = {"d_model": 48, "num_heads": 4, "num_layers": 2, "d_ff": 192, "max_length": 64}
# In both ill models the logit that moves most is in no first or last row or position, and it rises
# in the first model and falls in the second: every mistake changes the number of at least one.
SAMPLE = [([8, 9], [9, 8]), ([4, 5, 6, 7], [7, 6, 5, 4]), ([4, 4, 11], [11, 4, 4])]
PART = "The largest change of all rows and positions is asked for; yours is that of"
PADDING = 3  # columns that a reader's probe appends
NOTHING = "Your probe finds nothing in a model whose source padding is visible"


@exercise("11.2")
def check_padding_probe(answer: Callable[[nn.Module, Tensor, Tensor], float]) -> None:
    """Exercise 11.2: how far more padding in the source moves the logits."""
    batch, wrong = make_batch(SAMPLE), []
    sample = (batch.source_ids, batch.decoder_input_ids)
    for name in ("source padding visible", "padding hidden as queries", None):
        model, calls = _probed(name), []
        right = _moved(model, *sample)
        model.register_forward_pre_hook(
            lambda _, ids, seen=calls: seen.append([*map(torch.clone, ids)])
        )
        given = [ids.clone() for ids in sample]
        answered = ask(answer, model, *given)
        require_untouched(given, sample)
        got = require_number(answered)
        sources = [ids[0] for ids in calls if ids]
        if not _near(got, right):
            if got < SAME and len(sources) > 1 and all(map(sources[0].equal, sources)):
                raise AnswerError(f"{NOTHING}: every call of the model gets the same source.")
            lengths = [each.size(-1) for each in sources]
            if len(sources) > 1 and (more := max(lengths) - min(lengths)) != PADDING:
                raise AnswerError(
                    f"Your sources differ by {more} of the {PADDING} columns that are asked for."
                )
            wrong.append((model, got))
        widths = {ids[1].size(-1) for ids in calls if len(ids) > 1}
        if widths - {sample[1].size(-1)}:
            raise AnswerError("You pad the target, too: a probe changes one thing only.")
        if model.training:
            raise AnswerError("Your probe leaves the model in training mode, with its dropout on.")
    if wrong:
        raise AnswerError(_hint(wrong, sample))


def _probed(fault: str | None) -> Transformer:
    """A small model in evaluation mode, with this fault or none."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        kind = Transformer if fault is None else FAULTS[fault]
        model = kind(TransformerConfig(vocabulary_size=VOCABULARY, **SIZES, dropout=0.0)).eval()
    # As in lesson 9's class, encode and decode may get their masks without a name.
    encode, decode = model.encode, model.decode
    model.encode = lambda ids, mask=None, **given: encode(ids, **{"source_mask": mask} | given)
    model.decode = lambda ids, memory, mask=None, **given: decode(
        ids, memory, **{"source_mask": mask} | given
    )
    return model


@torch.no_grad()
def _moved(
    model: nn.Module,
    source_ids: Tensor,
    target_ids: Tensor,
    *,
    left: bool = False,
    value: int = 0,
    measure: Callable[[Tensor], Tensor] = lambda change: change.abs().max(),
    answer: Callable[[Tensor], Tensor] = lambda logits: logits,
) -> float:
    """The largest change of a logit; every argument that is set is a mistake."""
    padding = (PADDING, 0) if left else (0, PADDING)
    before = answer(model(source_ids, target_ids))
    after = answer(model(F.pad(source_ids, padding, value=value), target_ids))
    return measure(after - before).item()


def _near(first: float, second: float) -> bool:
    return abs(first - second) < max(SAME, 1e-3 * abs(second))


def _hint(wrong: list[tuple[nn.Module, float]], sample: tuple[Tensor, Tensor]) -> str:
    """What is wrong with the numbers of a probe: the mistake that explains all of them."""
    mistakes = {
        "You put the padding before the words, so their positions changed: append it.": {
            "left": True
        },
        "You appended the start token. Padding has the id 0.": {"value": 1},
        "You appended the end token. Padding has the id 0.": {"value": 2},
        "You took the mean, in which changes cancel out.": {"measure": Tensor.mean},
        "You took the mean. A single logit that moves hides in it.": {
            "measure": lambda change: change.abs().mean()
        },
        "You added up the changes: the largest one is asked for.": {
            "measure": lambda change: change.abs().sum()
        },
        "You squared the changes: the absolute change is asked for.": {
            "measure": lambda change: change.square().max()
        },
        "You compared probabilities: compare logits.": {"answer": lambda x: x.softmax(dim=-1)},
        "You compared the largest logits of both calls: subtract first.": {"answer": Tensor.max},
        "You compared absolute logits: subtract first, then take the absolute change.": {
            "answer": Tensor.abs
        },
        "A logit that falls has a negative change: your number leaves it out.": {
            "measure": Tensor.max
        },
        "A logit that rises has a negative change in yours: your number leaves it out.": {
            "measure": lambda change: (-change).max()
        },
        f"{PART} the first row only.": {"measure": lambda change: change[0].abs().max()},
        f"{PART} the last row only.": {"measure": lambda change: change[-1].abs().max()},
        f"{PART} the first position only.": {"measure": lambda change: change[:, 0].abs().max()},
        f"{PART} the last position only.": {"measure": lambda change: change[:, -1].abs().max()},
    }
    for hint, how in mistakes.items():
        if all(_near(got, _moved(model, *sample, **how)) for model, got in wrong):
            return hint
    got = wrong[0][1]
    found = f"Your number, {got:.4g}, is not the largest absolute change of a logit"
    return (
        f"{NOTHING if got < SAME else found}: compare the model's logits before and after "
        f"{PADDING} columns of padding were appended to the source."
    )
