"""Figure 1 of the paper with boxes to click: each shows its shapes, parameters and class."""

from collections.abc import Mapping

from torch import Tensor, nn

from transformer_edu.teaching.figures.architecture import (
    HEIGHT,
    WIDTH,
    describe_architecture,
    plot_architecture,
)
from transformer_edu.teaching.figures.recorded_map import UNIT, recorded_map
from transformer_edu.teaching.inspect.model_parts import Part, model_parts
from transformer_edu.teaching.viewer.live import show_live

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
        "model_map",
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
    device = next(model.parameters()).device
    parts = model_parts(model, source.to(device), target.to(device))
    total = sum(each.numel() for each in model.parameters())
    return {
        "name": name,
        "total": total,
        "parts": {name: _row(part) for name, part in parts.items()},
    }


def _row(part: Part) -> dict[str, object]:
    return vars(part) | {"inputs": [str(each) for each in part.inputs], "output": str(part.output)}
