"""Lesson 02: what its checks do beside telling answers apart."""

from torch import nn

from tests.course.attention.test_answers import ANSWERS as PLAIN
from tests.course.masks.test_answers import ANSWERS as MASKED
from tests.exercise_answers import written
from transformer_course.attention.checks import check_attention
from transformer_course.masks.checks import check_masked_attention
from transformer_course.my_transformer import FILE, SWITCH


class Scaffold(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        ...

    def forward(self, query, key, value):
        return ...


def test_a_scaffold_waits(capsys):
    check_attention(Scaffold)
    assert capsys.readouterr().out.startswith("Exercise 2.1 is waiting for you")


def test_an_attention_that_takes_a_mask_is_not_replaced(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv(SWITCH)
    monkeypatch.chdir(tmp_path)
    check_masked_attention(written(MASKED["3.2"].base))
    kept = (tmp_path / FILE).read_bytes()
    check_attention(written(PLAIN["2.1"].base))
    assert (tmp_path / FILE).read_bytes() == kept
    assert "Your Attention of lesson 3, which takes a mask, stays" in capsys.readouterr().out
