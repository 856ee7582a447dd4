"""The check of lesson 20's project: the reader's own Transformer with a Marian model's weights."""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_course.a_published_model.small_marian import PAIRS
from transformer_course.asking.answer import AnswerError, ask, close, exercise, require_untouched
from transformer_edu.data.batches import make_batch
from transformer_edu.generation.translator import Translator
from transformer_edu.model.transformer import Transformer

EQUAL = 1e-4  # logits that differ by less are equal


@exercise("20.4")
def check_my_marian(answer: Callable[[], nn.Module], *, translator: Translator) -> None:
    """Exercise 20.4: the reader's own Transformer, with a Marian model's weights."""
    theirs, encode = copy.deepcopy(translator.model).cpu().eval(), translator.tokenizer.encode
    config = theirs.config
    mine = ask(answer)
    if not isinstance(mine, nn.Module) or isinstance(mine, Transformer):
        raise AnswerError("Return your own Transformer of lesson 9, not the package's.")
    mine = copy.deepcopy(mine).cpu().eval()
    pairs = [(encode(source), translator.target_ids(target)) for source, target in PAIRS[:4]]
    batch = make_batch(pairs, theirs)
    source_ids, target_ids = batch.source_ids, batch.decoder_input_ids
    with torch.no_grad():
        given = [source_ids.clone(), target_ids.clone()]
        found, wanted = mine(*given), theirs(source_ids, target_ids)
        require_untouched(given, [source_ids, target_ids])
        real = batch.label_ids != config.padding_id
        if found.shape == wanted.shape and (found - wanted)[real].abs().max() < EQUAL:
            return
        _require_my_parts(mine, theirs, source_ids, target_ids)
    raise AnswerError("The logits are not Marian's. trace (exercise 20.3) compares two models.")


def _require_my_parts(
    mine: nn.Module, theirs: Transformer, source_ids: Tensor, target_ids: Tensor
) -> None:
    """Say which change the reader's Transformer still lacks, in the order of computation."""
    empty = torch.zeros(1, 5, theirs.config.d_model)
    if not close(mine.positions(empty), theirs.positions(empty)):
        raise AnswerError("Its positions are not Marian's: first all sines, then all cosines.")
    mask = mine.source_mask(source_ids)
    if mask.shape != (len(source_ids), 1, 1, source_ids.size(1)):
        raise AnswerError("source_mask returns the shape (batch, 1, 1, source position).")
    if not torch.equal(mask, theirs.source_mask(source_ids)):
        raise AnswerError(f"source_mask hides another token than id {theirs.config.padding_id}.")
    if not mine.source_mask(target_ids)[..., 0].all():
        raise AnswerError("Its mask hides the first token of the target, which is padding here.")
    weights = theirs.state_dict()
    for name, weight in mine.state_dict().items():
        if name in weights and not torch.equal(weight, weights.pop(name)):
            raise AnswerError(f"{name} does not have the model's weights: load them last.")
    if missing := [name for name in weights if ".bias" in name]:
        raise AnswerError(f"There is no {missing[0]}: Marian's attentions have biases.")
    x = torch.linspace(-3, 3, theirs.config.d_model).expand(1, 1, -1)
    ours = [layer.feed_forward for layer in (*theirs.encoder.layers, *theirs.decoder.layers)]
    own = [layer.feed_forward for layer in (*mine.encoder.layers, *mine.decoder.layers)]
    if len(own) != len(ours):
        raise AnswerError(f"Marian has {len(ours)} layers in all, yours has {len(own)}.")
    if not all(close(one(x), other(x)) for one, other in zip(own, ours, strict=True)):
        raise AnswerError("A feed-forward network is not Marian's: its activation is SiLU.")
