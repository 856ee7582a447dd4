"""Heads to click off: what a translator writes without one head, or without a row of heads.

Used in notebooks/17_what_can_be_removed.ipynb.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from transformer_edu.generation.continuation import padding_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.teaching.figures.heads import plot_removals
from transformer_edu.teaching.inspect.ablation import Head, heads_switched_off
from transformer_edu.teaching.inspect.attention_maps import printable
from transformer_edu.teaching.viewer.live import show_live
from transformer_edu.training.data.batches import Batch, make_batch

ATTENTIONS = {
    "encoder self-attention": "encoder.layers.{}.self_attention",
    "decoder self-attention": "decoder.layers.{}.self_attention",
    "cross-attention": "decoder.layers.{}.cross_attention",
}


def show_removals_live(translator: Translator, pairs: Sequence[tuple[str, str]]) -> None:
    """Let the reader switch off one head, or all heads of one attention, and read what changes.

    Everything is computed beforehand, greedily: the figure needs no kernel.

    Args:
        translator: With a Transformer of this package, on any device.
        pairs: A few short sentences, each with a correct translation.
    """
    data = removals(translator, pairs)
    first, heads = data["sentences"][0], data["heads"]
    # (layer, kind, head or all of them): how many points more or less
    means = torch.tensor([probability for _, probability in first["results"]], dtype=torch.float64)
    points = (100 * means + 0.5).floor()  # as scripts of a page round
    changes = (points[1:] - points[0]).view(data["layers"], -1, heads + 1)
    singles = [
        text
        for sentence in data["sentences"]
        for number, (text, _) in enumerate(sentence["results"][1:])
        if number % (heads + 1) < heads
    ]
    title = f"Without one head, {singles.count(0)} of {len(singles)} translations stay the same"
    by_kind = dict(zip(ATTENTIONS, changes.unbind(dim=1), strict=True))
    still = plot_removals(by_kind, sentence=first["english"], title=title)
    show_live("removals", data, title=title, still=still, height=545, phone_height=860)


def removals(translator: Translator, pairs: Sequence[tuple[str, str]]) -> dict[str, object]:
    """What a translator writes with all its heads, and without some.

    Args:
        translator, pairs: As for show_removals_live.

    Returns:
        The kinds of attention, the number of layers and of heads, and for each sentence the
        different texts, and its results: a text's number and the mean probability of a correct
        token, at first for the whole model, then for each removal in the order of each_removal.
    """
    model, encode = translator.model, translator.tokenizer.encode
    ids = [(encode(source), translator.target_ids(target)) for source, target in pairs]
    batch = make_batch(ids, model).to(next(model.parameters()).device)
    sources = [source for source, _ in pairs]
    found = []
    for heads in tqdm([[], *each_removal(model.config)]):
        with heads_switched_off(model, heads):
            texts = translator.translate_all(sources)
            found.append((texts, probabilities(model, batch).tolist()))
    sentences = []
    for number, (english, reference) in enumerate(pairs):
        texts = [written[number] for written, _ in found]
        different = list(dict.fromkeys(texts))
        sentences.append(
            {
                "english": printable(english, longest=None),
                "reference": printable(reference, longest=None),
                "texts": [_with_new_words(different[0], text) for text in different],
                "results": [
                    [different.index(text), round(mean[number], 4)]
                    for text, (_, mean) in zip(texts, found, strict=True)
                ],
            }
        )
    sizes = {"layers": model.config.num_layers, "heads": model.config.num_heads}
    return {"kinds": list(ATTENTIONS), **sizes, "sentences": sentences}


def each_removal(config: TransformerConfig) -> list[list[Head]]:
    """Layer by layer, kind by kind: the heads one by one, then all of them."""
    numbers = range(1, config.num_heads + 1)
    return [
        [(name.format(layer), number) for number in chosen]
        for layer in range(config.num_layers)
        for name in ATTENTIONS.values()
        for chosen in (*([number] for number in numbers), numbers)
    ]


def probabilities(model: nn.Module, batch: Batch) -> Tensor:
    """The geometric mean of the correct tokens' probabilities, one for each sentence."""
    with evaluation_mode(model):
        logits = model(batch.source_ids, batch.decoder_input_ids).transpose(1, 2)
    padding_id = padding_id_of(model)
    losses = F.cross_entropy(logits, batch.label_ids, ignore_index=padding_id, reduction="none")
    return torch.exp(-losses.sum(dim=1) / (batch.label_ids != padding_id).sum(dim=1))


def _with_new_words(before: str, after: str) -> dict[str, list]:
    """The words of a text, and the places of those that were not there before."""
    old, words = before.split(), after.split()
    changes = SequenceMatcher(None, old, words, autojunk=False).get_opcodes()
    new = [place for kind, _, _, *ends in changes if kind != "equal" for place in range(*ends)]
    return {"words": [printable(word, longest=None) for word in words], "new": new}
