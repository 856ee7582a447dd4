"""The skeleton that every lesson shares, so that a reader always knows where they are.

Title as a question, with what you will build, the paper's section and the minutes · set-up · the
architecture map · sections that ask before they show, and exercises that build what the rest uses ·
Meet the package · Break it · exercises · You can now say · the next lesson.
"""

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from tools.colab import setup_cell_source, with_links
from tools.exercises import HEADING, STUB, exercise_indices, number_of, solution_of
from tools.lesson import Lesson, has_tag, headings, start
from tools.notebooks import ROOT

EXERCISES = range(2, 5)
SENTENCES = 3
LINK_TO_FILE = re.compile(r"\]\((?!https?:|#|attachment:)([^)#\s]+)")
PARTS = [
    r"^#+ .*Meet the package",
    r"^#+ .*Break it",
    r"^### Exercise",
    r"^#+ .*You can now say",
]
FRONT = {
    "what you will build": re.compile(r"you will build", re.IGNORECASE),
    "the paper's section": re.compile(r"paper.{0,40}§|§.{0,40}paper", re.IGNORECASE | re.DOTALL),
    "the minutes it takes": re.compile(r"\d+\s+minutes?\b"),
    "the seconds it runs": re.compile(r"\d+\s+seconds?\b"),
}


def front(lesson: Lesson) -> str:
    """Everything in words before the first code cell."""
    words = []
    for cell in lesson.cells:
        if cell.cell_type == "code":
            break
        words.append(cell.source)
    return "\n\n".join(words)


def section(lesson: Lesson, name: str) -> list[NotebookNode]:
    """The cells of the section whose heading holds these words, up to the next like heading."""
    found: list[NotebookNode] = []
    depth = 0
    for cell in lesson.cells:
        for level, words in headings(cell) if cell.cell_type == "markdown" else []:
            if name.lower() in words.lower():
                depth = level
            elif level <= depth:
                depth = 0
        if depth:
            found.append(cell)
    return found


def the_title_is_a_question(lesson: Lesson) -> Iterator[str]:
    """The first cell is ``# N · …?``."""
    first = lesson.cells[0].source if lesson.cells else ""
    if not re.match(rf"# {lesson.number} · .*\?$", first, re.MULTILINE):
        yield f"the first cell must begin '# {lesson.number} · …?', got {first[:60]!r}"


def the_front_says_what_to_expect(lesson: Lesson) -> Iterator[str]:
    """Before any code: what you will build, the paper's section, minutes, seconds to run."""
    for what, pattern in FRONT.items():
        if not pattern.search(front(lesson)):
            yield f"the front does not say {what}"


def the_setup_comes_first(lesson: Lesson) -> Iterator[str]:
    """The first code cell, and no other, is the set-up cell that ``make colab`` writes."""
    tagged = [cell for cell in lesson.code_cells if has_tag(cell, "setup")]
    expected = setup_cell_source(lesson.address, lesson.name)
    if tagged != lesson.code_cells[:1] or not tagged or tagged[0].source != expected:
        yield "the first code cell must be the set-up cell: run `make colab`"


def the_links_to_open_it_are_current(lesson: Lesson) -> Iterator[str]:
    """The first cell links to Colab and Binder where the address is known, and only then."""
    first = lesson.cells[0].source if lesson.cells else ""
    if first != with_links(first, lesson.address, f"notebooks/{lesson.name}"):
        yield "the links to Colab and Binder are not the repository's: run `make colab`"


def the_map_is_shown(lesson: Lesson) -> Iterator[str]:
    """One of the first code cells draws the map of the course."""
    early = lesson.code_cells[1:4]
    if not any("show_map(" in cell.source for cell in early):
        yield "no cell near the top draws the map: show_map(…, title=…)"


def the_package_is_met(lesson: Lesson) -> Iterator[str]:
    """*Meet the package* asserts that the reader's version and the package's agree."""
    code = "\n".join(
        cell.source for cell in section(lesson, "Meet the package") if cell.cell_type == "code"
    )
    if "assert" not in code:
        yield "no section 'Meet the package' that asserts that both agree"


def something_is_broken(lesson: Lesson) -> Iterator[str]:
    """*Break it* shows an effect and asserts it."""
    cells = [cell for cell in section(lesson, "Break it") if cell.cell_type == "code"]
    if not any("assert" in cell.source for cell in cells):
        yield "no section 'Break it' that asserts what it shows"


def exercises_are_numbered(lesson: Lesson) -> Iterator[str]:
    """Two to four exercises, headed ``### Exercise N.k · Build (3 minutes)``."""
    words = "\n".join(cell.source for cell in lesson.markdown_cells)
    found = [f"{each['lesson']}.{each['number']}" for each in HEADING.finditer(words)]
    if found != [f"{lesson.number}.{count}" for count in range(1, len(found) + 1)]:
        yield f"the exercises are numbered {found}"
    if len(found) not in EXERCISES:
        yield f"{len(found)} exercises, two to four"
    if len(found) != len(re.findall(r"(?m)^#+ Exercise", words)):
        yield "an exercise is not headed '### Exercise N.k · Build (3 minutes)'"


def exercises_can_be_solved(lesson: Lesson) -> Iterator[str]:
    """Each exercise has one tagged cell with a stub, and its solution below."""
    indices = exercise_indices(lesson.notebook)
    numbers = [number_of(lesson.notebook, index) for index in indices]
    words = "\n".join(cell.source for cell in lesson.markdown_cells)
    expected = [f"{each['lesson']}.{each['number']}" for each in HEADING.finditer(words)]
    if numbers != expected:
        yield f"cells tagged exercise: {numbers}, headings: {expected}"
    for index, number in zip(indices, numbers, strict=True):
        cell = lesson.cells[index]
        stub = STUB.search(cell.source)
        if not stub or "..." not in stub[2]:
            yield f"exercise {number} has no '# Your answer:' with ... above a check_ line"
        if solution_of(lesson.notebook, index) is None:
            yield f"exercise {number} has no solution in <details> below"


def the_end_says_what_was_learned(lesson: Lesson) -> Iterator[str]:
    """*You can now say* lists three sentences."""
    words = "\n".join(cell.source for cell in section(lesson, "You can now say"))
    sentences = re.findall(r"(?m)^(?:[-*]|\d\.) \S", words)
    if len(sentences) != SENTENCES:
        yield f"'You can now say' lists {len(sentences)} sentences, exactly {SENTENCES}"


def every_link_leads_somewhere(lesson: Lesson) -> Iterator[str]:
    """A link to another file leads to one that there is."""
    for cell in lesson.markdown_cells:
        for target in LINK_TO_FILE.findall(cell.source):
            if not (ROOT / "notebooks" / target).exists():
                yield f"{start(cell)} links to {target}, which does not exist"


def the_end_leads_on(lesson: Lesson) -> Iterator[str]:
    """The last cell links to the lesson that follows."""
    last = lesson.cells[-1].source if lesson.cells else ""
    if lesson.next_name and f"]({lesson.next_name})" not in last:
        yield f"the last cell must link to {lesson.next_name}"


def the_parts_stand_in_order(lesson: Lesson) -> Iterator[str]:
    """Meet the package, Break it, an exercise, You can now say: in this order.

    Earlier exercises may stand where the lesson needs what they build.
    """
    words = "\n".join(cell.source for cell in lesson.markdown_cells)
    places = [[each.start() for each in re.finditer(part, words, re.MULTILINE)] for part in PARTS]
    found = [each[-1] for each in places if each]
    if found != sorted(found):
        yield "the order must be Meet the package, Break it, Exercise, You can now say"


SKELETON_RULES = [
    the_title_is_a_question,
    the_front_says_what_to_expect,
    the_setup_comes_first,
    the_links_to_open_it_are_current,
    the_map_is_shown,
    the_package_is_met,
    something_is_broken,
    exercises_are_numbered,
    exercises_can_be_solved,
    the_end_says_what_was_learned,
    every_link_leads_somewhere,
    the_end_leads_on,
    the_parts_stand_in_order,
]
