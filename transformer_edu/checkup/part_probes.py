"""Probes of a model's parts: its parameters, dropout and scores, its precision and its start."""

import math
from itertools import combinations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook

from transformer_edu.checkup.calling import Text, tensors
from transformer_edu.checkup.flow_probes import Found, repeated_words
from transformer_edu.checkup.report import HEALTHY
from transformer_edu.checkup.subject import LENGTH, SOURCE_LENGTH, Subject, borrowed, require
from transformer_edu.checkup.watch import Watch

SATURATED = 1.5  # standard deviation of scores; T5, which does not divide, starts at 1
SHARP = 5.0  # the same of a fresh model, however its scores are computed
TOO_SURE = 2.0  # nats above ln V
DROWNED, NO_POSITIONS = 20.0, 1e4  # variation between words, in that between positions
GROWTH = 2.0  # of the vectors in a layer
TRAINED = "the model has been trained, or has no norm that would tell"
TIMES, SAME = 16, 0.02  # for a layer's input; of its output, what a norm's epsilon may change
ALIKE = 0.57  # of the variation within a text that a layer keeps; deep post-norm keeps 0.66


def registered(subject: Subject) -> Found:
    known = {id(each) for each in (*subject.model.modules(), *subject.model.parameters())}
    for path, module in subject.model.named_modules():
        for name, value in vars(module).items():
            held = value.values() if isinstance(value, dict) else value
            for each in held if isinstance(value, dict | list | tuple) else [value]:
                if isinstance(each, nn.Module | nn.Parameter) and id(each) not in known:
                    return "weights are not registered", f"{path}.{name}".lstrip(".")
    return HEALTHY


def gradients(subject: Subject) -> Found:
    with Watch():
        subject.model.train()
        found = tensors(subject.call(subject.text()))
        outputs = [each for _, each in found if each.requires_grad]
        total = sum(each.sin().sum() for each in outputs)  # any function of them
    weights = {n: each for n, each in subject.model.named_parameters() if each.requires_grad}
    given = [*weights.values()]
    found = torch.autograd.grad(total, given, allow_unused=True) if outputs else [None] * len(given)
    pairs = zip(weights, found, strict=True)
    idle = [name for name, each in pairs if each is None or (each.dim() > 1 and not each.any())]
    what = "experts" if all("expert" in name for name in idle) else "parameters"
    found = f"{what} get no gradient", len(idle), len(weights), *idle[:1]
    return found if idle else (HEALTHY, len(weights))


def tied(subject: Subject) -> Found:
    model, copies = subject.model, None
    tables = {id(each.weight) for each in model.modules() if isinstance(each, nn.Embedding)}
    drawn = [pair for pair in model.named_parameters() if pair[1].dim() > 1 and pair[1].std() > 0]
    for (first, weight), (second, other) in combinations(drawn, 2):
        if weight.shape == other.shape and weight.equal(other) and weight.requires_grad:
            if tables & {id(weight), id(other)}:
                return "tied by value only", first, second
            copies = copies or ("layers start equal", first, second)
    every = [*model.named_parameters(remove_duplicate=False)]
    return copies or (HEALTHY, len(every) - len([*model.parameters()]))


def dropout(subject: Subject) -> Found:
    rate, text = subject.dropout_rate, subject.text()
    require(rate, "there is no dropout with a rate above zero")
    answers = [subject.answer(text, training=True, drops=True, seed=seed) for seed in (0, 1)]
    return (HEALTHY if subject.moved(*answers).any() else "dropout has no effect in training"), rate


def scaling(subject: Subject) -> Found:
    inside = subject.inside
    require(inside.deviation, "no scores could be seen, so this could not be judged")
    if inside.undivided > SATURATED:
        return "scores are not divided", inside.deviation
    if inside.deviation > SHARP and subject.is_fresh:
        return "scores start too large", inside.deviation
    return "scores stay small undivided" if inside.undivided else HEALTHY, inside.deviation


def half(subject: Subject) -> Found:
    text, refused = subject.padded(subject.text(batch=2)), []
    for dtype in (torch.bfloat16, torch.float16):
        try:
            with borrowed(subject.model, dtype):
                answers = subject.answer(text)
        except Exception as error:  # of any kind
            if "overflow" in str(error):
                return "overflow in half precision", dtype, error
            refused.append(f"{dtype} raises {type(error).__name__}")
            continue
        if not answers[text.real[:, : answers.size(1)]].isfinite().all():
            return "overflow in half precision", dtype, "NaN or infinity"
    return ("half precision is refused", ", ".join(refused)) if refused else HEALTHY


def unsure(subject: Subject) -> Found:
    require(subject.is_logits, "the answers are vectors, not logits")
    logits = subject.answer(text := subject.text())
    if (logits >= 0).all() and (logits.sum(dim=-1) - 1).abs().max() < 1e-3:
        return "the model returns probabilities"
    read = logits.softmax(dim=-1).gather(-1, text.ids[:, : logits.size(1), None]).mean()
    if read > 0.5 and not subject.is_fresh:  # tied weights alone make a fresh model prefer it
        return "the model copies what it reads", read
    require(subject.is_fresh, TRAINED)
    uniform = math.log(logits.size(-1))
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), text.ids[:, 1:].flatten()).item()
    return "a fresh model is too sure" if loss > uniform + TOO_SURE else HEALTHY, loss, uniform


def depth(subject: Subject) -> Found:
    stacks = _stacks(subject, subject.text())
    for path, (_, *vectors) in stacks.items():
        growth = ((last := vectors[-1]).norm() / vectors[0].norm()).item() ** (1 / len(vectors[1:]))
        if growth > GROWTH:
            return "depth explodes", path, growth
        within = (last - last.mean(dim=1, keepdim=True)).norm()
        kept = (within / (last - last.mean(dim=(0, 1))).norm()).item() ** (1 / len(vectors))
        if kept < ALIKE:
            return "depth makes all positions alike", path, kept
    return HEALTHY, ", ".join(stacks)


def residual(subject: Subject) -> Found:
    judged = []
    for path, layer in {path: layer for layer, path in _layers(subject).items()}.items():
        answers, begins = _multiplied(subject, layer)
        if begins and (answers[-1] - answers[0]).norm() < SAME * answers[0].norm():
            return "the residual starts after the norm", path
        judged += [path] if begins else []
    require(judged, "no layer begins with a norm that could be observed")
    return HEALTHY, ", ".join(judged)


def _multiplied(subject: Subject, layer: nn.Module) -> tuple[list[Tensor], bool]:
    """What a layer returns for its input and for TIMES as much, and if a norm reads that input."""
    given, answers, norms = [], [], []

    def multiply(_: nn.Module, args: tuple) -> tuple:
        given.extend(each * TIMES ** len(answers) for each in args[:1])
        return *given[-1:], *args[1:]

    def note(module: nn.Module, args: tuple, answer: object) -> None:
        if "Norm" in type(module).__name__ and not [*module.children()]:
            norms.extend(x is each for x in args[:1] for each in given[-1:])
        if module is layer:
            answers.append(next(x for _, x in tensors(answer) if x.dim() == 3))

    with layer.register_forward_pre_hook(multiply), register_module_forward_hook(note):
        for _ in range(2):
            subject.watched(subject.text())
    return answers, any(norms)


def positions(subject: Subject) -> Found:
    *_, first = (vectors[0] for vectors in _stacks(subject, repeated_words(subject)).values())
    times = (first.std(dim=0).mean() / first.std(dim=1).mean()).item()
    require(times < NO_POSITIONS, "no position is added to the words")
    return "words drown positions" if times > DROWNED else HEALTHY, times


def _layers(subject: Subject) -> dict[nn.Module, str]:
    """The layers of every stack, each more than a projection, and where the stack is."""
    return {
        layer: path
        for path, stack in subject.model.named_modules()
        if isinstance(stack, nn.ModuleList) and len({type(layer) for layer in stack}) == 1
        for layer in stack
        if layer and len([*layer.modules()]) > 5
    }


def _stacks(subject: Subject, text: Text) -> dict[str, list[Tensor]]:
    """For every stack of layers in a fresh model what its first one reads, and each returns."""
    require(subject.is_fresh, TRAINED)
    found, lengths = {}, (LENGTH, SOURCE_LENGTH)  # by which a batch on the second axis is told
    layers = _layers(subject)

    def note(layer: nn.Module, *both: object) -> None:
        path = layers.get(layer)
        for each in both[path in found :] if path else ():
            vectors = [x.detach().float() for _, x in tensors(each) if x.dim() == 3]
            vectors = [x.transpose(0, 1) if len(x) in lengths else x for x in vectors[:1]]
            found.setdefault(path, []).extend(vectors)

    with register_module_forward_hook(note):
        subject.watched(text)
    found = {path: vectors for path, vectors in found.items() if len(vectors) > 2}
    require(found, "no stack of layers was found")
    return found
