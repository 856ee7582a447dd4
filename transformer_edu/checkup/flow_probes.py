"""Probes of what may reach an answer: not the future, not other rows, not padding; but the order.

A probe takes the subject and returns what it found, the name of an illness or a status, and what it
saw, in a sentence. probes.tsv says what each does and expects.
"""

import torch
from torch import Tensor

from transformer_edu.checkup.calling import named_number
from transformer_edu.checkup.flows import (
    has_absolute_positions,
    influence,
    padding_moved,
    repeated_words,
    rows_moved,
)
from transformer_edu.checkup.report import HEALTHY, TOLD, UNTRIED
from transformer_edu.checkup.subject import KINDS, LENGTH, Subject

LEAST_GRADIENT = 1e-6  # of the largest
LEAST_SPREAD = 1e-3  # of scores, if positions are in them
LAST = r"max_(position_embeddings|length|seq_len(gth)?|len)|block_size|context_length|n_positions"
LONGEST = 2100  # positions that are tried
Found = tuple  # (status or illness, what was seen), and the leak if there is one


def finite(subject: Subject) -> Found:
    answers = subject.answer(subject.text())
    if not answers.isfinite().all():
        return "NaN in the answers", "Some answers are NaN or infinite."
    if (answers - answers.mean(dim=(0, 1))).abs().max() <= 1e-6 * answers.abs().max():
        return "the text has no effect", "All words get the same answer."
    return HEALTHY, "The answers are finite."


def axis(subject: Subject) -> Found:
    return _observed(subject, subject.inside.wrong_axes, "softmax over the wrong axis")


def mixing(subject: Subject) -> Found:
    return _observed(subject, subject.inside.mixings, "a reshape mixes positions")


def _observed(subject: Subject, found: list[str], illness: str) -> Found:
    if found:
        return illness, f"A {found[0]}."
    if not subject.inside.attentions:
        return UNTRIED, "no attention could be observed"
    return HEALTHY, f"{subject.inside.attentions} attentions were observed."


def repeatable(subject: Subject) -> Found:
    text, answers, states = subject.text(), [], []
    for seed in (0, 0, 1):
        answers.append(subject.answer(text, drops=True, seed=seed))
        states.append(torch.get_rng_state())
    if states[0].equal(states[-1]):
        subject.notes.append("It sets torch's global random seed while it answers.")
    again, other_seed = (subject.moved(answers[0], each).max() for each in answers[1:])
    if again:
        seen = f"The second call's answers differ by {again:.2g} of their variation."
        return "the model remembers the last call", seen
    subject.drops_always = bool(other_seed)
    if other_seed:
        seen = f"With another seed the answers differ by {other_seed:.2g} of their variation."
        return "dropout in evaluation", seen
    return HEALTHY, "Three calls gave the same answers."


def neighbors(subject: Subject) -> Found:
    try:
        moved = rows_moved(subject)
    except Exception as error:  # of any kind
        subject.answer(subject.text())  # raises if a whole batch fails, too
        return "a batch of one fails", f"A single row raised {type(error).__name__}: {error}"
    if moved:
        seen = f"Answers moved by {moved:.2g} of their variation when other rows were removed."
        return "a row sees its neighbors", seen
    return HEALTHY, "A row's answers are the same alone and in a batch."


def future(subject: Subject) -> Found:
    seen, masked = influence(subject), subject.inside.masked
    if seen.triu(1).any():
        return _leak(seen, is_masked=bool(masked) and all(masked))
    text, half = subject.text(batch=2), LENGTH // 2
    seeds = [subject.answer(text, training=True, seed=seed) for seed in (0, 1)]
    is_random = subject.moved(*seeds).any()  # by more than dropout
    if not is_random and influence(subject, training=True).triu(1).any():
        words = "Earlier answers moved with later words in training mode only."
        return "no causal mask in training", words
    early = torch.arange(LENGTH, device=subject.device) < half
    share = subject.gradient(text, early.expand_as(text.ids))[:, half:].max()
    if share > LEAST_GRADIENT:
        words = f"Later words get {share:.2g} of the largest gradient."
        return "the future leaks around the mask", words
    words = " Training mode is random, and was not compared." if is_random else ""
    return HEALTHY, f"No earlier answer moves with a later word.{words}"


def _leak(seen: Tensor, *, is_masked: bool) -> Found:
    """What a map of influences with a leak shows."""
    later, every = seen.triu(1), torch.ones_like(seen).triu(1)
    leak = tuple(tuple(row) for row in seen.tolist())
    if later.equal(every) and not is_masked:
        if seen.tril(-1).any():
            return "no causal mask", "Every answer moved with every later word.", leak
        return "the mask is upside down", "Answers move with later words only.", leak
    for ahead in range(1, LENGTH - 1):
        if later.equal(every.tril(ahead)):
            words = f"Each answer moved with the next {ahead} words, one in each layer or in all."
            return "the next word is visible", words, leak
        if later.equal(every & (torch.arange(LENGTH) <= ahead)):
            return TOLD, f"The first {ahead + 1} words see each other. A prefix on purpose?"
    words = f"{int(later.sum())} of {int(every.sum())} pairs of an answer and a later word moved."
    return "the future leaks around the mask", words, leak


def context(subject: Subject) -> Found:
    text, seen = subject.text(batch=2), influence(subject)
    if subject.has_source:
        before = subject.answer(text)
        others = [subject.changed(text, i, stream=1) for i in range(text.source_ids.size(1))]
        moved = [bool(subject.moved(before, subject.answer(each)).any()) for each in others]
        if not any(moved):
            return "the source has no effect", "No answer moves with the source."
        if not all(moved):
            words = f"{moved.count(False)} of {len(moved)} words of the source move no answer."
            return "the source is cut off", words
    if len(seen) > 1 and not seen.diagonal(-1).any():
        return "words do not see each other", "No answer moves with the word before it."
    if subject.is_asked:
        words = "It reads in both directions. An encoder? If it is a language model, its causal "
        return TOLD, f"{words}mask is missing: say kind='decoder-only'."
    if hidden := int((~seen).tril(LENGTH if subject.kind == KINDS[2] else 0).sum()):
        return TOLD, f"{hidden} pairs of words do not see each other: a sliding window?"
    return HEALTHY, "Answers move with every word that they may see."


def source_padding(subject: Subject) -> Found:
    return _padding(subject, "source padding is visible", stream=1)


def padding(subject: Subject) -> Found:
    return _padding(subject, "padding is visible")


def left_padding(subject: Subject) -> Found:
    return _padding(subject, "left padding is visible", left=True)


def _padding(subject: Subject, name: str, *, stream: int = 0, left: bool = False) -> Found:
    moved = padding_moved(subject, stream=stream, left=left)
    text = subject.padded(subject.text(batch=2), stream=stream, left=left)
    gradient = subject.gradient(text, text.real, stream=stream)
    share = gradient[~text.stream(stream)[1]].max()
    if not moved and share <= LEAST_GRADIENT:
        return HEALTHY, "Padding moves no real answer."
    words = f"Real answers moved by {moved:.2g} of their variation; padding gets "
    words += f"{share:.2g} of the largest gradient."
    if left and share <= LEAST_GRADIENT:
        return TOLD, "Padding on the left shifts the positions: pad on the right."
    if left and not subject.masks:
        return TOLD, f"{words} Nothing hides padding on the left: pad on the right."
    if subject.knows_padding:
        return name, words
    return TOLD, f"{words} It takes no mask and names no padding id: is nothing padded?"


def empty_row(subject: Subject) -> Found:
    if not subject.knows_padding:
        return UNTRIED, "the model takes no mask and names no padding id"
    text, stream = subject.text(batch=2), int(subject.has_source)
    ids, real = (each.clone() for each in text.stream(stream))
    ids[1], real[1] = subject.padding_id, False
    try:
        answers = subject.answer(text.replaced(stream, ids, real))
    except (ValueError, IndexError) as error:
        return TOLD, f"It refuses such a row: {type(error).__name__}: {error}"
    if not answers[0].isfinite().all() or subject.moved(subject.answer(text), answers)[0].any():
        return "an empty row spoils others", "The real row's answers moved."
    if not answers.isfinite().all():
        return TOLD, "A row of padding gets NaN, which spoils gradients: leave it out."
    return HEALTHY, "A row of padding leaves the other row alone."


def order(subject: Subject) -> Found:
    text, stream = subject.text(), int(subject.has_source)
    ids, real = text.stream(stream)
    ids = torch.cat([ids[:, [2, 1, 0]], ids[:, 3:]], dim=1)
    after = subject.answer(text.replaced(stream, ids, real))
    moved = subject.moved(subject.answer(text), after)
    others = [0, 1, 2, 3] if stream else [1, *range(3, moved.size(1))]
    if not moved[:, others if moved.size(1) > 1 else [0]].any():
        return "the order of words does not matter", "No other answer moved."
    if subject.kind != KINDS[2] and not has_absolute_positions(subject):
        watch, _ = subject.watched(repeated_words(subject))
        if watch.attentions and watch.spread < LEAST_SPREAD:
            words = "A repeated word gets the same answer everywhere: there are no positions."
            return TOLD, f"{words} On purpose?"
    return HEALTHY, "Answers move when two words change places."


def beyond(subject: Subject) -> Found:
    last = subject.inside.last_position or named_number(subject.model, LAST)
    if not last:
        return UNTRIED, "nothing says how many positions it has"
    if last > LONGEST:
        return UNTRIED, f"it has {last:,} positions, too many for a minute"
    try:
        watch, answers = subject.watched(subject.text(last + 1, batch=1))
    except Exception as error:  # of any kind
        return TOLD, f"Its positions end at {last:,}: a longer text raises {type(error).__name__}."
    if watch.reuses_positions:
        return "positions are used twice", f"A text of {last + 1:,} words uses a position twice."
    if not answers.isfinite().all():
        return "NaN in the answers", f"Beyond {last:,} positions answers are NaN."
    return HEALTHY, f"{last + 1:,} positions are answered."
