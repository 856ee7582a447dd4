"""Probes of a model's parts: its parameters, dropout and scores, its precision and its start.

Each takes the subject and returns a Finding; probes.tsv says what it does and expects.
"""

import copy
import math
from collections.abc import Iterator
from itertools import combinations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.checkup.calling import Text, tensors
from transformer_edu.checkup.flows import MORE, REPEATED, has_absolute_positions, repeated_words
from transformer_edu.checkup.report import HEALTHY, ILL, TOLD, UNTRIED, Finding
from transformer_edu.checkup.subject import Subject, without_dropout

SATURATED = 1.5  # standard deviation of scores; T5, which does not divide, starts at 1
SHARP = 5.0  # the same of a fresh model, however its scores are computed
TOO_SURE = 2.0  # nats above ln V
DROWNED = 20.0  # variation between words, as a multiple of that between positions
GROWTH = 2.0  # of the vectors in a layer
ALIKE = 0.57  # of the variation within a text that a layer keeps; deep post-norm keeps 0.66
TRAINED = Finding(UNTRIED, "the model has been trained, or has no norm that would tell")
NO_STACK = Finding(UNTRIED, "no stack of layers was found")


def registered(subject: Subject) -> Finding:
    model, plain = subject.original, ""
    known = {id(each) for each in (*model.modules(), *model.parameters(), *model.buffers())}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            held = value if isinstance(value, list | tuple) else [value]
            held = value.values() if isinstance(value, dict) else held
            for each in held if name not in ("_parameters", "_buffers", "_modules") else ():
                words = f"{path}.{name} is not registered".lstrip(".")
                if isinstance(each, nn.Module | nn.Parameter) and id(each) not in known:
                    return Finding(ILL, f"{words}.", "weights are not registered")
                is_plain = isinstance(each, Tensor) and each.is_floating_point() and each.dim() > 0
                plain = words if is_plain and id(each) not in known else plain
    if plain:
        return Finding(TOLD, f"The tensor {plain}: .to(device) and files leave it out.")
    return Finding(HEALTHY, "No weight is outside of parameters().")


def gradients(subject: Subject) -> Finding:
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
        return Finding(TOLD, f"{words} Experts that a short text does not reach?")
    if idle:
        return Finding(ILL, words, "parameters get no gradient")
    return Finding(HEALTHY, f"All {len(weights)} parameters get a gradient.")


def layers(subject: Subject) -> Finding:
    for first, second in _equal_matrices(subject, tables=False):
        words = f"{first} and {second} start with equal numbers. Copies of one layer?"
        return Finding(TOLD, f"{words} nn.TransformerEncoder makes such: draw new ones.")
    return Finding(HEALTHY, "No two layers hold the same numbers.")


def tied(subject: Subject) -> Finding:
    for first, second in _equal_matrices(subject, tables=True):
        words = f"{first} and {second} hold equal numbers and are two parameters."
        return Finding(ILL, words, "tied by value only")
    names = [name for name, _ in subject.original.named_parameters(remove_duplicate=False)]
    shared = len(names) - len(list(subject.original.parameters()))
    return Finding(HEALTHY, f"{shared} parameters are shared." if shared else "None is tied.")


def _equal_matrices(subject: Subject, *, tables: bool) -> Iterator[tuple[str, str]]:
    """Two parameters with the same numbers, of which one is an embedding table or none is."""
    model = subject.original
    drawn = [
        (name, weight.detach())
        for name, weight in model.named_parameters()
        if weight.dim() > 1 and weight.requires_grad and (weight != weight.flatten()[0]).any()
    ]
    for (first, weight), (second, other) in combinations(drawn, 2):
        if weight.shape == other.shape and weight.equal(other):
            owners = [model.get_submodule(name.rpartition(".")[0]) for name in (first, second)]
            if any(isinstance(each, nn.Embedding) for each in owners) == tables:
                yield first, second


def dropout(subject: Subject) -> Finding:
    if subject.dropout_rate <= 0:
        return Finding(HEALTHY, "The model has no dropout.")
    if subject.differences(training=True, seeds=(0, 1))[0]:
        return Finding(HEALTHY, "Two seeds give different answers in training mode.")
    words = f"A rate of {subject.dropout_rate} is set, and two seeds give the same answers."
    return Finding(ILL, words, "dropout has no effect in training")


def scaling(subject: Subject) -> Finding:
    found, deviation = subject.inside.undivided, subject.inside.deviation
    if not subject.inside.attentions:
        return Finding(UNTRIED, "no attention could be observed")
    words = f"The scores' standard deviation is {deviation:.2g}."
    if found and max(found) > SATURATED:
        return Finding(ILL, words, "scores are not divided")
    if deviation > SHARP and _is_fresh(subject):
        return Finding(ILL, words, "scores start too large")
    if found:
        words += " They are not divided: right if projections start small enough, as T5's do."
        return Finding(TOLD, words)
    return Finding(HEALTHY, words)


def half(subject: Subject) -> Finding:
    text, told = subject.padded(subject.text(batch=2), MORE), ""
    if subject.model is subject.original:
        return Finding(UNTRIED, "the model cannot be copied")
    for dtype in (torch.bfloat16, torch.float16):
        name = str(dtype).removeprefix("torch.")
        try:
            model = copy.deepcopy(subject.model).to(dtype).eval()
            with torch.no_grad():
                answers = subject.read(subject.call(model, text), text)
        except Exception as error:  # of any kind
            if "overflow" in str(error):
                return Finding(ILL, f"In {name}: {error}", "overflow in half precision")
            told += f"In {name} it raises {type(error).__name__}: use autocast. "
            continue
        if not answers[text.real[:, : answers.size(1)]].isfinite().all():
            return Finding(ILL, f"NaN or infinity in {name}.", "overflow in half precision")
    return Finding(TOLD, told.rstrip()) if told else Finding(HEALTHY, "Both are finite.")


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
    uniform = math.log(logits.size(-1))
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), text.ids[:, 1:].flatten()).item()
    words = f"The loss is {loss:.2f}, ln V is {uniform:.2f}."
    is_sure = loss > uniform + TOO_SURE
    return Finding(ILL, words, "a fresh model is too sure") if is_sure else Finding(HEALTHY, words)


def depth(subject: Subject) -> Finding:
    if not _is_fresh(subject):
        return TRAINED
    stacks = _stacks(subject, subject.text())
    for path, (_, *vectors) in stacks.items():
        growth = (vectors[-1].norm() / vectors[0].norm()).item() ** (1 / (len(vectors) - 1))
        if growth > GROWTH:
            words = f"In {path} every layer makes its vectors {growth:.1f} times longer."
            return Finding(ILL, words, "depth explodes")
        last = vectors[-1]
        within = (last - last.mean(dim=1, keepdim=True)).norm()
        kept = (within / (last - last.mean(dim=(0, 1))).norm()).item() ** (1 / len(vectors))
        if kept < ALIKE:
            words = f"In {path} a layer keeps {kept:.0%} of the differences within a text."
            return Finding(ILL, words, "depth makes all positions alike")
    words = f"Scale and differences are kept in {', '.join(stacks)}."
    return Finding(HEALTHY, words) if stacks else NO_STACK


def positions(subject: Subject) -> Finding:
    if not _is_fresh(subject):
        return TRAINED
    if not has_absolute_positions(subject):
        return Finding(HEALTHY, "No position is added to the words.")
    stacks = _stacks(subject, repeated_words(subject)).values()
    given = [first for first, *_ in stacks if len(first) == REPEATED]
    if not given:
        return NO_STACK
    times = (given[-1].std(dim=0).mean() / given[-1].std(dim=1).mean()).item()
    words = f"The first layer reads {times:.1f} times as much of words as of positions."
    if times > DROWNED:
        return Finding(ILL, words, "words drown positions")
    return Finding(HEALTHY, words)


def _stacks(subject: Subject, text: Text) -> dict[str, list[Tensor]]:
    """For every stack of two layers or more what its first layer reads, and what each returns."""
    found: dict[str, list[Tensor]] = {}

    def note(path: str, *both: object) -> None:
        for each in both[path in found :]:
            vectors = [x.detach().float() for _, x in tensors(each) if x.dim() == 3]
            found.setdefault(path, []).extend(vectors[:1])

    hooks = [
        layer.register_forward_hook(lambda _, given, output, path=path: note(path, given, output))
        for path, stack in subject.model.named_modules()
        if isinstance(stack, nn.ModuleList) and len({type(layer) for layer in stack}) == 1
        for layer in stack
        if layer is not None and len(list(layer.modules())) > 5  # more than a projection
    ]
    try:
        subject.watched(text)
    finally:
        for hook in hooks:
            hook.remove()
    return {path: vectors for path, vectors in found.items() if len(vectors) > 2}


def _is_fresh(subject: Subject) -> bool:
    """Whether all norms have the weights that they start with."""
    modules = [each for each in subject.original.modules() if "Norm" in type(each).__name__]
    weights = [weight for each in modules for weight in each.parameters(recurse=False)]
    return bool(weights) and all(bool((each == each.flatten()[0]).all()) for each in weights)
