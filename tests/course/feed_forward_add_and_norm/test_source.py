"""A printed source is the real one, and says where it stands."""

import inspect

import pytest

from transformer_course.feed_forward_add_and_norm.source import show_source
from transformer_edu.model import masks
from transformer_edu.model.attention import MultiHeadAttention, split_heads


@pytest.mark.parametrize(
    "thing", [split_heads, MultiHeadAttention, MultiHeadAttention.forward, masks]
)
def test_the_printed_source_is_the_real_one(thing, capsys):
    show_source(thing)
    printed = capsys.readouterr().out
    assert inspect.getsource(thing).rstrip() in printed


def test_it_says_where_the_source_stands_without_naming_a_machine(capsys):
    show_source(split_heads)
    first_line = capsys.readouterr().out.splitlines()[0]
    assert first_line == "# transformer_edu/model/attention.py"


@pytest.mark.parametrize("thing", [3, "text", len, None])
def test_what_has_no_source_is_refused(thing):
    with pytest.raises(TypeError, match="show_source must get a class, function or module"):
        show_source(thing)
