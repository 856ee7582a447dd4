"""Each published bug is found, by the probe that names it, and nothing else is."""

from itertools import takewhile

import pytest
import torch

from experiments.checkup_tables import PAGE, examined, marked
from tests.checkup.published_bugs import BUGS, OfOfOfOf, WrongSlice, cached, copying_step
from tests.checkup.small_models import VOCABULARY
from tools.notebooks import ROOT
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_edu import TransformerConfig
from transformer_edu.checkup import check_up

FAMOUS = ("huggingface/transformers#48745", "karpathy/nanoGPT#240", "TrenTorch/TrenTorch#192")


@pytest.mark.parametrize("bug", BUGS, ids=[bug.thread for bug in BUGS])
def test_a_published_bug_is_called_by_its_name(bug):
    report = examined(bug)
    assert report.illnesses == [bug.illness], f"\n{report}"
    row = f"\n{marked(bug.thread, report)} "
    assert row in PAGE.read_text(encoding="utf-8"), "python -m experiments.checkup_tables bugs"


@pytest.mark.parametrize("first", [lambda past: 0, lambda past: past + 1, lambda past: 2 * past])
def test_no_wrong_slice_of_rotary_positions_goes_unnoticed(first, monkeypatch):
    torch.manual_seed(0)
    monkeypatch.setattr(WrongSlice.attention, "first", staticmethod(first))
    assert check_up(WrongSlice(), adapter=cached()).illnesses == ["the cached step differs"]
    monkeypatch.setattr(WrongSlice.attention, "first", staticmethod(lambda past: past))
    assert check_up(WrongSlice(), adapter=cached()).illnesses == []


def test_a_model_that_has_learned_to_copy_is_told_from_its_answers_alone():
    torch.manual_seed(0)
    model = OfOfOfOf()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(100):
        optimizer.zero_grad()
        copying_step(model, *torch.randint(3, VOCABULARY, (2, 16, 8))).backward()
        optimizer.step()
    assert check_up(model).illnesses == ["the model copies what it reads"]


def test_a_fresh_model_with_tied_weights_prefers_what_it_reads_and_has_learned_nothing():
    torch.manual_seed(0)
    config = TransformerConfig(vocabulary_size=16, d_model=48, num_heads=4, num_layers=1, d_ff=192)
    assert check_up(PytorchTransformer(config)).illnesses == []


@pytest.mark.parametrize("thread", FAMOUS)
def test_the_page_shows_what_a_user_of_a_famous_bug_is_told(thread):
    lines = str(examined(next(bug for bug in BUGS if bug.thread == thread))).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("✗"))
    told = [lines[first], *takewhile(lambda line: line[0] == " ", lines[first + 1 :])]
    shown = "\n".join(["```text", *told, "```"])
    assert shown in PAGE.read_text(encoding="utf-8"), f"docs/checkup.md must show\n{shown}"


def test_readme_counts_the_bugs_and_their_repositories():
    repositories = {bug.thread.partition("#")[0] for bug in BUGS}
    words = f"{len(BUGS)} published bugs of {len(repositories)} repositories"
    assert words in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"has {len(BUGS)} such bugs" in PAGE.read_text(encoding="utf-8")
    assert all(bug.build.__doc__ for bug in BUGS)
