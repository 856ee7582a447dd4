"""The four files that say what is needed agree, and name no machine and no download host."""

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
from tools.site import SITE

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
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


def repository_files() -> list[str]:
    """Every file that is in the repository or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def readable_text(path: Path) -> str:
    """What stands in a file, without the pictures in it; nothing when it is not text."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
    return re.sub(r'"image/png": "[^"]*"', "", text)


def machine_or_host(text: str) -> str:
    """The first path of a machine, or name of a package index, in the text."""
    found = MACHINE.search(text)
    return found[0] if found else next((host for host in HOSTS if host in text), "")


ALL = requirements(
    [*PROJECT["dependencies"]]
    + [line for name, lines in EXTRAS.items() for line in lines if "transformer-edu" not in line]
)


def test_nothing_but_ruff_has_an_upper_bound():
    for name, specifiers in ALL.items():
        assert name == "ruff" or {each.operator for each in specifiers} <= {">="}


def test_every_extra_is_part_of_the_developers_install():
    inside = Requirement(next(line for line in EXTRAS["dev"] if line.startswith("transformer-edu")))
    assert inside.extras == set(EXTRAS) - {"dev"}


def test_every_requirement_is_pinned():
    assert not set(ALL) - set(pins())


def test_every_pin_is_one_exact_version_that_pyproject_allows():
    for name, specifiers in pins().items():
        (pin,) = specifiers
        assert pin.operator == "==" and re.fullmatch(r"[\d.]+", pin.version), f"{name}{pin}"
        assert name not in ALL or ALL[name].contains(pin.version), f"{name}{pin}"


def test_conda_gets_the_same_requirements():
    *names, pip = CONDA["dependencies"]
    assert pip == {"pip": ["-e ."]}
    assert names[1] == "pip"
    conda = requirements(names[2:])
    wanted = [*PROJECT["dependencies"], *EXTRAS["data"], *EXTRAS["lab"], *EXTRAS["test"]]
    assert {CONDA_NAMES.get(name, name): value for name, value in conda.items()} == requirements(
        wanted
    )


def test_condas_python_is_written_for_binder_and_allowed():
    version = re.fullmatch(r"python=(\d\.\d+)", CONDA["dependencies"][0])
    assert SpecifierSet(PROJECT["requires-python"]).contains(version[1])


def test_ci_runs_the_oldest_python_that_is_allowed():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    versions = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert PROJECT["requires-python"] == f">={versions[0]}"


def unpinned_actions(workflow: str) -> list[str]:
    """What a workflow uses without naming one commit of it by its whole hash."""
    used = re.findall(r"^[ -]*uses: *(\S+)", workflow, re.MULTILINE)
    return [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)]


def test_every_action_is_pinned_by_its_hash():
    for path in (ROOT / ".github/workflows").iterdir():
        workflow = path.read_text(encoding="utf-8")
        assert "uses:" in workflow
        assert not unpinned_actions(workflow), path.name


def test_an_action_that_can_change_is_noticed():
    loose = ["actions/checkout@v4", "actions/checkout@main", "actions/checkout", "a/b@3d3c42e"]
    workflow = "".join(f"      - uses: {name}  # v1\n        uses: {name}\n" for name in loose)
    assert unpinned_actions(workflow) == [name for name in loose for _ in range(2)]
    assert not unpinned_actions(f"      - uses: a/b/c@{'0a' * 20} # v7.0.1")


def test_workflows_may_only_read_but_for_the_job_that_publishes_what_is_built():
    may_write = {("pages.yml", "publish"): {"pages": "write", "id-token": "write"}}
    for path in (ROOT / ".github/workflows").iterdir():
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            allowed = may_write.get((path.name, name))
            assert job.get("permissions") == allowed
            # Nothing of the repository runs where something may be written.
            assert allowed is None or not any("run" in step for step in job["steps"])


def test_the_site_that_is_published_is_the_one_that_make_builds():
    workflow = yaml.safe_load((ROOT / ".github/workflows/pages.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["build"]["steps"]
    assert any(step.get("run") == "make site" for step in steps)
    assert ROOT / steps[-1]["with"]["path"] == SITE


def test_the_readme_names_the_terms_of_the_captions_behind_the_weights():
    readme, card = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("README.md", "transformer_edu/pretrained/README.md")
    )
    (answer,) = re.findall(r"^\*\*May I .*?\n\n", readme, re.MULTILINE | re.DOTALL)
    for text in (" ".join(answer.split()), card):
        assert "Flickr30k" in text
        assert "not commercial" in text or "non-commercial" in text


def test_the_makefile_asks_for_the_python_that_is_required():
    oldest = PROJECT["requires-python"].removeprefix(">=").replace(".", ", ")
    assert f"sys.version_info < ({oldest})" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_version_stands_in_one_place():
    assert PROJECT["dynamic"] == ["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", transformer_edu.__version__)


def test_no_file_names_a_machine_or_a_package_index():
    for name in repository_files():
        found = machine_or_host(readable_text(ROOT / name))
        assert not found, f"{name} names {found}"


def test_a_machines_path_or_a_package_index_is_noticed():
    for folder in FOLDERS:
        assert machine_or_host(f"see '/{folder}/somebody'") == f"/{folder}/s"
    for host in HOSTS:
        assert machine_or_host(f"https://{host}/simple") == host
    assert not machine_or_host("https://example.org/home/page and src/work/file")
