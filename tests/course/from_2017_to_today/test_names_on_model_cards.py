"""What the notebook of names builds: Mixtral's mixture, and drafts that keep the distribution.

The code is the notebook's own, cell by cell.
"""

import itertools
import math
import re
from collections import Counter

import pytest
import torch
from torch import nn

from tools.notebooks import NAMES, read
from transformer_edu.variants.language_model import GatedFeedForward

CELLS = read(NAMES).cells
SEEDS = pytest.mark.parametrize("seed", [0, 1, 2])
DRAWS = 3000


def built(*names):
    """What the cells define that define these names, without what other cells compute."""
    code = [cell.source for cell in CELLS if cell.cell_type == "code"]
    scope = {"torch": torch, "nn": nn}
    for name in names:
        (source,) = (each for each in code if re.search(rf"(?m)^(?:class|def) {name}\b", each))
        exec(source, scope)
    return [scope[name] for name in names]


@pytest.mark.parametrize("chosen", [1, 2, 5])
def test_the_mixture_is_mixtrals_block(chosen):
    mixtral = pytest.importorskip("transformers.models.mixtral.modeling_mixtral")
    (mixture_of_experts,) = built("MixtureOfExperts")
    torch.manual_seed(0)
    sizes = {"hidden_size": 12, "intermediate_size": 20, "num_attention_heads": 2}
    counts = {"num_local_experts": 5, "num_experts_per_tok": chosen, "num_key_value_heads": 1}
    block = mixtral.MixtralSparseMoeBlock(mixtral.MixtralConfig(**sizes, **counts)).eval()
    for weight in block.parameters():
        nn.init.normal_(weight)
    experts = [GatedFeedForward(d_model=12, d_ff=20) for _ in range(5)]
    ours = mixture_of_experts(12, experts, chosen)
    with torch.no_grad():
        ours.router.weight.copy_(block.gate.weight)
        for expert, both, down in zip(
            experts, block.experts.gate_up_proj, block.experts.down_proj, strict=True
        ):
            for linear, weight in zip(expert.children(), (*both.chunk(2), down), strict=True):
                linear.weight.copy_(weight)
                linear.bias = None
    x = torch.randn(2, 7, 12)
    expected = block(x)
    torch.testing.assert_close(ours(x.flatten(0, 1)).view_as(x), expected, atol=1e-4, rtol=1e-5)
    one_less = mixture_of_experts(12, experts, chosen - 1) if chosen > 1 else None
    if one_less is not None:
        one_less.router = ours.router
        assert not torch.allclose(one_less(x.flatten(0, 1)).view_as(x), expected, atol=0.1)


def random_rows(*shape):
    """Distributions over the last axis, far from even."""
    return (2 * torch.randn(*shape)).softmax(dim=-1)


def chi_square(counts, expected):
    """Pearson's statistic of counts by outcome, and the largest value that chance allows."""
    total = sum(counts.values())
    wanted = {outcome: total * chance for outcome, chance in expected.items()}
    found = sum((counts[each] - mean) ** 2 / mean for each, mean in wanted.items())
    return found, len(expected) + 6 * math.sqrt(2 * len(expected))


@SEEDS
def test_a_text_with_a_draft_has_the_targets_distribution_and_not_the_drafts(seed):
    accept, speculate = built("accept", "speculate")
    speculate.__globals__["accept"] = accept
    torch.manual_seed(seed)
    target, draft = random_rows(3, 3), random_rows(3, 3)
    expected = {
        text: math.prod(target[a, b].item() for a, b in itertools.pairwise((0, *text)))
        for text in itertools.product(range(3), repeat=3)
    }
    counts = Counter()
    for _ in range(DRAWS):
        text = [0]
        while len(text) < 4:
            text += speculate(target.__getitem__, draft.__getitem__, text, 2)
        counts[tuple(text[1:4])] += 1
    found, most = chi_square(counts, expected)
    assert found < most
    of_draft = Counter()
    for text in expected:
        chance = math.prod(draft[a, b].item() for a, b in itertools.pairwise((0, *text)))
        of_draft[text] = DRAWS * chance
    assert chi_square(of_draft, expected)[0] > most


@SEEDS
def test_a_round_gives_what_that_of_hugging_face_gives(seed):
    generation = pytest.importorskip("transformers.generation.utils")
    (accept,) = built("accept")
    torch.manual_seed(seed)
    target, draft = random_rows(3, 4), random_rows(2, 4)
    ours, theirs = Counter(), Counter()
    for _ in range(DRAWS):
        proposed = draft.multinomial(1).flatten()
        ours[tuple(accept(target, draft, proposed.tolist()))] += 1
        proposed = draft.multinomial(1).flatten()
        given = proposed[None], draft.log()[None], 2, target.log()[None]
        theirs[tuple(generation._speculative_sampling(*given)[0][0].tolist())] += 1
    outcomes = ours | theirs
    found = sum((ours[o] - theirs[o]) ** 2 / (ours[o] + theirs[o]) for o in outcomes)
    assert found < len(outcomes) + 6 * math.sqrt(2 * len(outcomes))
    assert {len(each) for each in ours} == {1, 2, 3}


def test_a_draft_that_is_the_target_is_always_accepted():
    accept, speculate = built("accept", "speculate")
    speculate.__globals__["accept"] = accept
    table = random_rows(3, 3)
    rounds = [speculate(table.__getitem__, table.__getitem__, [0], 4) for _ in range(50)]
    assert {len(each) for each in rounds} == {5}


def test_every_row_of_the_table_has_a_formula_a_paper_and_a_place():
    (table,) = (each.source for each in CELLS if each.source.startswith("| name |"))
    for row in table.splitlines()[2:]:
        name, words, formula, paper, place = (each.strip() for each in row.strip("|").split("|"))
        assert name.startswith("**") and words.endswith("."), row
        assert "$" in formula and re.search(r"\[(\d{4}\.\d{5})\]\(\S+/\1\)", paper), row
        assert "section" in place or "lesson" in place or "not built" in place, row
