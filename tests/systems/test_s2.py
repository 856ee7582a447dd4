"""S2, continuing a binary pattern with torch's own Transformer: its task, claim and faults."""

import random

import pytest
import torch
from torch import Tensor, nn

from experiments.pattern_bar import (
    pattern_config,
)
from transformer_course.pattern_with_torch.pattern import (
    PatternTask,
    pattern_task,
    pattern_vocabulary,
)
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_edu.data.batches import epoch
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.embeddings import PositionalEncoding
from transformer_edu.model.special_ids import END_ID, PADDING_ID


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.fixture(scope="module")
def s2_task() -> PatternTask:
    return pattern_task()


def test_s2_an_epoch_is_563_batches_of_16_padded_to_their_longest(s2_task):
    batches = list(epoch(s2_task.train, batch_size=16, generator=torch.Generator()))
    assert (len(batches), sum(map(len, batches))) == (563, 9000)
    for batch in batches:
        assert ((batch.source_ids != PADDING_ID).sum(dim=1) == batch.source_ids.size(1)).any()
        assert torch.equal(batch.decoder_input_ids[:, 1:], shifted_back(batch.label_ids))


def shifted_back(label_ids: Tensor) -> Tensor:
    """What the decoder reads after the start token, found from the labels."""
    return label_ids[:, :-1].masked_fill(label_ids[:, :-1] == END_ID, PADDING_ID)


def test_s2_fault_among_9000_samples_are_four_different_ones(s2_task):
    families = ["1" * 8, "0" * 8, "10" * 4, "01" * 4]
    published = random.Random(0).choices([(prompt, prompt) for prompt in families], k=12_000)
    assert len(set(published[:9000])) == 4
    assert set(published[9000:]) <= set(published[:9000])
    assert len({tuple(source) for source, _ in s2_task.train}) > 3000


class S2Positions(PositionalEncoding):
    """Its positions: along the batch."""

    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        return x + self.table[: len(x)].unsqueeze(1)


@torch.no_grad()
def test_s2_fault_positions_along_the_batch_tell_equal_rows_apart_and_orders_not(s2_task):
    config = pattern_config(s2_task.vocabulary)
    source_ids, target_ids = torch.tensor([[5, 5, 4, 5, 4, 7]] * 2), torch.tensor([[1, 5, 4]] * 2)
    found = []
    for broken in (False, True):
        model = PytorchTransformer(config).eval()
        if broken:
            model.positions = S2Positions(d_model=config.d_model, max_length=config.max_length)
        logits = model(source_ids, target_ids)
        shuffled = model(source_ids.roll(2, dims=1), target_ids)
        pairs = ((logits[0], logits[1]), (logits, shuffled))
        found.append([(one - other).abs().max().item() for one, other in pairs])
    (rows, order), (broken_rows, broken_order) = found
    assert rows < 1e-5 and order > 0.01
    assert broken_rows > 0.1 and broken_order < 1e-5


@torch.no_grad()
def test_s2_fault_without_the_memory_mask_padding_is_heard(s2_task):
    model = PytorchTransformer(pattern_config(s2_task.vocabulary)).eval()
    source_ids, target_ids = torch.tensor([[5, 4, 7, 0, 0]] * 2), torch.tensor([[1, 5, 4]] * 2)
    memory = model.encode(source_ids)
    masked = model.decode(target_ids, memory, source_mask=model.source_mask(source_ids))
    short = model.decode(target_ids, memory[:, :3], source_mask=None)
    torch.testing.assert_close(masked, short)
    assert not torch.allclose(model.decode(target_ids, memory, source_mask=None), short, atol=1e-3)


@pytest.mark.filterwarnings("error")
def test_s2_fault_boolean_and_float_masks_are_mixed():
    model = PytorchTransformer(pattern_config(pattern_vocabulary()))
    x, hidden = torch.randn(2, 3, 48), torch.zeros(2, 3, dtype=torch.bool)
    future = nn.Transformer.generate_square_subsequent_mask(3)  # 0 and -inf
    with pytest.raises(UserWarning, match="mismatched"):
        model.transformer(x, x, tgt_mask=future, tgt_key_padding_mask=hidden)
    model(torch.tensor([[5, 4, 7]] * 2), torch.tensor([[1, 5, 0]] * 2))


def test_s2_fault_a_default_width_inside_holds_98_percent_of_a_narrow_model():
    narrow = nn.Transformer(8, 2, 3, 3, batch_first=True)
    inside = sum(p.numel() for name, p in narrow.named_parameters() if ".linear" in name)
    assert inside / count(narrow) == pytest.approx(0.986, abs=0.001)


def test_s2_fault_without_an_end_token_no_real_token_is_cut():
    model = PytorchTransformer(pattern_config(pattern_vocabulary())).eval()
    with torch.no_grad():
        model.output_projection.bias[5] = 100.0  # it writes ones for ever
    source_ids = torch.tensor([[5, 5, 5, 8], [4, 4, 8, 0]])
    assert greedy_search(model, source_ids, max_length=3) == [[5, 5, 5], [5, 5, 5]]
