"""What is unusual but legal is told or asked about; the styles of others are understood."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn

from tests.checkup.healthy_models import built
from tests.checkup.small_models import (
    GPT,
    LONGEST,
    PADDING,
    VOCABULARY,
    WIDTH,
    Attention,
    Embedding,
    Encoder,
    Layer,
    MaskedGPT,
    Rotary,
    Seq2Seq,
    WithoutPositions,
    cross_entropy,
)
from tools.notebooks import ROOT
from transformer_edu.checkup import Adapter, CheckupError, assert_healthy, check_up
from transformer_edu.checkup.report import Finding, Report


def status(report: Report, probe: str) -> Finding:
    return next(each for each in report.findings if each.probe == probe)


def check(model: nn.Module, **how: object) -> Report:
    report = check_up(model, **how)
    assert report.illnesses == [], f"\n{report}"
    return report


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


# ---- Legal oddities ----------------------------------------------------------------------------


class GPTWithoutPositions(GPT):
    embedding = WithoutPositions


class SharedLayersGPT(GPT):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([self.layers[0]] * 3)


class PrefixGPT(GPT):
    """The first three words are read in both directions."""

    def causal(self, ids: Tensor, past: int) -> Tensor:
        mask = super().causal(ids, past).clone()
        mask[:3, :3] = True
        return mask


class WindowGPT(GPT):
    def causal(self, ids: Tensor, past: int) -> Tensor:
        return super().causal(ids, past).triu(-1)


@pytest.mark.parametrize(
    ("build", "probe", "words"),
    [
        (GPTWithoutPositions, "order", "no positions. On purpose"),
        (PrefixGPT, "future", "first 3 words see each other"),
        (WindowGPT, "context", "sliding window"),
        (GPT, "beyond", f"positions end at {LONGEST}"),
        (lambda: built("nn.TransformerEncoder"), "context", "say kind='decoder-only'"),
        (lambda: built("nn.TransformerEncoder"), "tied", "Copies of one layer?"),
        (lambda: built("nn.TransformerEncoder"), "empty_row", "gets NaN"),
        (lambda: built("T5"), "scaling", "as T5's do"),
    ],
)
def test_a_legal_oddity_is_told(build, probe, words):
    finding = status(check(build()), probe)
    assert finding.status == "told" and words in finding.seen, finding


class TurnedBackwards(GPT):
    """Queries and keys are turned by the negative angle, as in karpathy/nanochat#489."""

    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def angles(self, length: int, past: int) -> Tensor:
            return -super().angles(length, past)


def test_queries_and_keys_that_both_turn_backwards_are_healthy():
    assert status(check(TurnedBackwards()), "relative").status == "healthy"


def test_shared_layers_are_healthy():
    model = SharedLayersGPT()
    shared = 2 * len(list(model.layers[0].parameters()))
    assert status(check(model), "tied").seen == f"{shared} parameters are shared."


def test_an_encoder_that_is_asked_about_is_answered_by_its_kind():
    stack = built("nn.TransformerEncoder")
    assert status(check_up(stack, kind="encoder-only"), "context").status == "healthy"
    assert check_up(stack, kind="decoder-only").illnesses == ["no causal mask"]


def test_a_trained_model_is_not_measured_as_a_fresh_one():
    model = built("our Transformer")
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.LayerNorm):
                module.weight.uniform_(0.5, 1.5)
    for probe in ("depth", "positions", "unsure"):
        assert status(check(model), probe).seen.startswith("the model has been trained")


class ZeroBranches(GPT):
    """Output projections and the head start at zero, as in nanochat."""

    def __init__(self) -> None:
        super().__init__()
        for layer in self.layers:
            nn.init.zeros_(layer.attend.output.weight)
        nn.init.zeros_(self.head.weight)


def test_branches_that_start_at_zero_are_woken_in_a_copy():
    model = ZeroBranches()
    report = check(model)
    assert any(note.startswith("3 matrices start at zero, such") for note in report.notes)
    assert not model.head.weight.any()
    model.causal = lambda ids, past: None
    assert check_up(model, kind="decoder-only").illnesses == ["no causal mask"]


# ---- Styles of others --------------------------------------------------------------------------


class Masked(nn.Module):
    """Takes the masks from the caller, in some convention, and computes as Seq2Seq does."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Seq2Seq()

    def answer(self, src: Tensor, tgt: Tensor, source: Tensor, target: Tensor) -> Tensor:
        inner = self.inner
        memory = inner.embed(src)
        for layer in inner.encoder:
            memory = layer(memory, source)
        x = inner.embed(tgt)
        for layer in inner.decoder:
            x = layer(x, target, memory, source)
        return inner.head(inner.norm(x))


class Annotated(Masked):
    """Masks of the shape (batch, 1 or query, key), True where attention is allowed."""

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor, tgt_mask: Tensor) -> Tensor:
        assert src_mask.shape[1:] == (1, src.size(1))
        assert tgt_mask.shape[1:] == (tgt.size(1), tgt.size(1))
        return self.answer(src, tgt, src_mask.unsqueeze(1), tgt_mask.unsqueeze(1))


class OneHides(Masked):
    """Masks of numbers that are multiplied by -1e9 in TensorFlow's style."""

    def forward(
        self, inp: Tensor, tar: Tensor, enc_padding_mask: Tensor, look_ahead_mask: Tensor
    ) -> Tensor:
        hidden = 1.0 - look_ahead_mask  # a boolean cannot be subtracted
        return self.answer(inp, tar, enc_padding_mask[:, None, None] == 0, hidden > 0)


class Bytes(nn.Module):
    """A byte mask, (batch, position), that must be made into integers."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = MaskedGPT()

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.inner(tokens, (1 - mask) == 0)


class LengthsEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Encoder()

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        x, inner = self.inner.embed(tokens), self.inner
        mask = torch.arange(tokens.size(1)) < lengths[:, None]
        for layer in inner.layers:
            x = layer(x, mask[:, None, None])
        return inner.head(inner.norm(x))


@pytest.mark.parametrize(
    ("build", "convention"),
    [
        (Annotated, "True may be attended to, (batch, query, key)"),
        (OneHides, "1.0 hides, (batch, 1, query, key)"),
        (Bytes, "1 is real"),
        (LengthsEncoder, ""),
    ],
)
def test_masks_are_given_in_the_convention_of_the_model(build, convention):
    report = check(build())
    assert convention in "".join(report.notes)
    passed = {each.probe for each in report.findings if each.status == "healthy"}
    assert {"padding", "context", "order", "gradients"} <= passed


class Noisy(MaskedGPT):
    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return nn.functional.dropout(super().forward(ids, attention_mask), 0.1)


def test_noise_is_not_taken_for_masks_of_the_model_s_own():
    report = check_up(Noisy())
    assert "1 is real" in "".join(report.notes)
    assert report.illnesses == ["dropout in evaluation"]


class TimeFirst(MaskedGPT):
    """Ids and a byte mask of padding are (position, batch); a loss comes before the logits."""

    def forward(
        self, tokens: Tensor, pad_mask: Tensor | None = None, targets: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        real = None if pad_mask is None else pad_mask.T == 0
        logits = super().forward(tokens.T, real).transpose(0, 1)
        loss = logits.new_zeros(()) if targets is None else cross_entropy(logits, targets)
        return loss, logits


def test_a_model_whose_first_axis_is_the_position_is_examined_with_its_loss():
    report = check(TimeFirst())
    assert "token ids and masks are (position, batch)" in "".join(report.notes)
    states = {each.probe: each.status for each in report.findings}
    assert {states[each] for each in ("padding", "labels", "loss_padding", "entropy")} == {
        "healthy"
    }

    def copies(model: nn.Module, ids: Tensor) -> Tensor:
        return model(ids.T, None, ids.T)[0]

    assert check_up(TimeFirst(), training_step=copies).illnesses == ["labels are not shifted"]


class DictModel(MaskedGPT):
    """Takes a dictionary."""

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"scores": super().forward(batch["tokens"], batch["mask"])}


def test_the_page_shows_what_two_users_are_told():
    page = (ROOT / "docs/checkup.md").read_text(encoding="utf-8")
    notes = "\n".join(f"  {note}" for note in check_up(TimeFirst()).notes)
    with pytest.raises(CheckupError) as caught:
        check_up(DictModel())
    for shown in (notes, str(caught.value)):
        assert f"```text\n{shown}\n```" in page, shown

    def ask_by_words(model: nn.Module, ids: Tensor, real: Tensor) -> Tensor:
        return model({"tokens": ids, "mask": real})["scores"]

    check(DictModel(), adapter=Adapter(ask=ask_by_words, vocabulary_size=VOCABULARY))


class PrevOutput(Seq2Seq):
    """Arguments have the names of fairseq."""

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor
    ) -> tuple[Tensor, dict]:
        assert (src_lengths == (src_tokens != PADDING).sum(dim=1)).all()
        return super().forward(src_tokens, prev_output_tokens), {"attention": None}


def test_the_names_of_fairseq_are_understood():
    assert check(PrevOutput()).kind == "encoder-decoder"


@dataclass
class Output:
    hidden_states: list[Tensor]
    logits: Tensor


class Pair(NamedTuple):
    loss: Tensor
    scores: Tensor


STYLES = {
    "a dictionary": lambda x: {"hidden_states": [x.mT], "logits": x},
    "a dataclass": lambda x: Output([x], x),
    "a named tuple": lambda x: Pair(x.mean(), x),
    "a tuple": lambda x: (x.mean(), x, [x.mT]),
    "rows joined": lambda x: x.flatten(0, 1),
    "the vocabulary second": lambda x: x.mT,
}


@pytest.mark.parametrize("style", STYLES)
def test_answers_are_found_wherever_they_are(style):
    class StyledGPT(GPT):
        def forward(self, ids: Tensor) -> object:
            return STYLES[style](super().forward(ids))

    assert check(StyledGPT()).kind == "decoder-only"

    class Leaking(StyledGPT):
        def causal(self, ids: Tensor, past: int) -> None:
            return None

    assert check_up(Leaking(), kind="decoder-only").illnesses == ["no causal mask"]


class Classifier(Encoder):
    """Answers once for each text."""

    def forward(self, ids: Tensor) -> Tensor:
        x, mask = self.embed(ids), self.padding_mask(ids)
        for layer in self.layers:
            x = layer(x, mask)
        real = mask[:, 0, 0].unsqueeze(-1)
        return self.head(self.norm((x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)))


def test_a_classifier_is_examined_by_its_one_answer():
    report = check(Classifier())
    assert report.kind == "encoder-only"
    assert status(report, "padding").status == status(report, "order").status == "healthy"

    class MeanOverPadding(Classifier):
        def padding_mask(self, ids: Tensor) -> Tensor:
            return torch.ones_like(super().padding_mask(ids))

        def __init__(self) -> None:
            super().__init__()
            self.pad_idx = PADDING

    assert check_up(MeanOverPadding()).illnesses == ["padding is visible"]


def test_a_vocabulary_of_four_is_enough():
    class TinyVocabulary(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(4, WIDTH), nn.Embedding(LONGEST, WIDTH)
            self.layer, self.head = Layer(Attention), nn.Linear(WIDTH, 4)

        def forward(self, ids: Tensor) -> Tensor:
            length = ids.size(1)
            x = self.words(ids) + self.places.weight[:length]
            return self.head(self.layer(x, torch.ones(length, length).bool().tril()))

    assert check(TinyVocabulary()).kind == "decoder-only"


def test_a_model_that_embeds_by_a_product_is_examined_without_gradients():
    class OneHotGPT(GPT):
        class embedding(Embedding):  # noqa: N801
            def forward(self, ids: Tensor, past: int = 0) -> Tensor:
                one_hot = nn.functional.one_hot(ids, VOCABULARY).float()
                return one_hot @ self.words.weight + self.positions.weight[: ids.size(1)]

    check(OneHotGPT())


# ---- Adapters ----------------------------------------------------------------------------------


class Unusual(nn.Module):
    """Wants a graph that nobody can guess."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = MaskedGPT()

    def forward(self, batch: dict[str, Tensor], graph: list) -> dict[str, list[Tensor]]:
        return {"answers": [self.inner(batch["words"], batch["real"])]}


def ask(model: nn.Module, ids: Tensor, real: Tensor) -> Tensor:
    return model({"words": ids, "real": real}, [])["answers"][0]


def test_an_adapter_of_three_lines_is_enough():
    assert_healthy(Unusual(), adapter=Adapter(ask=ask, vocabulary_size=VOCABULARY))


def test_an_encoder_decoder_is_asked_by_an_adapter_of_five_arguments():
    def ask_both(model, source_ids, target_ids, source_real, target_real):
        return model(source_ids, target_ids)

    report = check(Seq2Seq(), adapter=Adapter(ask=ask_both, vocabulary_size=VOCABULARY))
    assert report.kind == "encoder-decoder"
    assert status(report, "source_padding").status == "healthy"


def test_a_cache_and_generation_are_taken_from_the_adapter():
    def write(model, ids, count):
        for _ in range(count):
            ids = torch.cat([ids, model(ids)[:, -1:].argmax(dim=-1)], dim=1)
        return ids[:, -count:]

    def step(model, ids, caches):
        return model.step(ids, caches)

    report = check(GPT(), adapter=Adapter(step=step, generate=write))
    assert status(report, "cache").status == "told"  # lists cannot be reordered
    assert status(report, "generation").status == "healthy"


def ask_batch_second(model, source_ids, target_ids, source_real, target_real):
    return model(source_ids.T, target_ids.T, ~source_real, ~target_real).transpose(0, 1)


def test_a_batch_that_an_adapter_turns_to_the_second_axis_is_read_in_the_model_s_order():
    adapter, model = Adapter(ask=ask_batch_second), built("nn.Transformer, the batch second")
    assert status(check(model, adapter=adapter), "source_padding").status == "healthy"
    with torch.no_grad():
        model.embedding.weight.mul_(100)
    report = check_up(model, adapter=adapter)
    assert status(report, "positions").illness == "words drown positions"


# ---- What was not seen is said -----------------------------------------------------------------


class WithSpeaker(GPT):
    """Takes a speaker and a cache of its own, and may do anything with them."""

    def forward(self, ids: Tensor, speaker: Tensor | None = None, kv: list | None = None) -> Tensor:
        return self.decode(ids, kv)

    def step(self, ids: Tensor, caches: list | None) -> tuple[Tensor, list]:
        caches = [[] for _ in self.layers] if caches is None else caches
        return self(ids, kv=caches), caches


def test_an_argument_that_was_never_given_is_told():
    report = check(WithSpeaker())
    assert "Not given: speaker, kv; what they do was not examined." in report.notes
    assert "such as kv, give Adapter(step=…)" in status(report, "cache").seen
    stepped = check(WithSpeaker(), adapter=Adapter(step=WithSpeaker.step))
    assert "Not given: speaker; what they do was not examined." in stepped.notes
    assert not any(note.startswith("Not given") for note in check(GPT()).notes)


def test_scores_in_a_fused_kernel_are_not_called_divided():
    finding = status(check(built("nn.TransformerEncoder")), "scaling")
    assert finding.status == "not tried" and "could not be judged" in finding.seen


def test_a_model_without_dropout_is_not_said_to_be_random():
    model = GPT()
    for layer in model.layers:
        layer.dropout = nn.Dropout(0.0)
    finding = status(check(model), "dropout")
    assert finding.status == "not tried" and "no dropout" in finding.seen


def test_scores_divided_by_another_root_are_not_called_undivided():
    class WrongRoot(GPT):
        class attention(Attention):  # noqa: N801
            def scores(self, query: Tensor, key: Tensor) -> Tensor:
                return query @ key.mT / WIDTH**0.5

    finding = status(check(WrongRoot()), "scaling")
    assert finding.status == "told" and "not divided, or not by √d" in finding.seen


class SecondBest(GPT):
    """Its top_k of one leaves the second word."""

    @torch.no_grad()
    def generate(self, ids: Tensor, count: int, top_k: int | None = None) -> Tensor:
        for _ in range(count):
            ids = torch.cat([ids, self(ids)[:, -1].topk(1 + top_k).indices[:, -1:]], dim=1)
        return ids


def test_a_wrong_generation_is_told_with_how_it_was_asked_for():
    finding = status(check_up(SecondBest()), "generation")
    assert finding.illness == "generation does not follow the logits"
    assert finding.seen.endswith("Asked with top_k=1.")


class TurnedValues(GPT):
    """Values are turned, too, so that a repeated word gets different answers."""

    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def weights(self, scores: Tensor) -> Tensor:
            places = torch.arange(scores.size(-1)) / LONGEST
            return super().weights(scores) * (1 + places)


def test_positions_that_come_in_with_the_values_are_not_called_drowned():
    assert status(check(TurnedValues()), "positions").status == "not tried"


class SqueezedAtTheEnd(Encoder):
    """Its answer to a single row has no axis for the batch."""

    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids).squeeze()


class Flattened(Encoder):
    """All its answers are rows of words, also those to a single row."""

    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids).flatten(0, 1)


def test_a_single_row_without_the_batch_s_axis_fails_and_answers_that_are_always_flat_do_not():
    finding = status(check_up(SqueezedAtTheEnd()), "neighbors")
    assert finding.illness == "a batch of one fails"
    assert finding.seen == "A single row got an answer without an axis for the batch."
    check(Flattened())
