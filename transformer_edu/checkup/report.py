"""What a check-up found: a line for each probe in a terminal, a table in a notebook, or JSON."""

import json
import os
import sys
from dataclasses import asdict, dataclass
from html import escape

HEALTHY, ILL, TOLD, UNTRIED, UNJUDGED = "healthy", "ill", "told", "not tried", "not judged"
MARKS = {HEALTHY: "✓", ILL: "✗", TOLD: "?", UNTRIED: "–", UNJUDGED: "–"}
COLORS = {HEALTHY: "36", ILL: "1;33", TOLD: "35", UNTRIED: "2", UNJUDGED: "2"}  # of a terminal
SHADES = {"·": "#8882", "o": "#56b4e9", "#": "#e69f00"}  # of a map in a notebook
CELLS = {k: f'<span style="background:{shade}">{k}</span>' for k, shade in SHADES.items()}
STYLE = "text-align:left;vertical-align:top;white-space:pre-wrap"


@dataclass(frozen=True)
class Finding:
    """What one probe of probes.tsv found; illness and cause are empty without an illness.

    The status is "healthy", "ill", "told" (unusual but legal), "not tried", or "not judged" (an
    illness found earlier may explain it). A leak tells which answer (row) moved with which word.
    """

    status: str
    seen: str
    illness: str = ""
    cause: str = ""
    probe: str = ""
    rule: str = ""
    done: str = ""
    expected: str = ""
    lesson: str = ""
    leak: tuple[tuple[bool, ...], ...] = ()

    def told(self) -> list[str]:
        """What was found in lines; an illness has several, the first is its name."""
        if self.status != ILL:
            return [self.seen if self.status == HEALTHY else f"{self.status}: {self.seen}"]
        told = {"done": self.done, "expected": self.expected, "seen": self.seen}
        told |= {"usual cause": self.cause, "lesson": self.lesson}
        return [self.illness.upper(), *(f"{name + ':':13}{text}" for name, text in told.items())]

    def drawn(self) -> list[str]:
        """The leak in letters: a text for each answering position, # where it saw the future."""
        rows = enumerate(self.leak)
        return ["".join("·o#"[moved * (1 + (j > i))] for j, moved in enumerate(r)) for i, r in rows]


@dataclass(frozen=True)
class Report:
    """What all probes for a kind of model found, in order; notes tell how it was asked."""

    model: str
    kind: str
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def illnesses(self) -> list[str]:
        """The names of the illnesses found; empty if none was."""
        return [each.illness for each in self.findings if each.status == ILL]

    def __str__(self) -> str:
        """The report, in color where standard output is a terminal that has it."""
        colored = bool(sys.stdout) and sys.stdout.isatty() and "NO_COLOR" not in os.environ
        lines = [f"Check-up of {self.model} ({self.kind}), {self.seconds:.1f} s"]
        lines += [f"  {note}" for note in self.notes]
        for each in self.findings:
            mark, (first, *more) = MARKS[each.status], each.told()
            mark = f"\033[{COLORS[each.status]}m{mark}\033[0m" if colored else mark
            lines += [f"{mark} {each.rule:40} {first}", *(f"    {line}" for line in more)]
            lines += [f"{'':17}{line}" for line in each.drawn()]
        states = [each.status for each in self.findings]
        counts = ", ".join(f"{states.count(each)} {each}" for each in MARKS if each in states)
        found = f"ILL: {'; '.join(self.illnesses)}" if self.illnesses else "No illness found"
        return "\n".join([*lines, f"{found}. ({counts})"])

    def _repr_html_(self) -> str:
        """The same lines as a table in a notebook; a leak's letters are colored."""
        rows = ""
        for each in self.findings:
            drawn = "\n".join(["", *each.drawn()]).translate(str.maketrans(CELLS))
            told = escape("\n".join(each.told()))
            cells = (MARKS[each.status], escape(each.rule), f"{told}<code>{drawn}</code>")
            rows += "<tr>" + "".join(f'<td style="{STYLE}">{cell}</td>' for cell in cells) + "</tr>"
        head, *_, verdict = escape(str(self)).splitlines()
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return f"<div><b>{head}</b><ul>{notes}</ul><table>{rows}</table><p>{verdict}</p></div>"

    def to_json(self) -> str:
        """Everything but the seconds, so that a second check-up returns the same."""
        told = asdict(self) | {"illnesses": self.illnesses}
        del told["seconds"]
        return json.dumps(told, indent=2, ensure_ascii=False)
