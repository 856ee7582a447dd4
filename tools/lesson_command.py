"""Store a lesson that was changed: ``make lesson LESSON=02``.

It writes what the lesson's room lists and the right answers that TEACHING.md gives, checks the
rules, runs the lesson, stores its outputs, and writes the tables that repeat what it says. It stops
before the run if a rule is broken that a run cannot mend.
"""

import argparse
import sys

from tools import rooms, tables
from tools.editions import EditionError, named_lesson
from tools.notebooks import LessonError, run_in_place
from tools.output_rules import OUTPUT_RULES
from tools.rules import RULES, all_lessons, broken_rules

SOURCE_RULES = [rule for rule in RULES if rule not in OUTPUT_RULES]


def main(arguments: list[str]) -> int:
    """The command: store the lesson with this number."""
    about = "Check, run and store a lesson that was changed."
    parser = argparse.ArgumentParser(prog="python -m tools.lesson_command", description=about)
    parser.add_argument("lesson", nargs="*", help="its number, such as 02")
    named = parser.parse_args(arguments).lesson
    if len(named) != 1:
        print("LESSON must be the number of a lesson: make lesson LESSON=02", file=sys.stderr)
        return 1
    try:
        path = named_lesson(named[0])
        rooms.write([path])
        tables.write_right_answers()
        refuse_if_broken(path.name, SOURCE_RULES)
        print(f"{run_in_place(path):6.1f} s  {path.name}", flush=True)
        refuse_if_broken(path.name, RULES)
    except (EditionError, rooms.RoomError, LessonError) as error:
        print(error, file=sys.stderr)
        return 1
    return tables.main([])


def refuse_if_broken(name: str, rules: list) -> None:
    """Check some rules in a lesson as it is stored.

    Raises:
        LessonError: If a rule is broken; the message has a line for each complaint.
    """
    (lesson,) = (each for each in all_lessons() if each.name == name)
    if complaints := broken_rules(lesson, rules):
        raise LessonError("\n".join(complaints))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
