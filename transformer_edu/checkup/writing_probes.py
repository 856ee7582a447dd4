"""Probes of a model that writes: its cache, its generation, and what its training step teaches."""

import inspect
from contextlib import suppress
from itertools import takewhile

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from transformer_edu.checkup.calling import Text, named_number, places, tensors
from transformer_edu.checkup.flow_probes import Found
from transformer_edu.checkup.report import HEALTHY
from transformer_edu.checkup.subject import Subject, require
from transformer_edu.checkup.watch import Watch
from transformer_edu.generation.continuation import end_id_of, start_id_of
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.transformer import Transformer

WRITTEN = 5  # tokens
CERTAIN, EQUAL = 1e4, 1e-3  # a logit above all others; share of their deviation
SEARCHED = ("source_mask", "encode", "decode", "project")  # what our searches call
IGNORED = (-100, -1)  # what F.cross_entropy ignores, and what nanoGPT ignores
WORDS, FEWER = 6, 4  # in the two rows of a training step
TOO_SMALL = 2.5  # times smaller than the gradient of the mean over trained labels


def cache(subject: Subject) -> Found:
    text, done, missing, twice = subject.text(), [], [], torch.tensor([1, 1, 0])
    trials = {
        "one by one": (text, (3, 1, 1, 1, 1)),
        "with padding": (_shortened(subject, text), (3, 1, 1, 1, 1)),
        "after a reorder": (text, (1, 1, 1, 1, 1, 1, 1), twice.to(subject.device)),
        "in parts": (text, (2, 3, 2)),
    }
    if subject.adapter.step is not None or not (subject.has_source or subject.masks):
        del trials["with padding"]
    for name, trial in trials.items():
        try:
            moved = _steps_moved(subject, *trial)
        except Exception as error:  # of any kind
            if not done:
                raise
            missing.append(f"{name}: {type(error).__name__}")
            continue
        if moved.any():
            return "the cached step differs", name, moved.max(), int(moved.amax(0).nonzero()[0]) + 1
        done.append(name)
    return "not all steps were tried" if missing else HEALTHY, ", ".join(done), ", ".join(missing)


@torch.no_grad()
def _steps_moved(subject: Subject, text: Text, parts: tuple, rows: Tensor | None = None) -> Tensor:
    """How far logits of parts are from those of one pass; after the first part rows are kept."""
    past, found, end = None, [], 0
    for new in parts:
        if rows is not None and len(found) == 1:
            for each in past if isinstance(past, list) else [past]:
                (each.keep if hasattr(each, "keep") else each.reorder_cache)(rows)
            text, found = text.rows(rows), [found[0][rows]]
        end += new
        seen = Text(text.ids[:, :end], text.real[:, :end], *text[2:])
        answer, past = _step(subject, seen, new, past)
        found.append(subject.read(answer, Text.of(seen.ids[:, -new:])))
    return subject.moved(subject.answer(text), torch.cat(found, dim=1), text.real)


def _step(subject: Subject, text: Text, new: int, past: object) -> tuple[object, object]:
    """Read the last words of a text with the cache of all before; the answer and the cache."""
    model, ids, source = subject.model.eval(), text.ids[:, -new:], text.source_ids
    names = inspect.signature(model.forward).parameters
    if subject.adapter.step is not None:
        return subject.adapter.step(model, *([] if source is None else [source]), ids, past)
    if hasattr(model, "new_caches"):
        past = past or model.new_caches()
        return model(ids, caches=past), past
    if isinstance(model, Transformer):
        depth = len(model.decoder.layers)
        past, mask = past or DecoderCache(num_layers=depth), model.source_mask(source)
        memory = model.encode(source, source_mask=mask)
        return model.project(model.decode(ids, memory, source_mask=mask, cache=past)), past
    is_known = {"past_key_values", "use_cache"} <= {*names}  # Hugging Face's
    require(is_known, "no cache is known: if forward has one, such as kv, give Adapter(step=…)")
    if source is None:
        given = {"input_ids": ids, "attention_mask": text.real.long()}
        given |= {"position_ids": places(text.real)[:, -new:]} if "position_ids" in names else {}
    else:
        given = {"input_ids": source, "attention_mask": text.source_real.long()}
        given |= {"decoder_input_ids": ids}
    answer = model(**given, past_key_values=past, use_cache=True)
    return answer, answer["past_key_values"]


def _shortened(subject: Subject, text: Text) -> Text:
    """The text with two words fewer in its last row: padded on the left, a source on the right."""
    stream = int(subject.has_source)
    ids, real = (each.clone() for each in text.stream(stream))
    cut = slice(-2, None) if stream else slice(2)
    ids[-1, cut], real[-1, cut] = subject.padding_id, False
    return text.replaced(stream, ids, real)


def generation(subject: Subject) -> Found:
    text = subject.text(batch=2)
    if wrong := _wrong_word(subject, text):
        return "generation does not follow the logits", *wrong, subject.greed
    is_padded = subject.has_source or (subject.masks and subject.adapter.generate is None)
    if is_padded and (wrong := _wrong_word(subject, _shortened(subject, text))):
        return "generation depends on the batch", *wrong, subject.greed
    return HEALTHY, WRITTEN


def _wrong_word(subject: Subject, text: Text) -> tuple[int, int, int] | None:
    """The number and id of the first token that has not the largest logit, and which one has."""
    for row, written in enumerate(_written(subject, text)):
        ids, real, source, source_real = text.rows([row])
        first = ids.new_tensor([_start(subject)]) if subject.has_source else ids[real]
        whole = torch.cat([first, first.new_tensor(written)])
        alone = Text.of(whole[None], *([source[source_real][None]] if subject.has_source else []))
        logits = subject.answer(alone)[0, len(first) - 1 :]
        for number, (token, each) in enumerate(zip(written, logits, strict=False), start=1):
            if each.max() - each[token] > EQUAL * each.std():
                return number, token, int(each.argmax())
            if token == subject.end_id:  # what follows is padding
                break
    return None


def stopping(subject: Subject) -> Found:
    end, width = subject.end_id, subject.sizes[0]
    last = [each for each in subject.model.modules() if getattr(each, "out_features", 0) == width]
    require(last and end in range(width), "no end token is known: give Adapter(end_id=…)")
    bias = F.one_hot(torch.tensor(end), width).to(subject.device) * CERTAIN
    with last[-1].register_forward_hook(lambda module, given, output: output + bias):
        after = max(map(len, _written(subject, subject.text(batch=2), ends=True))) - 1
    return ("generation does not stop", after) if after > 0 else HEALTHY


def _start(subject: Subject) -> int:
    """What a target starts with."""
    if all(hasattr(subject.model, name) for name in SEARCHED):
        return start_id_of(subject.model)
    start = named_number(subject.model, "start id")
    return subject.padding_id if start is None else start


def _written(subject: Subject, text: Text, *, ends: bool = False) -> list[list[int]]:
    """What the model writes greedily, WRITTEN tokens for each row, fewer if the end token ends."""
    model, (ids, real) = subject.model.eval(), text.stream(int(subject.has_source))
    if subject.adapter.generate is not None:
        return subject.adapter.generate(model, ids, WRITTEN).tolist()
    if all(hasattr(model, name) for name in SEARCHED):
        steps, end = [], end_id_of(model)  # what the search returns has no start tokens
        greedy_search(model, ids, max_length=WRITTEN, after_step=steps.append)
        kept = (lambda _: True) if ends else end.__ne__
        return [[*takewhile(kept, row)] for row in steps[-1][:, 1:].tolist()]
    if getattr(model, "can_generate", bool)():  # Hugging Face's
        settings = type(model.generation_config)(
            max_new_tokens=WRITTEN + 1,  # the last one may be forced to be the end
            do_sample=False,
            pad_token_id=subject.padding_id,
            decoder_start_token_id=_start(subject),
            eos_token_id=subject.end_id if ends else None,
        )
        found = model.generate(ids, attention_mask=real.long(), generation_config=settings)
        return found[:, 1 if subject.has_source else ids.size(1) :][:, :WRITTEN].tolist()
    names = inspect.signature(getattr(model, "generate", None) or (lambda: None)).parameters
    given = {"attention_mask": real.long(), "top_k": 1, "do_sample": False, "temperature": 1e-4}
    given = {name: value for name, value in given.items() if name in names}
    greedy = [f"{name}={value}" for name, value in given.items() if name != "attention_mask"]
    require(len(names) > 1 and greedy, "no greedy generation is known: give Adapter(generate=…)")
    subject.greed = f"with {', '.join(greedy)}"
    return model.generate(ids, WRITTEN, **given)[:, ids.size(1) :].tolist()


def labels(subject: Subject) -> Found:
    steps, _, rises = _taught(subject, least=0)
    steps = [each for each in steps if each[2] not in (subject.padding_id, subject.end_id)]
    reads = [(row[place : place + 3], label) for row, place, label in steps]
    counts = [sum(row[n : n + 1] == (label,) for row, label in reads) for n in range(3)]
    name = "labels are not shifted"
    if not steps:
        return "the training step teaches nothing"
    if rises > 0.5:
        return "the loss has the wrong sign", rises
    if sum(label not in row for row, _, label in steps) > len(steps) / 2:
        name = "labels come from elsewhere"
    elif counts[1] == max(*counts, 1):
        name = HEALTHY
    elif counts[2] > counts[0] or not any(counts):
        name = "labels are shifted twice" if counts[2] else "labels are shifted the wrong way"
    elif subject.training_step is None and not hasattr(subject.model, "can_generate"):
        name, subject.shifted = "labels must come shifted", True
    return name, len(steps), *counts


def ending(subject: Subject) -> Found:
    steps, end = _taught(subject)[0], subject.end_id
    require(end is not None, "no end token is known: give Adapter(end_id=…)")
    count = sum(place == len(row) - 2 and label == end for row, place, label in steps)
    return HEALTHY if count == 2 else "the end token is not trained", count, end


def loss_padding(subject: Subject) -> Found:
    count = sum(place >= len(row) - 1 for row, place, _ in _taught(subject)[0])
    return "padding has a loss" if count else HEALTHY, count


def entropy(subject: Subject) -> Found:
    _, times, _ = _taught(subject)
    name = "the loss has no softmax" if times == torch.inf else "the loss is not the cross-entropy"
    return name if times > TOO_SMALL else HEALTHY, times


def _taught(subject: Subject, *, least: int = 1) -> tuple[list[tuple], float, float]:
    """What gradients of a training step's logits teach: (row, place of the word read, label) each.

    And how many times smaller than those of the mean cross-entropy they are, and the share of
    positions at which they make the next word less probable, before all others.
    """
    words, end = subject.words().tolist()[: 2 * WORDS], subject.end_id
    is_possible = subject.parameters and subject.is_logits and len(words) > WORDS
    require(is_possible, "it needs logits, seven words, and a forward that names its ids")
    start = named_number(subject.model, "start id") if subject.has_source else None
    rows = [(start, *row, end) for row in (words[:WORDS], words[::-1][:FEWER])]
    rows = [tuple(token for token in row if token is not None) for row in rows]
    ids = pad_sequence([torch.tensor(row, device=subject.device) for row in rows], True, -1)
    both = ids.where(ids >= 0, subject.padding_id), ids >= 0
    text, model, calls = Text(*both, *subject.text(batch=2)[2:]), subject.model.train(), []
    forward, role = inspect.signature(model.forward), ("text", "target")[subject.has_source]
    name = next(each.name for each in subject.parameters if each.role == role)

    def observe(module: nn.Module, args: tuple, kwargs: dict, answer: object) -> None:
        found = [x for _, x in tensors(answer) if x.dim() > 1 and x.size(-1) == subject.sizes[0]]
        for logits in [each for each in found if each.requires_grad][:1]:
            logits.retain_grad()
            calls.append((forward.bind_partial(*args, **kwargs).arguments[name], logits))

    with model.register_forward_hook(observe, with_kwargs=True), Watch():
        found = [each for _, each in tensors(_loss(subject, text)) if each.requires_grad]
        if found and all(x.grad is None for _, x in calls):
            loss = min(found, key=Tensor.numel)  # it may come in a dictionary, or with the logits
            require(loss.numel() == 1, f"a loss must be one number, got shape {(*loss.shape,)}")
            loss.backward()
    taught = [each for each in calls if each[1].grad is not None]
    is_known = taught or subject.training_step is not None
    require(is_known, "no training step is known: check_up(model, training_step=…)")
    steps, smaller, rises = {}, [], []
    for ids, answer in taught:
        ids = (whole := torch.atleast_2d(ids))[:, -answer.size(-2) :]  # the last one may do
        both = answer.detach().softmax(dim=-1), answer.grad
        p, gradient = (each.float().reshape(*ids.shape, -1) for each in both)
        if subject.swapped:
            whole, ids = whole.T, ids.T
            p, gradient = p.transpose(0, 1), gradient.transpose(0, 1)
        trained = gradient.abs().amax(dim=-1) > 1e-6 * gradient.abs().max()
        (lowest, label), (highest, raised) = gradient.min(dim=-1), gradient.max(dim=-1)
        times = ((1 - p.gather(-1, label[..., None])[..., 0]) / -lowest)[trained]
        smaller += times.where((gradient.sum(dim=-1) > lowest / 2)[trained], torch.inf).tolist()
        for i, j in trained.nonzero().tolist():  # a call may read any of the rows
            row = max(rows[i:] + rows[:i], key=lambda row: len({*row} & {*whole[i].tolist()}))
            place = row.index(ids[i, j]) if ids[i, j] in row else len(row)
            steps[row, place, int(label[i, j])] = None
            rises.append(highest[i, j] > -lowest[i, j] and row[place + 1 :][:1] == (raised[i, j],))
    require(len(steps) >= least, "the training step teaches nothing")
    number = max(len(rises), 1)
    return [*steps], (sorted(smaller) or [0.0])[number // 2] / number, sum(rises) / number


def _loss(subject: Subject, text: Text) -> object:
    """The training step's loss, or the one that the model returns if it takes labels."""
    if subject.training_step is not None:
        return subject.training_step(subject.model, *(text[2], text[0])[not subject.has_source :])
    role = next((each.name for each in subject.parameters if each.role == "labels"), "")
    given, real = text.ids, text.real
    if role.startswith("target") or subject.has_source or subject.shifted:  # by the caller
        given, real = (F.pad(each[:, 1:], (0, 1)) for each in (given, real))
    for ignored in (*IGNORED, subject.padding_id) if role else ():
        with suppress(IndexError, RuntimeError):
            filled = given.masked_fill(~real, ignored)
            answer = subject.call(text, **{role: filled.T if subject.swapped else filled})
            return next((each for _, each in tensors(answer) if each.dim() == 0), None)
    return None
