"""Probes of what may reach an answer: not the future, not other rows, not padding; but the order.

A probe returns HEALTHY, or a name of findings.tsv, and what was measured.
"""

from functools import partial

import torch
from torch import Tensor

from transformer_edu.checkup.calling import Text, named_number, tensors
from transformer_edu.checkup.report import HEALTHY
from transformer_edu.checkup.subject import KINDS, LENGTH, MORE, Subject, require

LEAST_GRADIENT = 1e-6  # of the largest
LEAST_SPREAD = 1e-3  # of scores, if positions are in them
UNEVEN = 0.02  # of the scores of equal distances, which half precision lets differ by 0.004
LONGEST = 2100  # positions that are tried
REPEATED = 8  # texts of one repeated word
Found = str | tuple  # HEALTHY or a name in findings.tsv, and what was measured


def influence(subject: Subject, *, stream: int = 0, training: bool = False) -> Tensor:
    """Which answers move with which word of a stream: booleans, (answering, changed position)."""
    text = subject.text(batch=1).rows([0, 0])
    places = range(text.stream(stream)[0].size(1))
    texts = [text, *(subject.changed(text, place, stream=stream) for place in places)]
    before, *after = (subject.answer(each, training=training) for each in texts)
    return torch.stack([subject.moved(before, each)[0] > 0 for each in after], dim=-1).cpu()


def repeated_words(subject: Subject) -> Text:
    """Texts of one repeated word each."""
    text, words = subject.text(batch=REPEATED), subject.words()
    first = words.repeat(REPEATED)[:REPEATED].unsqueeze(1)
    return text._replace(ids=first.expand_as(text.ids).contiguous())


def has_absolute_positions(subject: Subject) -> bool:
    """Whether a repeated word gets different answers at different positions."""
    answers = subject.answer(repeated_words(subject))
    return bool(subject.moved(answers, answers[:, :1].expand_as(answers)).any())


def finite(subject: Subject) -> Found:
    answers = subject.answer(subject.text())
    if not answers.isfinite().all():
        return "NaN in the answers"
    spread = (answers - answers.mean(dim=(0, 1))).abs().max()
    return HEALTHY if spread > 1e-6 * answers.abs().max() else "the text has no effect"


def observed(subject: Subject, *, illness: str) -> Found:
    if illness in subject.inside.found:
        return illness, subject.inside.found[illness]
    require(subject.inside.attentions, "no attention could be observed")
    return HEALTHY, subject.inside.attentions


def repeatable(subject: Subject) -> Found:
    answers = [subject.answer(subject.text(), drops=True) for _ in range(2)]
    state = torch.get_rng_state()
    answers.append(subject.answer(subject.text(), drops=True, seed=1))
    if state.equal(torch.get_rng_state()):
        subject.notes.append("It sets torch's global random seed while it answers.")
    again, other_seed = (subject.moved(answers[0], each).max() for each in answers[1:])
    if again:
        return "the model remembers the last call", again
    subject.drops_always = bool(other_seed)
    quiet = [subject.answer(subject.text(), seed=seed) for seed in (0, 1)]  # without dropout
    noise = "noise" if subject.moved(*quiet).any() else "dropout"
    return (f"{noise} in evaluation", other_seed) if other_seed else HEALTHY


def neighbors(subject: Subject) -> Found:
    together = subject.answer(text := subject.text())  # raises if a whole batch fails, too
    try:
        alone = torch.cat([subject.answer(text.rows([row])) for row in range(len(text.ids))])
    except Exception as error:  # of any kind
        return "a batch of one fails", f"raised {error!r}"
    many, one = ([x.dim() for _, x in tensors(subject.call(t))] for t in (text, text.rows([0])))
    if many != one:
        return "a batch of one fails", "got an answer without an axis for the batch"
    moved = subject.moved(together, alone).max()
    return ("a row sees its neighbors", moved) if moved else HEALTHY


def future(subject: Subject) -> Found:
    seen, masked = influence(subject), subject.inside.masked
    if seen.triu(1).any():
        return _leak(seen, is_masked=bool(masked) and all(masked))
    text, half = subject.text(batch=2), LENGTH // 2
    seeds = [subject.answer(text, training=True, seed=seed) for seed in (0, 1)]
    is_random = subject.moved(*seeds).any()  # by more than dropout
    if not is_random and influence(subject, training=True).triu(1).any():
        return "no causal mask in training"
    early = torch.arange(LENGTH, device=subject.device) < half
    share = subject.gradient(text, early.expand_as(text.ids))[:, half:].max()
    if share > LEAST_GRADIENT:
        return "the gradient of the future leaks", share
    return HEALTHY, " Training mode is random, and was not compared." if is_random else ""


def _leak(seen: Tensor, *, is_masked: bool) -> Found:
    """What a map of influences with a leak shows."""
    later, every, leak = seen.triu(1), torch.ones_like(seen).triu(1), seen.tolist()
    if later.equal(every) and not is_masked:
        return "no causal mask" if seen.tril(-1).any() else "the mask is upside down", leak
    for ahead in range(1, LENGTH - 1):
        if later.equal(every.tril(ahead)):
            return "the next word is visible", ahead, leak
        if later.equal(every & (torch.arange(LENGTH) <= ahead)):
            return "a prefix is read in both directions", ahead + 1
    return "the future leaks around the mask", int(later.sum()), int(every.sum()), leak


def context(subject: Subject) -> Found:
    seen = influence(subject)
    if subject.has_source:
        if not (moves := influence(subject, stream=1).any(dim=0)).any():
            return "the source has no effect"
        if not moves.all():
            return "the source is cut off", int((~moves).sum()), len(moves)
    if len(seen) > 1 and not seen.diagonal(-1).any():
        return "words do not see each other"
    if subject.is_asked:
        return "both directions are read"
    hidden = int((~seen).tril(LENGTH if subject.kind == KINDS[2] else 0).sum())
    return ("some words are out of sight", hidden) if hidden else HEALTHY


def padding(subject: Subject, *, stream: int = 0, left: bool = False) -> Found:
    text = subject.text(batch=2)
    before, padded = subject.answer(text), subject.padded(text, stream=stream, left=left)
    after = subject.answer(padded)
    is_later = left and after.size(1) > before.size(1)
    moved = subject.moved(before, after[:, MORE:] if is_later else after).max()
    share = subject.gradient(padded, padded.real, stream=stream)[~padded.stream(stream)[1]].max()
    if share <= LEAST_GRADIENT and (left or not moved):
        return "padding shifts positions" if moved else HEALTHY
    if left and subject.convention == "none" and "padding" not in [x.role for x in subject.masks]:
        return "nothing hides left padding"
    if not subject.knows_padding:
        return "nothing hides padding", moved, share
    which = "left " if left else "source " if stream else ""
    return f"{which}padding is visible", moved, share


axis = partial(observed, illness="softmax over the wrong axis")
mixing = partial(observed, illness="a reshape mixes positions")
source_padding, left_padding = partial(padding, stream=1), partial(padding, left=True)


def empty_row(subject: Subject) -> Found:
    knows = subject.kind != KINDS[1] or subject.knows_padding
    require(knows, "the model takes no mask and names no padding id")
    text, stream = subject.text(batch=2), int(subject.has_source)
    ids, real = (each.clone() for each in text.stream(stream))
    ids[1], real[1] = subject.padding_id, False
    try:
        answers = subject.answer(text.replaced(stream, ids, real))
    except (ValueError, IndexError) as error:
        return "a row of padding is refused", error
    if not answers[0].isfinite().all() or subject.moved(subject.answer(text), answers)[0].any():
        return "an empty row spoils others"
    return HEALTHY if answers.isfinite().all() else "a row of padding gets NaN"


def order(subject: Subject) -> Found:
    text, stream = subject.text(), int(subject.has_source)
    ids, real = text.stream(stream)
    ids = torch.cat([ids[:, [2, 1, 0]], ids[:, 3:]], dim=1)
    moved = subject.moved(subject.answer(text), subject.answer(text.replaced(stream, ids, real)))
    others = [0, 1, 2, 3] if stream else [1, *range(3, moved.size(1))]
    if not moved[:, others if moved.size(1) > 1 else [0]].any():
        return "the order of words does not matter"
    if subject.kind == KINDS[2] or has_absolute_positions(subject):
        return HEALTHY
    watch, _ = subject.watched(repeated_words(subject))
    return "no positions" if watch.attentions and watch.spread < LEAST_SPREAD else HEALTHY


def relative(subject: Subject) -> Found:
    watch, answers = subject.watched(repeated_words(subject))
    is_possible = answers.size(1) > 1 and not has_absolute_positions(subject) and watch.squares
    require(is_possible, "positions are added to the words, or no scores could be seen")
    for scores in watch.squares:
        scores = scores - scores.mean(dim=0)  # what a bias adds is the same for every word
        size = scores.nan_to_num().abs().max()
        scores = scores - scores.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
        change = (scores[..., 1:, 1:] - scores[..., :-1, :-1]).nan_to_num().abs().max() / size
        if change > UNEVEN:
            return "queries and keys turn differently", change
    return HEALTHY


def segments(subject: Subject) -> Found:
    name = next((each.name for each in subject.parameters if each.role == "segments"), None)
    require(name is not None, "forward takes no token types")
    text = subject.text(batch=LENGTH)  # as many rows as positions
    types = torch.ones_like(text.ids)
    subject.model.eval()
    with torch.no_grad():
        both = (subject.call(text, **{name: each}) for each in (types, types.tril()))
        answers = [subject.read(each, text) for each in both]
    return HEALTHY if subject.moved(*answers).any() else "token types have no effect"


def beyond(subject: Subject) -> Found:
    last = subject.inside.last_position or named_number(subject.model, "longest text")
    require(last, "positions are not named")
    require(last <= LONGEST, f"{last} positions are too many")
    try:
        watch, answers = subject.watched(subject.text(last + 1, batch=1))
    except Exception as error:  # of any kind
        return "positions end", last, error
    if watch.reuses_positions:
        return "positions are used twice", last + 1
    return (HEALTHY, last + 1) if answers.isfinite().all() else "NaN in the answers"
