"""The live figures of the encoder say what torch computes, and change as the hand moves."""

import re
from inspect import getfile

import pytest
import torch

from tests.published import published_page
from transformer_course.encoder.live_reach import show_reach_live
from transformer_course.feed_forward_add_and_norm.live_stream import show_stream_live
from transformer_course.viewer.live import live_page
from transformer_edu.model.encoder import Encoder, EncoderLayer

WIDE = {"width": 800, "height": 640}
WORDS = ["one", "two", "three", "two", "five"]
D_MODEL, LAYERS = 16, 2


def readout(page) -> str:
    return page.locator("[data-part=readout]").inner_text()


def choose(page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).check(force=True)


# ---- the stream ------------------------------------------------------------------------------


def stacks() -> dict[str, Encoder]:
    """One encoder of each order; their norms have weights of their own."""
    made = {}
    for name, first in (("pre", True), ("post", False)):
        torch.manual_seed(len(made))
        sizes = {"d_model": D_MODEL, "num_heads": 4, "d_ff": 30, "norm_first": first}
        layers = [EncoderLayer(**sizes) for _ in range(LAYERS)]
        last = torch.nn.LayerNorm(D_MODEL) if first else None
        made[name] = Encoder(layers, final_norm=last).eval()
        for weights in made[name].parameters():
            weights.data *= 1.7
    return made


def entering() -> torch.Tensor:
    return 3 * torch.randn(len(WORDS), D_MODEL, generator=torch.Generator().manual_seed(5))


def show_stream() -> None:
    show_stream_live(stacks(), WORDS, entering(), word=2)


def caught(encoder: Encoder, x: torch.Tensor) -> list[dict[str, torch.Tensor]]:
    """What goes in and out around every sub-layer, and what it adds, caught by hooks."""
    found: list[dict[str, torch.Tensor]] = []

    def around(module, given, output):
        found.append({"before": given[0][0], "after": output[0], "added": module.caught})

    for layer in encoder.layers:
        for each in (layer.around_self_attention, layer.around_feed_forward):
            each.register_forward_hook(around)
            each.dropout.register_forward_hook(
                lambda _, given, __, owner=each: setattr(owner, "caught", given[0][0])
            )
    with torch.no_grad():
        memory = encoder(x.unsqueeze(0))[0]
    return [*found, {"before": found[-1]["after"], "after": memory}]


def near(numbers: list[torch.Tensor], step: float):
    """These numbers, as they are rounded to steps."""
    return pytest.approx([float(each) for each in numbers], abs=0.51 * step)


def lengths(said: str) -> list[float]:
    return [float(each.replace("−", "-")) for each in re.findall(r"−?\d+\.\d+", said)]


@pytest.mark.parametrize("name", ["pre", "post"])
@pytest.mark.parametrize("word", [0, 3])
def test_the_stream_says_the_lengths_and_cosines_that_torch_computes(opened, name, word):
    page = opened(published_page(show_stream))
    choose(page, name)
    choose(page, f"{word + 1}: {WORDS[word]}")
    ring = page.get_by_label("place in the encoder")
    ring.press("Shift+ArrowLeft")
    x = entering()
    assert lengths(readout(page)) == near([x[word].norm()], 0.1)
    *steps, last = caught(stacks()[name], x)
    for number, step in enumerate(steps):
        ring.press("ArrowRight")
        before, after, added = (step[each][word] for each in ("before", "after", "added"))
        kind = "feed-forward" if number % 2 else "self-attention"
        assert readout(page).startswith(f"Layer {number // 2 + 1}, {kind}: ")
        wanted = [before.norm(), added.norm(), (before + added).norm()]
        wanted += [] if name == "pre" else [after.norm()]
        *said, cosine = lengths(readout(page))
        assert said == near(wanted, 0.1)
        assert [cosine] == near([torch.cosine_similarity(after, x[word], dim=0)], 0.01)
        listed = page.get_by_text(re.compile("^cosine of the two")).text_content()
        between = torch.cosine_similarity(before, added, dim=0)
        assert lengths(listed) == near([between], 0.01)
    ring.press("ArrowRight")  # the last norm, which post-norm does not have
    if name == "pre":
        assert "one more norm" in readout(page)
        wanted = [last["after"][word].norm(), last["before"][word].norm()]
        assert lengths(readout(page))[:2] == near(wanted, 0.1)
    else:
        assert readout(page).startswith(f"Layer {LAYERS}, feed-forward")


def test_the_ring_follows_the_hand_and_a_shorter_encoder_takes_it_back(opened):
    page = opened(published_page(show_stream))
    ring = page.get_by_label("place in the encoder")
    box = ring.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(790, 300)
    page.mouse.up()
    assert "one more norm" in readout(page)
    assert ring.get_attribute("aria-valuetext") == "norm"
    choose(page, "post")
    assert readout(page).startswith(f"Layer {LAYERS}, feed-forward")


def test_hostile_words_of_the_stream_are_shown_and_never_run(opened):
    texts = ["<img src=x onerror='window.ran=1'>", "</script><script>window.ran=1</script>"]
    path = [[0, 0, 1, 1, 1, 1], *[[1, 1, 2, 2, 0, 0.5]] * 2]
    stack = {"name": texts[0], "normFirst": True, "sublayers": 2, "words": [path] * 2}
    data = {"words": texts, "stacks": [stack], "word": 0, "at": 1}
    page = opened(live_page(getfile(show_stream_live), data, title="t", alt="a"))
    for index, text in enumerate(texts):
        choose(page, f"{index + 1}: {text}")
        assert text in readout(page)
    assert page.locator("img, script[src], main script script").count() == 0
    assert page.evaluate("window.ran") is None


# ---- the reach -------------------------------------------------------------------------------


def paths(word: int, mask: torch.Tensor) -> torch.Tensor:
    """The shares of paths to a word that begin at each input word, after 1, 2 and 3 layers."""
    steps = mask * torch.rand(mask.shape, generator=torch.Generator().manual_seed(0))
    counts = torch.stack([torch.linalg.matrix_power(steps, layer)[word] for layer in (1, 2, 3)])
    return counts / counts.sum(dim=1, keepdim=True)


def distance() -> torch.Tensor:
    position = torch.arange(len(WORDS))
    return (position.unsqueeze(1) - position).abs()


def show_reach() -> None:
    show_reach_live(paths, WORDS, distance(), word=1)


@pytest.mark.parametrize("neighbors", [0, 1, 2, 4])
def test_the_reach_counts_and_weighs_the_words_that_torch_finds(opened, neighbors):
    page = opened(published_page(show_reach))
    slider = page.get_by_role("slider")
    slider.press("Home")
    for _ in range(neighbors):
        slider.press("ArrowRight")
    for layer in (3, 2, 1):
        for word in (0, 3):
            page.get_by_label(f"{word + 1}: {WORDS[word]}, after layer {layer}").click()
            shares = paths(word, distance() <= neighbors)[layer - 1]
            said = readout(page)
            assert said.startswith(f"After layer {layer}, “{WORDS[word]}”")
            assert f"depends on {int((shares > 0).sum())} of {len(WORDS)} words" in said
            drawn = page.locator("[data-part=figure] g:has(> .share) > text:first-of-type")
            wanted = [f"{round(100 * each)}%" if each else "0" for each in shares.tolist()]
            assert drawn.all_text_contents() == wanted
            most = [f"{round(100 * each)}%" for each in shares.topk(2)[0].tolist() if 0 < each < 1]
            assert re.findall(r"\d+%", said) == most


def test_one_word_depends_on_itself(opened):
    show = published_page(show_reach_live, paths, ["Yes"], torch.zeros(1, 1), word=0)
    assert readout(opened(show)).startswith("After layer 3, “Yes” depends on 1 of 1 words.")


def test_what_is_full_is_what_the_chosen_vector_can_depend_on(opened):
    page = opened(published_page(show_reach))
    page.get_by_label("4: two, after layer 2").click()  # one neighbor on each side
    full = page.locator(".roving:has(> .face[style*='fill:var(--blue)'])")
    names = full.evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    assert names == [
        "4: two, after layer 2",
        "3: three, after layer 1",
        "4: two, after layer 1",
        "5: five, after layer 1",
    ]
    assert page.locator("line.path").count() == 3 + (3 + 3 + 2)
    assert page.locator(".roving[aria-pressed=true]").count() == 1


def test_arrow_keys_choose_the_vector_beside_below_and_above(opened):
    page = opened(published_page(show_reach))
    page.get_by_label("2: two, after layer 3").focus()
    for key, wanted in (
        ("ArrowDown", "After layer 2, “two” (no. 2)"),
        ("ArrowRight", "After layer 2, “three”"),
        ("ArrowUp", "After layer 3, “three”"),
        ("ArrowUp", "After layer 3, “three”"),
        ("Home", "After layer 3, “one”"),
    ):
        page.keyboard.press(key)
        assert readout(page).startswith(wanted)
