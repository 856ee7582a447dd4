"""What a visitor meets first: README's picture and links, versions, forms and hooks agree."""

import html
import re
import tomllib

import numpy as np
import pytest
import yaml
from PIL import Image

import transformer_edu
from tools import picture
from tools.notebooks import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
LARGEST_PICTURE = 150_000  # bytes
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").iterdir())


@pytest.fixture(scope="module")
def shown():
    """Weights, German words and English words of the picture, as the translator has them now."""
    return picture.attention_of_the_translation()


def test_readme_opens_with_a_picture_that_is_told_in_words(shown):
    opening = README.split("\n## ")[0]
    (told,) = picture.ALT.findall(opening)
    assert html.unescape(told) == picture.describe(*shown), "run `make picture`"
    for path in picture.PICTURES.values():
        assert path.relative_to(ROOT).as_posix() in opening
        assert path.stat().st_size <= LARGEST_PICTURE
        with Image.open(path) as stored:
            assert stored.info["comment"].decode() == html.unescape(told)
            assert stored.n_frames == len(picture.GERMAN.split())
            assert 0 < stored.info["loop"] < 5, "it must come to rest"


@pytest.mark.parametrize("paper", picture.PICTURES)
def test_the_stored_picture_is_the_one_that_is_drawn_now(shown, paper):
    drawn = picture.as_frame(picture.draw_steps(*shown)[-1], paper)
    with Image.open(picture.PICTURES[paper]) as stored:
        stored.seek(stored.n_frames - 1)
        difference = np.asarray(drawn, float) - np.asarray(stored.convert("RGB"), float)
    assert abs(difference).mean() < 1, "run `make picture`"


def test_every_file_that_readme_names_is_there():
    targets = re.findall(r"(?:\]\(|src=\"|srcset=\")(?!https?:|#)([^)\"#]+)", README)
    assert len(targets) > 20
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_package_reads_every_variable_that_readme_names():
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "transformer_edu").rglob("*.py"))
    named = set(re.findall(r"TRANSFORMER_EDU_\w+", README))
    assert named and named <= set(re.findall(r"TRANSFORMER_EDU_\w+", code))


def test_the_citation_names_this_version_and_its_authors():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "type"} <= set(citation)
    assert citation["version"] == transformer_edu.__version__
    assert (citation["authors"], citation["license"]) == (PROJECT["authors"], PROJECT["license"])


def test_the_newest_version_of_the_changelog_is_this_one():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"(?m)^## (.*)$", changelog)
    assert versions.pop(0) == "[Unreleased]"
    assert versions[0].startswith(f"[{transformer_edu.__version__}] - ")
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in versions)
    kinds = set(re.findall(r"(?m)^### (.*)$", changelog))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_hooks_before_a_commit_run_the_ruff_that_is_tested():
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    hooks = [hook for each in yaml.safe_load(text)["repos"] for hook in each["hooks"]]
    assert {hook["id"] for hook in hooks} == {"ruff-check", "ruff-format"}
    for hook in hooks:
        (ruff,) = hook["additional_dependencies"]
        assert ruff in pins


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_is_short_and_asks_what_is_needed(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"] and form["description"]
    questions = [each for each in form["body"] if each["type"] != "markdown"]
    assert 2 <= len(questions) <= 4
    assert len({each["id"] for each in questions}) == len(questions)
    assert {each["type"] for each in questions} <= {"input", "textarea", "dropdown"}
    assert all(each["attributes"]["label"] for each in questions)
    assert any(each.get("validations", {}).get("required") for each in questions)


def test_there_is_a_form_for_a_defect_and_one_for_what_is_not_understood():
    assert [path.name for path in FORMS] == ["defect.yml", "not_understood.yml"]
