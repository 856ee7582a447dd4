"""The Transformer that learns in the page: its gradients are PyTorch's, and its rate decides."""

import re
from pathlib import Path

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from transformer_course.training import live_training
from transformer_course.training.live_training import MODEL, SETTINGS
from transformer_course.viewer.live import live_page
from transformer_edu.model.embeddings import sinusoidal_positions

WIDE, PHONE = {"width": 800, "height": 560}, {"width": 390, "height": 830}
DIGITS, SIZES, ARROW = 4, {"width": 6, "inner": 10, "layers": 2}, 10
CLAIMS = [  # rate, warm-up; the least and the most loss, and correct numbers of 20
    (0.03, 0, (1.9, 3), (0, 1)),
    (0.03, 100, (0, 1.8), (0, 20)),
    (0.03, 200, (0, 1.8), (0, 20)),
    (0.01, 100, (0, 0.5), (14, 20)),
    (0.0003, 0, (1.6, 3), (0, 1)),
]
GIVEN = [[3, 1, 4, 1], [5, 9, 2, 6], [0, 8, 8, 7]]
LABELS = torch.tensor(GIVEN).flip(1)
IDS = torch.cat([torch.tensor(GIVEN), torch.full((3, 1), ARROW), LABELS[:, :-1]], dim=1)
BATCH = [IDS.flatten().tolist(), LABELS.flatten().tolist()]
# A new model with weights from a fixed series, so that biases and gains are not 0 and 1.
NEW = """([sizes, digits]) => {
  let state = 1;
  const luck = () => (state = (16807 * state) % 2147483647) / 2147483647;
  window.model = new Transformer({ ...sizes, digits, luck });
  for (const { value } of model.parameters)
    value.forEach((each, i) => (value[i] = each + 0.4 * (luck() - 0.5)));
}"""
VALUES = "name => model.parameters.map(each => [...each[name]])"


class Twin(nn.Module):
    """The same model of PyTorch's own layers."""

    def __init__(self) -> None:
        super().__init__()
        width, inner = SIZES["width"], SIZES["inner"]
        self.rows = nn.Parameter(torch.zeros(ARROW + 1, width))
        self.stack = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 1, inner, dropout=0.0, batch_first=True)
            for _ in range(SIZES["layers"])
        )
        self.project = nn.Linear(width, 10)
        self.double()

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of the digits after the arrow, shape (sequence, digit, 10)."""
        length, width = ids.shape[1], SIZES["width"]
        x = width**0.5 * self.rows[ids] + sinusoidal_positions(length, width).double()
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        for layer in self.stack:
            x = layer(x, src_mask=hidden)
        return self.project(x[:, DIGITS:])

    def like_the_page(self, part: str = "data") -> list[list[float]]:
        """Weights, or their gradients with part "grad", in the order of the page."""

        def linear(weight: torch.Tensor, bias: torch.Tensor) -> list[torch.Tensor]:
            return [weight.T, bias]  # (inputs, outputs), as in the page

        of = lambda each: getattr(each, part)  # noqa: E731
        found = [of(self.rows)]
        for layer in self.stack:
            attention = layer.self_attn
            weights, biases = (
                of(each).chunk(3) for each in (attention.in_proj_weight, attention.in_proj_bias)
            )
            for weight, bias in zip(weights, biases, strict=True):
                found += linear(weight, bias)
            found += linear(of(attention.out_proj.weight), of(attention.out_proj.bias))
            found += [of(layer.norm1.weight), of(layer.norm1.bias)]
            found += linear(of(layer.linear1.weight), of(layer.linear1.bias))
            found += linear(of(layer.linear2.weight), of(layer.linear2.bias))
            found += [of(layer.norm2.weight), of(layer.norm2.bias)]
        return found + linear(of(self.project.weight), of(self.project.bias))

    def take(self, values: list[list[float]]) -> None:
        """Get the page's weights: the views of like_the_page lead to this module's own."""
        with torch.no_grad():
            for own, given in zip(self.like_the_page(), values, strict=True):
                own.copy_(torch.tensor(given).double().reshape(own.shape))


def are_close(given: list[list[float]], right: list[torch.Tensor]) -> None:
    for one, other in zip(given, right, strict=True):
        torch.testing.assert_close(
            torch.tensor(one).double(), other.detach().flatten(), atol=1e-6, rtol=1e-5
        )


@pytest.fixture
def model(opened):
    """A page that has the model alone, and its twin with the same weights."""
    script = Path(MODEL).read_text(encoding="utf-8")
    page = opened(f"<!DOCTYPE html><meta charset='utf-8'><script>{script}</script>")
    page.evaluate(NEW, [SIZES, DIGITS])
    twin = Twin()
    twin.take(page.evaluate(VALUES, "value"))
    return page, twin


def test_loss_gradients_and_steps_are_pytorchs(model):
    page, twin = model
    adam = torch.optim.Adam(twin.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    for _ in range(3):
        adam.zero_grad()
        loss = nn.functional.cross_entropy(twin(IDS).transpose(1, 2), LABELS)
        loss.backward()
        told = page.evaluate("([ids, labels]) => model.loss(ids, labels)", BATCH)
        assert told == pytest.approx(loss.item(), abs=1e-6)
        are_close(page.evaluate(VALUES, "gradient"), twin.like_the_page("grad"))
        adam.step()
        page.evaluate("model.update(0.01)")
        are_close(page.evaluate(VALUES, "value"), twin.like_the_page())


def test_scores_too_large_for_an_exponential_give_pytorchs_loss(model):
    page, twin = model
    page.evaluate(
        "model.stack[0].part.query.parameters.forEach(({ value }) =>"
        " value.forEach((each, i) => (value[i] = 1e4 * each)))"
    )
    twin.take(page.evaluate(VALUES, "value"))
    told = page.evaluate("([ids, labels]) => model.loss(ids, labels)", BATCH)
    right = nn.functional.cross_entropy(twin(IDS).transpose(1, 2), LABELS)
    assert told == pytest.approx(right.item(), abs=1e-6)


def test_it_writes_the_likeliest_digit_after_its_own(model):
    page, twin = model
    ids = torch.tensor([[*digits, ARROW] for digits in GIVEN])
    for _ in range(DIGITS):
        ids = torch.cat([ids, twin(ids)[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    assert page.evaluate("given => model.write(given)", GIVEN) == ids[:, DIGITS + 1 :].tolist()


# ---- the figure ----------------------------------------------------------------------------------


def figure(**changes: object) -> str:
    """The page of a shorter training."""
    scripts = (MODEL, live_training.__file__)
    return live_page(scripts, SETTINGS | changes, title="t", alt="a")


def readout(page):
    return page.locator("[data-part=readout]")


def press(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def set_to(page, label: str, value: object) -> None:
    slider = page.get_by_role("slider", name=label)
    slider.press("Home")
    while slider.get_attribute("aria-valuetext") != str(value):
        slider.press("ArrowRight")


def trained(page) -> int:
    """Wait for the end of a training; how many numbers are correct."""
    expect(readout(page)).to_contain_text("Trained: ", timeout=600_000)
    return int(re.findall(r"(\d+) of \d+", readout(page).inner_text())[-1])


def curves(page) -> list[str]:
    """The newest one last."""
    return page.locator(
        "path[style*='stroke-width: 2.2'], path[style*='stroke-width:2.2']"
    ).evaluate_all("all => all.map(e => e.getAttribute('d')).filter(d => d.includes('L'))")


def test_the_same_settings_give_the_same_curve_and_a_new_seed_another(opened):
    page = opened(figure(steps=20, batches=[4], first={"rate": 0.01, "warmUp": 0, "batch": 4}))
    for name in ("Start", "Start", "New seed", "Start"):
        press(page, name)
        trained(page)
    first, *others = curves(page)
    assert len(others) == 2  # the oldest of four is gone
    assert others[0] == others[1] != first
    names = page.locator("text", has_text=re.compile("^rate 0.01, no warm-up, batch 4, seed "))
    assert [re.search(r"seed \d", each)[0] for each in names.all_text_contents()] == [
        "seed 2",
        "seed 2",
        "seed 1",
    ]


def test_stop_ends_a_training_and_the_page_stays_in_use_meanwhile(opened):
    page = opened(figure(steps=1_000_000))
    press(page, "Start")
    expect(readout(page)).to_contain_text("Training: ")
    set_to(page, "highest rate", SETTINGS["rates"][-1])  # of the next training
    press(page, "Stop")
    told = re.search(
        r"Trained: (\d+) of 1000000 steps with rate (\S+),", readout(page).inner_text()
    )
    assert float(told[2]) == SETTINGS["first"]["rate"]
    assert "Start" in page.get_by_role("button").all_inner_texts()
    for name in ("Start", "New seed", "Stop"):  # a new seed ends what is trained
        press(page, name)
    expect(readout(page)).to_contain_text(
        re.compile(r"Seed 2 instead of 1(, steps .*)?: \d+ of 20")
    )


def test_what_it_writes_in_the_end_is_the_trained_models(opened):
    """Its last step need not be one after which it is evaluated."""
    first = {"rate": 0.03, "warmUp": 0, "batch": 16}
    seen = []
    for steps in (1, 10):
        page = opened(figure(steps=steps, first=first))
        press(page, "Start")
        trained(page)
        seen.append(
            page.locator("text:not(.heading)", has_text=re.compile(r"^\d$")).all_text_contents()
        )
    assert seen[0] != seen[1]


def compared(page) -> str:
    """The last sentence of what is said, which the reader sees and hears when a training ends."""
    trained(page)
    assert readout(page).get_attribute("aria-live") == "polite"
    assert readout(page).evaluate("e => e.scrollHeight <= e.clientHeight"), "it does not fit"
    return readout(page).inner_text().rpartition(". ")[2]


@pytest.mark.parametrize("window", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_end_of_a_training_is_compared_with_the_one_before(opened, window):
    first = {"rate": 0.01, "warmUp": 25, "batch": 16}
    page = opened(figure(steps=140, batches=[16, 4], first=first), viewport=window)
    names = page.locator("text", has_text=re.compile("^rate .* of 20$"))

    def score(row: int) -> str:
        return re.search(r"(\d+) of 20$", names.nth(row).text_content())[1]

    def told() -> str:
        now, before = score(0), score(1)
        end = ", as before" if now == before else f" instead of {before}"
        return f"{now} of 20 unseen numbers correct{end}."

    press(page, "Start")
    assert compared(page).startswith("Of numbers that it has never seen")  # none before
    press(page, "Start")
    assert compared(page) == f"The same again: {told()}"
    set_to(page, "warm-up steps", 50)
    press(page, "Start")
    assert compared(page) == f"Warm-up 50 instead of 25: {told()}"
    assert score(0) != score(1)
    press(page, "New seed")
    assert compared(page) == f"Seed 2 instead of 1: {told()}"
    set_to(page, "highest rate", 0.0003)
    set_to(page, "warm-up steps", 200)
    press(page, "Start")
    assert compared(page) == (f"Rate 0.0003 instead of 0.01, warm-up 200 instead of 50: {told()}")
    set_to(page, "highest rate", 0.01)
    set_to(page, "batch size", 4)
    press(page, "New seed")
    assert compared(page) == f"3 changes (rate, batch, seed): {told()}"


def test_every_wrong_digit_has_a_frame(opened):
    page = opened(figure(steps=1))
    assert page.locator("path[d*='h16v20']").count() == 0
    press(page, "Start")
    trained(page)
    texts = page.locator("[data-part=figure] text:not(.heading)").evaluate_all(
        "all => all.map(e => [e.textContent, e.getAttribute('x'), e.getAttribute('y')])"
    )
    rows: dict[str, list[int]] = {}
    for text, _, y in texts:
        if re.fullmatch(r"\d", text):
            rows.setdefault(y, []).append(int(text))
    wrong = sum(
        one != other
        for row in rows.values()
        for one, other in zip(row[:5][::-1], row[5:], strict=True)
    )
    assert len(rows) == 6 and wrong > 0
    assert page.locator("path[d*='h16v20']").count() == wrong


@pytest.mark.slow
def test_what_lesson_10_says_of_rate_and_warm_up_holds_for_three_seeds(opened):
    page = opened(figure())
    for rate, warm_up, (lowest, highest), (least, most) in CLAIMS:
        set_to(page, "highest rate", rate)
        set_to(page, "warm-up steps", warm_up)
        for name in ("Start", "New seed", "New seed"):
            press(page, name)
            assert least <= trained(page) <= most
            (loss,) = re.findall(r"The loss is ([\d.]+)\. ", readout(page).inner_text())
            assert lowest <= float(loss) <= highest
