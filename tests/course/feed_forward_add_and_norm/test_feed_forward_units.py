"""What a network reads is what the model gives it, and a unit is found by what it does."""

import pytest
import torch

from transformer_course.feed_forward_add_and_norm.feed_forward_units import (
    COLORS,
    SEARCHED,
    SHOWN,
    find_color_unit,
    fit_units,
    read_sentence,
    selectivity,
    unit_for,
)

SENTENCE = "A man is playing the guitar on the street."


def test_the_formula_on_what_is_read_gives_what_the_network_returns(translator):
    name = "encoder.layers.1.feed_forward"
    network, returned = translator.model.get_submodule(name), []
    hook = network.register_forward_hook(lambda _, given, output: returned.append(output[0]))
    read = read_sentence(translator, SENTENCE, name)
    hook.remove()
    output = read.activations() @ read.w_2 + read.b_2
    torch.testing.assert_close(output, returned[0].detach(), atol=1e-4, rtol=1e-4)
    assert len(read.words) == len(read.x) and "guitar" in read.words
    assert not any(module._forward_pre_hooks for module in translator.model.modules())


def test_a_network_that_the_encoder_does_not_have_is_refused(translator):
    wanted = r"network must be one of encoder.layers.0.feed_forward, .*, got 'encoder.layers.9'"
    with pytest.raises(ValueError, match=wanted):
        read_sentence(translator, SENTENCE, "encoder.layers.9")


def test_no_other_unit_of_its_network_separates_the_words_better(translator):
    unit = unit_for(translator, SEARCHED, COLORS)
    read = [read_sentence(translator, sentence, unit.network) for sentence in SEARCHED]
    activations = torch.cat([each.activations() for each in read])
    is_color = torch.tensor([word.lower() in COLORS for each in read for word in each.words])
    at_colors, elsewhere = activations[is_color], activations[~is_color]
    gap = at_colors.mean(dim=0) - elsewhere.mean(dim=0)
    assert unit.number == (gap / (at_colors.std(dim=0) + elsewhere.std(dim=0) + 1e-6)).argmax()


def test_the_unit_is_active_at_colors_that_the_search_did_not_contain(translator):
    searched, shown = (" ".join(each).lower().split() for each in (SEARCHED, SHOWN))
    assert COLORS & set(shown) and not COLORS & set(shown) & set(searched)
    unit, active = find_color_unit(translator)
    assert unit == unit_for(translator, SEARCHED, COLORS)
    assert selectivity(active) > 5


def test_selectivity_compares_two_means():
    active = [(["Red", "car"], torch.tensor([4.0, 1.0])), (["."], torch.tensor([3.0]))]
    assert selectivity(active, {"red"}) == 2.0


def test_units_are_fitted_by_least_squares_and_their_parts_and_the_bias_are_the_output():
    x = torch.linspace(-1, 1, 41, dtype=torch.float64)
    parts, output = fit_units(x, x.abs(), 2)
    torch.testing.assert_close(output, x.abs())
    bias = output - parts.sum(dim=1)
    torch.testing.assert_close(bias, bias[:1].expand(41))
    _, straight = fit_units(x, x.abs(), 2, function=torch.clone)
    torch.testing.assert_close(straight, x.abs().mean().expand(41))


def test_no_units_are_fitted_to_what_is_not_finite():
    x = torch.linspace(-1, 1, 41)
    with pytest.raises(ValueError, match="wanted must be finite, got nan"):
        fit_units(x, x.sqrt(), 3)
    with pytest.raises(ValueError, match="what function returns must be finite, got nan"):
        fit_units(x, x, 3, function=torch.sqrt)


def test_whole_numbers_are_fitted_too_and_half_a_unit_is_refused():
    x = torch.arange(-3, 4)
    _, output = fit_units(x, 2 * x, 2)
    torch.testing.assert_close(output, 2.0 * x.double())
    with pytest.raises(TypeError, match=r"d_ff must be a whole number, got 1\.5"):
        fit_units(x, x, 1.5)
