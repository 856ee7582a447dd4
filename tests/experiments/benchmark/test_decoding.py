"""All three models write as many tokens as asked, the same ones from the same weights."""

import pytest
import torch

from experiments.benchmark import decoding as module
from experiments.benchmark.decoding import (
    SLOW_ROUNDS,
    DecodingWorkload,
    build_writer,
    draw_sources,
    report_decoding,
)
from experiments.benchmark.training_step import MARIAN, OURS, PYTORCH
from transformer_edu.model.transformer import TransformerConfig

CONFIG = TransformerConfig(
    vocabulary_size=13, d_model=12, num_heads=2, num_layers=1, d_ff=20, max_length=40
)
TOY = {"batch": 3, "source_length": 7, "new_tokens": 5, "rounds": 1, "config": CONFIG}


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("name", [OURS, MARIAN, PYTORCH])
def test_every_model_writes_exactly_as_many_tokens_as_asked(name, width):
    if name == MARIAN:
        pytest.importorskip("transformers")
    workload = DecodingWorkload(width=width, **TOY)
    if name == PYTORCH and width > 1:
        with pytest.raises(ValueError, match="width must be 1 for nn.Transformer, got 2"):
            build_writer(name, workload)
        return
    written = build_writer(name, workload)()
    # Start and padding tokens, which nobody forbids, are not told.
    assert len(written) == 3
    assert max(map(len, written)) == 5 or name != MARIAN
    assert all(len(ids) <= 5 and 2 not in ids for ids in written)


def test_the_sources_are_the_same_every_time_and_hold_words_only():
    workload = DecodingWorkload(**TOY)
    source_ids = draw_sources(workload)
    assert source_ids.shape == (3, 7)
    assert source_ids.min() >= 4
    assert torch.equal(source_ids, draw_sources(workload))


@pytest.fixture
def called(monkeypatch) -> list[str]:
    """Who has written, in order; without the seconds that a process of its own takes to start."""
    order = []

    class ThisProcess:
        def __init__(self, build, name, workload):
            self.step, self.name = build(name, workload), name

        def __call__(self):
            self.step()
            order.append(self.name)
            return 1.0

        def close(self):
            order.append("closed")

    monkeypatch.setattr(module, "OwnProcess", ThisProcess)
    return order


def test_the_report_names_versions_and_has_a_row_for_each_workload(called):
    workloads = [DecodingWorkload(width=width, **TOY) for width in (1, 2)]
    report = "\n".join(report_decoding(workloads))
    assert f"torch {torch.__version__}" in report
    assert "12/2/1+1/20, vocabulary 13" in report
    rows = [line for line in report.splitlines() if line.startswith(("| greedy", "| beam"))]
    assert [row.split("|")[1].strip() for row in rows] == ["greedy, batch 3", "beam 2, batch 3"]
    assert rows[1].split("|")[5].strip() == "-", "nn.Transformer has no beam search"


def test_a_slow_model_writes_less_often_and_its_turns_are_with_ours(called, monkeypatch):
    monkeypatch.setattr(module, "build_writer", lambda *_: int)
    rounds = SLOW_ROUNDS + 2
    row = module._measured(DecodingWorkload(**{**TOY, "rounds": rounds}), [OURS, MARIAN, PYTORCH])
    assert row[2:] == ["1.00"] * 3 + ["1.00 / 1.00 / 1.00"] * 2
    ends = ["closed"] * 2
    quick, slow = called[: 2 * rounds + 2], called[2 * rounds + 4 : -2]  # one round is warm-up
    assert called == [*quick, *ends, *slow, *ends]
    assert quick == ([OURS, MARIAN, MARIAN, OURS] * rounds)[: 2 * rounds + 2]
    assert slow == ([OURS, PYTORCH, PYTORCH, OURS] * rounds)[: 2 * SLOW_ROUNDS + 2]


def test_ours_is_timed_alone_where_nobody_else_can_write(called, monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda _: None)
    report = "\n".join(report_decoding([DecodingWorkload(width=2, **TOY)]))
    (row,) = (line for line in report.splitlines() if line.startswith("| beam"))
    search, rounds, ours, pytorch, times = (cell.strip() for cell in row.strip("|").split("|"))
    assert (search, rounds, pytorch, times) == ("beam 2, batch 3", "1", "-", "-")
    assert ours == "1.00" and set(called) == {OURS, "closed"}
