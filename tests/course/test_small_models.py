"""The small model fits its task, and any of its sizes can be changed."""

import torch

from transformer_course.small_models import small_config
from transformer_edu.data.toy_tasks import reverse_task
from transformer_edu.model.transformer import Transformer


def test_the_model_has_a_logit_for_every_token_of_the_task():
    task = reverse_task(num_symbols=5)
    ids = torch.tensor([[4, 5, 6]])
    assert Transformer(small_config(task))(ids, ids).size(-1) == len(task.vocabulary)


def test_changes_override_the_sizes():
    config = small_config(reverse_task(), num_layers=1, d_model=32, tie_embeddings=False)
    assert (config.num_layers, config.d_model, config.tie_embeddings) == (1, 32, False)
    assert config.num_heads == 4
