"""The check of lesson 9's class Transformer."""

import copy
import inspect

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_any_device,
    require_class,
    require_shape,
)
from transformer_course.asking.layers import rates_around
from transformer_course.my_transformer import keep
from transformer_course.transformer.own_model import EXERCISES, different_class
from transformer_edu.checkup.examination import check_up
from transformer_edu.checkup.subject import Adapter
from transformer_edu.model.pytorch import to_pytorch
from transformer_edu.model.special_ids import END_ID, PADDING_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

# Every length is different, so that no axis passes for another.
SIZES = {"vocabulary_size": 23, "d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20}
SOURCE_IDS = torch.tensor([[5, 6, 1, 8, 2, 9], [9, 4, 2, 0, 0, 0]])
TARGET_IDS = torch.tensor([[1, 10, 11, 12], [1, 13, 14, 0]])
REAL = TARGET_IDS != PADDING_ID
PARTS = {
    "encoder": "the Encoder",
    "decoder": "the Decoder",
    "source_embedding": "a TokenEmbedding",
    "target_embedding": "the same TokenEmbedding",
    "positions": "a PositionalEncoding",
    "embedding_dropout": "an nn.Dropout: the paper drops the sums of tokens and positions, too",
    "output_projection": "an nn.Linear",
}
SAME, DROPOUT = 1e-4, 0.25
NOT_THE_READERS = "generation does not stop"  # the search is the package's
IDS = Adapter(padding_id=PADDING_ID, end_id=END_ID)  # which the reader's class does not name


@exercise("9.1", sizes="batch 2, source 6, target 4, d_model 12, 3 heads, vocabulary 23")
def check_transformer(answer: type[nn.Module]) -> None:
    """Exercise 9.1: the class Transformer, which gets the package's and PyTorch's weights.

    It is kept in the reader's own file.
    """
    require_class(answer, "Transformer")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        model = answer(*SIZES.values(), dropout=DROPOUT)
        _require_written(model)
        _require_tied(model)
        _require_dropout(model)
        _require_start(answer)
        package = _package_model()
    if (name := different_class(answer)) not in (None, "Transformer"):
        raise AnswerError(
            f"Your {name} computes something else than the course's, and your Transformer uses it. "
            f"Was it edited by hand? Check it in exercise {EXERCISES[name]}."
        )
    _load(model, package)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        model.eval()
        shape = (*TARGET_IDS.shape, SIZES["vocabulary_size"])
        axes = "(batch, target, vocabulary)"
        received = require_shape(ask(model, SOURCE_IDS, TARGET_IDS), shape, axes)
        refuse_mistakes(received, _mistakes(package), same=_same_where_real)
        for other, expected in _expected(package).items():
            if not torch.allclose(received[REAL], expected[REAL], rtol=0, atol=SAME):
                raise AnswerError(_stage_hint(model, package, other))
        _require_same_in_steps(model, received)
        _require_dropout_once(model)
    for found in check_up(model, adapter=IDS).findings:
        if found.illness not in (None, "", NOT_THE_READERS):
            where = " Look at your MultiHeadAttention (lesson 4)." * ("half" in found.illness)
            said = f"The check-up finds: {found.illness}. {found.seen} {found.cause}{where}"
            raise AnswerError(said)
    require_any_device(model, SOURCE_IDS, TARGET_IDS)
    keep(answer)


def _stage_hint(model: nn.Module, package: Transformer, other: str) -> str:
    """Which method is the first that computes something else than the package's."""
    mask = package.source_mask(SOURCE_IDS)
    if not model.source_mask(SOURCE_IDS).equal(mask):
        return "source_mask is not True for every id but 0."
    memory = package.encode(SOURCE_IDS, source_mask=mask)
    decoded = package.decode(TARGET_IDS, memory, source_mask=mask)
    stages = {
        "embed": (
            model.embed(SOURCE_IDS),
            package.positions(package.source_embedding(SOURCE_IDS)),
        ),
        "encode": (model.encode(SOURCE_IDS, source_mask=mask), memory),
        "decode": (model.decode(TARGET_IDS, memory, source_mask=mask)[REAL], decoded[REAL]),
        "project": (model.project(decoded), package.project(decoded)),
    }
    for name, (mine, theirs) in stages.items():
        if not close(mine, theirs):
            hint = {
                "decode": " Is its target mask .tril() of ones, for real tokens?",
                "encode": " Does the encoder get what embed returns, the mask, and its sizes?",
            }.get(name, "")
            return f"The shapes are right, but {other} gives other logits: {name} differs.{hint}"
    return f"Each method is right, but forward gives other logits than {other}."


def _require_written(model: nn.Module) -> None:
    """Refuse missing parts and methods; wait while there are none, or one returns the dots."""
    if not any(hasattr(model, name) for name in PARTS):
        ask(lambda: ...)
    for name, what in PARTS.items():
        if not isinstance(getattr(model, name, None), nn.Module):
            raise AnswerError(f"__init__ must set self.{name} to {what}.")
    _require_sizes(model)
    for name in ("source_mask", "embed", "encode", "decode", "project"):
        if not callable(getattr(model, name, None)):
            raise AnswerError(f"The method {name} is missing: generation needs it.")
    mask = ask(model.source_mask, SOURCE_IDS)
    expected = (SOURCE_IDS != PADDING_ID)[:, None, None, :]
    mask = require_shape(mask, tuple(expected.shape), "(batch, 1, 1, source)")
    if mask.dtype != torch.bool or mask.equal(~expected):
        raise AnswerError(
            "source_mask is boolean, and True where a token is real: its id is not 0."
        )
    for name in ("encode", "decode"):
        if "source_mask" not in inspect.signature(getattr(model, name)).parameters:
            raise AnswerError(
                f"{name} has no argument of the name source_mask: generation calls {name}(…, "
                "source_mask=…)."
            )
    ask(model.embed, SOURCE_IDS)
    memory = ask(model.encode, SOURCE_IDS, source_mask=mask)
    handle = model.decoder.register_forward_pre_hook(_require_head_axis, with_kwargs=True)
    ask(model.project, ask(model.decode, TARGET_IDS, memory, source_mask=mask))
    handle.remove()


def _require_head_axis(_: nn.Module, given: tuple, named: dict) -> None:
    """Refuse a mask of the target with an axis for the batch, but none for the heads."""
    for each in (*given, *named.values()):
        if isinstance(each, Tensor) and each.dtype == torch.bool and each.dim() == 3:
            raise AnswerError(
                f"The decoder gets a mask of shape {tuple(each.shape)}: it has no axis for the "
                "heads. Between batch and positions there must be one of length 1."
            )


def _require_sizes(model: nn.Module) -> None:
    """Refuse parts that get other sizes, or another dropout, than the model."""
    shape = (SIZES["vocabulary_size"], SIZES["d_model"])
    output = model.output_projection
    if not (hasattr(model.source_embedding, "table") and isinstance(output, nn.Linear)):
        raise AnswerError("source_embedding is a TokenEmbedding, output_projection an nn.Linear.")
    for name, found in (
        ("The table of source_embedding", model.source_embedding.table.weight.shape),
        ("output_projection", (output.out_features, output.in_features)),
        ("output_projection.weight", output.weight.shape),
    ):
        if tuple(found) != shape:
            raise AnswerError(
                f"{name} has the sizes {tuple(found)}; it needs (vocabulary, d_model) = {shape}."
            )
    for name in ("encoder", "decoder"):
        stack = getattr(model, name)
        layers = getattr(stack, "layers", ())
        if len(layers) != SIZES["num_layers"]:
            raise AnswerError(
                f"The {name} has {len(layers)} layers; num_layers is {SIZES['num_layers']}."
            )
        if rates_around(stack) != {DROPOUT}:
            raise AnswerError(f"dropout does not arrive in the {name}: hand it on.")


def _require_dropout(model: nn.Module) -> None:
    """Refuse an embed that does not drop parts of the sums of tokens and positions."""
    if model.embedding_dropout.p != DROPOUT:
        raise AnswerError("embedding_dropout must get the argument dropout, whatever it is.")
    with torch.no_grad():
        model.embedding_dropout.p = 1.0  # everything is dropped
        left = model.train().embed(SOURCE_IDS)
        model.embedding_dropout.p = DROPOUT
        if close(left, model.positions(torch.zeros_like(left))):
            raise AnswerError(
                "embed drops parts of the tokens, and the positions come after it. The paper drops "
                "parts of the sums."
            )
        if left.any():
            raise AnswerError("In training, embed does not apply embedding_dropout to its result.")
        if not close(model.eval().embed(SOURCE_IDS), model.embed(SOURCE_IDS)):
            raise AnswerError("embed drops numbers also after model.eval().")


def _require_dropout_once(model: nn.Module) -> None:
    """Refuse a stack whose input is not dropped, or is dropped again after embed."""
    seen, calls = {}, []
    handles = [model.embedding_dropout.register_forward_pre_hook(lambda *_: calls.append(1))]
    for name in ("encoder", "decoder"):

        def see(_: nn.Module, given: tuple, named: dict, name: str = name) -> None:
            seen[name] = [*given, *named.values()][0]

        handles.append(getattr(model, name).register_forward_pre_hook(see, with_kwargs=True))
    model.train().embedding_dropout.p = 1.0
    model(SOURCE_IDS, TARGET_IDS)
    model.eval().embedding_dropout.p = DROPOUT
    for handle in handles:
        handle.remove()
    for name, x in seen.items():
        if x.any():
            raise AnswerError(f"The {name} gets what was not dropped: hand it what embed returns.")
    if len(calls) > 2:  # of the source and of the target
        raise AnswerError("embedding_dropout drops the sums of embed, each once, and nothing else.")


def _require_tied(model: nn.Module) -> None:
    """Refuse several tables, with the hint of how they came to be."""
    tables = {
        "target_embedding": model.target_embedding.table.weight,
        "output_projection": model.output_projection.weight,
    }
    source = model.source_embedding.table.weight
    for name, weight in tables.items():
        if weight is source:
            continue
        if weight.data_ptr() == source.data_ptr():
            raise AnswerError(
                f"{name} shares the memory of source_embedding, but it is a parameter of its own: "
                "the optimizer would update it twice. Assign the parameter, not its .data."
            )
        if close(weight.detach(), source.detach()):
            raise AnswerError(
                f"{name} holds a copy of the table. After one training step the two differ. "
                "Assign the parameter itself."
            )
        raise AnswerError(f"{name} has a table of its own; the paper uses one for all three.")


def _require_start(answer: type[nn.Module]) -> None:
    """Refuse matrices of the stacks that are not Xavier's, and a table that is."""
    wide = answer(vocabulary_size=900, d_model=60, num_heads=2, num_layers=1, d_ff=240)
    table = wide.source_embedding.table.weight.std() * 60**0.5
    lost = "The table no longer starts with a standard deviation of 1/√d_model (lesson 1). "
    if abs(table - 3**-0.5) < 0.05:  # as nn.Linear starts
        raise AnswerError(
            f"{lost}Tie the output to the embedding's table, not the table to the output."
        )
    if not 0.9 < table < 1.1:
        raise AnswerError(
            f"{lost}Let the loop over the parameters run before the embedding is made."
        )
    for name, part in wide.named_modules():
        if not name.startswith(("encoder.", "decoder.")):
            continue
        for kind, weight in part.named_parameters(recurse=False):
            expected = (2 / sum(weight.shape)) ** 0.5
            if weight.dim() == 2 and not 0.9 < weight.std() / expected < 1.1:
                raise AnswerError(
                    f"{name}.{kind} does not start with Xavier's standard deviation: call "
                    "nn.init.xavier_uniform_ on every matrix of the two stacks."
                )
            if weight.dim() == 1 and not _keeps_start(part, kind):
                raise AnswerError(
                    f"{name}.{kind} has one axis and does not keep its start: draw only matrices, "
                    "which have two."
                )


def _keeps_start(part: nn.Module, kind: str) -> bool:
    """Whether a parameter of one axis is as PyTorch makes it."""
    weight = getattr(part, kind)
    if isinstance(part, nn.LayerNorm):
        return bool((weight == (kind == "weight")).all())
    if not isinstance(part, nn.Linear):
        return True
    return bool(0.5 < weight.std() * (3 * part.in_features) ** 0.5 < 1.5)  # uniform


def _package_model() -> Transformer:
    """A small model of the package, whose biases are not zero."""
    package = Transformer(TransformerConfig(**SIZES)).eval()
    for weight in package.parameters():
        if weight.dim() == 1:
            nn.init.normal_(weight, mean=weight.detach().mean().item(), std=0.5)
    return package


def _load(model: nn.Module, package: Transformer) -> None:
    """Carry the package's weights over."""
    found = model.load_state_dict(package.state_dict(), strict=False)
    if found.missing_keys or found.unexpected_keys:
        kind, names = "lacks", found.unexpected_keys
        if not names:
            kind, names = "has, and the package does not,", found.missing_keys
        if names[0].endswith(".bias"):
            raise AnswerError(f"Your model {kind} {names[0]}: the scaffold says where biases are.")
        raise AnswerError(f"Your model {kind} {names[0]}: keep the names of the scaffold.")


@torch.no_grad()
def _expected(package: Transformer) -> dict[str, Tensor]:
    """The logits of the package and of nn.Transformer between its embeddings and projection."""
    hidden, length = SOURCE_IDS == PADDING_ID, TARGET_IDS.size(1)
    embedded = [
        package.positions(package.source_embedding(ids)) for ids in (SOURCE_IDS, TARGET_IDS)
    ]
    decoded = to_pytorch(package).eval()(
        *embedded,
        src_key_padding_mask=hidden,
        memory_key_padding_mask=hidden,
        tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
    )
    return {
        "the package": package(SOURCE_IDS, TARGET_IDS),
        "nn.Transformer": package.project(decoded),
    }


def _mistakes(package: Transformer) -> dict[str, Tensor]:
    """What usual mistakes compute, by their hints."""
    mask, everything = package.source_mask(SOURCE_IDS), torch.ones(1, 1, 1, 6, dtype=torch.bool)
    right = package(SOURCE_IDS, TARGET_IDS)

    def logits(
        model: Transformer, encode_mask: Tensor = mask, decode_mask: Tensor = mask, **more: Tensor
    ) -> Tensor:
        memory = model.encode(SOURCE_IDS, source_mask=encode_mask)
        return model.project(model.decode(TARGET_IDS, memory, source_mask=decode_mask, **more))

    twice, without_positions, only_source = (copy.deepcopy(package) for _ in range(3))
    twice.positions.register_forward_hook(lambda _, given, added: given[0] + added)
    without_positions.positions = nn.Identity()
    only_source.positions = _Alternating(package.positions)
    unscaled, scaled_twice, root = (
        copy.deepcopy(package),
        copy.deepcopy(package),
        SIZES["d_model"] ** 0.5,
    )
    for changed, factor in ((unscaled, 1 / root), (scaled_twice, root)):
        for embedding in {changed.source_embedding, changed.target_embedding}:
            embedding.register_forward_hook(lambda *given, by=factor: given[-1] * by)
    padding_only = package.source_mask(TARGET_IDS)
    bias, embedded = package.output_projection.bias, package.source_embedding(SOURCE_IDS)
    unencoded = [
        package.project(package.decode(TARGET_IDS, each, source_mask=mask))
        for each in (embedded, package.positions(embedded))
    ]
    to_encode = "The decoder attends to the source's embeddings: encode them first"
    return {
        "The target sees its own future: its mask needs .tril() of ones, (target, target).": (
            logits(package, target_mask=padding_only)
        ),
        "Neither stack gets a mask for the source: its padding receives attention.": logits(
            package, everything, everything
        ),
        "Cross-attention sees padding: source_mask must arrive in self.decoder.": logits(
            package, decode_mask=everything
        ),
        "The encoder sees the padding: source_mask must arrive in self.encoder.": logits(
            package, encode_mask=everything
        ),
        "The positions are missing: self.positions takes the tokens' vectors, and adds them.": (
            logits(without_positions)
        ),
        "The tokens count twice: self.positions adds what it gets already.": logits(twice),
        "The target has no positions: use embed for both sides.": logits(only_source),
        "The embeddings are not multiplied by √d_model: call the TokenEmbedding, not its table.": (
            logits(unscaled)
        ),
        "The tokens are multiplied by √d_model twice: the TokenEmbedding does it already.": logits(
            scaled_twice
        ),
        "The bias of output_projection is missing in the logits.": right - bias,
        "The bias of output_projection is added twice.": right + bias,
        f"{to_encode}, and give them positions.": unencoded[0],
        f"{to_encode}.": unencoded[1],
        "The model returns logits; the softmax belongs to the loss and to the search.": (
            right.softmax(dim=-1)
        ),
        "The model returns logits; the log-softmax belongs to the loss.": right.log_softmax(dim=-1),
    }


class _Alternating(nn.Module):
    """Positions for the first of two calls only: the source's."""

    def __init__(self, positions: nn.Module) -> None:
        super().__init__()
        self.positions, self.calls = positions, 0

    def forward(self, x: Tensor, **more: object) -> Tensor:
        self.calls += 1
        return self.positions(x, **more) if self.calls % 2 else x


def _same_where_real(answer: Tensor, mistake: Tensor) -> bool:
    return close(answer[REAL], mistake[REAL])


def _require_same_in_steps(model: nn.Module, logits: Tensor) -> None:
    """Refuse a model that computes something different when a search calls its halves."""
    mask = model.source_mask(SOURCE_IDS)
    memory = model.encode(SOURCE_IDS, source_mask=mask)
    decoded = model.decode(TARGET_IDS, memory, source_mask=mask)
    if not _same_where_real(model.project(decoded), logits):
        raise AnswerError("encode, decode and project, one after the other, differ from forward.")
    for name, ids, given in (("encode", SOURCE_IDS, ()), ("decode", TARGET_IDS, (memory,))):
        method = getattr(model, name)
        seen = method(ids, *given, source_mask=torch.ones_like(mask))[SOURCE_IDS[:, -1] == 0]
        if close(seen, method(ids, *given, source_mask=mask)[SOURCE_IDS[:, -1] == 0]):
            raise AnswerError(f"{name} does not use the source_mask that it gets.")
