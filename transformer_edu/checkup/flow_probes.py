"""Probes of what may reach an answer: not the future, not other rows, not padding; but the order.

Each takes the subject and returns a Finding; probes.tsv says what it does and expects.
"""

import torch
from torch import Tensor, nn

from transformer_edu.checkup.calling import Text, named_number
from transformer_edu.checkup.flows import (
    MORE,
    has_absolute_positions,
    influence,
    padding_moved,
    repeated_words,
    rows_moved,
)
from transformer_edu.checkup.report import HEALTHY, ILL, TOLD, UNTRIED, Finding
from transformer_edu.checkup.subject import KINDS, LENGTH, Subject

LEAST_GRADIENT = 1e-6  # of the largest
LEAST_SPREAD = 1e-3  # of scores, if positions are in them
LAST = r"max_(position_embeddings|length|seq_len(gth)?|len)|block_size|context_length|n_positions"
LONGEST = 2100  # positions that are tried
NO_PADDING = Finding(UNTRIED, "the model takes no mask and names no padding id")


def finite(subject: Subject) -> Finding:
    answers = subject.answer(subject.text())
    if not answers.isfinite().all():
        return Finding(ILL, "Some answers are NaN or infinite.", "NaN in the answers")
    if (answers - answers.mean(dim=(0, 1))).abs().max() <= 1e-6 * answers.abs().max():
        return Finding(ILL, "All words get the same answer.", "the text has no effect")
    return Finding(HEALTHY, "The answers are finite.")


def axis(subject: Subject) -> Finding:
    return _observed(subject, subject.inside.wrong_axes, "softmax over the wrong axis")


def mixing(subject: Subject) -> Finding:
    return _observed(subject, subject.inside.mixings, "a reshape mixes positions")


def _observed(subject: Subject, found: list[str], illness: str) -> Finding:
    if found:
        return Finding(ILL, f"A {found[0]}.", illness)
    if not subject.inside.attentions:
        return Finding(UNTRIED, "no attention could be observed")
    return Finding(HEALTHY, f"{subject.inside.attentions} attentions were observed.")


def repeatable(subject: Subject) -> Finding:
    again, other_seed = subject.differences(training=False, seeds=(0, 0, 1))
    if again:
        seen = f"The second call's answers differ by {again:.2g} of their variation."
        return Finding(ILL, seen, "the model remembers the last call")
    if other_seed:
        subject.drops_always = True
        seen = f"With another seed the answers differ by {other_seed:.2g} of their variation."
        return Finding(ILL, seen, "dropout in evaluation")
    return Finding(HEALTHY, "Three calls gave the same answers.")


def neighbors(subject: Subject) -> Finding:
    try:
        moved = rows_moved(subject)
    except Exception as error:  # of any kind
        subject.answer(subject.text())  # raises if a whole batch fails, too
        seen = f"A single row raised {type(error).__name__}: {error}"
        return Finding(ILL, seen, "a batch of one fails")
    if moved:
        seen = f"Answers moved by {moved:.2g} of their variation when other rows were removed."
        return Finding(ILL, seen, "a row sees its neighbors")
    if not subject.training_note and rows_moved(subject, training=True):
        normal = nn.modules.batchnorm._BatchNorm
        if any(isinstance(each, normal) for each in subject.model.modules()):
            return Finding(TOLD, "In training mode a BatchNorm mixes the rows. On purpose?")
        return Finding(ILL, "Answers moved in training mode only.", "a row sees its neighbors")
    words = f"A row's answers are the same alone and in a batch.{subject.training_note}"
    return Finding(HEALTHY, words)


def future(subject: Subject) -> Finding:
    seen, masked = influence(subject), subject.inside.masked
    if seen.triu(1).any():
        return _leak(seen, is_masked=bool(masked) and all(masked))
    text, half = subject.text(batch=2), LENGTH // 2
    if not subject.training_note:
        both = text, subject.changed(text, slice(half, None))
        answers = [subject.answer(each, training=True) for each in both]
        if subject.moved(*answers)[:, :half].any():
            words = "Earlier answers moved with later words in training mode only."
            return Finding(ILL, words, "no causal mask in training")
    early = torch.arange(LENGTH, device=subject.device) < half
    share = subject.gradient(text, early.expand_as(text.ids))[:, half:].max()
    if share > LEAST_GRADIENT:
        words = f"Later words get {share:.2g} of the largest gradient."
        return Finding(ILL, words, "the future leaks around the mask")
    return Finding(HEALTHY, f"No earlier answer moves with a later word.{subject.training_note}")


def _leak(seen: Tensor, *, is_masked: bool) -> Finding:
    """What a map of influences with a leak shows."""
    later, every = seen.triu(1), torch.ones_like(seen).triu(1)
    leak = tuple(tuple(row) for row in seen.tolist())
    if later.equal(every) and not is_masked:
        words, name = "Every answer moved with every later word.", "no causal mask"
        if not seen.tril(-1).any():
            words, name = "Answers move with later words only.", "the mask is upside down"
        return Finding(ILL, words, name, leak=leak)
    for ahead in range(1, LENGTH - 1):
        if later.equal(every.tril(ahead)):
            words = f"Each answer moved with the next {ahead} words, one in each layer or in all."
            return Finding(ILL, words, "the next word is visible", leak=leak)
        if later.equal(every & (torch.arange(LENGTH) <= ahead)):
            words = f"The first {ahead + 1} words see each other. A prefix on purpose?"
            return Finding(TOLD, words)
    words = f"{int(later.sum())} of {int(every.sum())} pairs of an answer and a later word moved."
    return Finding(ILL, words, "the future leaks around the mask", leak=leak)


def context(subject: Subject) -> Finding:
    text = subject.text(batch=2)
    before, seen = subject.answer(text), influence(subject)
    if subject.has_source:
        others = [subject.changed(text, i, stream=1) for i in range(text.source_ids.size(1))]
        moved = [bool(subject.moved(before, subject.answer(each)).any()) for each in others]
        if not any(moved):
            return Finding(ILL, "No answer moves with the source.", "the source has no effect")
        if not all(moved):
            words = f"{moved.count(False)} of {len(moved)} words of the source move no answer."
            return Finding(ILL, words, "the source is cut off")
    if before.size(1) > 1 and not seen.diagonal(-1).any():
        if not (seen.tril(-1) | seen.triu(1)).any():
            words = "Each answer moves with its own word only."
            return Finding(ILL, words, "words do not see each other")
        return Finding(ILL, "No answer moves with the word before it.", "the past is hidden")
    if subject.is_asked:
        words = "It reads in both directions. An encoder? If it is a language model, its causal "
        return Finding(TOLD, f"{words}mask is missing: say kind='decoder-only'.")
    if hidden := int((~seen).tril(LENGTH if subject.kind == KINDS[2] else 0).sum()):
        return Finding(TOLD, f"{hidden} pairs of words do not see each other: a sliding window?")
    return Finding(HEALTHY, "Answers move with every word that they may see.")


def source_padding(subject: Subject) -> Finding:
    return _padding(subject, 1, "source padding is visible")


def padding(subject: Subject) -> Finding:
    return _padding(subject, 0, "padding is visible")


def _padding(subject: Subject, stream: int, name: str) -> Finding:
    moved, share = padding_moved(subject, stream=stream), _gradient_of_padding(subject, stream)
    if not moved and share <= LEAST_GRADIENT:
        return Finding(HEALTHY, "Padding at the end moves no real answer.")
    words = f"Real answers moved by {moved:.2g} of their variation; padding gets "
    words += f"{share:.2g} of the largest gradient."
    if subject.knows_padding:
        return Finding(ILL, words, name)
    return Finding(TOLD, f"{words} It takes no mask and names no padding id: is nothing padded?")


def _gradient_of_padding(subject: Subject, stream: int, left: bool = False) -> float:
    text = subject.padded(subject.text(batch=2), MORE, stream=stream, left=left)
    return subject.gradient(text, text.real, stream=stream)[~text[2 * stream + 1]].max().item()


def left_padding(subject: Subject) -> Finding:
    if not subject.knows_padding:
        return NO_PADDING
    share = _gradient_of_padding(subject, 0, left=True)
    if share > LEAST_GRADIENT:
        words = f"Padding gets {share:.2g} of the largest gradient."
        if subject.masks:
            return Finding(ILL, words, "left padding is visible")
        return Finding(TOLD, f"{words} Nothing hides padding on the left: pad on the right.")
    if padding_moved(subject, left=True):
        return Finding(TOLD, "Padding on the left shifts the positions: pad on the right.")
    return Finding(HEALTHY, "Padding on the left moves no real answer.")


def empty_row(subject: Subject) -> Finding:
    if not subject.knows_padding:
        return NO_PADDING
    text, stream = subject.text(batch=2), 2 * subject.has_source
    real = text[stream + 1].clone()
    real[1] = False
    ids = text[stream].masked_fill(~real, subject.padding_id)
    try:
        answers = subject.answer(Text(*text[:stream], ids, real, *text[stream + 2 :]))
    except (ValueError, IndexError) as error:
        return Finding(TOLD, f"It refuses such a row: {type(error).__name__}: {error}")
    if not answers[0].isfinite().all() or subject.moved(subject.answer(text), answers)[0].any():
        return Finding(ILL, "The real row's answers moved.", "an empty row spoils others")
    if not answers.isfinite().all():
        return Finding(TOLD, "A row of padding gets NaN, which spoils gradients: leave it out.")
    return Finding(HEALTHY, "A row of padding leaves the other row alone.")


def order(subject: Subject) -> Finding:
    text, stream = subject.text(), 2 * subject.has_source
    ids = text[stream].clone()
    ids[:, [0, 2]] = ids[:, [2, 0]]
    after = subject.answer(Text(*text[:stream], ids, *text[stream + 1 :]))
    moved = subject.moved(subject.answer(text), after)
    others = [0, 1, 2, 3] if stream else [1, *range(3, moved.size(1))]
    if not moved[:, others if moved.size(1) > 1 else [0]].any():
        return Finding(ILL, "No other answer moved.", "the order of words does not matter")
    if subject.kind != KINDS[2] and not has_absolute_positions(subject):
        watch, _ = subject.watched(repeated_words(subject))
        if watch.attentions and watch.spread < LEAST_SPREAD:
            words = "A repeated word gets the same answer everywhere: there are no positions."
            return Finding(TOLD, f"{words} On purpose?")
    return Finding(HEALTHY, "Answers move when two words change places.")


def beyond(subject: Subject) -> Finding:
    last = max(subject.inside.position_tables) or named_number(subject.original, LAST)
    if not last or last > LONGEST:
        too_many = f"it has {last:,} positions, too many for a minute" if last else ""
        return Finding(UNTRIED, too_many or "nothing says how many positions it has")
    try:
        watch, answers = subject.watched(subject.text(last + 1, batch=1))
    except Exception as error:  # of any kind
        words = f"Its positions end at {last:,}: a longer text raises {type(error).__name__}."
        return Finding(TOLD, words)
    if watch.reuses_positions:
        words = f"A text of {last + 1:,} words uses a position twice."
        return Finding(ILL, words, "positions are used twice")
    if not answers.isfinite().all():
        return Finding(ILL, f"Beyond {last:,} positions answers are NaN.", "NaN in the answers")
    return Finding(HEALTHY, f"{last + 1:,} positions are answered.")
