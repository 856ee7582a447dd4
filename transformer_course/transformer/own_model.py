"""The reader's finished model: whose classes it has, which one differs, and its weights."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from transformer_course import our_transformer
from transformer_course.asking.answer import close
from transformer_course.kept_files import content_of, name_from, replace_unchanged
from transformer_course.looking.recording import removed_at_the_end
from transformer_course.my_transformer import COURSE, OURS, SWITCH, YOURS

WEIGHTS = "my_number_translator.pt"
SIZES = (23, 12, 3, 2, 20, 0.0)  # vocabulary, d_model, heads, layers, d_ff, dropout
SOURCE_IDS, TARGET_IDS = torch.tensor([[5, 6, 7, 0], [8, 9, 0, 0]]), torch.tensor([[1, 8, 9]] * 2)
NUMBERS = ("1.1", "3.2", "4.2", "5.1", "6.1", "6.2", "7.1", "7.2", "8.2", "8.3", "9.1")
EXERCISES = dict(zip(OURS, NUMBERS, strict=True))


def whose_classes(model: nn.Module) -> str:
    """Which classes of a model the reader has written, in words.

    Args:
        model: Made of classes that ``my_parts`` returned. A class from anywhere else is taken for
            the reader's if it has the name of one of the course's.
    """
    written_by = {}
    for module in model.modules():
        for cls in type(module).__mro__:
            if cls.__name__ in OURS:
                written_by[cls.__name__] = getattr(cls, "written_by", YOURS)
    mine = [name for name in OURS if written_by.get(name) == YOURS]
    others = [name for name in OURS if written_by.get(name) == COURSE]
    if not others:
        return f"All {len(mine)} classes that it uses are yours."
    if not mine:
        return "All classes are the course's."
    return f"Yours: {', '.join(mine)}. The course's: {', '.join(others)}."


def compare_classes(kind: type[nn.Module], device: torch.device | str = "cpu") -> str:
    """Whether the classes of the reader's Transformer compute what the course's do, in words.

    Args:
        kind: The class Transformer of ``my_parts``.
        device: Where to compute.
    """
    name = different_class(kind, device)
    if name is None:
        return "Each class computes what the course's class computes."
    again = f"Check it again in exercise {EXERCISES[name]}."
    return f"Your {name} computes something else than the course's. {again}"


def different_class(kind: type[nn.Module], device: torch.device | str = "cpu") -> str | None:
    """The first class in a Transformer that computes something else than the course's.

    Every part gets the weights and the inputs of the course's part in its place, inner parts first.
    So a class is found even if all classes around it are right.

    Args:
        kind: A class with the arguments and the names of our_transformer.Transformer.
        device: Where to compute.

    Returns:
        The name of the class, or None if there is none.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        ours = our_transformer.Transformer(*SIZES).eval()
        for weight in ours.parameters():
            if weight.dim() == 1:
                nn.init.normal_(weight, mean=weight.detach().mean().item(), std=0.5)
        ours, own = ours.to(device), kind(*SIZES).to(device).eval()
        assembled = _assembled(own).to(device)
        for path, given, expected in _calls(ours):
            try:
                part = (assembled if path else own).get_submodule(path)
            except AttributeError:
                continue  # the part around it has other names, and is not equal
            if not _computes(part, ours.get_submodule(path), given, expected):
                return type(ours.get_submodule(path)).__name__
    return None


def _assembled(own: nn.Module) -> nn.Module:
    """The course's Transformer with parts of the classes of another one, but its own sizes."""
    vocabulary_size, d_model, num_heads, num_layers, d_ff, dropout = SIZES
    model = our_transformer.Transformer(*SIZES)
    for name, sizes in {
        "encoder": (num_layers, d_model, num_heads, d_ff, dropout),
        "decoder": (num_layers, d_model, num_heads, d_ff, dropout),
        "source_embedding": (vocabulary_size, d_model),
        "positions": (d_model,),
    }.items():
        setattr(model, name, type(getattr(own, name))(*sizes))
    return model.eval()


@torch.no_grad()
def _calls(ours: nn.Module) -> list[tuple[str, tuple, Tensor]]:
    """For every call of a class of the course's, inner ones first: path, inputs and output."""
    calls: list[tuple[str, tuple, Tensor]] = []

    def note(path: str) -> Callable[..., None]:
        return lambda _, given, output: calls.append((path, given, output))

    modules = [(path, each) for path, each in ours.named_modules() if type(each).__name__ in OURS]
    with removed_at_the_end([each.register_forward_hook(note(path)) for path, each in modules]):
        device = ours.output_projection.bias.device
        ours(SOURCE_IDS.to(device), TARGET_IDS.to(device))
    return calls


@torch.no_grad()
def _computes(part: nn.Module, ours: nn.Module, given: tuple, expected: Tensor) -> bool:
    """Whether a part has the weights of another one, and then computes the same."""
    try:
        weights = part.state_dict()
        for name, weight in ours.state_dict().items():
            weights[name].copy_(weight)
        return close(part(*given), expected)
    except Exception:  # whatever the reader has written there
        return False


def keep_weights(model: nn.Module) -> None:
    """Write the weights of a model next to the lesson, and say so. Others are kept as a copy.

    ``torch.load`` reads the file, for ``load_state_dict``.

    Args:
        model: On any device; the file has its numbers on the CPU.
    """
    if os.environ.get(SWITCH) == "0":
        return
    buffer, said = io.BytesIO(), ""
    try:
        path = Path(os.path.realpath(WEIGHTS))
        weights = {name: weight.cpu() for name, weight in model.state_dict().items()}
        has_nan = any(weight.isnan().any() for weight in weights.values())
        torch.save(weights, buffer)
        before, content = content_of(path), buffer.getvalue()
        if before != content:
            copy = replace_unchanged(path, before, content, keep=before is not None)
            if copy is not None:
                said = f"The weights that were there are kept as {name_from(Path(), copy)}. "
    except Exception as error:  # what was trained stays
        reason = " ".join(str(getattr(error, "strerror", None) or error).rstrip("!.").split())
        print(f"The weights could not be written to {WEIGHTS}: {reason}.")
        return
    print(f"{said}The weights of your model are in {WEIGHTS}, next to this lesson.")
    if has_nan:
        print("Some of them are not numbers (NaN), so this model translates nothing.")
