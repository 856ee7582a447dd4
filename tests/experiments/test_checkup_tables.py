"""docs/checkup.md says of bugs, healthy models and mutants what the check-up finds in them."""

import shutil
from pathlib import Path

import pytest

from experiments import checkup_tables
from experiments.checkup_tables import LIBRARY, PAGE, headed, mutants, numbered_probes, row_of
from tests.checkup.healthy_models import BUILDERS
from tests.checkup.published_bugs import BUGS
from tools.notebooks import ROOT

MUTANTS = {mutant["mutant"]: mutant for mutant in mutants()}
QUICK = ("the causal mask shows one word more", "the labels have no end token", "no ReLU")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / LIBRARY, folder / LIBRARY)
    return folder


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_at_least_sixty_mutants_change_a_line_that_there_is():
    assert len(MUTANTS) == len(mutants()) >= 60
    for mutant in MUTANTS.values():
        text = (ROOT / LIBRARY / mutant["file"]).read_text(encoding="utf-8")
        assert mutant["line"] in text and mutant["mutated"] != mutant["line"], mutant


def test_the_page_has_the_probes_and_a_row_for_each_bug_model_and_mutant(page):
    assert numbered_probes() in page
    for name in [*(bug.thread for bug in BUGS), *BUILDERS]:
        assert page.count(f"\n{headed(name)}") == 1, name
    for name in MUTANTS:
        assert page.count(f"\n| {name} | ") == 1, name


@pytest.mark.parametrize(
    "name",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in MUTANTS],
)
def test_a_mutant_is_found_by_what_the_page_says(name, copy, page):
    assert f"\n| {' | '.join(row_of(MUTANTS[name], copy))} |\n" in page


def test_the_library_is_itself_again_after_a_mutant(copy):
    before = checkup_tables.check_up
    row_of(MUTANTS[QUICK[0]], copy)
    from transformer_edu import check_up

    assert check_up is before
    for path in (ROOT / LIBRARY).rglob("*.py"):
        assert (copy / path.relative_to(ROOT)).read_bytes() == path.read_bytes()


def test_a_mutant_whose_line_is_gone_is_refused(copy):
    with pytest.raises(ValueError, match="model/masks.py must hold the text 'no such line'"):
        row_of(MUTANTS[QUICK[0]] | {"line": "no such line"}, copy)
