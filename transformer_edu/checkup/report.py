"""What a check-up found: a line for each probe in a terminal, a table in a notebook, or JSON."""

import json
import os
import sys
from dataclasses import asdict, dataclass
from html import escape

HEALTHY, ILL, TOLD, UNTRIED, UNJUDGED = "healthy", "ill", "told", "not tried", "not judged"
MARKS = {HEALTHY: "✓", ILL: "✗", TOLD: "?", UNTRIED: "–", UNJUDGED: "–"}
COLORS = {HEALTHY: "36", ILL: "1;33", TOLD: "35", UNTRIED: "2", UNJUDGED: "2"}  # of a terminal
CELLS = {"·": "#8882", "o": "#56b4e9", "#": "#e69f00"}  # of a map in a notebook
LEFT = 'style="text-align:left;vertical-align:top"'


@dataclass(frozen=True)
class Finding:
    """What one probe found.

    Args:
        status: "healthy", "ill", "told" (unusual but legal), "not tried", or "not judged" (an
            illness found earlier may explain it).
        seen: What was seen, in a sentence.
        illness, cause: Its name and what usually causes it; empty without an illness.
        probe, rule, done, expected, lesson: What was tested, as in probes.tsv.
        leak: Whether the answer of each position (row) moved with each word (column).
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

    def details(self) -> dict[str, str]:
        """What a reader needs to know of an illness, by what it is."""
        if self.status != ILL:
            return {}
        told = {"done": self.done, "expected": self.expected, "seen": self.seen}
        return told | {"usual cause": self.cause, "lesson": self.lesson}

    def drawn(self) -> list[str]:
        """The leak in letters: a text for each answering position, # where it saw the future."""
        return [
            "".join("·" if not moved else "#" if j > i else "o" for j, moved in enumerate(row))
            for i, row in enumerate(self.leak)
        ]

    def html(self) -> str:
        """A row of a table; the leak is a small map."""
        told = "".join(f"<br><i>{k}:</i> {escape(text)}" for k, text in self.details().items())
        if self.leak:
            told += (
                "<br>row: position that answers; column: changed word; ×: later word seen<table>"
            )
            for line in self.drawn():
                cells = (f'<td style="background:{CELLS[c]}">{"×" * (c == "#")}</td>' for c in line)
                told += f"<tr>{''.join(cells)}</tr>"
            told += "</table>"
        first = f"<b>{escape(self.illness)}</b>" if self.illness else escape(self.seen)
        state = "" if self.status in (HEALTHY, ILL) else f"<i>{self.status}:</i> "
        cells = (MARKS[self.status], escape(self.rule), state + first + told)
        return f"<tr>{''.join(f'<td {LEFT}>{cell}</td>' for cell in cells)}</tr>"


@dataclass(frozen=True)
class Report:
    """All findings of a check-up, in the order of the probes.

    Args:
        model: The name of the model's class.
        kind: "encoder-decoder", "decoder-only" or "encoder-only".
        notes: How the model was asked, and what is unusual about it.
        findings: One for each probe that concerns this kind of model.
        seconds: How long it took.
    """

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
        lines = [self._head(), *(f"  {note}" for note in self.notes)]
        for each in self.findings:
            mark, color = MARKS[each.status], COLORS[each.status]
            mark = f"\033[{color}m{mark}\033[0m" if colored else mark
            words = {ILL: each.illness.upper(), HEALTHY: each.seen}
            told = words.get(each.status, f"{each.status}: {each.seen}")
            lines.append(f"{mark} {each.rule:40} {told}")
            lines += [f"    {name + ':':13}{text}" for name, text in each.details().items()]
            lines += [f"    {'':13}{line}" for line in each.drawn()]
        return "\n".join([*lines, self._verdict()])

    def _head(self) -> str:
        return f"Check-up of {self.model} ({self.kind}), {self.seconds:.1f} s"

    def _verdict(self) -> str:
        states = [each.status for each in self.findings]
        counts = ", ".join(f"{states.count(each)} {each}" for each in MARKS if each in states)
        found = f"ILL: {'; '.join(self.illnesses)}" if self.illnesses else "No illness found"
        return f"{found}. ({counts})"

    def to_dict(self) -> dict[str, object]:
        """Everything but the seconds, so that a second check-up returns the same."""
        told = {"model": self.model, "kind": self.kind, "illnesses": self.illnesses}
        return told | {"notes": list(self.notes), "findings": [asdict(f) for f in self.findings]}

    def to_json(self) -> str:
        """``to_dict`` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def _repr_html_(self) -> str:
        """A table for a notebook."""
        rows = "".join(each.html() for each in self.findings)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        head, verdict = escape(self._head()), escape(self._verdict())
        return f"<div><b>{head}</b><ul>{notes}</ul><table>{rows}</table><p>{verdict}</p></div>"
