"""Checks for notebooks/09_transformer.ipynb."""

import torch
from torch import Tensor, nn

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.model.vocabulary import START_ID
from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_number,
    require_shape,
)

D_MODEL, D_FF, HEADS, LAYERS = 512, 2048, 8, 6
ATTENTION = 4 * D_MODEL**2
FEED_FORWARD = 2 * D_MODEL * D_FF + D_FF + D_MODEL
NORMS = 2 * 2 * D_MODEL
LAYER = ATTENTION + FEED_FORWARD + NORMS
VOCABULARY, STEPS = 11, 6
SOURCE_IDS = torch.tensor(
    [[4, 5, 6, 7, 8], [9, 8, 0, 0, 0], [10, 0, 0, 0, 0], [6, 6, 4, 0, 0], [7, 9, 10, 5, 0]],
    device="cpu",
)


@exercise("9.1")
def check_layer_parameters(answer: object) -> None:
    """How many parameters one encoder layer of the base model has."""
    answer = require_number(answer, whole=True)
    hints = {
        LAYER - D_MODEL**2: "One square matrix is missing: query, key, value, and W^O.",
        LAYER - D_FF - D_MODEL: "The feed-forward network's two biases are missing.",
        LAYER - D_MODEL: "The feed-forward network's second bias is missing.",
        LAYER - NORMS: "2,048 numbers are missing: the gains and biases of the two norms, or the "
        "feed-forward network's first bias.",
        LAYER - NORMS // 2: "Each norm learns two vectors: a gain and a bias.",
        LAYER - D_FF - D_MODEL - NORMS: "The matrices are right. Biases and norms are missing.",
        LAYER + 4 * D_MODEL: "The paper's attention has no biases.",
        LAYER + ATTENTION + D_MODEL * 2: "That is a decoder layer: an encoder layer has no "
        "cross-attention.",
        LAYERS * LAYER: "That is the whole encoder: one layer is asked for.",
        HEADS * ATTENTION + FEED_FORWARD + NORMS: "The heads share the four matrices: each head "
        "takes 64 of their 512 columns.",
        LAYER - D_MODEL * D_FF: "The feed-forward network has two matrices: to d_ff and back.",
        LAYER - D_MODEL * D_FF - D_MODEL: "The feed-forward network has two matrices: to d_ff and "
        "back.",
    }
    refuse_numbers(answer, hints)
    if answer != LAYER:
        part = "attention" if answer < ATTENTION else "attention, feed-forward and norms"
        raise AnswerError(f"Count {part} by matrix: rows times columns, then the vectors.")


@exercise("9.2")
def check_write(answer: object) -> None:
    """A function that generates greedily, with the source encoded once."""
    model = _model()
    encoder_runs = []
    model.encoder.register_forward_hook(lambda *_: encoder_runs.append(1))
    given = ask(answer, model, SOURCE_IDS, STEPS)
    if isinstance(given, Tensor) and given.shape == (len(SOURCE_IDS), STEPS):
        raise AnswerError("One column is missing: keep the start token in front.")
    given = require_shape(given, (len(SOURCE_IDS), 1 + STEPS), "(batch, 1 + steps)")
    runs = len(encoder_runs)
    refuse_mistakes(given, _mistakes(model), same=torch.equal)
    if not given.equal(_write(model)):
        raise AnswerError("Append the argmax of the last position's logits, in every step.")
    if runs != 1:
        raise AnswerError(
            f"Right tokens, but the encoder ran {runs} times. The source does not change: "
            "encode it before the loop."
        )


def _model() -> Transformer:
    """A small model, drawn without touching the learner's random numbers."""
    sizes = {"vocabulary_size": VOCABULARY, "d_model": 8, "num_heads": 2, "num_layers": 1}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(10)
        config = TransformerConfig(**sizes, d_ff=16, max_length=16, tie_embeddings=False)
        return Transformer(config).eval()


@torch.no_grad()
def _write(
    model: Transformer, *, hide_padding: bool = True, place: int = -1, likeliest: bool = True
) -> Tensor:
    """What the model generates, or what it generates with one mistake."""
    mask = model.source_mask(SOURCE_IDS)
    memory = model.encode(SOURCE_IDS, source_mask=mask)
    written = torch.full((len(SOURCE_IDS), 1), START_ID)
    for _ in range(STEPS):
        decoded = model.decode(written, memory, source_mask=mask if hide_padding else None)
        logits = model.project(decoded)[:, place]
        newest = logits.argmax(dim=-1) if likeliest else logits.argmin(dim=-1)
        written = torch.cat([written, newest.unsqueeze(1)], dim=1)
    return written


def _mistakes(model: Transformer) -> dict[str, Tensor]:
    """What usual mistakes generate, by their hints."""
    written = _write(model)
    with torch.no_grad():
        at_once = model(SOURCE_IDS, written[:, :1].expand(-1, STEPS)).argmax(dim=-1)
    return {
        "The decoder attends to the source's padding: give the mask to decode, too.": _write(
            model, hide_padding=False
        ),
        "These are always the logits after the first position: those of the new "
        "position are at [:, -1].": (_write(model, place=0)),
        "That is the least likely token: take the argmax.": _write(model, likeliest=False),
        "The decoder must read what it has generated so far, not the start token again.": torch.cat(
            [written[:, :1], at_once], dim=1
        ),
    }


@exercise("9.3")
def check_tie(answer: object) -> None:
    """A function that makes an embedding and a linear layer use one table."""
    with torch.random.fork_rng(devices=[]):
        embedding, output = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
        drawn = embedding.weight.detach().clone()
        ask(answer, embedding, output)
    if output.weight is not embedding.weight:
        if output.weight.data_ptr() == embedding.weight.data_ptr():
            raise AnswerError(
                "One memory, but two parameters: it would be counted twice, and the optimizer "
                "would update it twice. Assign the parameter, not its .data."
            )
        if close(output.weight.detach(), embedding.weight.detach()):
            raise AnswerError("Equal numbers in two places: a copy. After one step they differ.")
        raise AnswerError("The two still have tables of their own: compare them with `is`.")
    if not isinstance(embedding.weight, nn.Parameter):
        raise AnswerError("The table is no longer an nn.Parameter, so that it could not learn.")
    if not close(embedding.weight.detach(), drawn):
        raise AnswerError(
            "Tied, but with the output's numbers: they were not drawn for an embedding (lesson 1)."
        )
