"""What check_up refuses or tells, its report, and its place in tests."""

import json
import re
from functools import partial
from importlib.resources import files

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.checkup.published_bugs import BUGS, MaskValueTooLarge, SmallForCausalLM
from tests.checkup.small_models import (
    END,
    GPT,
    PADDING,
    VOCABULARY,
    WIDTH,
    Attention,
    Encoder,
    Layer,
    MaskedGPT,
    Rotary,
    WithoutPositions,
    cross_entropy,
    rotated,
)
from transformer_edu.checkup import Adapter, CheckupError, assert_healthy, check_up
from transformer_edu.checkup.report import Finding, Report
from transformer_edu.checkup.watch import mixes_positions


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


# ---- What cannot be examined, and what is told ------------------------------------------------


class Raising(GPT):
    def forward(self, ids: Tensor) -> Tensor:
        raise RuntimeError("this model runs on a GPU only")


class Vectors(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


class Nameless(GPT):
    def forward(self, *args: Tensor) -> Tensor:
        return super().forward(*args)


class Graph(GPT):
    def forward(self, ids: Tensor, edges: Tensor, nodes: Tensor) -> Tensor:
        return super().forward(ids)


class Silent(GPT):
    def forward(self, ids: Tensor) -> str:
        return "no logits"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Raising(), "it raised RuntimeError: this model runs on a GPU only"),
        (Vectors(), "it raised RuntimeError"),
        (Nameless(), "its forward names no token ids"),
        (Graph(), "its parameter 'nodes' has a name without a known meaning"),
        (Silent(), "it answered with str , which are no logits"),
        (torch.relu, "model must be a torch.nn.Module, got builtin_function_or_method"),
    ],
)
def test_what_cannot_be_examined_is_refused_in_a_sentence(model, words):
    with pytest.raises(CheckupError, match=re.escape(words)) as caught:
        check_up(model)
    if "must be" not in words:
        assert "def ask(model, " in str(caught.value)  # the three lines


class OfTheTutorial(GPT):
    """With a mask that it makes itself when none is given, as in PyTorch's tutorials."""

    def forward(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        return super().forward(src)


class FromAPosition(GPT):
    def forward(self, tokens: Tensor, start_pos: int) -> Tensor:
        return super().forward(tokens)


class Additive(nn.Module):
    """Attention of Bahdanau et al. (2015), whose scores are no product of two vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, cache: object) -> Tensor:
        both = self.query(x).unsqueeze(2) + self.key(memory).unsqueeze(1)
        scores = self.score(both.tanh()).squeeze(-1).masked_fill(~mask, -torch.inf)
        return scores.softmax(dim=-1) @ self.value(memory)


class WithAdditive(GPT):
    attention = Additive


class Classifier(Encoder):
    """Its labels are no tokens: one for each text."""

    def forward(self, ids: Tensor, labels: Tensor | None = None) -> Tensor:
        answer = super().forward(ids)[:, 0]
        if labels is not None:
            F.cross_entropy(answer, labels)  # raises if there is one for each token
        return answer


@pytest.mark.parametrize("build", [OfTheTutorial, FromAPosition, WithAdditive, Classifier])
def test_a_healthy_model_of_another_style_is_not_called_ill(build):
    report = check_up(build())
    assert report.illnesses == [], f"\n{report}"


def test_a_model_whose_numbers_cannot_be_examined_is_told_how_to_mend_it():
    lazy, half_lazy = GPT(), GPT()
    lazy.head = torch.nn.LazyLinear(5)
    half_lazy.norm = torch.nn.LazyBatchNorm1d(affine=False)
    for model in (lazy, half_lazy):
        with pytest.raises(CheckupError, match="^model must have run once, got Lazy layers that"):
            check_up(model)
    with torch.inference_mode():
        model = GPT()
    buffered = GPT()
    with torch.inference_mode():
        buffered.register_buffer("scale", torch.ones(1))
    for each in (model, buffered):
        with pytest.raises(CheckupError, match="^model must be made outside of torch.inference_mo"):
            check_up(each)
    with pytest.raises(CheckupError, match="^model must hold numbers, got weights on the meta"):
        check_up(GPT().to("meta"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_model_in_torchscript_is_refused_in_a_sentence():
    scripted = torch.jit.script(nn.Sequential(nn.Embedding(9, 8), nn.Linear(8, 9)))
    with pytest.raises(CheckupError, match="^model must be the module itself, got its TorchScript"):
        check_up(scripted)


@pytest.mark.parametrize(
    "without_gradients",
    [torch.no_grad, torch.inference_mode, partial(torch.set_grad_enabled, False)],
)
def test_gradients_that_are_switched_off_hide_and_change_nothing(without_gradients):
    def loss(model: nn.Module, ids: Tensor) -> Tensor:
        return cross_entropy(model(ids)[:, :-1], ids[:, 1:])

    model, given = GPT(), {"training_step": loss}
    expected = [each.status for each in check_up(model, **given).findings]
    with without_gradients():
        assert [each.status for each in check_up(model, **given).findings] == expected
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled() and not any(each.is_inference() for each in model.parameters())


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("GPT", "kind must be one of encoder-decoder, decoder-only, encoder-only, got 'GPT'"),
        ("encoder-decoder", "it reads 1 streams of tokens, got kind='encoder-decoder'"),
    ],
)
def test_a_wrong_kind_is_refused(kind, words):
    with pytest.raises(CheckupError, match=re.escape(words)):
        check_up(GPT(), kind=kind)


class FewPositions(GPT):
    """It has no position beyond its block."""

    def __init__(self, block: int) -> None:
        super().__init__()
        self.block = block

    def forward(self, ids: Tensor, **given: object) -> Tensor:
        assert ids.size(1) <= self.block, "too long"
        return super().forward(ids, **given)


@pytest.mark.parametrize("block", [3, 8, 10])
def test_a_model_with_too_few_positions_is_not_called_ill(block):
    with pytest.raises(CheckupError, match="it must answer at 11 positions, and raised A"):
        check_up(FewPositions(block), kind="decoder-only")
    assert check_up(FewPositions(64), kind="decoder-only").illnesses == []


@pytest.mark.parametrize(
    ("wrong", "got"), [(check_up, "function"), (Adapter, "type"), ({}, "dict")]
)
def test_what_is_not_an_adapter_is_refused(wrong, got):
    with pytest.raises(CheckupError, match=f"adapter must be an Adapter, got {got}"):
        check_up(GPT(), adapter=wrong)


@pytest.mark.parametrize("returned", [None, 1.0])
def test_a_training_step_that_never_asks_the_model_is_not_called_unknown(returned):
    report = str(check_up(GPT(), training_step=lambda model, ids: returned))
    assert "the training step teaches nothing" in report
    assert "no training step is known" not in report


def test_a_training_step_that_is_no_function_is_refused():
    with pytest.raises(CheckupError, match="training_step must be a function, got True"):
        check_up(GPT(), training_step=True)


class Loud(GPT):
    def forward(self, ids: Tensor) -> Tensor:
        print("step", "forward")
        torch.manual_seed(3)
        return super().forward(ids)


def test_prints_and_a_global_seed_are_told(capsys):
    report = check_up(Loud())
    assert capsys.readouterr().out == ""
    assert any(
        note.startswith("It prints while it answers: 'step forward") for note in report.notes
    )
    assert "It sets torch's global random seed while it answers." in report.notes


class Uncopyable(GPT):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def __deepcopy__(self, memo: dict) -> None:
        raise TypeError("holds a lock")

    def forward(self, ids: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(ids)


class ClosureGPT(GPT):
    """A lambda holds a part, as in minGPT: what it holds is not copied with the model."""

    def __init__(self) -> None:
        super().__init__()
        norm, head = self.norm, self.head
        self.end = lambda x: head(norm(x))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.causal(ids, 0))
        return self.end(x)


class Remembering(GPT):
    """Counts its calls in places that no state_dict has."""

    def __init__(self) -> None:
        super().__init__()
        self.seen, self.by_length, self.last = [], {}, None
        self.register_buffer("newest", None, persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        self.seen.append(ids)
        self.by_length[ids.size(1)] = self.last = self.newest = ids
        return super().forward(ids)


@pytest.mark.parametrize("build", [Uncopyable, ClosureGPT, Remembering])
def test_a_model_is_examined_where_it_is_and_left_as_it_was(build):
    model = build()
    model.layers[0].eval()
    before = {name: each.clone() for name, each in model.state_dict().items()}
    storage = [weight.data_ptr() for weight in model.parameters()]
    report = check_up(model)
    assert report.illnesses == [], f"\n{report}"
    assert all(each.equal(before[name]) for name, each in model.state_dict().items())
    assert [weight.data_ptr() for weight in model.parameters()] == storage
    assert model.training and not model.layers[0].training
    assert model.layers[0].dropout.p == 0.1
    assert all(weight.grad is None for weight in model.parameters())
    if build is Remembering:
        assert (model.seen, model.by_length, model.last, model.newest) == ([], {}, None, None)


def test_a_model_that_fails_within_is_left_as_it_was():
    model = Raising().half()
    with pytest.raises(CheckupError):
        check_up(model)
    assert model.head.weight.dtype == torch.float16 and model.training


class Strict(Encoder):
    def forward(self, ids: Tensor) -> Tensor:
        if (ids == 0).all(dim=1).any():
            raise ValueError("a row must hold a word")
        return super().forward(ids)


def test_an_input_that_the_model_forbids_is_told():
    report = check_up(Strict(), kind="encoder-only")
    told = {each.probe: each.seen for each in report.findings if each.status == "told"}
    assert told["empty_row"] == "It refuses such a row: ValueError('a row must hold a word')"


# ---- Illnesses that no published bug here has --------------------------------------------------


class Noisy(GPT):
    """What is drawn for a batch is not what is drawn for its rows: other probes would move, too."""

    def forward(self, ids: Tensor) -> Tensor:
        answers = super().forward(ids)
        return answers + 0.1 * torch.randn_like(answers)


class DropsByPlace(GPT):
    """The fused attention gets dropout_p as its fifth argument, also in evaluation."""

    class attention(Attention):  # noqa: N801
        def forward(self, x: Tensor, memory: Tensor, mask: Tensor, cache: None = None) -> Tensor:
            query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
            heads = F.scaled_dot_product_attention(query, key, value, mask, 0.2)
            return self.output(self.merge(heads, len(x)))


class OneWordAhead(GPT):
    def causal(self, ids: Tensor, past: int) -> Tensor:
        length = ids.size(1)
        return torch.ones(length, length, dtype=torch.bool).tril(1)


class UpsideDownGPT(GPT):
    def causal(self, ids: Tensor, past: int) -> Tensor:
        return ~super().causal(ids, past).tril(-1)


class MaskInEvaluationOnly(GPT):
    def causal(self, ids: Tensor, past: int) -> Tensor | None:
        return None if self.training else super().causal(ids, past)


class LeakByGradient(GPT):
    """What is added is taken away again: answers do not move, but the gradient flows."""

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        mean = x.mean(dim=1, keepdim=True)
        x = x + mean - mean.detach()
        for layer in self.layers:
            x = layer(x, self.causal(ids, 0))
        return self.head(self.norm(x))


class OnlyItself(GPT):
    def causal(self, ids: Tensor, past: int) -> Tensor:
        return torch.eye(ids.size(1), dtype=torch.bool)


class NoPast(GPT):
    def causal(self, ids: Tensor, past: int) -> Tensor:
        length = torch.arange(ids.size(1))
        ahead = length[:, None] - length
        return (ahead == 0) | (ahead > 1)


class NaNAnswers(GPT):
    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids) * torch.nan


class Deaf(GPT):
    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(torch.zeros_like(ids)[:, :1]).expand(-1, ids.size(1), -1)


class PaddingOnQueries(Encoder):
    def padding_mask(self, ids: Tensor) -> Tensor:
        return super().padding_mask(ids).mT

    pad_id = 0

    def __init__(self) -> None:
        super().__init__()
        self.pad_idx = 0


class EmptySpoils(Encoder):
    def forward(self, ids: Tensor) -> Tensor:
        real = (ids != 0).sum(dim=1).float()
        return super().forward(ids) + 0 * (real / real).sum()


class Wrapping(GPT):
    class embedding(GPT.embedding):  # noqa: N801
        def forward(self, ids: Tensor, past: int = 0) -> Tensor:
            places = torch.arange(ids.size(1)).clamp(max=31)
            return self.words(ids) + self.positions(places)


class NoDropoutGPT(GPT):
    def __init__(self) -> None:
        super().__init__()
        for layer in self.layers:
            layer.dropout = nn.Identity()
        self.unused = nn.Dropout(0.5)


class LargeProjectionsGPT(GPT):
    def __init__(self) -> None:
        super().__init__()
        for layer in self.layers:
            for linear in (layer.attend.query, layer.attend.key):
                nn.init.normal_(linear.weight)


class SureGPT(GPT):
    def __init__(self) -> None:
        super().__init__()
        nn.init.normal_(self.head.weight, std=2.0)


class DrownedGPT(GPT):
    def __init__(self) -> None:
        super().__init__()
        nn.init.normal_(self.embed.words.weight, std=10.0)


class Growing(Layer):
    def forward(self, x: Tensor, mask: Tensor | None, **more: object) -> Tensor:
        return super().forward(3 * x, mask, **more)


class ExplodingGPT(GPT):
    layer = Growing


class KeysOnly(GPT):
    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def turn(self, query: Tensor, key: Tensor, past: int) -> tuple[Tensor, Tensor]:
            return query, super().turn(query, key, past)[1]


class OtherWayRound(GPT):
    embedding = WithoutPositions

    class attention(Rotary):  # noqa: N801
        def turn(self, query: Tensor, key: Tensor, past: int) -> tuple[Tensor, Tensor]:
            angles = self.angles(query.size(2), past)
            return rotated(query, angles), rotated(key, -angles)


ILLNESSES = {
    KeysOnly: "queries and keys turn differently",
    OtherWayRound: "queries and keys turn differently",
    Noisy: "noise in evaluation",
    DropsByPlace: "dropout in evaluation",
    OneWordAhead: "the next word is visible",
    UpsideDownGPT: "the mask is upside down",
    MaskInEvaluationOnly: "no causal mask in training",
    LeakByGradient: "the gradient of the future leaks",
    OnlyItself: "words do not see each other",
    NoPast: "words do not see each other",
    NaNAnswers: "NaN in the answers",
    Deaf: "the text has no effect",
    PaddingOnQueries: "padding is visible",
    EmptySpoils: "an empty row spoils others",
    Wrapping: "positions are used twice",
    NoDropoutGPT: "dropout has no effect in training",
    LargeProjectionsGPT: "scores start too large",
    SureGPT: "a fresh model is too sure",
    DrownedGPT: "words drown positions",
    ExplodingGPT: "depth explodes",
}
DECODERS = (Noisy, DropsByPlace, OneWordAhead, UpsideDownGPT, OnlyItself, NoPast)


@pytest.mark.parametrize("build", ILLNESSES, ids=lambda build: build.__name__)
def test_an_illness_is_called_by_its_name_and_by_no_other(build):
    report = check_up(build(), kind="decoder-only" if build in DECODERS else None)
    assert report.illnesses == [ILLNESSES[build]], f"\n{report}"


def smoothed_over_padding(model: nn.Module, ids: Tensor) -> Tensor:
    logits, labels = model(ids[:, :-1]), ids[:, 1:]
    smooth = -logits.log_softmax(dim=-1).mean()  # over all positions
    return 0.9 * cross_entropy(logits, labels) + 0.1 * smooth


def test_label_smoothing_over_padding_is_called_a_loss_of_padding():
    adapter = Adapter(end_id=END, padding_id=PADDING)
    report = check_up(GPT(), adapter=adapter, training_step=smoothed_over_padding)
    assert report.illnesses == ["padding has a loss"], f"\n{report}"


def of_next_words(model: nn.Module, ids: Tensor) -> dict[str, Tensor]:
    logits = model(ids[:, :-1])
    return {"logits": logits, "loss": cross_entropy(logits, ids[:, 1:])}


@pytest.mark.parametrize("form", [dict, lambda found: (found["loss"], 3)])
def test_a_loss_that_comes_with_others_is_found(form):
    step = lambda model, ids: form(of_next_words(model, ids))  # noqa: E731
    report = check_up(GPT(), adapter=Adapter(end_id=END), training_step=step)
    states = {each.probe: each.status for each in report.findings}
    assert report.illnesses == [] and states["labels"] == "healthy", f"\n{report}"


def from_inputs(model: nn.Module, ids: Tensor) -> Tensor:
    model(ids[:, :-1])
    return model.embed(ids).square().mean()


def from_argmax(model: nn.Module, ids: Tensor) -> Tensor:
    return (model(ids[:, :-1]).argmax(dim=-1) - ids[:, 1:]).float().square().mean()


def from_nothing(model: nn.Module, ids: Tensor) -> Tensor:
    return cross_entropy(model(ids[:, :-1]), torch.full_like(ids[:, 1:], PADDING))


@pytest.mark.parametrize("step", [from_inputs, from_argmax, from_nothing])
def test_a_training_step_whose_loss_ignores_the_answers_teaches_nothing(step):
    report = check_up(GPT(), adapter=Adapter(end_id=END), training_step=step)
    assert report.illnesses == ["the training step teaches nothing"], f"\n{report}"
    states = {each.probe: each.status for each in report.findings}
    assert {states[probe] for probe in ("ending", "loss_padding", "entropy")} == {"not tried"}


def of_raw_logits(model: nn.Module, ids: Tensor) -> Tensor:
    return F.nll_loss(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PADDING)


def test_a_loss_without_a_softmax_is_called_by_its_name():
    report = check_up(GPT(), adapter=Adapter(end_id=END), training_step=of_raw_logits)
    assert report.illnesses == ["the loss has no softmax"], f"\n{report}"


def without_its_minus(model: nn.Module, ids: Tensor) -> Tensor:
    return -cross_entropy(model(ids[:, :-1]), ids[:, 1:])


def test_a_loss_with_the_wrong_sign_is_called_by_its_name():
    adapter = Adapter(end_id=END, padding_id=PADDING)
    report = check_up(GPT(), adapter=adapter, training_step=without_its_minus)
    assert report.illnesses == ["the loss has the wrong sign"], f"\n{report}"


def a_quarter(model: nn.Module, ids: Tensor) -> Tensor:
    return cross_entropy(model(ids[:, :-1]), ids[:, 1:]) / 4  # of four batches that add up


def test_a_loss_for_accumulated_gradients_is_named_among_the_causes_of_small_ones():
    adapter = Adapter(end_id=END, padding_id=PADDING)
    report = str(check_up(GPT(), adapter=adapter, training_step=a_quarter))
    assert "4 times smaller" in report and "divided again, also for accumulated" in report


def test_a_step_of_an_encoder_is_said_to_be_not_examined():
    report = str(check_up(GPT(), kind="encoder-only", training_step=a_quarter))
    assert "The training step of an encoder is not examined." in report


def the_word_before(model: nn.Module, ids: Tensor) -> Tensor:
    return cross_entropy(model(ids[:, 1:]), ids[:, :-1])


def test_labels_that_are_the_words_before_are_not_called_the_next():
    adapter = Adapter(end_id=END, padding_id=PADDING)
    report = check_up(GPT(), adapter=adapter, training_step=the_word_before)
    assert report.illnesses == ["labels are shifted the wrong way"], f"\n{report}"


class TakesShiftedLabels(GPT):
    def forward(self, ids: Tensor, labels: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        logits = super().forward(ids)
        return logits, None if labels is None else cross_entropy(logits, labels)


def test_a_model_that_wants_shifted_labels_gets_such_for_its_end_and_padding():
    report = check_up(TakesShiftedLabels(), adapter=Adapter(end_id=END, padding_id=PADDING))
    states = {each.probe: each.status for each in report.findings}
    assert report.illnesses == [] and states["labels"] == "told", f"\n{report}"
    assert {states[each] for each in ("ending", "loss_padding", "entropy")} == {"healthy"}


def row_by_row(model: nn.Module, ids: Tensor) -> Tensor:
    rows = [row[row != PADDING] for row in ids]
    return sum(cross_entropy(model(row[None, :-1]), row[None, 1:]) for row in rows) / len(rows)


def word_by_word(model: nn.Module, ids: Tensor) -> Tensor:
    losses = [
        F.cross_entropy(
            model(ids[:, :end])[:, -1], ids[:, end], ignore_index=PADDING, reduction="sum"
        )
        for end in range(1, ids.size(1))
    ]
    return sum(losses) / (ids[:, 1:] != PADDING).sum()


def in_two_halves(model: nn.Module, ids: Tensor) -> Tensor:
    with torch.no_grad():
        model(ids)  # what a teacher would say
    for row in ids:
        (cross_entropy(model(row[None, :-1]), row[None, 1:]) / len(ids)).backward()


@pytest.mark.parametrize("step", [row_by_row, word_by_word, in_two_halves])
def test_a_training_step_may_call_the_model_several_times(step):
    adapter = Adapter(end_id=END, padding_id=PADDING)
    report = check_up(GPT(), adapter=adapter, training_step=step)
    assert report.illnesses == [], f"\n{report}"
    states = {each.probe: each.status for each in report.findings}
    assert {states[each] for each in ("labels", "ending", "loss_padding", "entropy")} == {"healthy"}


def test_an_end_that_is_missing_in_one_row_is_found_row_by_row():
    def step(model: nn.Module, ids: Tensor) -> Tensor:
        return row_by_row(model, ids[:, :-1])  # cuts the end of the longest row

    report = check_up(GPT(), adapter=Adapter(end_id=END, padding_id=PADDING), training_step=step)
    assert report.illnesses == ["the end token is not trained"], f"\n{report}"


def test_a_mask_that_shows_one_word_is_not_called_padding():
    finding = next(f for f in check_up(OneWordAhead(), kind="decoder-only").findings if f.leak)
    assert finding.seen.startswith("Each answer moved with the next 2 words")  # of two layers
    assert finding.drawn()[:2] == ["o##····", "oo##···"]


# ---- The report --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sick() -> Report:
    torch.manual_seed(0)
    return check_up(SmallForCausalLM())


def test_the_report_has_a_line_for_each_probe_and_tells_all_of_an_illness(sick):
    text = str(sick)
    assert "\033[" not in text
    for finding in sick.findings:
        assert f" {finding.rule}" in text
    for word in (
        "NO CAUSAL MASK",
        "done:",
        "expected:",
        "seen:",
        "usual cause:",
        "lesson:      03",
    ):
        assert word in text
    assert "             o######\n" in text
    assert text.endswith("not judged)") and "ILL: no causal mask. (" in text


def test_the_report_is_colored_in_a_terminal_that_has_colors(sick, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\033[1;33m✗\033[0m the future is hidden" in str(sick)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033[" not in str(sick)


def test_what_an_illness_may_explain_is_not_judged_and_not_passed(sick):
    states = {each.probe: each.status for each in sick.findings}
    assert states["future"] == "ill"
    assert states["context"] == "healthy"
    assert {each.status for each in sick.findings} >= {"not tried", "not judged", "healthy"}


def test_the_report_is_data_in_json(sick):
    told = json.loads(sick.to_json())
    assert told["illnesses"] == ["no causal mask"] and "seconds" not in told
    assert len(told["findings"]) == len(sick.findings)
    leak = next(each["leak"] for each in told["findings"] if each["probe"] == "future")
    assert all(all(row) for row in leak)


def test_the_report_is_a_table_in_a_notebook_and_no_text_changes_it():
    name = "<script>x</script>"
    finding = Finding(
        "ill", f"seen {name}", name, name, "p", name, name, name, "03", ((True,) * 2,) * 2
    )
    html = Report(name, name, (name,), (finding,), 0.0)._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert html.count("<tr>") == html.count("</tr>") == 1
    assert html.count('">#</span>') == 1 and html.count('">o</span>') == 3  # the map of the leak


def test_assert_healthy_fails_a_test_with_the_report_as_its_message():
    assert_healthy(GPT())
    with pytest.raises(AssertionError, match="OVERFLOW IN HALF PRECISION"):
        assert_healthy(MaskValueTooLarge())
    assert_healthy(MaskValueTooLarge(), allow=("overflow in half precision",))


def test_every_illness_in_the_table_is_found_in_some_model_here():
    table = files("transformer_edu.checkup").joinpath("findings.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    names = [name for name, status, *_ in rows if status == "ill"]
    shown = {bug.illness for bug in BUGS} | {*ILLNESSES.values()}
    elsewhere = {"the source has no effect", "the source is cut off", "source padding is visible"}
    elsewhere |= {"the model copies what it reads", "the training step teaches nothing"}
    elsewhere |= {"the loss has the wrong sign", "labels are shifted the wrong way"}
    elsewhere |= {"the loss has no softmax"}
    assert {*names} - shown == elsewhere  # here, test_our_faults.py, test_published_bugs.py
    assert shown <= {*names}


@pytest.mark.parametrize(
    ("before", "after", "mixes"),
    [
        ((3, 7, 32), (3, 7, 4, 8), False),
        ((3, 7, 32), (3, 4, 7, 8), True),
        ((3, 4, 7, 8), (3, 7, 32), True),
        ((3, 7, 4, 8), (3, 7, 32), False),
        ((3, 7, 32), (12, 7, 8), True),
        ((12, 7, 8), (3, 4, 7, 8), False),
        ((3, 7, 32), (21, 32), False),
        ((3, 7, 32), (7, 3, 32), True),
        ((3, 1, 7, 8), (3, 7, 8), False),
    ],
)
def test_a_reshape_that_mixes_positions_is_told_from_one_that_does_not(before, after, mixes):
    assert mixes_positions(before, after, {7, 6}) is mixes


def test_an_attention_without_a_bias_of_its_own_is_no_model():
    with pytest.raises(CheckupError):
        check_up(Attention())
    assert VOCABULARY > 10 and isinstance(MaskedGPT(), GPT) and Adapter().ask is None
