"""Each published bug is found, by the probe that names it, and nothing else is."""

import pytest
import torch

from tests.checkup.published_bugs import BUGS
from tools.notebooks import ROOT
from transformer_edu.checkup import check_up


@pytest.mark.parametrize("bug", BUGS, ids=[bug.thread for bug in BUGS])
def test_a_published_bug_is_called_by_its_name(bug):
    torch.manual_seed(0)
    report = check_up(bug.build(), **bug.how)
    assert report.illnesses == [bug.illness], f"\n{report}"


def test_readme_counts_the_bugs_and_their_repositories():
    repositories = {bug.thread.partition("#")[0] for bug in BUGS}
    words = f"{len(BUGS)} published bugs of {len(repositories)} repositories"
    assert words in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"has {len(BUGS)} such bugs" in (ROOT / "docs/checkup.md").read_text(encoding="utf-8")
    assert all(bug.build.__doc__ for bug in BUGS)
