"""Transformers that train in seconds on two cores: the sizes that several lessons share."""

from transformer_edu.data.toy_tasks import Task
from transformer_edu.model.transformer import TransformerConfig


def small_config(task: Task, **changes: int | float | bool) -> TransformerConfig:
    """A Transformer for a task: d_model 64, 4 heads, 2 layers, d_ff 128 and no dropout.

    Args:
        task: The model gets as many tokens as its vocabulary has.
        changes: Other arguments of TransformerConfig, or other values.
    """
    sizes = {"d_model": 64, "num_heads": 4, "num_layers": 2, "d_ff": 128, "dropout": 0.0}
    return TransformerConfig(vocabulary_size=len(task.vocabulary), **(sizes | changes))
