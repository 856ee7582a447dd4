"""The reader's own Transformer: ``my_transformer.py`` beside the lessons grows class by class.

A class that passes its check replaces the class of that name in the file, and nothing else. A file
that differs from what a lesson wrote last is copied to a ``.bak`` first. The course's own class
stands in for every earlier one that is missing, and a class that needs more than the file imports
is not written, so the file runs alone. Only ``keep`` writes. Lesson 09 assembles what is there.
"""

import ast
import errno
import hashlib
import html
import importlib.abc
import importlib.util
import inspect
import linecache
import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace

from IPython.display import display

from transformer_course import our_transformer
from transformer_course.class_source import (
    bound_names,
    extent,
    missing_part,
    needed_at_once,
    needed_names,
    source_of,
    with_class,
)
from transformer_course.kept_files import content_of, name_from, replace_unchanged
from transformer_edu.training.machine.atomic_files import lock

FILE = "my_transformer.py"
LOCK = f".{FILE}.lock"
SWITCH = "TRANSFORMER_EDU_KEEP"  # "0" neither writes nor reads the file: for tests of the lessons
YOURS, COURSE = "yours", "the course's"
HEADER = '''\
"""My Transformer, as I wrote it in the lessons. A lesson replaces only the class it asks for."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


'''
OURS = {
    node.name: ast.get_source_segment(inspect.getsource(our_transformer), node)
    for node in ast.parse(inspect.getsource(our_transformer)).body
    if isinstance(node, ast.ClassDef)
}
SECTION = re.compile(rf"(?m)^# ==== ({'|'.join(OURS)}): ({YOURS}|{COURSE}) ====\n")
CHECKSUM = re.compile(r"(?m)^# Checksum of what a lesson wrote last: (\w+)\n?")
UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)
BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
LONGEST = 200  # characters of an error that a sentence repeats
PATIENCE, ABANDONED = 30, 10  # seconds to wait for another kernel; the age of a killed one's mark


@dataclass
class Section:
    """A class in the file, with what the reader wrote around it; YOURS or COURSE says whose."""

    name: str
    whose: str
    text: str


@dataclass
class Page:
    """The content of the file.

    Attributes:
        header: What stands above the first section.
        sections: In the order of the file.
        edited: Whether the file differs from what a lesson wrote last.
    """

    header: str = HEADER
    sections: list[Section] = field(default_factory=list)
    edited: bool = False

    def text(self) -> str:
        """The content as it is written, without its checksum."""
        headed = (f"# ==== {each.name}: {each.whose} ====\n{each.text}" for each in self.sections)
        return "".join([self.header, *headed])

    def complete(self, last: int) -> None:
        """Put the course's class where a class is missing, up to the one of number last."""
        names = list(OURS)
        for number, name in enumerate(names[: last + 1]):
            places = [names.index(each.name) for each in self.sections]
            if number not in places:
                place = next((i for i, each in enumerate(places) if each > number), len(places))
                self.sections.insert(place, Section(name, COURSE, f"{OURS[name]}\n\n\n"))


def keep(cls: type) -> None:
    """Write a class of the reader's into ``my_transformer.py``, and say so.

    Args:
        cls: Written in a lesson or a file, under the name of one of the course's classes.
    """
    if os.environ.get(SWITCH) == "0":
        return
    if not isinstance(cls, type):
        print(f"{FILE} keeps classes, not a {type(cls).__name__}: give keep a class itself.")
        return
    if cls.__name__ not in OURS:
        print(
            f"{FILE} keeps classes by their name: call yours as the exercise does, not "
            f"{cls.__name__}, to keep it."
        )
        return
    try:
        source = source_of(cls)
        with one_at_a_time():
            said = _write(cls.__name__, source)
    except Exception as error:  # a right answer stays right
        print(f"Your {cls.__name__} could not be written to {FILE}: {_reason(error)}.")
        return
    print(f"{said}Your {cls.__name__} is in {FILE}, next to this lesson.")


def my_parts() -> SimpleNamespace:
    """The classes of a Transformer: the reader's where they are kept, otherwise the course's.

    Reads the file, and prints which class is whose.

    Returns:
        Every class of our_transformer, by its name. Its attribute ``written_by`` says whose it is.
    """
    page, said = _read_if_there()
    parts, mine = _parts_of(our_transformer), set()
    if any(section.whose == YOURS for section in page.sections):
        try:
            said += _replace_unfinished(page)
            page.complete(len(OURS))
            found = _parts_of(_run(page.text()))
            if wrong := [name for name, part in vars(found).items() if not isinstance(part, type)]:
                raise TypeError(f"{wrong[0]} is not a class")
            parts = found
            mine = {section.name for section in page.sections if section.whose == YOURS}
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the reader has written there, also sys.exit()
            said += f"{FILE} does not run ({type(error).__name__}: {_reason(error)}). "
    for name, part in vars(parts).items():
        part.written_by = YOURS if name in mine else COURSE
    whose = {
        "Yours": ", ".join(name for name in OURS if name in mine),
        "The course's": ", ".join(name for name in OURS if name not in mine),
    }
    print(said + " ".join(f"{who}: {names}." for who, names in whose.items() if names))
    return parts


def show_my_transformer() -> None:
    """Show the whole model on one page, folded: the reader's file, or else the course's classes."""
    page, problem = _read_if_there()
    problem += _replace_unfinished(page)
    page.complete(len(OURS))
    text = "\n\n\n".join([page.header.strip(), *(each.text.strip() for each in page.sections)])
    lines = sum(bool(line.strip()) for line in text.splitlines())
    mine = {section.name for section in page.sections if section.whose == YOURS}
    said = (
        f"{problem}The whole Transformer: {lines} lines in {len(OURS)} classes, "
        f"{len(mine)} of them yours."
    )
    listing = (
        f"<details><summary><b>{html.escape(said)}</b> Open the page.</summary>"
        f"<pre>{html.escape(text)}</pre></details>"
    )
    display({"text/html": listing, "text/plain": said}, metadata={}, raw=True)


def _parts_of(module: ModuleType) -> SimpleNamespace:
    return SimpleNamespace(**{name: getattr(module, name) for name in OURS})


def _content() -> bytes | None:
    """What the file holds; None if there is none, also where a link leads."""
    return content_of(Path(os.path.realpath(FILE)))


def _read(content: bytes) -> Page:
    """The page that the file holds. Raises one of UNREADABLE.

    A class of the course's that the reader has edited is the reader's from then on. One that
    nobody has edited is the course's of today. Imports that are gone are there again.
    """
    text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    checksums, text = CHECKSUM.findall(text), _with_headings(CHECKSUM.sub("", text))
    edited = checksums != [_checksum(text)]
    text = text if text.endswith("\n") else f"{text}\n"
    headings = _headings(text)
    if not headings:
        raise ValueError("it was not written by a lesson")
    page = Page(text[: headings[0].start()], edited=edited)
    ends = [*(each.start() for each in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=True):
        (name, whose), content = heading.groups(), text[heading.end() : end]
        if whose == COURSE:
            before, content = content, with_class(content, name, OURS[name])
            if edited and content != before:
                whose, content = YOURS, before
        page.sections.append(Section(name, whose, content))
    imports, there = re.findall(r"(?m)^(?:import|from) .*\n", HEADER), bound_names(page.text())
    if lost := [each for each in imports if not bound_names(each) <= there]:  # an editor tidied up
        page.header = f"{page.header.rstrip()}\n{''.join(lost)}\n\n"
    return page


def _with_headings(text: str) -> str:
    """A text with a heading above every class that has none, as where a reader has deleted it."""
    without = OURS.keys() - {heading[1] for heading in _headings(text)}
    lines = text.split("\n")
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.ClassDef) and node.name in without:
            without.remove(node.name)
            lines.insert(extent(lines, node)[0], f"# ==== {node.name}: {COURSE} ====")
    return "\n".join(lines)


def _headings(text: str) -> list[re.Match]:
    """The headings of the sections; a line like one inside a class or a text is none."""
    statements = [(node.lineno, node.end_lineno) for node in ast.parse(text).body]
    found = [(text.count("\n", 0, each.start()) + 1, each) for each in SECTION.finditer(text)]
    return [
        each for line, each in found if not any(first <= line <= last for first, last in statements)
    ]


def kept_source(name: str) -> str:
    """The source of a class that the reader keeps; empty where there is none."""
    sections = _read_if_there()[0].sections
    return next((s.text for s in sections if (s.name, s.whose) == (name, YOURS)), "")


def _read_if_there() -> tuple[Page, str]:
    """The file, or an empty page; and what to say if it cannot be read."""
    if os.environ.get(SWITCH) != "0":
        try:
            if (content := _content()) is not None:
                return _read(content), ""
        except UNREADABLE as error:
            return Page(), f"{FILE} could not be read ({_reason(error)}). "
    return Page(), ""


def _write(name: str, source: str) -> str:
    """Write a class into the file, in place of the one of its name, and leave all else.

    Returns:
        What to say of the file as it was, if a copy of it had to be kept.
    """
    page, said, there = Page(), "", _content()
    try:
        if there is not None:
            page = _read(there)
        if page.edited:
            said = f"{FILE} had changed since a lesson wrote it, so a copy is kept as"
    except UNREADABLE as error:
        said = f"{FILE} could not be read ({_reason(error)}) and is kept as"
    before = page.text()
    if unknown := needed_names(source) - bound_names(before) - OURS.keys():
        raise LookupError(
            f"it uses {', '.join(sorted(unknown))}, which the file does not have (import or define "
            "it inside the method that uses it)"
        )
    names = list(OURS)
    if early := needed_at_once(source).intersection(names[names.index(name) :]):
        raise LookupError(f"it needs {min(early)} before the file has it: write the class whole")
    page.complete(max(names.index(each) for each in [name, *(s.name for s in page.sections)]))
    section = [each for each in page.sections if each.name == name][-1]
    section.whose = YOURS
    for each in page.sections:  # also one that was pasted elsewhere: the last one would count
        if each is section or name in bound_names(each.text):
            each.text = with_class(each.text, name, source)
    text = page.text()
    ast.parse(text)  # it can be read again
    content = f"{text}# Checksum of what a lesson wrote last: {_checksum(text)}\n".encode()
    if there is not None and not said and text == before:
        return ""
    copy = replace_unchanged(Path(FILE), there, content, keep=bool(said))
    return f"{said} {name_from(Path(), copy)}. " if copy else ""


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one kernel at a time read and write here; a killed one does not stop the others.

    Raises:
        OSError: If the lock cannot be made, or another kernel keeps it for too long.
    """
    end = time.monotonic() + PATIENCE
    with open(LOCK, "ab") as file, ExitStack() as afterwards:
        while not _take_turn(file.fileno(), afterwards):
            if time.monotonic() > end:
                raise TimeoutError(f"another kernel has been writing it for {PATIENCE} seconds")
            time.sleep(0.05)
        yield


def _take_turn(file: int, afterwards: ExitStack) -> bool:
    """Lock an open file; where the disk has no locks, make a mark that only one kernel can make."""
    try:
        lock(file)
        return True
    except OSError as error:
        if error.errno in BUSY:
            return False
    mark = Path(f"{LOCK}ed")
    with suppress(OSError):
        os.utime(LOCK)  # by the clock of the disk, which also dates the mark
        if os.stat(LOCK).st_mtime - mark.stat().st_mtime > ABANDONED:
            mark.unlink()
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    afterwards.callback(mark.unlink, missing_ok=True)
    return True


def _replace_unfinished(page: Page) -> str:
    """Put the course's class where one of the reader's lacks what later classes need.

    Returns:
        What to say about those classes.
    """
    said = ""
    for section in page.sections:
        if section.whose == COURSE or section.name == list(OURS)[-1]:
            continue
        name, ours = section.name, OURS[section.name]
        if missing := missing_part(section.text, name, expected=ours):
            section.whose, section.text = COURSE, with_class(section.text, name, ours)
            said += f"The {name} in {FILE} {missing} yet, so the course's class is used instead. "
    return said


def _run(text: str) -> ModuleType:
    """The module that a text makes. Errors and sources show its lines, which may be in no file."""
    path = os.path.abspath(FILE)
    linecache.cache[path] = (len(text), None, [f"{line}\n" for line in text.split("\n")], path)
    spec = importlib.util.spec_from_loader(Path(FILE).stem, _Text(text, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Text(importlib.abc.InspectLoader):
    """Loads a module from a text."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.text, self.path)


def _reason(error: BaseException) -> str:
    """What went wrong, on one line."""
    match error:
        case SyntaxError(msg=words, lineno=int(number)):
            return f"{words}, line {number}"
        case RecursionError() | MemoryError():
            return "it is nested too deeply, or calls itself"
        case UnicodeDecodeError():
            return "it is not in UTF-8"
        case UnicodeEncodeError():
            return "it holds half a character, which no file can hold"
        case OSError(strerror=str(words)):
            return words
    words = ""
    with suppress(Exception):  # an error of the reader's may have no words
        words = " ".join(str(error).split())
    words = words.encode(errors="replace").decode() or type(error).__name__
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
