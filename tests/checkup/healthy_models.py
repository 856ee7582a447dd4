"""Healthy models of many origins, small and of random weights: the check-up must find nothing."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.our_transformer import Transformer as ReadersTransformer
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.variants.language_model import LanguageModel, LanguageModelConfig

VOCABULARY, WIDTH, LONGEST = 60, 32, 64
SIZES = {"d_model": WIDTH, "num_heads": 4, "num_layers": 2, "d_ff": 64}
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
DECODER = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
} | IDS
BART = {
    "vocab_size": VOCABULARY,
    "d_model": WIDTH,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": LONGEST,
}
BUILDERS: dict[str, Callable[[], nn.Module]] = {}


def healthy(name: str) -> Callable[[Callable], Callable]:
    def added(build: Callable) -> Callable:
        BUILDERS[name] = build
        return build

    return added


def built(name: str) -> nn.Module:
    """A healthy model, with weights drawn from a seed."""
    torch.manual_seed(0)
    return BUILDERS[name]()


for positions in ("sinusoidal", "learned", "rotary"):
    BUILDERS[f"our LanguageModel, {positions}"] = lambda positions=positions: LanguageModel(
        LanguageModelConfig(vocabulary_size=VOCABULARY, positions=positions, **SIZES)
    )
healthy("our Transformer")(lambda: Transformer(TransformerConfig(vocabulary_size=60, **SIZES)))
healthy("our Transformer, deep")(
    lambda: Transformer(TransformerConfig(vocabulary_size=60, **SIZES | {"num_layers": 6}))
)
healthy("the reader's Transformer")(lambda: ReadersTransformer(VOCABULARY, WIDTH, 4, 2, 64))
healthy("our PytorchTransformer")(
    lambda: PytorchTransformer(TransformerConfig(vocabulary_size=60, **SIZES))
)


@healthy("nn.Transformer")
class AroundTransformer(nn.Module):
    """nn.Transformer with embeddings, learned positions and an output layer."""

    batch_first = True

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.positions = nn.Embedding(LONGEST, WIDTH)
        self.transformer = nn.Transformer(WIDTH, 4, 2, 2, 64, batch_first=self.batch_first)
        self.output = nn.Linear(WIDTH, VOCABULARY)

    def embed(self, ids: Tensor) -> Tensor:
        places = self.positions(torch.arange(ids.size(int(self.batch_first)), device=ids.device))
        return self.embedding(ids) + (places if self.batch_first else places.unsqueeze(1))

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        length = tgt.size(int(self.batch_first))
        decoded = self.transformer(
            self.embed(src),
            self.embed(tgt),
            tgt_mask=torch.ones(length, length, dtype=torch.bool, device=tgt.device).triu(1),
            src_key_padding_mask=src_key_padding_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=src_key_padding_mask,
        )
        return self.output(decoded)


@healthy("nn.Transformer, the batch second")
class BatchSecond(AroundTransformer):
    batch_first = False


@healthy("nn.TransformerEncoder, fast path")
class Stack(nn.Module):
    """A stack of torch's encoder layers over embedded words; nested tensors are on."""

    nested = True

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.positions = nn.Embedding(LONGEST, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 64, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=self.nested)
        self.output = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids) + self.positions(torch.arange(ids.size(1), device=ids.device))
        return self.output(self.layers(x, src_key_padding_mask=ids == 0))


@healthy("nn.TransformerEncoder")
class SlowStack(Stack):
    nested = False


@healthy("nanoGPT-like")
class SmallGPT(nn.Module):
    """Answers with logits and a loss; without targets for the last position only."""

    def __init__(self) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LONGEST, WIDTH)
        options = {"batch_first": True, "norm_first": True}
        self.h = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 4, 64, **options) for _ in range(2)
        )
        self.ln_f, self.lm_head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.wte.weight = self.lm_head.weight
        for table in (self.wte, self.wpe):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        length = idx.size(1)
        x = self.wte(idx) + self.wpe(torch.arange(length, device=idx.device))
        mask = torch.ones(length, length, dtype=torch.bool, device=idx.device).triu(1)
        for block in self.h:
            x = block(x, mask)
        if targets is None:
            return self.lm_head(self.ln_f(x[:, [-1]])), None
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)

    @torch.no_grad()
    def generate(
        self,
        idx: Tensor,
        max_new_tokens: int,
        temperature: float = 1.0,
        top_k: int | None = None,
    ) -> Tensor:
        for _ in range(max_new_tokens):
            logits = self(idx)[0][:, -1] / temperature
            if top_k is not None:
                least = logits.topk(top_k).values[:, [-1]]
                logits = logits.masked_fill(logits < least, -torch.inf)
            idx = torch.cat([idx, torch.multinomial(logits.softmax(dim=-1), 1)], dim=1)
        return idx


def of_hugging_face(kind: str, **settings: object) -> Callable[[], nn.Module]:
    """A builder of a model from the library transformers, random weights; skips without it."""

    def build() -> nn.Module:
        transformers = pytest.importorskip("transformers")
        transformers.logging.set_verbosity_error()
        model = getattr(transformers, kind)
        return model(model.config_class(**settings))

    return build


T5 = {"d_model": WIDTH, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
GPT2 = {"n_embd": WIDTH, "n_layer": 2, "n_head": 4, "n_positions": LONGEST}
GROUPED = DECODER | {"num_key_value_heads": 2}
BUILDERS |= {
    "T5": of_hugging_face("T5ForConditionalGeneration", vocab_size=VOCABULARY, **T5),
    "BART": of_hugging_face("BartForConditionalGeneration", **BART),
    "Marian": of_hugging_face(
        "MarianMTModel",
        **BART,
        **IDS | {"decoder_start_token_id": 0},
        scale_embedding=True,
    ),
    "GPT-2": of_hugging_face(
        "GPT2LMHeadModel", vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2, **GPT2
    ),
    "Llama": of_hugging_face("LlamaForCausalLM", **GROUPED, max_position_embeddings=LONGEST),
    "Mistral, window of 3": of_hugging_face("MistralForCausalLM", **GROUPED, sliding_window=3),
    "Gemma": of_hugging_face("GemmaForCausalLM", **DECODER, num_key_value_heads=1, head_dim=8),
    "Qwen2": of_hugging_face("Qwen2ForCausalLM", **GROUPED),  # writes the end token at once
    "BLOOM": of_hugging_face(
        "BloomForCausalLM", vocab_size=VOCABULARY, hidden_size=WIDTH, n_layer=2, n_head=4
    ),
    "RoBERTa": of_hugging_face("RobertaForMaskedLM", **DECODER),  # positions start at 1
    "BERT": of_hugging_face("BertForMaskedLM", **DECODER),
    "BERT without a head": of_hugging_face("BertModel", **DECODER),
    "ModernBERT": of_hugging_face(
        "ModernBertForMaskedLM", **DECODER, cls_token_id=3, sep_token_id=4, local_attention=4
    ),
}


def of_x_transformers(layers: str, **options: object) -> Callable[[], nn.Module]:
    """A builder of a model from x-transformers; skips without it."""

    def build() -> nn.Module:
        library = pytest.importorskip("x_transformers")
        stack = getattr(library, layers)(dim=WIDTH, depth=2, heads=4, **options)
        sizes = {"num_tokens": VOCABULARY, "max_seq_len": LONGEST}
        return library.TransformerWrapper(**sizes, attn_layers=stack)

    return build


BUILDERS |= {
    "x-transformers decoder": of_x_transformers("Decoder"),
    "x-transformers decoder, ALiBi": of_x_transformers("Decoder", alibi_pos_bias=True),
    "x-transformers encoder": of_x_transformers("Encoder"),
}
