"""Probes of a model that writes: its cache and its generation; probes.tsv says what each does."""

import inspect
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.checkup.calling import Text, named_number, places
from transformer_edu.checkup.flow_probes import Found
from transformer_edu.checkup.report import HEALTHY, TOLD, UNTRIED
from transformer_edu.checkup.subject import LENGTH, NOISE, START, Subject
from transformer_edu.generation.continuation import start_id_of
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.transformer import Transformer

WRITTEN = 5  # tokens
CERTAIN = 1e4  # a logit above all others
ONE_BY_ONE, FROM_THE_FIRST, SEVERAL = (3, 1, 1, 1, 1), (1,) * LENGTH, (2, 3, 2)  # words at once
SEARCHED = ("source_mask", "encode", "decode", "project")  # what our searches call
Step = Callable[[Tensor, object, int], tuple[object, object]]
Writer = Callable[[Text], list[list[int]]]


def cache(subject: Subject) -> Found:
    text = subject.text()
    if _stepper(subject, text) is None:
        return UNTRIED, "no cache is known: give Adapter(step=…)"
    trials = {"one by one": (text, ONE_BY_ONE, None)}
    if subject.adapter.step is None and (subject.has_source or subject.masks):
        trials["with padding"] = (_shortened(subject, text), ONE_BY_ONE, None)
    trials |= {"after a reorder": (text, FROM_THE_FIRST, [1, 1, 0])}
    trials |= {"in parts": (text, SEVERAL, None)}
    done, missing = [], ""
    for name, trial in trials.items():
        try:
            moved = _steps_moved(subject, *trial)
        except Exception as error:  # of any kind
            if not done:
                raise
            missing += f" Not {name}: {type(error).__name__}."
            continue
        if moved.any():
            first = int(moved.amax(dim=0).nonzero().min()) + 1
            words = f"Read {name}, logits differ by {moved.max():.2g} of their variation"
            return "the cached step differs", f"{words}, first at word {first}."
        done.append(name)
    words = f"Steps give the logits of one pass: {', '.join(done)}.{missing}"
    return (TOLD if missing else HEALTHY), words


def _steps_moved(
    subject: Subject, text: Text, parts: tuple[int, ...], rows: list[int] | None
) -> Tensor:
    """How far cached logits are from those of one pass, (batch, position).

    After the first part the rows of the batch become these rows, if any are given.
    """
    step, past, found, done = _stepper(subject, text), None, [], 0
    for part in parts:
        if rows is not None and len(found) == 1:
            for each in past if isinstance(past, list) else [past]:
                reorder = each.keep if hasattr(each, "keep") else each.reorder_cache
                reorder(torch.tensor(rows, device=subject.device))
            text, found = text.rows(rows), [found[0][rows]]
            step = _stepper(subject, text)
        ids, done = text.ids[:, done : done + part], done + part
        with torch.no_grad():
            answer, past = step(ids, past, done)
        found.append(subject.read(answer, Text(ids, ids)))
    return subject.moved(subject.answer(text), torch.cat(found, dim=1), text.real)


@torch.no_grad()
def _stepper(subject: Subject, text: Text) -> Step | None:
    """What reads the words that follow with a cache: (ids, cache, end) → (answer, cache)."""
    model, own, (_, real, source, source_real) = subject.model.eval(), subject.adapter.step, text
    names = inspect.signature(model.forward).parameters
    if own is not None:
        given = (model,) if source is None else (model, source)
        return lambda ids, past, end: own(*given, ids, past)
    if hasattr(model, "new_caches"):

        def step(ids: Tensor, past: object, end: int) -> tuple[object, object]:
            past = past or model.new_caches()
            return model(ids, caches=past), past

    elif isinstance(model, Transformer):
        mask = model.source_mask(source)
        memory = model.encode(source, source_mask=mask)

        def step(ids: Tensor, past: object, end: int) -> tuple[object, object]:
            past = past or DecoderCache(num_layers=len(model.decoder.layers))
            return model.project(model.decode(ids, memory, source_mask=mask, cache=past)), past

    elif {"past_key_values", "use_cache"} <= {*names}:  # Hugging Face
        encoded = {} if source is None else {"attention_mask": source_real.long()}
        if encoded:
            encoded["encoder_outputs"] = model.get_encoder()(source, **encoded)

        def step(ids: Tensor, past: object, end: int) -> tuple[object, object]:
            seen = real[:, :end]
            given = {"input_ids": ids, "attention_mask": seen.long()}
            given |= {"position_ids": places(seen)[:, -ids.size(1) :]}
            given = {name: each for name, each in given.items() if name in names}
            given = encoded | {"decoder_input_ids": ids} if encoded else given
            answer = model(**given, past_key_values=past, use_cache=True)
            return answer, answer["past_key_values"]

    else:
        return None
    return step


def _shortened(subject: Subject, text: Text) -> Text:
    """The text with two words fewer in its last row: padded on the left, a source on the right."""
    stream = int(subject.has_source)
    ids, real = (each.clone() for each in text.stream(stream))
    cut = slice(-2, None) if stream else slice(2)
    ids[-1, cut], real[-1, cut] = subject.padding_id, False
    return text.replaced(stream, ids, real)


def generation(subject: Subject) -> Found:
    start, write = _writer(subject)
    if write is None:
        return UNTRIED, "no greedy generation is known: give Adapter(generate=…)"
    text = subject.text(batch=2)
    if wrong := _wrong_word(subject, text, start, write):
        return "generation does not follow the logits", wrong
    if subject.has_source or (subject.masks and subject.adapter.generate is None):
        if wrong := _wrong_word(subject, _shortened(subject, text), start, write):
            return "generation depends on the batch", f"In a padded batch: {wrong}"
    return HEALTHY, f"{WRITTEN} tokens have the largest logits of one pass."


def _wrong_word(subject: Subject, text: Text, start: int, write: Writer) -> str:
    """The first written token that does not have the largest logit of one pass, in a sentence."""
    for row, written in enumerate(write(text)):
        ids, real, source, source_real = text.rows([row])
        first = ids.new_tensor([[start]]) if subject.has_source else ids[real].unsqueeze(0)
        streams = [torch.cat([first, first.new_tensor([written])], dim=1)]
        streams += [source[source_real].unsqueeze(0)] if subject.has_source else []
        alone = Text(*(x for ids in streams for x in (ids, torch.ones_like(ids).bool())))
        logits = subject.answer(alone)[0, first.size(1) - 1 :]
        for number, (token, each) in enumerate(zip(written, logits, strict=False), start=1):
            if each.max() - each[token] > 10 * NOISE * each.std():
                return f"token {number} is {token}, the largest logit is {int(each.argmax())}'s."
    return ""


def stopping(subject: Subject) -> Found:
    (_, write), end, width = _writer(subject, ends=True), subject.end_id, subject.sizes[0]
    linear = [each for each in subject.model.modules() if isinstance(each, nn.Linear)]
    last = [each for each in linear if each.out_features == width]
    if write is None or end is None or not (0 <= end < width and last):
        return UNTRIED, "no generation or no end token is known: give them to Adapter(…)"
    bias = F.one_hot(torch.tensor(end), width).to(subject.device) * CERTAIN
    with last[-1].register_forward_hook(lambda module, given, output: output + bias):
        after = max(len(row) for row in write(subject.text(batch=2))) - 1
    name = "generation does not stop" if after > 0 else HEALTHY
    return name, f"After the end token it wrote {max(after, 0)} more."


def _writer(subject: Subject, *, ends: bool = False) -> tuple[int, Writer | None]:
    """The start token, and what writes WRITTEN tokens greedily; None if nothing is known to."""
    model, own, stream = subject.model.eval(), subject.adapter.generate, int(subject.has_source)
    start = named_number(model, START)
    start = subject.padding_id if start is None else start
    if own is not None:
        return start, lambda text: own(model, text.stream(stream)[0], WRITTEN).tolist()
    if getattr(model, "can_generate", bool)():  # Hugging Face
        settings = type(model.generation_config)(
            max_new_tokens=WRITTEN + 1,  # the last one may be forced to be the end
            do_sample=False,
            pad_token_id=subject.padding_id,
            decoder_start_token_id=start,
            eos_token_id=subject.end_id if ends else None,
        )

        def write(text: Text) -> list[list[int]]:
            ids, real = text.stream(stream)
            found = model.generate(ids, attention_mask=real.long(), generation_config=settings)
            return found[:, 1 if stream else ids.size(1) :][:, :WRITTEN].tolist()

        return start, write
    if all(hasattr(model, name) for name in SEARCHED):
        start = start_id_of(model)
        return start, lambda text: greedy_search(model, text.source_ids, max_length=WRITTEN)
    names = inspect.signature(getattr(model, "generate", None) or (lambda: None)).parameters
    greedy = {"top_k": 1, "do_sample": False, "temperature": 1e-4}
    greedy = {name: value for name, value in greedy.items() if name in names}
    if "top_k" in greedy or "do_sample" in greedy:
        greedy.pop("temperature", None)
    if len(names) < 2 or not greedy:
        return start, None

    def write_on(text: Text) -> list[list[int]]:
        mask = {"attention_mask": text.real.long()} if "attention_mask" in names else {}
        return model.generate(text.ids, WRITTEN, **greedy, **mask)[:, text.ids.size(1) :].tolist()

    return start, write_on
