"""What a visitor installs and reads is true: versions agree, links lead somewhere."""

import re
import subprocess
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import transformer_edu
from tools.notebooks import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONDA_NAMES = {"pytorch": "torch", "matplotlib-base": "matplotlib"}
# Written in pieces, so that this file does not hold what it looks for.
HOSTS = ["pypi" + ".org", "python" + "hosted.org", "download." + "pytorch", "conda." + "anaconda"]
FOLDERS = ["home", "Users", "root", "work", "opt", "tmp"]
MACHINE = re.compile(rf"(?<![\w.~)}}*])/(?:{'|'.join(FOLDERS)})/\w|[A-Z]:\\{{1,2}}Users")


def requirements(lines: list[str]) -> dict[str, SpecifierSet]:
    """Requirements by name; a later line replaces an earlier one of the same name."""
    parsed = map(Requirement, lines)
    return {canonicalize_name(each.name): each.specifier for each in parsed}


def pins() -> dict[str, SpecifierSet]:
    """What constraints.txt pins, by name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return requirements([line for line in lines if line and not line.startswith("#")])


ALL = requirements(
    [*PROJECT["dependencies"]]
    + [line for name, lines in EXTRAS.items() for line in lines if "transformer-edu" not in line]
)


def test_every_requirement_is_pinned_to_a_version_that_is_allowed_and_only_ruff_is_bounded():
    assert not set(ALL) - set(pins())
    for name, specifiers in pins().items():
        (pin,) = specifiers
        assert pin.operator == "==" and re.fullmatch(r"[\d.]+", pin.version), f"{name}{pin}"
        assert name not in ALL or ALL[name].contains(pin.version), f"{name}{pin}"
    for name, specifiers in ALL.items():
        assert name == "ruff" or {each.operator for each in specifiers} <= {">="}


def test_every_extra_is_part_of_the_developers_install():
    inside = Requirement(next(line for line in EXTRAS["dev"] if line.startswith("transformer-edu")))
    assert inside.extras == set(EXTRAS) - {"dev"}


def test_conda_gets_the_same_requirements_and_a_python_that_is_allowed():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, _, *names, pip = conda["dependencies"]
    assert pip == {"pip": ["-e ."]}
    assert SpecifierSet(PROJECT["requires-python"]).contains(python.removeprefix("python="))
    found = {CONDA_NAMES.get(name, name): value for name, value in requirements(names).items()}
    wanted = [*PROJECT["dependencies"]]
    for extra in ("course", "data", "lab", "test"):
        wanted += [line for line in EXTRAS[extra] if "transformer-edu" not in line]
    assert found == requirements(wanted)


def test_continuous_integration_and_make_ask_for_the_python_that_is_required():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"][0] == oldest
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"sys.version_info < ({oldest.replace('.', ', ')})" in makefile


def test_every_action_is_pinned_by_its_hash_and_only_the_job_that_publishes_may_write():
    for path in (ROOT / ".github/workflows").iterdir():
        text = path.read_text(encoding="utf-8")
        used = re.findall(r"(?m)^[ -]*uses: *(\S+)", text)
        assert used and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each) for each in used), path
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            # Nothing of the repository runs where something may be written.
            assert "permissions" not in job or not any("run" in step for step in job["steps"])


def test_the_hooks_before_a_commit_run_the_ruff_that_is_tested():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert {f"ruff{pins()['ruff']}"} == set(re.findall(r"ruff==[\d.]+", hooks))


def test_the_citation_and_the_changelog_name_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == transformer_edu.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = [each for each in re.findall(r"(?m)^## \[(.*?)\]", changelog) if each != "Unreleased"]
    assert newest[0] == transformer_edu.__version__


def test_every_file_command_and_variable_that_readme_names_is_there():
    targets = re.findall(r"(?:\]\(|src=\"|srcset=\")(?!https?:|#)([^)\"#]+)", README)
    assert len(targets) > 20
    assert [target for target in targets if not (ROOT / target).exists()] == []
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "transformer_edu").rglob("*.py"))
    named = set(re.findall(r"TRANSFORMER_EDU_\w+", README))
    assert named and named <= set(re.findall(r"TRANSFORMER_EDU_\w+", code))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z]+)", README + contributing):
        assert re.search(rf"(?m)^{target}:", makefile), target
    for text in (README, contributing):
        for module in re.findall(r"python -m ((?:transformer_|tools|experiments)[\w.]+)", text):
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


def test_the_readme_and_the_card_name_the_terms_of_the_captions_behind_the_weights():
    card = (ROOT / "transformer_edu/pretrained/README.md").read_text(encoding="utf-8")
    (answer,) = re.findall(r"^\*\*May I .*?\n\n", README, re.MULTILINE | re.DOTALL)
    for text in (" ".join(answer.split()), card):
        assert "Flickr30k" in text
        assert "not commercial" in text or "non-commercial" in text


def readable_text(path: Path) -> str:
    """What stands in a file, without the pictures in it; nothing when it is not text."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
    return re.sub(r'"image/png": "[^"]*"', "", text)


def test_no_file_names_a_machine_or_a_package_index():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        text = readable_text(ROOT / name) if (ROOT / name).is_file() else ""
        found = MACHINE.search(text)
        assert not found, f"{name} names {found[0]}"
        assert not [host for host in HOSTS if host in text], name
