"""Probes of a model's parts: its parameters, dropout and scores, its precision and its start.

Each takes the subject and returns what it found; probes.tsv says what it does and expects.
"""

import math
from itertools import combinations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook

from transformer_edu.checkup.calling import Text, tensors
from transformer_edu.checkup.flow_probes import Found
from transformer_edu.checkup.flows import REPEATED, has_absolute_positions, repeated_words
from transformer_edu.checkup.report import HEALTHY, TOLD, UNTRIED
from transformer_edu.checkup.subject import Subject, borrowed, without_dropout

SATURATED = 1.5  # standard deviation of scores; T5, which does not divide, starts at 1
SHARP = 5.0  # the same of a fresh model, however its scores are computed
TOO_SURE = 2.0  # nats above ln V
DROWNED = 20.0  # variation between words, as a multiple of that between positions
GROWTH = 2.0  # of the vectors in a layer
ALIKE = 0.57  # of the variation within a text that a layer keeps; deep post-norm keeps 0.66
TRAINED = UNTRIED, "the model has been trained, or has no norm that would tell"
NO_STACK = UNTRIED, "no stack of layers was found"


def registered(subject: Subject) -> Found:
    model = subject.model
    known = {id(each) for each in (*model.modules(), *model.parameters())}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            held = value.values() if isinstance(value, dict) else value
            for each in held if isinstance(value, dict | list | tuple) else [value]:
                if isinstance(each, nn.Module | nn.Parameter) and id(each) not in known:
                    words = f"{path}.{name} is not registered.".lstrip(".")
                    return "weights are not registered", words
    return HEALTHY, "No weight is outside of parameters()."


def gradients(subject: Subject) -> Found:
    torch.manual_seed(0)
    with torch.enable_grad(), without_dropout(subject.model):
        answer = subject.call(subject.model.train(), subject.text())
        outputs = [each for _, each in tensors(answer) if each.requires_grad]
        total = sum((torch.randn_like(each) * each).sum() for each in outputs)
    weights = {n: each for n, each in subject.model.named_parameters() if each.requires_grad}
    found = [None] * len(weights)
    if outputs:
        found = torch.autograd.grad(total, [*weights.values()], allow_unused=True)
    pairs = zip(weights, found, strict=True)
    idle = [name for name, each in pairs if each is None or (each.dim() > 1 and not each.any())]
    words = f"{len(idle)} of {len(weights)} parameters get none, such as {[*idle, ''][0]}."
    if idle and all("expert" in name for name in idle):
        return TOLD, f"{words} Experts that a short text does not reach?"
    if idle:
        return "parameters get no gradient", words
    return HEALTHY, f"All {len(weights)} parameters get a gradient."


def tied(subject: Subject) -> Found:
    model, copies = subject.model, ""
    tables = {id(each.weight) for each in model.modules() if isinstance(each, nn.Embedding)}
    drawn = [
        pair
        for pair in model.named_parameters()
        if pair[1].dim() > 1 and pair[1].requires_grad and (pair[1] != pair[1].flatten()[0]).any()
    ]
    for (first, weight), (second, other) in combinations(drawn, 2):
        if weight.shape == other.shape and weight.equal(other):
            words = f"{first} and {second} hold equal numbers and are two parameters."
            if tables & {id(weight), id(other)}:
                return "tied by value only", words
            copies = copies or f"{words} Copies of one layer, as nn.TransformerEncoder makes them?"
    if copies:
        return TOLD, copies
    shared = len([*model.named_parameters(remove_duplicate=False)]) - len([*model.parameters()])
    return HEALTHY, f"{shared} parameters are shared." if shared else "None is tied."


def dropout(subject: Subject) -> Found:
    text = subject.text()
    if subject.dropout_rate <= 0:
        return HEALTHY, "The model has no dropout."
    answers = [subject.answer(text, training=True, drops=True, seed=seed) for seed in (0, 1)]
    if subject.moved(*answers).any():
        return HEALTHY, "Two seeds give different answers in training mode."
    words = f"A rate of {subject.dropout_rate} is set, and two seeds give the same answers."
    return "dropout has no effect in training", words


def scaling(subject: Subject) -> Found:
    inside = subject.inside
    if not inside.attentions:
        return UNTRIED, "no attention could be observed"
    words = f"The scores' standard deviation is {inside.deviation:.2g}."
    if inside.undivided > SATURATED:
        return "scores are not divided", words
    if inside.deviation > SHARP and subject.is_fresh:
        return "scores start too large", words
    if inside.undivided:
        words += " They are not divided: right if projections start small enough, as T5's do."
        return TOLD, words
    return HEALTHY, words


def half(subject: Subject) -> Found:
    text, told = subject.padded(subject.text(batch=2)), ""
    for dtype in (torch.bfloat16, torch.float16):
        try:
            with borrowed(subject.model, dtype):
                answers = subject.answer(text)
        except Exception as error:  # of any kind
            if "overflow" in str(error):
                return "overflow in half precision", f"In {dtype}: {error}"
            told += f"In {dtype} it raises {type(error).__name__}: use autocast. "
            continue
        if not answers[text.real[:, : answers.size(1)]].isfinite().all():
            return "overflow in half precision", f"NaN or infinity in {dtype}."
    return (TOLD, told) if told else (HEALTHY, "Both are finite.")


def unsure(subject: Subject) -> Found:
    if not subject.is_logits:
        return UNTRIED, "the answers are vectors, not logits"
    text = subject.text()
    logits = subject.answer(text)
    if (logits >= 0).all() and (logits.sum(dim=-1) - 1).abs().max() < 1e-3:
        return "the model returns probabilities", "Every answer is positive and sums to one."
    if not subject.is_fresh:
        return TRAINED
    uniform = math.log(logits.size(-1))
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), text.ids[:, 1:].flatten()).item()
    is_sure = loss > uniform + TOO_SURE
    name = "a fresh model is too sure" if is_sure else HEALTHY
    return name, f"The loss is {loss:.2f}, ln V is {uniform:.2f}."


def depth(subject: Subject) -> Found:
    if not subject.is_fresh:
        return TRAINED
    stacks = _stacks(subject, subject.text())
    for path, (_, *vectors) in stacks.items():
        last, layers = vectors[-1], len(vectors)
        growth = (last.norm() / vectors[0].norm()).item() ** (1 / (layers - 1))
        if growth > GROWTH:
            words = f"In {path} every layer makes its vectors {growth:.1f} times longer."
            return "depth explodes", words
        within = (last - last.mean(dim=1, keepdim=True)).norm()
        kept = (within / (last - last.mean(dim=(0, 1))).norm()).item() ** (1 / layers)
        if kept < ALIKE:
            words = f"In {path} a layer keeps {kept:.0%} of the differences within a text."
            return "depth makes all positions alike", words
    words = f"Scale and differences are kept in {', '.join(stacks)}."
    return (HEALTHY, words) if stacks else NO_STACK


def positions(subject: Subject) -> Found:
    if not subject.is_fresh:
        return TRAINED
    if not has_absolute_positions(subject):
        return HEALTHY, "No position is added to the words."
    stacks = _stacks(subject, repeated_words(subject)).values()
    given = [first for first, *_ in stacks if len(first) == REPEATED]
    if not given:
        return NO_STACK
    times = (given[-1].std(dim=0).mean() / given[-1].std(dim=1).mean()).item()
    words = f"The first layer reads {times:.1f} times as much of words as of positions."
    return ("words drown positions" if times > DROWNED else HEALTHY), words


def _stacks(subject: Subject, text: Text) -> dict[str, list[Tensor]]:
    """For every stack of two layers or more what its first layer reads, and what each returns."""
    found: dict[str, list[Tensor]] = {}
    stacks = {
        layer: path
        for path, stack in subject.model.named_modules()
        if isinstance(stack, nn.ModuleList) and len({type(layer) for layer in stack}) == 1
        for layer in stack
        if layer is not None and len([*layer.modules()]) > 5  # more than a projection
    }

    def note(layer: nn.Module, *both: object) -> None:
        path = stacks.get(layer)
        for each in both[path in found :] if path is not None else ():
            vectors = [x.detach().float() for _, x in tensors(each) if x.dim() == 3]
            found.setdefault(path, []).extend(vectors[:1])

    with register_module_forward_hook(note):
        subject.watched(text)
    return {path: vectors for path, vectors in found.items() if len(vectors) > 2}
