"""Probes of a model's parts: its parameters, dropout and scores, its precision and its start.

Each takes the subject and returns a Finding; probes.tsv says what it does and expects.
"""

import copy
import math
import re
from itertools import combinations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.checkup.calling import tensors
from transformer_edu.checkup.flow_probes import has_absolute_positions, repeated_words
from transformer_edu.checkup.flows import MORE
from transformer_edu.checkup.report import HEALTHY, ILL, TOLD, UNTRIED, Finding
from transformer_edu.checkup.subject import Subject

SATURATED = 1.5  # standard deviation of scores; T5, which does not divide, starts at 1
TOO_SURE = 2.0  # nats above ln V
DROWNED = 12.0  # variation between words, as a multiple of that between positions
GROWTH = 10.0  # of the vectors from the first layer to the last
ALIKE = 0.1  # variation within a text, as a share of that between texts
TRAINED = Finding(UNTRIED, "the model has been trained, or has no norm that would tell")


def scaling(subject: Subject) -> Finding:
    found = subject.inside.undivided
    if not subject.inside.attentions:
        return Finding(UNTRIED, "no attention could be observed")
    if not found:
        return Finding(HEALTHY, "No scores were observed that are not divided.")
    words = f"Scores with a standard deviation of {max(found):.1f} were not divided."
    if max(found) > SATURATED:
        return Finding(ILL, words, "scores are not divided")
    return Finding(TOLD, f"{words} Right if the projections start small enough, as T5's do.")


def registered(subject: Subject) -> Finding:
    model, tensor = subject.original, ""
    known = {id(each) for each in (*model.modules(), *model.parameters(), *model.buffers())}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            if name in ("_parameters", "_buffers", "_modules"):
                continue
            held = value if isinstance(value, list | tuple) else [value]
            held = value.values() if isinstance(value, dict) else held
            for each in held:
                if id(each) in known:
                    continue
                if isinstance(each, nn.Module | nn.Parameter):
                    words = f"{path}.{name}".lstrip(".") + " is not registered."
                    return Finding(ILL, words, "weights are not registered")
                if isinstance(each, Tensor) and each.is_floating_point() and each.numel() > 1:
                    tensor = f"{path}.{name}".lstrip(".")
    if tensor:
        return Finding(TOLD, f"{tensor} is a plain tensor: .to(device) and files leave it out.")
    return Finding(HEALTHY, "No weight is outside of parameters().")


def gradients(subject: Subject) -> Finding:
    model, text = subject.model.train(), subject.text()
    torch.manual_seed(0)
    with torch.enable_grad():
        outputs = [each for _, each in tensors(subject.call(model, text)) if each.requires_grad]
        total = sum((torch.randn_like(each) * each).sum() for each in outputs)
    weights = [(n, w) for n, w in model.named_parameters() if w.requires_grad]
    found = [None] * len(weights)
    if outputs:
        found = torch.autograd.grad(total, [w for _, w in weights], allow_unused=True)
    idle = [
        name
        for (name, weight), grad in zip(weights, found, strict=True)
        if grad is None or (weight.dim() > 1 and not grad.any())
    ]
    if not idle:
        return Finding(HEALTHY, f"All {len(weights)} parameters get a gradient.")
    words = f"{len(idle)} of {len(weights)} parameters get none, such as {idle[0]}."
    if all("expert" in name for name in idle):
        return Finding(TOLD, f"{words} Experts that a short text does not reach?")
    return Finding(ILL, words, "parameters get no gradient")


def layers(subject: Subject) -> Finding:
    for first, second in _equal_matrices(subject):
        if first.rsplit(".", 1)[-1] == second.rsplit(".", 1)[-1] and not _is_tie(
            subject, first, second
        ):
            words = f"{first} and {second} start with equal numbers. Copies of one layer?"
            return Finding(TOLD, f"{words} nn.TransformerEncoder makes such: draw new ones.")
    return Finding(HEALTHY, "No two layers hold the same numbers.")


def tied(subject: Subject) -> Finding:
    for first, second in _equal_matrices(subject):
        if _is_tie(subject, first, second):
            words = f"{first} and {second} hold equal numbers and are two parameters."
            return Finding(ILL, words, "tied by value only")
    names = [name for name, _ in subject.original.named_parameters(remove_duplicate=False)]
    shared = len(names) - len(list(subject.original.parameters()))
    return Finding(HEALTHY, f"{shared} parameters are shared." if shared else "None is tied.")


def _equal_matrices(subject: Subject) -> list[tuple[str, str]]:
    matrices = [
        (name, weight.detach())
        for name, weight in subject.original.named_parameters()
        if weight.dim() > 1 and weight.requires_grad and (weight != weight.flatten()[0]).any()
    ]
    return [
        (name, other)
        for (name, weight), (other, same) in combinations(matrices, 2)
        if weight.shape == same.shape
        and weight.flatten()[0] == same.flatten()[0]
        and weight.equal(same)
    ]


def _is_tie(subject: Subject, first: str, second: str) -> bool:
    """Whether one of two parameters is an embedding table."""
    modules = [subject.original.get_submodule(each.rpartition(".")[0]) for each in (first, second)]
    return any(isinstance(each, nn.Embedding) for each in modules)


def dropout(subject: Subject) -> Finding:
    rates = [
        value
        for module in subject.original.modules()
        for name, value in vars(module).items()
        if isinstance(value, float) and ("drop" in name or isinstance(module, nn.Dropout))
    ]
    if not any(0 < rate < 1 for rate in rates):
        return Finding(HEALTHY, "The model has no dropout.")
    text, answers = subject.text(), []
    for seed in (0, 1):
        torch.manual_seed(seed)
        with torch.no_grad():
            answers.append(subject.read(subject.call(subject.twin.train(), text), text))
    if subject.moved(*answers).any():
        return Finding(HEALTHY, "Two seeds give different answers in training mode.")
    words = f"A rate of {max(rates)} is set, and two seeds give the same answers."
    return Finding(ILL, words, "dropout has no effect in training")


def half(subject: Subject) -> Finding:
    text, told = subject.padded(subject.text(batch=2), MORE), []
    for dtype in (torch.bfloat16, torch.float16):
        name = str(dtype).removeprefix("torch.")
        try:
            model = copy.deepcopy(subject.model).to(dtype).eval()
            with torch.no_grad():
                answers = subject.read(subject.call(model, text), text)
        except Exception as error:  # of any kind
            if "overflow" in str(error):
                words = f"In {name}: {error}".split("\n")[0]
                return Finding(ILL, words, "overflow in half precision")
            told.append(f"In {name} it raises {type(error).__name__}: use autocast.")
            continue
        if not answers[text.real[:, : answers.size(1)]].isfinite().all():
            return Finding(ILL, f"NaN or infinity in {name}.", "overflow in half precision")
    return Finding(TOLD if told else HEALTHY, " ".join(told) or "Finite in bfloat16 and float16.")


def unsure(subject: Subject) -> Finding:
    if not subject.is_logits:
        return Finding(UNTRIED, "the answers are vectors, not logits")
    text = subject.text()
    logits = subject.answer(text)
    if (logits >= 0).all() and (logits.sum(dim=-1) - 1).abs().max() < 1e-3:
        words = "Every answer is positive and sums to one."
        return Finding(ILL, words, "the model returns probabilities")
    if not _is_fresh(subject):
        return TRAINED
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), text.ids[:, 1:].flatten()).item()
    words = f"The loss is {loss:.2f}, ln V is {math.log(logits.size(-1)):.2f}."
    if loss > math.log(logits.size(-1)) + TOO_SURE:
        return Finding(ILL, words, "a fresh model is too sure")
    return Finding(HEALTHY, words)


def positions(subject: Subject) -> Finding:
    if not _is_fresh(subject):
        return TRAINED
    if not has_absolute_positions(subject):
        return Finding(HEALTHY, "No position is added to the words.")
    answers = subject.answer(repeated_words(subject))
    times = (answers.std(dim=0).mean() / answers.std(dim=1).mean()).item()
    words = f"Answers differ {times:.1f} times as much between words as between positions."
    return (
        Finding(ILL, words, "words drown positions") if times > DROWNED else Finding(HEALTHY, words)
    )


def depth(subject: Subject) -> Finding:
    if not _is_fresh(subject):
        return TRAINED
    sizes: dict[str, list[Tensor]] = {}

    def measure(path: str, output: object) -> None:
        found = [each for _, each in tensors(output) if each.dim() == 3]
        sizes.setdefault(path, []).extend(each.detach().float() for each in found[:1])

    hooks = [
        layer.register_forward_hook(lambda module, given, output, path=path: measure(path, output))
        for path, stack in subject.model.named_modules()
        if isinstance(stack, nn.ModuleList) and len({type(layer) for layer in stack}) == 1
        for layer in stack
    ]
    try:
        subject.watched(subject.text())
    finally:
        for hook in hooks:
            hook.remove()
    stacks = {path: vectors for path, vectors in sizes.items() if len(vectors) > 1}
    if not stacks:
        return Finding(UNTRIED, "no stack of layers was found")
    for path, vectors in stacks.items():
        growth = (vectors[-1].norm() / vectors[0].norm()).item()
        within = (vectors[-1] - vectors[-1].mean(dim=1, keepdim=True)).norm()
        alike = (within / (vectors[-1] - vectors[-1].mean(dim=(0, 1))).norm()).item()
        words = f"From the first to the last of {path} vectors grow {growth:.1f}-fold."
        if growth > GROWTH and growth ** (1 / (len(vectors) - 1)) > 2:
            return Finding(ILL, words, "depth explodes")
        if alike < ALIKE:
            words = f"After {path}, {alike:.0%} of the variation is within a text."
            return Finding(ILL, words, "depth makes all positions alike")
    return Finding(HEALTHY, words)


def _is_fresh(subject: Subject) -> bool:
    """Whether all norms have the weights that they start with."""
    norms = [
        weight
        for module in subject.original.modules()
        if "Norm" in type(module).__name__
        for weight in module.parameters(recurse=False)
    ]
    return bool(norms) and all(bool((each == each.flatten()[0]).all()) for each in norms)
