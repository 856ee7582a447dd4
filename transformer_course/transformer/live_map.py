"""Figure 1 of the paper with boxes to click: each shows its shapes, parameters and class."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from transformer_course.drawing.course_map import (
    HEIGHT,
    WIDTH,
    describe_architecture,
    draw_map,
    plot_architecture,
)
from transformer_course.drawing.pen import HIDDEN, MASK_SIZE, Box, Pen
from transformer_course.looking.recording import removed_at_the_end
from transformer_course.viewer.live import show_live
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.embeddings import PositionalEncoding, TokenEmbedding
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.machine.device import device_of

FIRST_SHOWN = "target: Cross-attention"
LESSONS = {  # by a word of a box's name: the lesson that builds it; later ones win
    "tokens": "14_tokenization",
    "Token embedding": "01_words_as_vectors",
    "Positional": "05_positional_encoding",
    "attention": "04_multi_head_attention",
    "Feed-forward": "06_feed_forward_add_and_norm",
    "Add & Norm": "06_feed_forward_add_and_norm",
    "Memory": "07_encoder",
    "Output projection": "09_transformer",
    "Softmax": "02_attention",
}
# Where data comes before (< 0) and after (> 0) the layers, by a word of a box's name.
AROUND_LAYERS = {
    "tokens": -3,
    "Token embedding": -2,
    "Positional": -1,
    "Memory": 1,
    "Output projection": 2,
    "Softmax": 3,
}


UNIT = 100  # of the live figure's coordinates, in an inch of the drawing


class Recorder(Pen):
    """A pen that notes what it is asked to draw, y downwards.

    Attributes:
        elements: What was drawn, in this order; "box" is the name of the box that it is a part of,
            None for what is around the boxes.
    """

    def __init__(self) -> None:
        super().__init__(axes=None, highlight=set())
        self.elements: list[dict[str, object]] = []
        self._box: str | None = None
        self._last = ""

    def box(self, box: Box) -> None:
        """A part of the map; an Add & Norm is named after the part that was drawn before it."""
        label = box.label.replace("\n", " ")
        side = "target" if box.left > WIDTH / 2 else "source"
        is_norm = "add & norm" in box.components
        self._last = self._last if is_norm else f"{side}: {label}"
        self._box = f"{self._last}, Add & Norm" if is_norm else self._last
        super().box(box)
        self._box = None

    def rounded(self, box: Box, strong: bool, *, fill: str, layer: float) -> None:
        """A frame, a sheet of a pile, or the box itself, which has words and comes last."""
        size = {"width": box.width, "height": box.height}
        self._note("rect", x=box.left, y=HEIGHT - box.top, **size, sheet=layer == 2)

    def mask(self, name: str, left: float, y: float) -> None:
        """A small mask."""
        top = HEIGHT - y - MASK_SIZE / 2
        self._note("mask", x=left, y=top, width=MASK_SIZE, height=MASK_SIZE, hidden=HIDDEN[name])

    def words(
        self, words: str, x: float, y: float, *, strong: bool, color: str = "", align="center"
    ) -> None:
        """Words, line by line."""
        anchor = {"center": "middle", "left": "start", "right": "end"}[align]
        self._note("words", x=x, y=HEIGHT - y, lines=words.split("\n"), anchor=anchor)

    def arrow(self, *points: tuple[float, float], strong: bool = False) -> None:
        """A line through the points."""
        numbers = [[round(x * UNIT, 1), round((HEIGHT - y) * UNIT, 1)] for x, y in points]
        self._note("arrow", points=numbers)

    def _note(self, kind: str, **numbers: object) -> None:
        scaled = {
            name: round(each * UNIT, 1) if isinstance(each, float) else each
            for name, each in numbers.items()
        }
        self.elements.append({"kind": kind, "box": self._box, **scaled})


def recorded_map() -> list[dict[str, object]]:
    """Every element of plot_architecture's drawing, in the order in which it is drawn."""
    recorder = Recorder()
    draw_map(recorder)
    return recorder.elements


# Where the package has what a box stands for; a linear map is a part of the whole.
PACKAGE = {
    each.__name__: each
    for each in (TokenEmbedding, PositionalEncoding, MultiHeadAttention, AddAndNorm, FeedForward)
}
# A box by its name in the recorded map: the module, and which of its calls is meant.
FIRST_LAYER = "{}.layers.0.{}"
LAST = "output_projection"
MODULES = {
    "source: Token embedding × √d_model": ("source_embedding", 0),
    "source: + Positional encoding": ("positions", 0),
    "target: Token embedding × √d_model": ("target_embedding", 1),
    "target: + Positional encoding": ("positions", 1),
    "target: Output projection": (LAST, 0),
} | {
    f"{side}: {label}{norm}": (FIRST_LAYER.format(stack, f"{around}{part}"), 0)
    for side, stack, label, part in (
        ("source", "encoder", "Self-attention", "self_attention"),
        ("source", "encoder", "Feed-forward", "feed_forward"),
        ("target", "decoder", "Masked self-attention", "self_attention"),
        ("target", "decoder", "Cross-attention", "cross_attention"),
        ("target", "decoder", "Feed-forward", "feed_forward"),
    )
    for norm, around in (("", ""), (", Add & Norm", "around_"))
}


@dataclass(frozen=True)
class Part:
    """What one box of the map is in a model.

    Args:
        inputs: The shapes that go in, each once for each tensor.
        output: The shape that comes out.
        parameters: How many it has, in one layer.
        shared: How many of them a box before it has, too.
        layers: How often the model has it.
        module: Its class; None for what is not a module.
        file: Where the package has it; "" where module is None.
    """

    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    parameters: int = 0
    shared: int = 0
    layers: int = 1
    module: str | None = None
    file: str = ""


def model_parts(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> dict[str, Part]:
    """Send one batch through a model and describe the part of every box of the map.

    Args:
        model: Has the parts of Transformer, under their names; it is not changed. On the device
            meta it needs no memory.
        source_ids: Shape (batch, source position).
        target_ids: Shape (batch, target position).

    Returns:
        By the names of the boxes in recorded_map.
    """
    calls = _calls(model, source_ids, target_ids)
    parts, seen = {}, set()
    for name, (path, call) in MODULES.items():
        module = model.get_submodule(path)
        own = list(module.parameters())
        layers = len(model.encoder.layers) if ".layers." in path else 1
        counts = sum(p.numel() for p in own), sum(p.numel() for p in own if id(p) in seen), layers
        seen.update(map(id, own))
        kind = PACKAGE.get(type(module).__name__, Transformer)
        parts[name] = Part(*calls[path][call], *counts, type(module).__name__, _file(kind))
    source, target = tuple(source_ids.shape), tuple(target_ids.shape)
    logits = parts["target: Output projection"].output
    memory = parts["source: Feed-forward, Add & Norm"].output
    return parts | {
        "source: Source tokens": Part((), source),
        "target: Target tokens (shifted right)": Part((), target),
        "source: Memory": Part((memory,), memory),
        "target: Softmax": Part((logits,), logits),
    }


def _calls(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> dict[str, list[tuple]]:
    """For each module's path, the shapes of what went in and came out, one pair for each call."""
    calls: dict[str, list[tuple]] = {path: [] for path, _ in MODULES.values()}

    def note(path: str) -> Callable[..., None]:
        def hook(_: nn.Module, given: tuple, named: dict, out: Tensor) -> None:
            tensors = {
                id(each): tuple(each.shape)
                for each in (*given, *named.values())
                if isinstance(each, Tensor) and each.dtype.itemsize > 1  # a mask is bool
            }
            calls[path].append((tuple(tensors.values()), tuple(out.shape)))

        return hook

    hooks = [
        model.get_submodule(path).register_forward_hook(note(path), with_kwargs=True)
        for path in calls
    ]
    device = device_of(model)
    with removed_at_the_end(hooks), evaluation_mode(model):
        logits = model(source_ids.to(device), target_ids.to(device))
    if not calls[LAST]:  # a reader's project may use its weight alone
        decoded = (*logits.shape[:-1], model.output_projection.weight.size(-1))
        calls[LAST].append(((decoded,), tuple(logits.shape)))
    return calls


def _file(kind: type) -> str:
    """The class's file as the repository names it."""
    return kind.__module__.replace(".", "/") + ".py"


def show_map_live(models: Mapping[str, nn.Module], source_ids: Tensor, target_ids: Tensor) -> None:
    """Let the reader choose a box of the map and see its shapes, parameters, lesson and class.

    Args:
        models: By name, what is asked; each has the parts of Transformer under their names.
        source_ids: Shape (batch, source position).
        target_ids: Shape (batch, target position).
    """
    title = "Every box has its shapes, its parameters and its class"
    alt = describe_architecture("cross-attention")
    show_live(
        __file__,
        {
            "elements": recorded_map(),
            "size": [WIDTH * UNIT, HEIGHT * UNIT],
            "models": [_numbers(*each, source_ids, target_ids) for each in models.items()],
            "lessons": {name: lesson_of(name) for name in box_names()},
            "first": FIRST_SHOWN,
        },
        title=title,
        still=plot_architecture("cross-attention", title=title),
        alt=alt,
        height=640,
        phone_height=850,
    )


def lesson_of(name: str) -> str:
    """The file of the lesson that builds a box, without its ending."""
    return [lesson for word, lesson in LESSONS.items() if word in name][-1]


def box_names() -> list[str]:
    """The names of all boxes as data flows through them: the encoder's, then the decoder's."""
    recorded = dict.fromkeys(each["box"] for each in recorded_map() if each["box"])
    return sorted(recorded, key=lambda name: (name.startswith("target"), _place_in_flow(name)))


def _place_in_flow(name: str) -> int:
    """Before, in or after the layers; the map draws the parts of a layer in their own order."""
    return next((place for word, place in AROUND_LAYERS.items() if word in name), 0)


def _numbers(name: str, model: nn.Module, source: Tensor, target: Tensor) -> dict[str, object]:
    """A model as JSON can hold it."""
    parts = model_parts(model, source, target)
    total = sum(each.numel() for each in model.parameters())
    return {
        "name": name,
        "total": total,
        "parts": {name: _row(part) for name, part in parts.items()},
    }


def _row(part: Part) -> dict[str, object]:
    return vars(part) | {"inputs": [str(each) for each in part.inputs], "output": str(part.output)}
