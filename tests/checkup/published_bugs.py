"""Published bugs, written anew from their public threads: each with the illness it must be called.

A bug is a function that builds the model, and what check_up needs besides. The docstrings name
the thread, and say in a sentence what was wrong.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.checkup.small_models import (
    END,
    GPT,
    HEADS,
    LONGEST,
    PADDING,
    VOCABULARY,
    WIDTH,
    Attention,
    Cache,
    Embedding,
    Encoder,
    Layer,
    MaskedGPT,
    Rotary,
    Seq2Seq,
    WithoutPositions,
    cross_entropy,
    rotated,
)
from transformer_edu.checkup import Adapter


class Bug(NamedTuple):
    """A published bug: its thread, its illnesses, and how to build it."""

    thread: str
    illness: str
    build: Callable[[], nn.Module]
    how: dict[str, object]


BUGS: list[Bug] = []


def published(thread: str, illness: str, **how: object) -> Callable[[Callable], Callable]:
    """Add a model to BUGS."""

    def added(build: Callable) -> Callable:
        BUGS.append(Bug(thread, illness, build, how))
        return build

    return added


def cached(**how: object) -> Adapter:
    return Adapter(step=lambda model, ids, caches: model.step(ids, caches), **how)


# ---- Heads and axes ----------------------------------------------------------------------------


@published("jsbaan/transformer-from-scratch#6", "a reshape mixes positions")
class MergedWithoutPermute(GPT):
    """The heads' outputs are reshaped without the permute before it."""

    class attention(Attention):  # noqa: N801
        def merge(self, heads: Tensor, batch: int) -> Tensor:
            return heads.reshape(batch, heads.size(2), WIDTH)


@published("reczoo/FuxiCTR#30", "a reshape mixes positions")
class SplitByView(Encoder):
    """Queries, keys and values are viewed as (batch · heads, position, width), no transpose."""

    class attention(Attention):  # noqa: N801
        def split(self, x: Tensor) -> Tensor:
            return x.reshape(len(x) * HEADS, -1, WIDTH // HEADS)

        def hide(self, scores: Tensor, mask: Tensor | None) -> Tensor:
            return super().hide(scores, mask[:, 0].repeat_interleave(HEADS, dim=0))

        def merge(self, heads: Tensor, batch: int) -> Tensor:
            return torch.cat(heads.chunk(HEADS), dim=-1)


@published("649453932/Chinese-Text-Classification-Pytorch#10", "a reshape mixes positions")
class ViewedBack(SplitByView):
    """Split by a view as well, and merged by context.view(batch, -1, width)."""

    class attention(SplitByView.attention):  # noqa: N801
        def merge(self, heads: Tensor, batch: int) -> Tensor:
            return heads.reshape(batch, -1, WIDTH)


@published("rish-16/tokenlearner-pytorch#1", "a reshape mixes positions")
class ViewForTranspose(nn.Module):
    """The batch is made the second axis by a view, for nn.MultiheadAttention, and back."""

    pad_idx = PADDING

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = Embedding(), nn.Linear(WIDTH, VOCABULARY)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS)

    def forward(self, ids: Tensor) -> Tensor:
        y = self.embed(ids)
        batch, length, _ = y.shape
        y = y.view(length, batch, WIDTH)
        y, _ = self.attention(y, y, y, key_padding_mask=ids == PADDING)
        return self.head(y.view(batch, length, WIDTH))


@published(
    "labmlai/annotated_deep_learning_paper_implementations#146", "softmax over the wrong axis"
)
class SoftmaxOverQueries(Encoder):
    """Scores from einsum("bihd,bjhd->bijh") with softmax(dim=1), over the queries."""

    class attention(Attention):  # noqa: N801
        def scores(self, query: Tensor, key: Tensor) -> Tensor:
            scores = torch.einsum("bhid,bhjd->bijh", query, key)
            return scores * (WIDTH // HEADS) ** -0.5

        def hide(self, scores: Tensor, mask: Tensor | None) -> Tensor:
            return super().hide(scores, mask.permute(0, 2, 3, 1))

        def weights(self, scores: Tensor) -> Tensor:
            return scores.softmax(dim=1).permute(0, 3, 1, 2)


@published("PAIR-code/tiny-transformers#71", "scores are not divided")
class NotDivided(GPT):
    """The raw attention scores are not divided by the square root of the width."""

    class attention(Attention):  # noqa: N801
        def scores(self, query: Tensor, key: Tensor) -> Tensor:
            return query @ key.mT


@published("mlc-ai/mlc-llm#3426", "scores are not divided")
class ScaleOfOne(Encoder):
    """A fallback path of attention leaves the scale at 1."""

    class attention(Attention):  # noqa: N801
        def forward(self, x: Tensor, memory: Tensor, mask: Tensor, cache: None = None) -> Tensor:
            query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
            heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
            return self.output(self.merge(heads, len(x)))


@published("yandexdataschool/Practical_RL#429", "parameters get no gradient")
class WeightsTimesLogits(Seq2Seq):
    """The weights are multiplied by their own logits, not by the values."""

    class attention(Attention):  # noqa: N801
        def forward(self, x: Tensor, memory: Tensor, mask: Tensor, cache: None = None) -> Tensor:
            query, key = self.split(self.query(x)), self.split(self.key(memory))
            scores = self.scores(query, key)
            weights = self.weights(self.hide(scores, mask))
            context = (weights * scores.masked_fill(~mask, 0.0)).sum(dim=-1, keepdim=True)
            return self.output(self.merge(context.expand(query.shape), len(x)))


# ---- The future --------------------------------------------------------------------------------


@published("huggingface/transformers#48745", "no causal mask")
class SmallForCausalLM(GPT):
    """A library's new version makes a bidirectional mask, whatever is_decoder says."""

    def causal(self, ids: Tensor, past: int) -> None:
        return None


@published("facebookresearch/xformers#103", "no causal mask", kind="decoder-only")
class CausalOnlyWithMask(nn.Module):
    """causal=True is applied to the mask that is given, and skipped if none is."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.layer = Embedding(), Layer(Attention)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.layer(self.embed(ids), self.masked(None)))

    def masked(self, mask: Tensor | None) -> Tensor | None:
        return mask if mask is None else mask.tril()


@published("meta-pytorch/torchtune#959", "no causal mask")
class MaskOfTheCache(GPT):
    """The causal mask is made by setup_caches, which training and plain generation do not call."""

    stored = None

    def setup_caches(self) -> None:
        self.stored = torch.ones(LONGEST, LONGEST, dtype=torch.bool).tril()

    def causal(self, ids: Tensor, past: int) -> Tensor | None:
        return None if self.stored is None else self.stored[: ids.size(1), : ids.size(1)]

    generate = None  # it has one, with a cache


@published("MorvanZhou/NLP-Tutorials#10", "the future leaks around the mask")
class NormOverPositionsGPT(GPT):
    """Layer normalization takes its mean over the positions, too."""

    class layer(Layer):  # noqa: N801
        def __init__(self, attention: type[Attention]) -> None:
            super().__init__(attention)
            self.norms = nn.ModuleList(PositionNorm() for _ in range(2))


class PositionNorm(nn.LayerNorm):
    def __init__(self) -> None:
        super().__init__(WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        centered = x - x.mean(dim=(-2, -1), keepdim=True)
        deviation = centered.square().mean(dim=(-2, -1), keepdim=True).sqrt()
        return centered / (deviation + self.eps) * self.weight + self.bias


# ---- Padding -----------------------------------------------------------------------------------


@published("facebookresearch/fairseq#537", "left padding is visible")
class OnlyTheFutureMask(MaskedGPT):
    """The decoder's self-attention gets the future mask and never the padding mask."""

    def join(self, causal: Tensor, attention_mask: Tensor | None) -> Tensor:
        return causal


# ---- Positions ---------------------------------------------------------------------------------


@published("Lightning-AI/pytorch-lightning#20203", "a row sees its neighbors")
class PositionsAlongTheBatch(GPT):
    """The table of positions is indexed with x.size(0), the batch."""

    class embedding(Embedding):  # noqa: N801
        def forward(self, ids: Tensor, past: int = 0) -> Tensor:
            return self.words(ids) + self.positions.weight[: ids.size(0)].unsqueeze(1)


@published("DiffPoseTalk/DiffPoseTalk#20", "the order of words does not matter")
class OnePositionForAll(Encoder):
    """pe[:, x.shape[1]] instead of pe[:, :x.shape[1]]: every word gets the same position."""

    class embedding(Embedding):  # noqa: N801
        def forward(self, ids: Tensor, past: int = 0) -> Tensor:
            return self.words(ids) + self.positions.weight[ids.size(1)]


@published("Lightning-AI/pytorch-lightning#20099", "the order of words does not matter")
class PositionsNotUsed(Seq2Seq):
    """The demo Transformer makes a positional encoding, and forward does not use it."""

    class embedding(WithoutPositions):  # noqa: N801
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("encoding", torch.randn(LONGEST, WIDTH))


@published("vllm-project/vllm-omni#3828", "queries and keys turn differently")
class KeysTurnedTwice(GPT):
    """Of half a head the queries are assigned to the keys, which are turned twice; they are not."""

    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def turn(self, query: Tensor, key: Tensor, past: int) -> tuple[Tensor, Tensor]:
            (half, _), (_, key_rest) = query.chunk(2, dim=-1), key.chunk(2, dim=-1)
            angles = self.angles(query.size(2), past)[:, ::2]
            return query, torch.cat([rotated(rotated(half, angles), angles), key_rest], dim=-1)


@published("raiyanyahya/how-to-train-your-gpt#6", "queries and keys turn differently")
class HalvesWithAnglesOfPairs(GPT):
    """Numbers i and i + half are turned together, by angles that were made for neighbors."""

    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def turn(self, query: Tensor, key: Tensor, past: int) -> tuple[Tensor, Tensor]:
            angles = self.angles(query.size(2), past).repeat_interleave(2, dim=-1)
            return tuple(
                x * angles.cos()
                + torch.cat([-x.chunk(2, -1)[1], x.chunk(2, -1)[0]], -1) * angles.sin()
                for x in (query, key)
            )


@published("hpcaitech/ColossalAI#6429", "queries and keys turn differently")
class CrossedHalves(GPT):
    """Half of the turned queries is computed from the keys, and half of the keys from queries."""

    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def turn(self, query: Tensor, key: Tensor, past: int) -> tuple[Tensor, Tensor]:
            (first, _), (_, second) = (x.chunk(2, dim=-1) for x in super().turn(query, key, past))
            return (torch.cat([first, second], dim=-1),) * 2


@published("antonellof/ferrox#44", "token types have no effect")
class FirstTypeForAll(Encoder):
    """Row 0 of the table of token types is added to every word, whatever its type is."""

    def __init__(self) -> None:
        super().__init__()
        self.types = nn.Embedding(2, WIDTH)

    def forward(self, ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        x, mask = self.embed(ids) + self.types(torch.zeros_like(ids)), self.padding_mask(ids)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


# ---- Parameters --------------------------------------------------------------------------------


@published("maruya24/pytorch_robotics_transformer#3", "weights are not registered")
class LayersInAList(GPT):
    """The layers are in a plain list: more layers have no more parameters."""

    def __init__(self) -> None:
        super().__init__()
        layers = list(self.layers)
        del self.layers
        self.layers = layers


@published("rasbt/LLMs-from-scratch#822", "tied by value only")
class TiedByCopy(GPT):
    """Weight tying that copies the embedding's numbers into the output layer."""

    def __init__(self) -> None:
        super().__init__()
        self.head.weight = nn.Parameter(self.embed.words.weight.detach().clone())


@published("espnet/espnet#465", "parameters get no gradient")
class PositionsWithoutGradient(GPT):
    """The positional encoding runs under no_grad, so nothing before it learns."""

    class embedding(Embedding):  # noqa: N801
        @torch.no_grad()
        def forward(self, ids: Tensor, past: int = 0) -> Tensor:
            return super().forward(ids, past)


@published("kyegomez/BitNet#32", "depth makes all positions alike")
class AddedToItself(Encoder):
    """x = attention(x); x = x + x: that is no residual connection."""

    class layer(Layer):  # noqa: N801
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            x = self.attend(self.norms[0](x), self.norms[0](x), mask)
            x = x + x
            return self.dropout(self.feed(self.norms[1](x))) + x


@published("pytorch/pytorch#61165", "the residual starts after the norm")
class NormedResidual(Encoder):
    """norm_first of torch's first release with it: x = norm(x), then x = x + attention(x)."""

    class layer(Layer):  # noqa: N801
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            x = self.norms[0](x)
            x = self.norms[1](x + self.dropout(self.attend(x, x, mask)))
            return x + self.dropout(self.feed(x))


@published("lbcb-sci/RiNALMo#9", "the residual starts after the norm")
class NormedResidualOfAttention(Encoder):
    """The same, for attention only."""

    class layer(Layer):  # noqa: N801
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            x = self.norms[0](x)
            x = x + self.dropout(self.attend(x, x, mask))
            return x + self.dropout(self.feed(self.norms[1](x)))


# ---- Dropout, state, precision -----------------------------------------------------------------


@published("karpathy/nanoGPT#240", "dropout in evaluation")
class AttentionDropsAlways(GPT):
    """The fused attention gets dropout_p=self.dropout in evaluation mode, too."""

    class attention(Attention):  # noqa: N801
        dropout_p = 0.2

        def forward(
            self, x: Tensor, memory: Tensor, mask: Tensor, cache: Cache | None = None
        ) -> Tensor:
            query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
            heads = F.scaled_dot_product_attention(
                query, key, value, attn_mask=mask, dropout_p=self.dropout_p
            )
            return self.output(self.merge(heads, len(x)))


@published("facebookresearch/DME#3", "dropout in evaluation")
class FunctionalDropout(Encoder):
    """F.dropout(out, p=…) on the embeddings, without training=self.training."""

    class embedding(Embedding):  # noqa: N801
        def forward(self, ids: Tensor, past: int = 0) -> Tensor:
            return F.dropout(super().forward(ids, past), p=0.1)


@published("NVIDIA/Megatron-LM#411", "dropout has no effect in training")
class DropoutEndsWithEvaluation(GPT):
    """After one call in evaluation mode the rate stays 0, also in training mode."""

    class layer(Layer):  # noqa: N801
        def forward(self, x: Tensor, mask: Tensor, **more: object) -> Tensor:
            if not self.training:
                self.dropout.p = 0.0
            return super().forward(x, mask, **more) + 0 * self.dropout(x)


@published("rasbt/LLMs-from-scratch#925", "the model remembers the last call")
class PointerNotReset(GPT):
    """The pointer to the current position is not reset between two texts."""

    pointer = 0

    def forward(self, ids: Tensor) -> Tensor:
        x, mask = self.embed.words(ids), self.causal(ids, 0)
        places = torch.arange(self.pointer, self.pointer + ids.size(1)) % LONGEST
        self.pointer += ids.size(1)
        x = x + self.embed.positions(places)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


@published("yl4579/StyleTTS2#166", "a batch of one fails")
class Squeezed(Encoder):
    """squeeze() without an axis removes the batch, too, if it is one."""

    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids).squeeze().transpose(1, 2).transpose(1, 2)


@published("NVIDIA/apex#1105", "overflow in half precision")
class MaskValueTooLarge(GPT):
    """masked_fill with -1e10, which float16 does not have."""

    class attention(Attention):  # noqa: N801
        def hide(self, scores: Tensor, mask: Tensor | None) -> Tensor:
            return scores.masked_fill(mask == 0, -1e10)


@published("bkitano/llama-from-scratch#5", "the model returns probabilities")
class SoftmaxInForward(GPT):
    """forward ends with a softmax, and cross_entropy takes another one."""

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        logits = super().forward(idx).softmax(dim=-1)
        return logits, None if targets is None else cross_entropy(logits, targets, -1)


# ---- Cache and generation ----------------------------------------------------------------------


@published("TrenTorch/TrenTorch#192", "the cached step differs", adapter=cached())
class FirstKeyNotKept(GPT):
    """The first token's keys and values are never written: position 0 stays zero."""

    class attention(Attention):  # noqa: N801
        def keep(self, cache: Cache, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
            if cache:
                return super().keep(cache, key, value)
            kept = super().keep(cache, key.clone(), value.clone())
            for each in kept:
                each[:, :, 0] = 0.0
            return key, value


@published("ml-explore/mlx-lm#93", "the cached step differs", adapter=cached())
class PositionZeroAtEveryStep(GPT):
    """Position embeddings of new tokens start at zero, and a single token gets none."""

    class embedding(Embedding):  # noqa: N801
        def forward(self, ids: Tensor, past: int = 0) -> Tensor:
            return super().forward(ids) if ids.size(1) > 1 else self.words(ids)


@published("RobertCsordas/moeut#6", "the cached step differs", adapter=cached())
class QueriesTurnedAsFirst(GPT):
    """The offset of the queries is taken before the cached keys are joined."""

    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def turn(self, query: Tensor, key: Tensor, past: int) -> tuple[Tensor, Tensor]:
            return super().turn(query, key, 0)[0], super().turn(query, key, past)[1]


@published("pytorch/executorch#2010", "the cached step differs", adapter=cached())
class AnglesFromTheStart(GPT):
    """The rotary table is sliced from 0, not from start_pos, when the cache is used."""

    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def angles(self, length: int, past: int) -> Tensor:
            return super().angles(length, 0)


@published("karpathy/nanochat#855", "the cached step differs", adapter=cached())
class WrongSlice(GPT):
    """What the pull request's test guards against: tables of angles, sliced wrongly at a step."""

    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", super().angles(LONGEST, 0), persistent=False)

        @staticmethod
        def first(past: int) -> int:
            return past - 1

        def angles(self, length: int, past: int) -> Tensor:
            first = self.first(past) if past else 0
            return self.table[first : first + length]


@published("skyzh/tiny-llm#46", "generation does not follow the logits")
class OffsetGrowsTwice(GPT):
    """After the first step the offset grows by the number of all tokens once more."""

    def generate(self, ids: Tensor, max_new_tokens: int, do_sample: bool = False) -> Tensor:
        logits, caches = self.step(ids, None)
        for number in range(max_new_tokens):
            newest = logits[:, -1:].argmax(dim=-1)
            ids = torch.cat([ids, newest], dim=1)
            offset = ids.size(1) - 1 + (ids.size(1) - number - 1)
            x = self.embed(newest, min(offset, LONGEST - 1))
            for layer, cache in zip(self.layers, caches, strict=True):
                x = layer(x, None, cache=cache)
            logits = self.head(self.norm(x))
        return ids


@published(
    "hkproj/pytorch-transformer#19",
    "generation does not follow the logits",
    adapter=Adapter(generate=lambda model, source, count: model.translate(source, count)),
)
class OtherMaskWhenItWrites(Seq2Seq):
    """translate.py makes the decoder's mask the other way round than training does."""

    upside_down = False

    def target_mask(self, ids: Tensor) -> Tensor:
        if not self.upside_down:
            return super().target_mask(ids)
        return ids.new_ones(ids.size(1), ids.size(1)).triu(diagonal=1).bool()

    @torch.no_grad()
    def translate(self, source: Tensor, count: int) -> Tensor:
        written = source.new_full((len(source), 1), self.start_id)
        self.upside_down = True
        for _ in range(count):
            newest = self(source, written)[:, -1:].argmax(dim=-1)
            written = torch.cat([written, newest], dim=1)
        self.upside_down = False
        return written[:, 1:]


@published("unslothai/unsloth#3699", "generation depends on the batch")
class SharedPositions(MaskedGPT):
    """In a left-padded batch all rows get the positions 0, 1, 2, … of the longest."""

    @torch.no_grad()
    def generate(
        self,
        ids: Tensor,
        max_new_tokens: int,
        attention_mask: Tensor | None = None,
        do_sample: bool = False,
    ) -> Tensor:
        for _ in range(max_new_tokens):
            newest = self(ids, attention_mask)[:, -1:].argmax(dim=-1)
            ids = torch.cat([ids, newest], dim=1)
            if attention_mask is not None:
                attention_mask = F.pad(attention_mask, (0, 1), value=1)
        return ids


@published("lucidrains/h-transformer-1d#9", "generation does not stop", adapter=Adapter(end_id=END))
class EndsOneRowOnly(GPT):
    """The end token is only looked for if there is a single row."""

    @torch.no_grad()
    def generate(self, ids: Tensor, max_new_tokens: int, do_sample: bool = False) -> Tensor:
        for _ in range(max_new_tokens):
            newest = self(ids)[:, -1:].argmax(dim=-1)
            ids = torch.cat([ids, newest], dim=1)
            if len(ids) == 1 and (newest == END).all():
                break
        return ids


# ---- Training ----------------------------------------------------------------------------------


@published("huggingface/transformers#37830", "labels are shifted twice")
class ShiftedTwice(GPT):
    """forward shifts logits and labels, and the loss function shifts them again."""

    def can_generate(self) -> bool:
        return False

    def forward(self, input_ids: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits = self.decode(input_ids, None)
        if labels is None:
            return {"logits": logits}
        return {"logits": logits, "loss": cross_entropy(logits[:, :-2], labels[:, 2:], -100)}


@published("huggingface/transformers#47394", "labels are shifted twice")
class ShiftedTwiceWhenFlat(ShiftedTwice):
    """The labels are shifted, flattened, and shifted again across the rows."""

    def forward(self, input_ids: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits = self.decode(input_ids, None)
        if labels is None:
            return {"logits": logits}
        flat = F.pad(labels[:, 1:].flatten(), (0, 1), value=-100)[1:]
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), flat, ignore_index=-100)
        return {"logits": logits, "loss": loss}


def copying_step(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> Tensor:
    return cross_entropy(model(source_ids, target_ids), target_ids)


@published("pytorch/tutorials#719", "labels are not shifted", training_step=copying_step)
class OfOfOfOf(Seq2Seq):
    """The loss compares the output with the very target that was read; it writes "of of of of"."""


def source_as_target(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> Tensor:
    return cross_entropy(model(source_ids, source_ids[:, :-1]), source_ids[:, 1:])


@published(
    "TransformerLensOrg/TransformerLens#1611",
    "labels come from elsewhere",
    training_step=source_as_target,
)
class SourceIsTarget(Seq2Seq):
    """The loss ignores the labels: what the decoder reads and predicts is the source."""


def last_word_dropped(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> Tensor:
    return cross_entropy(model(source_ids, target_ids[:, 1:]), target_ids[:, 1:])


@published(
    "IpsumDominum/Pytorch-Simple-Transformer#3",
    "labels are not shifted",
    training_step=last_word_dropped,
)
class LabelsAsInput(Seq2Seq):
    """The decoder reads the labels themselves."""


def end_is_padding(model: nn.Module, ids: Tensor) -> Tensor:
    labels = ids[:, 1:].masked_fill(ids[:, 1:] == END, -100)
    return cross_entropy(model(ids[:, :-1]), labels.masked_fill(ids[:, 1:] == PADDING, -100), -100)


@published(
    "verl-project/verl#535",
    "the end token is not trained",
    training_step=end_is_padding,
    adapter=Adapter(end_id=END),
)
class NeverEnds(GPT):
    """The end token is left out of the loss, so the model never learns to stop."""


def everything_counts(model: nn.Module, ids: Tensor) -> Tensor:
    return cross_entropy(model(ids[:, :-1]), ids[:, 1:], -100)


@published(
    "lukas-blecher/LaTeX-OCR#305",
    "padding has a loss",
    training_step=everything_counts,
    adapter=Adapter(end_id=END, padding_id=PADDING),
)
class PaddingCounts(GPT):
    """ignore_index stays at -100 while padding is 0."""


def softmax_before_loss(model: nn.Module, ids: Tensor) -> Tensor:
    return cross_entropy(model(ids[:, :-1]).softmax(dim=-1), ids[:, 1:])


@published(
    "bowang-lab/Transformer-GCN-QA#32",
    "the loss is not the cross-entropy",
    training_step=softmax_before_loss,
)
class TwoSoftmaxes(GPT):
    """CrossEntropyLoss has a softmax inside, and the output had one already."""
