"""What a model loses without some heads, and through which path another head uses them.

Used in notebooks/21_circuits.ipynb and experiments/circuits.py.
"""

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_course.circuits.repeats import Repeats, copy_accuracy, keys_after, keys_before
from transformer_course.looking.ablation import HeadName, heads_switched_off
from transformer_course.looking.recording import (
    attentions_of,
    record_attention,
    removed_at_the_end,
)
from transformer_course.texts.sentences import CAPTION_PAIRS
from transformer_edu.generation.continuation import start_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator
from transformer_edu.model.refusals import require_choice
from transformer_edu.training.machine.device import device_of
from transformer_edu.variants.language_model import LanguageModel

WHOLE_WORD = re.compile(r"▁\w{3,}")  # a token that is a word
SOURCE = "."  # an English sentence that says nothing of the German words
PATHS = ("query", "key", "value")  # by which a vector enters an attention


def role_scores(weights: Tensor, cells: Tensor) -> Tensor:
    """The mean weight on some cells, over the queries that have such a cell.

    Args:
        weights: Of one attention, shape (text, head, query, key).
        cells: True where the role wants the weight, shape (text, query, key).

    Returns:
        Shape (head,), on the CPU.
    """
    has_one = cells.any(dim=-1)  # (text, query)
    found = (weights * cells.unsqueeze(1)).sum(dim=-1)  # (text, head, query)
    return (found * has_one.unsqueeze(1)).sum(dim=(0, 2)).cpu() / has_one.sum().cpu()


def head_scores(model: LanguageModel, texts: Repeats) -> dict[str, Tensor]:
    """Both roles of every head.

    Args:
        model: Any language model of the package, on the texts' device.
        texts: What it reads.

    Returns:
        By role, "before" and "after", the mean weight on its keys, shape (layer, head).
    """
    with evaluation_mode(model), record_attention(model) as attention:
        model(texts.read)
    cells = {"before": keys_before(texts.read), "after": keys_after(texts.read)}
    return {
        role: torch.stack([role_scores(weights, each) for weights in attention.values()])
        for role, each in cells.items()
    }


def best_heads(model: LanguageModel, texts: Repeats) -> tuple[HeadName, HeadName]:
    """The head of the first layer that attends most to the word before, and the head of the last
    layer that attends most to words after an earlier one.
    """
    scores = head_scores(model, texts)
    previous, induction = scores["before"][0].argmax(), scores["after"][-1].argmax()
    names = list(attentions_of(model))
    return (names[0], int(previous) + 1), (names[-1], int(induction) + 1)


def uniform_score(texts: Repeats, role: str) -> float:
    """What a head would score that attends uniformly to every key up to its query."""
    cells_of = {"before": keys_before, "after": keys_after}
    require_choice("role", role, cells_of)
    cells = cells_of[role](texts.read)
    length = texts.read.size(1)
    even = torch.ones(length, length, device=texts.read.device).tril()
    even = (even / even.sum(dim=-1, keepdim=True)).expand(len(texts.read), 1, -1, -1)
    return role_scores(even, cells).item()


def accuracy_through(
    model: LanguageModel, texts: Repeats, heads: Sequence[HeadName], path: str
) -> float:
    """The accuracy if the last layer misses some heads on one of its three paths.

    This is path patching: the queries, keys or values of the last layer come from a run without
    these heads, everything else comes from the whole model.

    Args:
        model: With at least two layers.
        texts: What it reads.
        heads: Of an earlier layer.
        path: One of PATHS.

    Raises:
        ValueError: If there is no such path.
    """
    if path not in PATHS:
        raise ValueError(f"path must be one of {', '.join(PATHS)}, got {path!r}")
    projection = getattr(model.layers[-1].self_attention, f"{path}_projection")
    kept: list[Tensor] = []
    keep = projection.register_forward_hook(lambda _, given, output: kept.append(output))
    with removed_at_the_end([keep]), heads_switched_off(model, heads), evaluation_mode(model):
        model(texts.read)
    put = projection.register_forward_hook(lambda *_: kept[0])
    with removed_at_the_end([put]):
        return copy_accuracy(model, texts)


def decoder_scores(
    translator: Translator, *, count: int = 100, words: int = 10
) -> tuple[Tensor, float]:
    """What the decoder's heads of self-attention score for keys after an earlier one.

    The decoder reads random German words, each of one token, and then the same words once more.

    Args:
        translator: With a Transformer of the package.
        count: Number of texts.
        words: Different words of a text.

    Returns:
        The scores, shape (layer, head), and the score of a uniform head.
    """
    model, encode = translator.model, translator.tokenizer.encode
    known = list(dict.fromkeys(i for _, german in CAPTION_PAIRS for i in encode(german)))
    names = translator.tokenizer.tokens(known)
    whole = torch.tensor(
        [i for i, name in zip(known, names, strict=True) if WHOLE_WORD.fullmatch(name)]
    )
    order = torch.rand(count, len(whole), generator=torch.Generator().manual_seed(0)).argsort(dim=1)
    once = whole[order[:, :words]]
    start = torch.full((count, 1), start_id_of(model))
    token_ids = torch.cat([start, once, once], dim=1)
    texts = Repeats(token_ids, torch.full((count,), words)).to(device_of(model))
    source = torch.tensor([encode(SOURCE)] * count, device=device_of(model))
    with evaluation_mode(model), record_attention(model) as attention:
        model(source, texts.read)
    scores = [
        role_scores(weights, keys_after(texts.read))
        for name, weights in attention.items()
        if name.startswith("decoder") and name.endswith("self_attention")
    ]
    return torch.stack(scores), uniform_score(texts, "after")
