"""Every box of the live map names a lesson that is there; its figure is in the browser's tests."""

from pathlib import Path

import pytest

from transformer_edu.teaching.explorers.model_map import lesson_of
from transformer_edu.teaching.figures.recorded_map import recorded_map

LESSONS = Path(__file__).parents[3] / "notebooks"
BUILT = {  # the class that a lesson's exercise asks for
    "TokenEmbedding": "Token embedding",
    "MultiHeadAttention": "Cross-attention",
    "PositionalEncoding": "Positional",
    "FeedForward": "Feed-forward",
    "AddAndNorm": "Cross-attention, Add & Norm",
    "Transformer": "Output projection",
}


def test_every_box_has_a_lesson_that_is_there():
    names = {each["box"] for each in recorded_map()} - {None}
    assert all((LESSONS / f"{lesson_of(name)}.ipynb").is_file() for name in names)


@pytest.mark.parametrize(("built", "box"), BUILT.items(), ids=BUILT)
def test_the_lesson_of_a_box_asks_for_its_class(built, box):
    lesson = (LESSONS / f"{lesson_of(box)}.ipynb").read_text(encoding="utf-8")
    assert f"class {built}(" in lesson
