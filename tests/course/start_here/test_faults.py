"""Inside the block the decoder gets no memory, and after it everything is as before."""

import torch

from tests.small_model import small_transformer
from transformer_course.start_here.faults import memory_of_zeros


def test_inside_the_block_every_source_gives_the_same_logits():
    model = small_transformer().eval()
    target = torch.tensor([[1, 4, 5]])
    sources = [torch.tensor([[4, 5, 6, 2]]), torch.tensor([[7, 4, 4, 2]])]
    usual = [model(source, target) for source in sources]
    with memory_of_zeros(model):
        assert not model.encode(sources[0]).any()
        first, second = (model(source, target) for source in sources)
    torch.testing.assert_close(first, second)
    for source, before in zip(sources, usual, strict=True):
        torch.testing.assert_close(model(source, target), before)
    assert not torch.allclose(*usual)
