"""A translator's weights in CTranslate2: an engine in C++, for very many sentences.

    fast = fast_translator(load_pretrained(), compute_type="int8")
    fast.translate_all(sentences)

It computes what our model does (Klein et al. 2020, https://aclanthology.org/2020.ngt-1.25). Met in
notebooks/18_speed_and_scale.ipynb.
"""

import copy
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from transformer_edu.generation.continuation import EXTRA_LENGTH, LONGEST_LOOP, LOOP_LENGTH
from transformer_edu.generation.hypotheses import length_penalty
from transformer_edu.generation.translator import Translator, write_all
from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.refusals import require_choice
from transformer_edu.model.transformer import Transformer, without_numbers
from transformer_edu.training.machine.atomic_files import require_path
from transformer_edu.training.machine.device import device_of
from transformer_edu.training.machine.failures import import_extra

ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "gelu_tanh": "GELUTanh", "silu": "SWISH"}
ACTIVATIONS |= {"quick_gelu": "GELUSigmoid", "tanh": "Tanh", "sigmoid": "Sigmoid"}


def fast_translator(translator: Translator, *, compute_type: str = "float32") -> Translator:
    """The same translator, with CTranslate2 in place of our searches.

    In float32, greedy search writes the same tokens, unless two are almost equally probable. Beam
    search ranks hypotheses by our score. But the engine always continues ``width`` of them, until
    ``width`` have ended, and may find others. It cannot end loops: our search writes those targets.

    Args:
        translator: Its model's device is the engine's too, if that is the CPU or CUDA.
        compute_type: "float32"; or "int8", which is faster and changes some targets.

    Raises:
        ModuleNotFoundError, TypeError, ValueError: As export_ctranslate2, or if the device lacks
            the compute_type.
    """
    library = import_extra("ctranslate2", extra="fast")
    _require_own_parts(translator)
    device = "cuda" if device_of(translator.model).type == "cuda" else "cpu"
    types = library.get_supported_compute_types(device)
    require_choice("compute_type", compute_type, sorted(types))
    threads = 1 if device == "cuda" else torch.get_num_threads()  # each computes its own batch
    asked = {"compute_type": compute_type, "inter_threads": threads, "intra_threads": 1}
    with tempfile.TemporaryDirectory() as folder:
        export_ctranslate2(translator, folder)
        engine = library.Translator(folder, device, **asked)
    return FastTranslator(**vars(translator) | {"engine": engine})


def export_ctranslate2(translator: Translator, folder: str | os.PathLike) -> None:
    """Write a translator's model as a folder for CTranslate2, in float32.

    The engine calls a token by its id: a source is ``[str(i) for i in tokenizer.encode(text)]``.

    Args:
        translator: Its model has the library's own parts only, as Marian's have.
        folder: New or empty; made if it does not exist.

    Raises:
        ModuleNotFoundError: If ctranslate2 is not installed.
        TypeError: If folder is not a path, or the model has other parts.
        ValueError: If the engine lacks the model's activation.
        OSError: If the folder is not empty or cannot be written.
    """
    require_path("folder", folder)
    specs = import_extra("ctranslate2", extra="fast").specs
    _require_own_parts(translator)
    if Path(folder).exists() and any(Path(folder).iterdir()):
        raise FileExistsError(f"folder must be new or empty, got {folder}")
    model = copy.deepcopy(translator.model).to("cpu", torch.float32)
    config = model.config
    require_choice("activation", config.activation, ACTIVATIONS)
    if config.start_id == config.padding_id:  # no search writes it
        model.output_projection.bias.data[config.padding_id] = -torch.inf
    spec = specs.TransformerSpec.from_config(
        (config.num_layers, config.decoder_depth),
        config.num_heads,
        no_final_norm=not config.has_final_norm,
        activation=getattr(specs.Activation, ACTIVATIONS[config.activation]),
    )
    _fill(spec.encoder.embeddings[0], model.source_embedding.table)
    _fill(spec.decoder.embeddings, model.target_embedding.table)
    _fill(spec.decoder.projection, model.output_projection)
    for stack, ours in ((spec.encoder, model.encoder), (spec.decoder, model.decoder)):
        stack.num_heads = type(stack.num_heads)(ours.layers[0].self_attention.num_heads)
        stack.scale_embeddings = config.scale_embeddings
        stack.pre_norm = config.norm_first  # set here, because post-norm may have a final norm too
        stack.position_encodings.encodings = model.positions.table
        if config.has_final_norm:
            _fill(stack.layer_norm, ours.final_norm)
        for layer, own in zip(stack.layer, ours.layers, strict=True):
            _fill_attention(layer.self_attention, own.self_attention, own.around_self_attention)
            if hasattr(layer, "attention"):
                _fill_attention(layer.attention, own.cross_attention, own.around_cross_attention)
            _fill(layer.ffn.linear_0, own.feed_forward.widen)
            _fill(layer.ffn.linear_1, own.feed_forward.narrow)
            _fill(layer.ffn.layer_norm, own.around_feed_forward.norm)
    spec.register_source_vocabulary([str(i) for i in range(config.vocabulary_size)])
    spec.register_target_vocabulary([str(i) for i in range(config.output_size)])
    spec.config.bos_token = spec.config.decoder_start_token = str(config.start_id)
    spec.config.eos_token = spec.config.unk_token = str(config.end_id)
    spec.validate()
    spec.optimize()
    Path(folder).mkdir(parents=True, exist_ok=True)
    try:
        spec.save(os.fspath(folder))
    except OSError as error:
        for file in Path(folder).iterdir():  # the next try needs an empty folder
            file.unlink()
        raise OSError(error.errno, error.strerror, str(folder)) from error


def _require_own_parts(translator: Translator) -> None:
    """Refuse what is none, and a model of which the engine would compute something else."""
    if not isinstance(translator, Translator):
        raise TypeError(f"translator must be a Translator, got {type(translator).__name__}")
    is_ours = type(model := translator.model) is Transformer
    own = dict(without_numbers(model.config).named_modules()) if is_ours else {}
    for name, part in model.named_modules():
        kinds = [(type(each), getattr(each, "eps", None)) for each in (part, own.get(name))]
        hooked = part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part)
        if hooked or kinds[0] != kinds[1]:
            got = f"{type(part).__name__} as {name or 'model'}"
            raise TypeError(f"model must be a Transformer with its own parts, no hooks, got {got}")


def _fill_attention(spec: object, attention: MultiHeadAttention, around: AddAndNorm) -> None:
    inward = [attention.query_projection, attention.key_projection, attention.value_projection]
    # Self-attention has one matrix for all three; cross-attention has one for the queries.
    several = [inward] if len(spec.linear) == 2 else [inward[:1], inward[1:]]
    for linear, parts in zip(spec.linear, [*several, [attention.output_projection]], strict=True):
        _fill(linear, *parts)
    _fill(spec.layer_norm, around.norm)


def _fill(spec: object, *parts: nn.Module) -> None:
    """Give the weights of parts, one below the other, to a specification."""
    names = ("gamma", "beta") if isinstance(parts[0], nn.LayerNorm) else ("weight", "bias")
    for name, ours in zip(names, ("weight", "bias"), strict=True):
        if getattr(parts[0], ours, None) is not None:
            setattr(spec, name, torch.cat([getattr(part, ours).detach() for part in parts]))


@dataclass(frozen=True, kw_only=True)
class FastTranslator(Translator):
    """What ``fast_translator`` returns; engine is a ``ctranslate2.Translator``."""

    engine: object

    def _write(self, sources: list[list[int]], **asked: float) -> list[list[int]]:
        written = write_all(self.model, [], **asked)  # refuses a number that is out of its range
        config, width, size = self.model.config, asked["width"], asked["batch_size"]
        room = min(max(map(len, sources), default=0) + EXTRA_LENGTH, config.max_length)
        settings = {"max_input_length": 0, "max_decoding_length": room, "min_decoding_length": 0}
        settings |= {"beam_size": width, "num_hypotheses": width, "length_penalty": 1}
        settings |= {"return_scores": width > 1, "return_end_token": True}
        tokens = [[str(i) for i in source] for source in sources]
        results = self.engine.translate_batch(tokens, max_batch_size=size, **settings)
        for source, result in zip(sources, results, strict=True):
            ids = best_hypothesis(result, asked["alpha"])
            is_too_long = len(ids) > len(source) + EXTRA_LENGTH
            is_loop = asked["end_loops"] and _is_loop(ids, 2 * len(source) + LOOP_LENGTH)
            if is_too_long or is_loop or config.padding_id in ids:
                ids = write_all(self.model, [source], **asked)[0]
            written.append([i for i in ids if i not in (config.start_id, config.end_id)])
        return written


def best_hypothesis(result: object, alpha: float) -> list[int]:
    """The ids of the hypothesis that our score ranks first, its end token included."""
    scores = result.scores or [0.0]  # the mean of the tokens'; greedy search has none
    sizes = [max(len(tokens), 1) for tokens in result.hypotheses]
    ours = [mean * n / length_penalty(n, alpha) for mean, n in zip(scores, sizes, strict=True)]
    return [int(token) for token in result.hypotheses[ours.index(max(ours))]]


def _is_loop(ids: list[int], limit: int) -> bool:
    """Whether ids are more than the limit, or an n-gram comes three times in a row."""
    return len(ids) > limit or any(
        ids[first : first + 2 * n] == ids[first + n : first + 3 * n]
        for n in range(1, LONGEST_LOOP + 1)
        for first in range(len(ids) - 3 * n + 1)
    )
