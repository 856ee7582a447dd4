"""Nothing of a reader's is ever gone, wherever a command is killed and whatever is edited."""

import ast
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.notebooks import ROOT
from transformer_course.my_transformer import FILE, OURS

ROUNDS = 200
LESSONS = ("00_start.ipynb", "01_words.ipynb", "02_attention.ipynb", "03_masks.ipynb")
STUDENTS = ("q1.ipynb", "q2.ipynb")
GRADES = ("grades.csv", "grades.html")


class Desk:
    """A folder in which a reader works, the course is updated, and a teacher grades.

    Attributes:
        ideas: What the reader has written into files, none of which may be gone.
        changed: The names of the copies with an idea.
        kept: The idea in each class that was kept to the end.
    """

    def __init__(self, folder: Path, chance: random.Random, process: subprocess.Popen) -> None:
        self.folder, self.chance, self.process = folder, chance, process
        self.ideas, self.changed, self.kept, self.lines = [], set(), {}, {}
        (folder / "notebooks").mkdir()
        (folder / "course").mkdir()
        exercise = new_code_cell("check_sum(answer)", metadata={"tags": ["exercise"]})
        cells = [new_markdown_cell("### Exercise 7.1 · Build"), exercise]
        nbformat.write(new_notebook(cells=cells), folder / "course" / "07_sums.ipynb")
        for name in STUDENTS:
            notebook = new_notebook(cells=[new_markdown_cell(self.new_idea())])
            nbformat.write(notebook, folder / name)
        for lesson in LESSONS:
            self.publish(lesson)

    def new_idea(self) -> str:
        self.ideas.append(f"idea{len(self.ideas):04}")
        return self.ideas[-1]

    def publish(self, lesson: str) -> None:
        """The course has a newer version of a lesson."""
        version = new_code_cell(f"print({self.chance.random()})")
        nbformat.write(new_notebook(cells=[version]), self.folder / "notebooks" / lesson)

    def edit(self) -> None:
        """The reader or the teacher edits a file."""
        match self.chance.choice(["file", "copy", "grades", "move", "publish", "publish"]):
            case "file" if (path := self.folder / FILE).exists():
                lines = path.read_text(encoding="utf-8").split("\n")
                lines.insert(self.chance.randrange(1, len(lines)), f"# {self.new_idea()}")
                path.write_text("\n".join(lines), encoding="utf-8")
            case "copy":
                name = self.chance.choice(LESSONS[:2])  # the others only follow
                if (path := self.folder / "work" / name).exists():
                    notebook = nbformat.read(path, as_version=4)
                    notebook.cells.append(new_code_cell(self.new_idea()))
                    nbformat.write(notebook, path)
                    self.changed.add(name)
            case "grades":
                if (path := self.folder / self.chance.choice(GRADES)).exists():
                    with path.open("a", encoding="utf-8") as file:
                        file.write(f"{self.new_idea()}\n")
            case "move":
                for name in GRADES:
                    if (path := self.folder / name).exists():
                        path.rename(self.folder / f"{len(list(self.folder.iterdir()))}-{name}")
            case "publish":
                self.publish(self.chance.choice(LESSONS))

    def act(self) -> None:
        """A command runs, and is killed at one of its lines three times out of four."""
        action = self.chance.choices(["keep", "my_parts", "update", "grade"], [6, 2, 6, 3])[0]
        idea, name = f"kept{self.chance.random()}", self.chance.choice(list(OURS))
        given = {"keep": [name, idea], "grade": list(STUDENTS)}
        killed_at = 0
        if action in self.lines and self.chance.random() < 0.75:
            killed_at = self.chance.randint(1, self.lines[action])
        request = {"action": action, "arguments": given.get(action, []), "killed_at": killed_at}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        assert not answer["failed"], answer["said"]
        if answer["finished"]:
            self.lines[action] = max(answer["lines"], self.lines.get(action, 0))
        if action == "keep":
            self.kept.pop(name, None)
            if answer["finished"]:
                self.kept[name] = idea
        if action == "update" and answer["finished"]:
            self.require_current_copies(answer["said"])

    def require_current_copies(self, said: str) -> None:
        """Every copy without an idea is its lesson, and is not called changed."""
        told = re.findall(r"You have changed (.*?) in work/", said)
        assert {name for names in told for name in names.split(", ")} <= self.changed
        for name in set(LESSONS) - self.changed:
            copy = (self.folder / "work" / name).read_bytes()
            assert copy == (self.folder / "notebooks" / name).read_bytes()

    def require_all(self) -> None:
        """Every idea is in a file that a reader finds, and no file is half a file."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        texts = {
            path.relative_to(self.folder).as_posix(): path.read_text(encoding="utf-8")
            for path in files
            if not path.name.startswith(".") and path.parent.name != "jupyter"
        }
        everything = "\n".join(texts.values())
        assert [idea for idea in self.ideas if idea not in everything] == []
        assert [name for name, idea in self.kept.items() if idea not in texts[FILE]] == []
        ast.parse(texts.get(FILE, ""))
        for name, text in texts.items():
            if name.endswith(".ipynb"):
                json.loads(text)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes are forked")
def test_nothing_of_a_readers_is_gone_wherever_a_command_is_killed(tmp_path):
    places = {
        "PYTHONPATH": str(ROOT),
        "JUPYTER_DATA_DIR": str(tmp_path / "jupyter"),
        "TRANSFORMER_EDU_KEEP": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.killed_actions"],
        cwd=tmp_path,
        env={**os.environ, **places},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        desk = Desk(tmp_path, random.Random("nothing is lost"), process)
        for _ in range(ROUNDS):
            for _ in range(desk.chance.randrange(3)):
                desk.edit()
            desk.act()
            desk.require_all()
        process.stdin.close()
    assert len(desk.ideas) > ROUNDS / 4 and desk.lines.keys() == {
        "keep",
        "my_parts",
        "update",
        "grade",
    }
